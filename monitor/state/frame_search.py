"""Finds whole frames in a damaged segment, wherever they lie in it.

Where a block of a file is cut out, or is there twice, all frames behind it lie at other places than
those that seed their checksums. The distance is their **shift**, 0 in a whole segment. It is found
by trial: the head of a frame has a checksum of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
_SEARCHES = 16
"""Places of a segment for which each shift is tried: a request may hold what looks like a frame."""


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


class FrameSearch:
    """Searches a segment for the frames behind a damage.

    Args:
        data: the segment as it is found.
        salt: salt of its frames.
        boundaries: offsets at which a frame was written.
        shift: shift at its end; 0 if unknown.
    """

    def __init__(self, data: bytearray, salt: int, boundaries: Iterable[int], shift: int) -> None:
        self._data, self._salt = data, salt
        self._boundaries, self._last = list(boundaries), shift
        self._searches = _SEARCHES

    def after(self, place: FoundPlace) -> FoundPlace | None:
        """Return where the next whole frame begins; None if there is none.

        Args:
            place: the end of the last whole frame.
        """
        begins = place.offset == HEADER_BYTES  # a part of the header may be cut out
        at = self._data.find(FRAME_MAGIC, 0 if begins else place.offset + place.shift)
        while at >= 0:
            for shift in self._shifts(at, place):
                found = FoundPlace(at - shift, shift)
                gap = found.offset - place.offset
                fits = gap == 0 or gap >= SMALLEST_FRAME
                if fits and whole_frame(self._data, at, self._salt ^ found.offset) is not None:
                    return found
            at = self._data.find(FRAME_MAGIC, at + 1)
        return None

    def _shifts(self, at: int, place: FoundPlace) -> Iterator[int]:
        known = [place.shift, self._last, *(at - boundary for boundary in self._boundaries)]
        yield from known
        head = bytes(self._data[at : at + FRAME_BYTES])
        if self._searches and not self._is_whole(head, [at - shift for shift in known]):
            self._searches -= 1
            nearest = max(place.offset, at - _FARTHEST)
            seeds = (self._salt ^ offset for offset in range(nearest, at + _FARTHEST))
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
