"""Repairs one segment of the journal: whole frames stay in place, the rest is blanked.

    salvage ─▶ repair        a whole segment
    a start ─▶ repair_end    the last frame of the journal

A damaged byte is found by trial: the change of one byte that matches the 64-bit checksum restores
what was written. What cannot be repaired is replaced by frames of blank lines, which hold no
record, so that all later positions stay valid.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import xxhash

from monitor.state.disk import AppendFile, Sync, synced, write_file
from monitor.state.frame_search import FoundPlace, FrameSearch, resealed, whole_frame
from monitor.state.segment import (
    FILE_MAGIC,
    FRAME_BYTES,
    HEADER_BYTES,
    SMALLEST_FRAME,
    Body,
    SegmentHeader,
    TornSegmentError,
    encode_frame,
    frame_digest,
    frame_length,
    read_header,
    salt_of,
)
from monitor.state.segment_reading import last_whole
from monitor.state.state_errors import StateError

_NEVER_WRITTEN = bytes(16)
"""Zeros in a row that a disk leaves where it lost a write, and requests do not hold."""
ANY_BYTE = range(1, 256)
"""Changes of a byte, see `variants`."""
_ANY_BIT = tuple(1 << bit for bit in range(8))
_BYTES_TRIED, _BITS_TRIED = 4 * 1024, 64 * 1024
"""Payloads up to which each single byte, and each single bit, is tried."""


class LostRange(NamedTuple):
    """A part of a segment that was replaced by blank lines.

    Attributes:
        start: offset of its first byte.
        end: offset behind its last byte.
        lines: ends of lines in it, about as many as records.
    """

    start: int
    end: int
    lines: int


class RepairedSegment(NamedTuple):
    """A segment that can be read from its start to its end.

    Attributes:
        data: its content.
        header: its header.
        repaired: offsets of the header (0) and of the frames that were repaired.
        lost: what was blanked.
        unchecked: True if the salt is lost, so that requests are taken by their shape alone.
    """

    data: bytes
    header: SegmentHeader
    repaired: list[int]
    lost: list[LostRange]
    unchecked: bool


def repair(
    found: bytes,
    header: SegmentHeader,
    *,
    salt: int | None,
    boundaries: Iterable[int] = (),
    nbytes: int | None = None,
) -> RepairedSegment:
    """Repair a segment.

    Args:
        found: its content; b"" for a missing one.
        header: the header to write, with its own salt where that can be read.
        salt: its salt, if another file holds it.
        boundaries: offsets at which a frame begins, as checkpoints hold them.
        nbytes: its size, if the next segment holds it.
    """
    own, was_repaired = _header(found)
    if own is None and salt is not None:
        own = header._replace(salt=salt)
        was_repaired = bool(found)
    header = header if own is None else header._replace(salt=own.salt)
    source = resealed(found, header.salt) if own is None else bytearray(found)
    unchecked, known = source != found, sorted(boundaries)
    least = max([HEADER_BYTES, *(known[-1:] and [known[-1] + SMALLEST_FRAME])])
    search = FrameSearch(source, header.salt, known, 0 if nbytes is None else len(found) - nbytes)
    data, shift = bytearray(header.encode()), 0
    repaired, lost = [0] if was_repaired else [], list[LostRange]()
    while (offset := len(data)) < (size := max(least, nbytes or len(found) - shift)):
        place, seed = offset + shift, header.salt ^ offset
        end = whole_frame(source, place, seed)
        if end is None:
            end = _repaired(source, place, seed)
            repaired += [] if end is None else [offset]
        if end is not None:
            data += source[place:end]
            continue
        following = search.after(FoundPlace(offset, shift)) or FoundPlace(size, shift)
        if following.offset == offset:  # only the place differs
            repaired.append(offset)
        else:
            lines = source.count(b"\n", place, max(place, following.offset + following.shift))
            lost.append(LostRange(offset, following.offset, lines))
            if following.offset - offset < SMALLEST_FRAME:
                break  # it was the end
            data += _blank(offset, following.offset, header.salt, known)
        shift = following.shift
    return RepairedSegment(bytes(data), header, repaired, lost, unchecked)


def repair_end(path: Path, end: int, *, sync: Sync = synced) -> bool:
    """Repair the last frame of the last segment where one damaged byte is its only fault.

    A frame that a crash tore is not whole either. It differs in length, or in more than one byte.

    Args:
        path: the segment.
        end: its end without the frame, see `whole_end`.
        sync: makes a file descriptor durable.

    Returns:
        True if it was repaired.

    Raises:
        OSError: the segment cannot be read or written.
    """
    data = bytearray(path.read_bytes())
    if not 0 < end < len(data) or data.find(_NEVER_WRITTEN, end) >= 0:
        return False
    seed = salt_of(path) ^ end
    length = frame_length(bytes(data[end : end + FRAME_BYTES]), seed)
    if length is not None and end + FRAME_BYTES + length != len(data):
        return False
    if _repaired(data, end, seed) != len(data):
        return False
    write_file(path, [data], sync=sync)
    return True


def rewrite_end(path: Path, file: AppendFile) -> None:
    """Write the last frame again, durably.

    Where a sync failed and the process was killed, the next one reads a frame that the disk does
    not have, and that a later sync leaves out.

    Args:
        path: the last segment, which ends with a whole frame.
        file: the same, open for appending.

    Raises:
        OSError: it cannot be read or written.
    """
    with path.open("rb") as opened:
        start, end = last_whole(opened, path)
        opened.seek(start)
        file.rewrite(opened.read(end - start), start)


def _header(found: bytes) -> tuple[SegmentHeader | None, bool]:
    """Return the header, repaired if need be, and True if it was; None if it cannot be."""
    for head in variants(found[:HEADER_BYTES], ANY_BYTE):
        try:
            header = read_header(io.BytesIO(head), Path())
        except (StateError, TornSegmentError):
            continue
        return header, head != found[:HEADER_BYTES]
    within = _header_within(found)
    return within, within is not None


def _header_within(found: bytes) -> SegmentHeader | None:
    """Return the header that lies behind foreign bytes, with a whole first frame behind it."""
    at, data = found.find(FILE_MAGIC), bytearray(found)
    while at >= 0:
        place = at + HEADER_BYTES
        with suppress(StateError, TornSegmentError):
            header = read_header(io.BytesIO(found[at:place]), Path())
            if whole_frame(data, place, header.salt ^ HEADER_BYTES) is not None:
                return header
        at = found.find(FILE_MAGIC, at + 1)
    return None


def variants(data: bytes, changes: Iterable[int]) -> Iterator[bytearray]:
    """Yield the data, and then all that differ from it in one byte by such a change.

    It is the same array each time, changed in place.

    Args:
        data: the data.
        changes: bits of a byte to change together.
    """
    trial = bytearray(data)
    yield trial
    for place, byte in enumerate(data):
        for change in changes:
            trial[place] = byte ^ change
            yield trial
        trial[place] = byte


def _repaired(data: bytearray, place: int, seed: int) -> int | None:
    """Repair the frame at a place in the data and return its end; None if that cannot be."""
    found = bytes(data[place : place + FRAME_BYTES])
    for trial in variants(found, ANY_BYTE):
        head = bytes(trial)
        if frame_length(head, seed) is None:
            continue
        data[place : place + FRAME_BYTES] = head
        if end := whole_frame(data, place, seed) or _payload_repaired(data, place, seed):
            return end
    data[place : place + FRAME_BYTES] = found
    return None


def _payload_repaired(data: bytearray, place: int, seed: int) -> int | None:
    head = bytes(data[place : place + FRAME_BYTES])
    start = place + FRAME_BYTES
    end = start + (frame_length(head, seed) or 0)
    if end > len(data) or end - start > _BITS_TRIED:
        return None
    digest, payload = frame_digest(head), bytes(data[start:end])
    changes = ANY_BYTE if end - start <= _BYTES_TRIED else _ANY_BIT
    fitting = next(
        (
            bytes(trial)
            for trial in variants(payload, changes)
            if xxhash.xxh3_64_intdigest(trial, seed) == digest
        ),
        None,
    )
    if fitting is None:
        return None
    data[start:end] = fitting
    return end


def _blank(start: int, end: int, salt: int, boundaries: Iterable[int]) -> bytes:
    """Return frames of blank lines for a range, one up to each boundary."""
    edges = [start]
    for edge in boundaries:
        if edges[-1] + SMALLEST_FRAME <= edge <= end - SMALLEST_FRAME:
            edges.append(edge)
    parts = (
        encode_frame([Body(0, b"\n" * (right - left - SMALLEST_FRAME))], salt=salt, offset=left)
        for left, right in pairwise([*edges, end])
    )
    return b"".join(parts)
