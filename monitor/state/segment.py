"""One file of the journal: its layout, and reading it with suspicion.

    segment = header, frame*
    header  = magic, schema version, number, size of the segment before, salt, checksum
    frame   = magic, length of the payload, its checksum, checksum of these three, payload
    payload = (arrival time, length, body)*

A frame is what one fsync made durable: it is there whole, or it was never
acknowledged. Checksums are xxh3, seeded by the segment's random salt and the
frame's offset, so that nothing that is merely copied, or sent by a client,
passes for a frame. The next segment is begun after this one is durable, and
says how long it is.

A frame that does not fit its checksum is the *torn* end of the journal where no
frame follows it; where one does, it had been durable, and is *damaged*.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import xxhash

from monitor.state.errors import StateError

SCHEMA_VERSION = 1
"""Of the layout; a segment of another one is refused."""

_FILE_MAGIC = b"PMonJrnl"
_FRAME_MAGIC = b"\xf1PMF"
_HEADER = struct.Struct("<8sIQQQ")
_CHECK = struct.Struct("<Q")
_FRAME = struct.Struct("<4sIQ")
_FRAME_CHECK = struct.Struct("<I")
_BODY = struct.Struct("<qI")

HEADER_BYTES = _HEADER.size + _CHECK.size
_FRAME_BYTES = _FRAME.size + _FRAME_CHECK.size
MAX_PAYLOAD_BYTES = 2**32 - 1
"""Bytes that one frame can hold."""


class Body(NamedTuple):
    """What came in one request.

    Attributes:
        arrival_ms: wall time when it came, epoch milliseconds.
        lines: the events, NDJSON.
    """

    arrival_ms: int
    lines: bytes


class Header(NamedTuple):
    """The start of a segment.

    Attributes:
        number: of the segment, from 1 on.
        previous_size: bytes of the segment before; 0 for the first.
        salt: random; what frames of this segment are checked with.
    """

    number: int
    previous_size: int
    salt: int

    @classmethod
    def new(cls, number: int, previous_size: int) -> Header:
        """One with a salt of its own."""
        return cls(number, previous_size, int.from_bytes(os.urandom(8), "little"))

    def encode(self) -> bytes:
        """As it stands in the file."""
        head = _HEADER.pack(_FILE_MAGIC, SCHEMA_VERSION, *self)
        return head + _CHECK.pack(xxhash.xxh3_64_intdigest(head))


class Frame(NamedTuple):
    """A whole frame.

    Attributes:
        offset: where it begins in its segment.
        end: where it ends.
        payload: the bodies, see `bodies_of`.
    """

    offset: int
    end: int
    payload: bytes


class TornError(Exception):
    """The segment ends in what never became durable.

    Attributes:
        offset: where that begins.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def encode_frame(bodies: Sequence[Body], *, salt: int, offset: int) -> bytes:
    """A frame of some bodies, to be written at that offset and nowhere else."""
    parts = [part for body in bodies for part in (_body_head(body), body.lines)]
    payload = b"".join(parts)
    return _frame_head(payload, salt ^ offset) + payload


def bodies_of(frame: Frame) -> Iterator[Body]:
    """The bodies of a frame, in order."""
    position = 0
    while position < len(frame.payload):
        arrival_ms, length = _BODY.unpack_from(frame.payload, position)
        position += _BODY.size
        yield Body(arrival_ms, frame.payload[position : position + length])
        position += length


def read_header(file: BinaryIO, path: Path) -> Header:
    """The header; the file is then at the first frame.

    Raises:
        TornError: the file ends in it, and holds nothing else.
        StateError: it is damaged, or of another version.
    """
    data = file.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        raise TornError(0)
    (check,) = _CHECK.unpack_from(data, _HEADER.size)
    if check != xxhash.xxh3_64_intdigest(data[: _HEADER.size]):
        raise damage(path, 0)
    magic, version, *rest = _HEADER.unpack_from(data)
    if magic != _FILE_MAGIC or version != SCHEMA_VERSION:
        raise StateError(
            f"{path}: is of schema version {version}, this program reads {SCHEMA_VERSION}; "
            "use the program that wrote it"
        )
    return Header(*rest)


def read_frames(file: BinaryIO, path: Path, salt: int) -> Iterator[Frame]:
    """All frames from where the file stands, to its end.

    Raises:
        TornError: the end is torn; all frames before it were given.
        StateError: a frame that had been durable is damaged.
    """
    offset = file.tell()
    while head := file.read(_FRAME_BYTES):
        length = _length(head, salt ^ offset)
        payload = b"" if length is None else file.read(length)
        if length is None or not _intact(head, payload, length, salt ^ offset):
            _refuse_damage(file, path, salt, offset)
            raise TornError(offset)
        frame = Frame(offset, file.tell(), payload)
        yield frame
        offset = frame.end


def whole_end(file: BinaryIO, path: Path) -> int:
    """Where the last whole frame of a segment ends, or its header; 0 where not even that is whole.

    Raises:
        StateError: what had been durable is damaged.
    """
    end = 0
    try:
        header = read_header(file, path)
        end = file.tell()
        for frame in read_frames(file, path, header.salt):
            end = frame.end
    except TornError as torn:
        return torn.offset
    return end


def damage(path: Path, offset: int) -> StateError:
    """The error of a segment that is not as it was written."""
    return StateError(
        f"{path}: offset {offset}: is damaged, what was written there cannot be read; "
        "restore the file from a copy, or move the whole state directory away to begin anew"
    )


def _body_head(body: Body) -> bytes:
    return _BODY.pack(body.arrival_ms, len(body.lines))


def _frame_head(payload: bytes, seed: int) -> bytes:
    head = _FRAME.pack(_FRAME_MAGIC, len(payload), xxhash.xxh3_64_intdigest(payload, seed))
    return head + _FRAME_CHECK.pack(_head_check(head, seed))


def _head_check(head: bytes, seed: int) -> int:
    return xxhash.xxh3_64_intdigest(head, seed) & 0xFFFFFFFF


def _length(head: bytes, seed: int) -> int | None:
    """Bytes of the payload; None where the head is none."""
    if len(head) < _FRAME_BYTES:
        return None
    (check,) = _FRAME_CHECK.unpack_from(head, _FRAME.size)
    magic, length, _ = _FRAME.unpack_from(head)
    intact = magic == _FRAME_MAGIC and check == _head_check(head[: _FRAME.size], seed)
    return int(length) if intact else None


def _intact(head: bytes, payload: bytes, length: int, seed: int) -> bool:
    digest = _FRAME.unpack_from(head)[2]
    return len(payload) == length and digest == xxhash.xxh3_64_intdigest(payload, seed)


def _refuse_damage(file: BinaryIO, path: Path, salt: int, offset: int) -> None:
    """Refuse a bad frame that others follow: it had been durable."""
    file.seek(offset)
    rest = file.read()
    place = rest.find(_FRAME_MAGIC, 1)
    while place >= 0:
        head, seed = rest[place : place + _FRAME_BYTES], salt ^ (offset + place)
        # A head alone is enough: it was written after the frame before was durable.
        if _length(head, seed) is not None:
            raise damage(path, offset)
        place = rest.find(_FRAME_MAGIC, place + 1)
