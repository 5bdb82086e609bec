"""Reads the frames of a segment in order, and tells a torn end from damage.

Nothing follows a torn end: the next frame is written once the one before is durable. Where a frame
follows, at its own offset or at another, acknowledged requests are damaged, or lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import xxhash

from monitor.state.frame_search import FoundPlace, FrameSearch
from monitor.state.segment import (
    FRAME_BYTES,
    JournalFrame,
    TornSegmentError,
    damage,
    frame_digest,
    frame_length,
    has_head,
    read_header,
)

_SEARCHES = 4
"""Places of a torn end for which a start searches long; no more, as it would delay the start."""


def read_frames(file: BinaryIO, path: Path, salt: int) -> Iterator[JournalFrame]:
    """Yield all frames from the current offset of the file to its end.

    Args:
        file: the segment.
        path: its path, for error messages.
        salt: salt of the segment.

    Raises:
        TornSegmentError: the end is torn; all frames before it were yielded.
        StateError: a frame that was durable is damaged.
    """
    offset = file.tell()
    while head := file.read(FRAME_BYTES):
        length = frame_length(head, salt ^ offset)
        payload = b"" if length is None else file.read(length)
        if length is None or not _intact(head, payload, length, salt ^ offset):
            _refuse_damage(file, path, salt, offset)
            raise TornSegmentError(offset)
        frame = JournalFrame(offset, file.tell(), payload)
        yield frame
        offset = frame.end


def whole_end(file: BinaryIO, path: Path) -> int:
    """Return the offset behind the last whole frame or the header; 0 without a whole header.

    Args:
        file: the segment, at its start.
        path: its path, for error messages.

    Raises:
        StateError: a frame that was durable is damaged.
    """
    return last_whole(file, path)[1]


def last_whole(file: BinaryIO, path: Path) -> tuple[int, int]:
    """Return the offsets of the start and end of the last whole frame, or else of the header.

    Args:
        file: the segment, at its start.
        path: its path, for error messages.

    Raises:
        StateError: a frame that was durable is damaged.
    """
    start = end = 0
    try:
        header = read_header(file, path)
        end = file.tell()
        for frame in read_frames(file, path, header.salt):
            start, end = frame.offset, frame.end
    except TornSegmentError:
        pass
    return start, end


def _intact(head: bytes, payload: bytes, length: int, seed: int) -> bool:
    return len(payload) == length and frame_digest(head) == xxhash.xxh3_64_intdigest(payload, seed)


def _refuse_damage(file: BinaryIO, path: Path, salt: int, offset: int) -> None:
    """Raise if another frame follows a bad one: it was durable, so the bad one is damaged."""
    file.seek(0)
    data = bytearray(file.read())
    # A head at its own offset is enough: it was written after the frame before was durable.
    if has_head(data, salt, offset + 1):
        raise damage(path, offset)
    search = FrameSearch(data, salt, searches=_SEARCHES)
    if search.after(FoundPlace(offset, 0)) is not None:
        raise damage(path, offset)
