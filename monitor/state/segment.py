"""One file of the journal: its layout, and checked reading.

    segment = header, frame*
    header  = magic, schema version, number, size of the segment before, salt, checksum
    frame   = magic, length of the payload, its checksum, checksum of these three, payload
    payload = (arrival time, length, body)*

A frame is what one fsync made durable: it was whole before it was acknowledged.
Checksums are xxh3, seeded by the segment's random salt and the frame's offset, so
that copied bytes, or bytes that a client sends, never pass for a frame. The next
segment begins after this one is durable, and records its size.

A frame that does not match its checksum is the *torn* end of the journal if no
frame follows it: an append that never became durable, or, seldom, a durable one that
was damaged in more than one place; see `segment_repair.repair_end`. If one follows,
wherever it lies, it was durable before, and is *damaged*; see `segment_reading`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import xxhash

from monitor.state.state_errors import StateError

SCHEMA_VERSION = 1
"""Version of the layout; a segment of another version is refused."""

FILE_MAGIC = b"PMonJrnl"
FRAME_MAGIC = b"\xf1PMF"
_HEADER = struct.Struct("<8sIQQQ")
_CHECK = struct.Struct("<Q")
_FRAME = struct.Struct("<4sIQ")
_FRAME_CHECK = struct.Struct("<I")
_HEAD_CHECK = 0xFFFFFFFF
"""Bits of a hash that check the head of a frame."""
_BODY = struct.Struct("<qI")

HEADER_BYTES = _HEADER.size + _CHECK.size
FRAME_BYTES = _FRAME.size + _FRAME_CHECK.size
BODY_BYTES = _BODY.size
SMALLEST_FRAME = FRAME_BYTES + BODY_BYTES
"""Bytes of a frame with one empty body."""


class Body(NamedTuple):
    """Body of one request.

    Attributes:
        arrival_ms: wall time of arrival, epoch milliseconds.
        lines: the events, NDJSON.
    """

    arrival_ms: int
    lines: bytes


class SegmentHeader(NamedTuple):
    """Header of a segment.

    Attributes:
        number: number of the segment, from 1.
        previous_size: size of the segment before, in bytes; 0 for the first.
        salt: random seed of the checksums of its frames.
    """

    number: int
    previous_size: int
    salt: int

    @classmethod
    def new(cls, number: int, previous_size: int) -> SegmentHeader:
        """Return a header with a salt of its own.

        Args:
            number: number of the segment, from 1.
            previous_size: size of the segment before, in bytes; 0 for the first.
        """
        return cls(number, previous_size, int.from_bytes(os.urandom(8), "little"))

    def encode(self) -> bytes:
        """Return the bytes in the file."""
        head = _HEADER.pack(FILE_MAGIC, SCHEMA_VERSION, *self)
        return head + _CHECK.pack(_header_check(head))


class JournalFrame(NamedTuple):
    """A whole frame.

    Attributes:
        offset: offset of its start in the segment.
        end: offset of its end.
        payload: the bodies, see `bodies_of`.
    """

    offset: int
    end: int
    payload: bytes


class TornSegmentError(Exception):
    """The end of the segment never became durable.

    Args:
        offset: where the torn end begins.

    Attributes:
        offset: where the torn end begins.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def encode_frame(bodies: Sequence[Body], *, salt: int, offset: int) -> bytes:
    """Return a frame of some bodies, valid only at its offset in its segment.

    Args:
        bodies: the bodies.
        salt: salt of the segment.
        offset: offset in the segment.
    """
    parts = [part for body in bodies for part in (_body_head(body), body.lines)]
    payload = b"".join(parts)
    return _frame_head(payload, salt ^ offset) + payload


def bodies_of(frame: JournalFrame) -> Iterator[Body]:
    """Yield the bodies of a frame, in order."""
    position = 0
    while position < len(frame.payload):
        arrival_ms, length = _BODY.unpack_from(frame.payload, position)
        position += _BODY.size
        yield Body(arrival_ms, frame.payload[position : position + length])
        position += length


def read_header(file: BinaryIO, path: Path) -> SegmentHeader:
    """Read the header; the file is then at the first frame.

    Args:
        file: the segment, at its start.
        path: its path, for error messages.

    Raises:
        TornSegmentError: the header is not whole, and nothing follows it: it is durable before
            the first frame is written.
        StateError: the header is damaged, or has another version.
    """
    data = file.read(HEADER_BYTES)
    whole = len(data) == HEADER_BYTES
    if not whole or _CHECK.unpack_from(data, _HEADER.size)[0] != _header_check(data):
        if whole and file.read(1):
            raise damage(path, 0)
        raise TornSegmentError(0)
    magic, version, *rest = _HEADER.unpack_from(data)
    if magic != FILE_MAGIC or version != SCHEMA_VERSION:
        raise StateError(
            f"{path}: has schema version {version}, this program reads {SCHEMA_VERSION}; "
            "use the program that wrote it"
        )
    return SegmentHeader(*rest)


def frame_length(head: bytes, seed: int) -> int | None:
    """Return the length of a frame's payload; None if its head is not whole.

    Args:
        head: the first `FRAME_BYTES` of the frame.
        seed: salt of the segment, exclusive or the offset of the frame.
    """
    length = unchecked_length(head)
    if length is None:
        return None
    (check,) = _FRAME_CHECK.unpack_from(head, _FRAME.size)
    return length if check == _head_check(head[: _FRAME.size], seed) else None


def has_head(data: bytearray, salt: int, start: int) -> bool:
    """Return whether the head of a frame lies at the offset at which it was written.

    Args:
        data: the segment.
        salt: its salt.
        start: offset from which on to search.
    """
    digest, check, view = xxhash.xxh3_64_intdigest, _FRAME_CHECK.unpack_from, memoryview(data)
    last = len(data) - FRAME_BYTES
    at = data.find(FRAME_MAGIC, start)
    while 0 <= at <= last:  # of millions: `frame_length` without its calls
        found = digest(view[at : at + _FRAME.size], salt ^ at) & _HEAD_CHECK
        if check(data, at + _FRAME.size)[0] == found:
            return True
        at = data.find(FRAME_MAGIC, at + 1)
    return False


def fitting_seeds(head: bytes, seeds: Iterable[int]) -> Iterator[int]:
    """Yield the seeds by which the head of a frame is whole.

    Args:
        head: the first `FRAME_BYTES` of the frame.
        seeds: salt of the segment, exclusive or an offset, of each offset to try.
    """
    if unchecked_length(head) is not None:
        (check,) = _FRAME_CHECK.unpack_from(head, _FRAME.size)
        fields = head[: _FRAME.size]
        digest = xxhash.xxh3_64_intdigest  # of millions of seeds: `_head_check` without its call
        yield from (seed for seed in seeds if digest(fields, seed) & _HEAD_CHECK == check)


def unchecked_length(head: bytes) -> int | None:
    """Return the length of a frame's payload, unchecked; None for anything but a frame's head.

    Args:
        head: the first `FRAME_BYTES` of the frame.
    """
    if len(head) < FRAME_BYTES:
        return None
    magic, length, _ = _FRAME.unpack_from(head)
    return int(length) if magic == FRAME_MAGIC else None


def frame_digest(head: bytes) -> int:
    """Return the checksum of a frame's payload, from its head."""
    return int(_FRAME.unpack_from(head)[2])


def salt_of(path: Path) -> int:
    """Return the salt of a segment.

    Raises:
        TornSegmentError: the header is not whole, and nothing follows it.
        StateError: the header is damaged, or has another version.
    """
    with path.open("rb") as file:
        return read_header(file, path).salt


def damage(path: Path, offset: int) -> StateError:
    """Return the error of a damaged segment.

    Args:
        path: the segment.
        offset: where the damage begins.
    """
    return StateError(
        f"{path}: offset {offset}: is damaged; copy the rest with `precision-monitor state "
        "salvage`, restore the file from a backup, or move the whole state directory away to start "
        "over"
    )


def _body_head(body: Body) -> bytes:
    return _BODY.pack(body.arrival_ms, len(body.lines))


def _frame_head(payload: bytes, seed: int) -> bytes:
    head = _FRAME.pack(FRAME_MAGIC, len(payload), xxhash.xxh3_64_intdigest(payload, seed))
    return head + _FRAME_CHECK.pack(_head_check(head, seed))


def _header_check(header: bytes) -> int:
    return xxhash.xxh3_64_intdigest(header[: _HEADER.size])


def _head_check(head: bytes, seed: int) -> int:
    return xxhash.xxh3_64_intdigest(head, seed) & _HEAD_CHECK
