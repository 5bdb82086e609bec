"""Finds whole frames in a damaged segment, wherever they lie in it.

Where a block of a file is cut out, or is there twice, all frames behind it lie at other places than
those that seed their checksums. The distance is their **shift**, 0 in a whole segment. It is found
by trial: the head of a frame has a checksum of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import xxhash

from monitor.state.segment import (
    BODY_BYTES,
    FRAME_BYTES,
    FRAME_MAGIC,
    HEADER_BYTES,
    SMALLEST_FRAME,
    JournalFrame,
    bodies_of,
    encode_frame,
    fitting_seeds,
    frame_digest,
    frame_length,
    unchecked_length,
)

_FARTHEST = 1 << 20
"""Shift up to which each one is tried, in bytes."""
_BLOCK = 512
"""Shifts by whole blocks are tried up to the size of the segment."""
_MOST_BYTES = 64 << 20
"""Bytes that may be cut out, as whole blocks: a segment has hardly more."""
SEARCHES = 16
"""Places of a segment for which each shift is tried: a request may hold what looks like a frame."""


_LENGTH = struct.Struct("<I")


class FoundPlace(NamedTuple):
    """Where a whole frame begins.

    Attributes:
        offset: the offset in the segment as it was written.
        shift: how many bytes further on it is found.
    """

    offset: int
    shift: int


def whole_frame(data: bytearray, place: int, seed: int) -> int | None:
    """Return the end of the frame that begins at a place; None if none that is whole does.

    Args:
        data: a segment.
        place: offset in the data.
        seed: salt of the segment, exclusive or the offset at which the frame was written.
    """
    head = bytes(data[place : place + FRAME_BYTES])
    length = frame_length(head, seed)
    end = place + FRAME_BYTES + (length or 0)
    if length is None or end > len(data):
        return None
    payload = memoryview(data)[place + FRAME_BYTES : end]
    return end if xxhash.xxh3_64_intdigest(payload, seed) == frame_digest(head) else None


def likely_places(data: bytearray, start: int) -> Iterator[int]:
    """Yield where a frame may begin: it would end in the data, and its first request in it.

    Args:
        data: a segment.
        start: offset in the data from which on to search.
    """
    while (start := data.find(FRAME_MAGIC, start)) >= 0:
        payload = start + FRAME_BYTES
        if payload + BODY_BYTES <= len(data):
            length = _LENGTH.unpack_from(data, start + len(FRAME_MAGIC))[0]
            first = _LENGTH.unpack_from(data, payload + BODY_BYTES - _LENGTH.size)[0]
            if BODY_BYTES + first <= length <= len(data) - payload:
                yield start
        start += 1


class FrameSearch:
    """Searches a segment for the frames behind a damage.

    Args:
        data: the segment as it is found.
        salt: salt of its frames.
        boundaries: offsets at which a frame was written.
        shift: shift at its end; 0 if unknown.
        offsets: offsets that are tried for a frame; None for those within reach of where it is.
        searches: number of places for which each shift is tried; one takes half a second.
    """

    def __init__(
        self,
        data: bytearray,
        salt: int,
        boundaries: Iterable[int] = (),
        shift: int = 0,
        *,
        offsets: range | None = None,
        searches: int = SEARCHES,
    ) -> None:
        self._data, self._salt = data, salt
        self._boundaries = list(boundaries)
        self._met = [shift]
        """Shifts that a whole frame had, the last one first, and the one that is known."""
        self._offsets, self._searches = offsets, searches

    def after(self, place: FoundPlace) -> FoundPlace | None:
        """Return where the next whole frame begins; None if there is none.

        Args:
            place: the end of the last whole frame.
        """
        begins = place.offset == HEADER_BYTES  # a part of the header may be cut out
        for at in likely_places(self._data, 0 if begins else place.offset + place.shift):
            found = self._frame_at(at, place)
            gap = -1 if found is None else found.offset - place.offset
            if gap == 0 or gap >= SMALLEST_FRAME:  # no copy of an earlier one
                return found
        return None

    def _frame_at(self, at: int, place: FoundPlace) -> FoundPlace | None:
        """Return the whole frame that begins at a place in the data; None if none does."""
        for shift in self._shifts(at, place):
            offset = at - shift
            if offset >= 0 and whole_frame(self._data, at, self._salt ^ offset) is not None:
                if shift in self._met:
                    self._met.remove(shift)
                self._met.insert(0, shift)
                return FoundPlace(offset, shift)
        return None

    def _shifts(self, at: int, place: FoundPlace) -> Iterator[int]:
        """Yield shifts: the likely ones, and then each by which the head at a place is whole."""
        known = dict.fromkeys(
            [place.shift, *self._met, *(at - boundary for boundary in self._boundaries)]
        )
        yield from known
        head = bytes(self._data[at : at + FRAME_BYTES])
        if self._searches and not self._is_whole(head, [at - shift for shift in known]):
            self._searches -= 1
            offsets = self._offsets or chain(
                range(at % _BLOCK, len(self._data) + _MOST_BYTES, _BLOCK),
                range(max(0, at - _FARTHEST), at + _FARTHEST),
            )
            seeds = (self._salt ^ offset for offset in offsets)
            yield from (at - (seed ^ self._salt) for seed in fitting_seeds(head, seeds))

    def _is_whole(self, head: bytes, offsets: Iterable[int]) -> bool:
        """Return whether the head of a frame was written at one of some offsets.

        There is no other offset to look for then: what is damaged is its payload.
        """
        seeds = (self._salt ^ offset for offset in offsets if offset >= 0)
        return any(frame_length(head, seed) is not None for seed in seeds)


def resealed(found: bytes, salt: int) -> bytearray:
    """Return a segment whose salt is lost, with checksums by another salt.

    A frame is taken for whole where its requests fill it to the last byte and it ends where the
    segment ends or another begins. Damage within a request is not found out.

    Args:
        found: the segment.
        salt: the salt to use from now on.
    """
    at, data = found.find(FRAME_MAGIC), bytearray(found)
    if 0 <= at < HEADER_BYTES + SMALLEST_FRAME:  # the first frame
        data[:at] = bytes(HEADER_BYTES)
        at = HEADER_BYTES
    while 0 <= at < len(data):
        end = _shaped(data, at)
        if end is None:
            at = data.find(FRAME_MAGIC, at + 1)
            continue
        bodies = list(bodies_of(JournalFrame(at, end, bytes(data[at + FRAME_BYTES : end]))))
        data[at:end] = encode_frame(bodies, salt=salt, offset=at)
        at = end
    return data


def _shaped(found: bytearray, at: int) -> int | None:
    """Return the end of what has the shape of a frame; None for anything else."""
    length = unchecked_length(bytes(found[at : at + FRAME_BYTES]))
    end = at + FRAME_BYTES + (length or 0)
    if length is None or (end != len(found) and not found.startswith(FRAME_MAGIC, end)):
        return None
    body = at + FRAME_BYTES
    while body + BODY_BYTES <= end:
        body += BODY_BYTES + int.from_bytes(
            found[body + BODY_BYTES - 4 : body + BODY_BYTES], "little"
        )
    return end if body == end else None
