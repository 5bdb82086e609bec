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
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import xxhash

from monitor.state.disk import AppendFile, Sync, synced, write_file
from monitor.state.segment import (
    FRAME_BYTES,
    FRAME_MAGIC,
    HEADER_BYTES,
    Body,
    SegmentHeader,
    TornSegmentError,
    encode_frame,
    frame_digest,
    frame_length,
    last_whole,
    read_header,
    salt_of,
    whole_end,
)
from monitor.state.state_errors import StateError

_BODY_HEAD = len(encode_frame([Body(0, b"")], salt=0, offset=0)) - FRAME_BYTES
SMALLEST_FRAME = FRAME_BYTES + _BODY_HEAD
"""Bytes of a frame with one empty body."""
_NEVER_WRITTEN = bytes(16)
"""Zeros in a row that a disk leaves where it lost a write, and requests do not hold."""
_ANY_BYTE = range(1, 256)
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
    """

    data: bytes
    header: SegmentHeader
    repaired: list[int]
    lost: list[LostRange]


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
        nbytes: its size, if the next segment or a checkpoint holds it.
    """
    repaired: list[int] = []
    own, was_repaired = _header(found)
    if own is None and salt is not None:
        own = header._replace(salt=salt)
        was_repaired = bool(found)
    if was_repaired:
        repaired.append(0)
    readable = own is not None
    header = header if own is None else header._replace(salt=own.salt)
    size = max(HEADER_BYTES, len(found) if nbytes is None else nbytes)
    data = bytearray(found[:size].ljust(size, b"\0"))
    data[:HEADER_BYTES] = header.encode()
    lost: list[LostRange] = []
    starts = sorted({start for start in boundaries if HEADER_BYTES < start < size} | {size})
    place = HEADER_BYTES
    while place < size:
        end = _whole(data, place, header.salt) if readable else None
        if end is None and readable:
            end = _repaired(data, place, header.salt)
            if end is not None:
                repaired.append(place)
        if end is None:
            end = _next(data, place, header.salt, starts) if readable else starts[-1]
            lost.append(LostRange(place, end, data.count(b"\n", place, end)))
            _blank(data, place, end, header.salt, starts)
        place = end
    cut = lost[-1].start if lost and size - lost[-1].start < SMALLEST_FRAME else size
    return RepairedSegment(bytes(data[:cut]), header, repaired, lost)


def repair_end(path: Path, *, sync: Sync = synced) -> bool:
    """Repair the last frame of the last segment where one damaged byte is its only fault.

    A frame that a crash tore is not whole either. It differs in length, or in more than one byte.

    Args:
        path: the segment.
        sync: makes a file descriptor durable.

    Returns:
        True if it was repaired.

    Raises:
        StateError: an earlier frame or the header is damaged.
        OSError: the segment cannot be read or written.
    """
    data = bytearray(path.read_bytes())
    with path.open("rb") as file:
        place = whole_end(file, path)
    if not 0 < place < len(data) or data.find(_NEVER_WRITTEN, place) >= 0:
        return False
    salt = salt_of(path)
    length = frame_length(bytes(data[place : place + FRAME_BYTES]), salt ^ place)
    if length is not None and place + FRAME_BYTES + length != len(data):
        return False
    if _repaired(data, place, salt) != len(data):
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
    for head in _variants(found[:HEADER_BYTES], _ANY_BYTE):
        try:
            header = read_header(io.BytesIO(head), Path())
        except (StateError, TornSegmentError):
            continue
        return header, head != found[:HEADER_BYTES]
    return None, False


def _variants(data: bytes, changes: Iterable[int]) -> Iterator[bytearray]:
    """Yield the data, and then all that differ from it in one byte by such a change.

    It is the same array each time, changed in place.
    """
    trial = bytearray(data)
    yield trial
    for place, byte in enumerate(data):
        for change in changes:
            trial[place] = byte ^ change
            yield trial
        trial[place] = byte


def _whole(data: bytearray, place: int, salt: int) -> int | None:
    """Return the end of the frame that begins at a place; None if none that is whole does."""
    head = bytes(data[place : place + FRAME_BYTES])
    length = frame_length(head, salt ^ place)
    end = place + FRAME_BYTES + (length or 0)
    if length is None or end > len(data):
        return None
    payload = memoryview(data)[place + FRAME_BYTES : end]
    return end if xxhash.xxh3_64_intdigest(payload, salt ^ place) == frame_digest(head) else None


def _repaired(data: bytearray, place: int, salt: int) -> int | None:
    """Repair the frame at a place in the data and return its end; None if that cannot be."""
    found = bytes(data[place : place + FRAME_BYTES])
    for trial in _variants(found, _ANY_BYTE):
        head = bytes(trial)
        if frame_length(head, salt ^ place) is None:
            continue
        data[place : place + FRAME_BYTES] = head
        if end := _whole(data, place, salt) or _payload_repaired(data, place, salt):
            return end
    data[place : place + FRAME_BYTES] = found
    return None


def _payload_repaired(data: bytearray, place: int, salt: int) -> int | None:
    head = bytes(data[place : place + FRAME_BYTES])
    start, seed = place + FRAME_BYTES, salt ^ place
    end = start + (frame_length(head, seed) or 0)
    if end > len(data) or end - start > _BITS_TRIED:
        return None
    digest, payload = frame_digest(head), bytes(data[start:end])
    changes = _ANY_BYTE if end - start <= _BYTES_TRIED else _ANY_BIT
    fitting = next(
        (
            bytes(trial)
            for trial in _variants(payload, changes)
            if xxhash.xxh3_64_intdigest(trial, seed) == digest
        ),
        None,
    )
    if fitting is None:
        return None
    data[start:end] = fitting
    return end


def _next(data: bytearray, place: int, salt: int, starts: list[int]) -> int:
    """Return where the next whole frame begins, or the end."""
    found = data.find(FRAME_MAGIC, place + SMALLEST_FRAME)
    while found >= 0:
        if _whole(data, found, salt) is not None:
            return found
        found = data.find(FRAME_MAGIC, found + 1)
    return starts[-1]


def _blank(data: bytearray, start: int, end: int, salt: int, starts: list[int]) -> None:
    """Replace a range by frames of blank lines, one up to each boundary."""
    edges = [start, *(edge for edge in starts if start < edge < end), end]
    for left, right in pairwise(edges):
        if right - left >= SMALLEST_FRAME:
            lines = b"\n" * (right - left - SMALLEST_FRAME)
            data[left:right] = encode_frame([Body(0, lines)], salt=salt, offset=left)
