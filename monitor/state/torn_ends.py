"""Ends of segments that starts cut off and stored beside them (`.torn`): what is whole in them.

Starts of earlier versions cut off all that lay behind a shift, see `frame_search`.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import NamedTuple

from monitor.state.disk import write_file
from monitor.state.frame_search import FoundPlace, FrameSearch, likely_places, whole_frame
from monitor.state.segment import (
    FRAME_BYTES,
    Body,
    JournalFrame,
    SegmentHeader,
    TornSegmentError,
    bodies_of,
    encode_frame,
    salt_of,
)
from monitor.state.segment_files import segment_path
from monitor.state.state_errors import StateError

_SUFFIX = ".torn"
_SEARCHES = 4
_FARTHEST = 1 << 20
"""Bytes that may be missing in a segment with its end."""


class TornEnd(NamedTuple):
    """What is whole in an end that was cut off.

    Attributes:
        groups: the requests that were written together, and that the segment lacks; in order.
        lines: ends of lines in the rest of it.
        unclear: True if it may hold requests, and its segment, which would prove them, is gone
            or damaged.
    """

    groups: list[list[Body]]
    lines: int
    unclear: bool = False


def torn_ends_in(directory: Path) -> list[Path]:
    """Return the files with ends that were cut off, by segment.

    Args:
        directory: directory of the journal.
    """
    found = directory.glob(f"*{_SUFFIX}")
    return sorted(path for path in found if path.name.partition(".")[0].isdecimal())


def set_aside(path: Path, start: int) -> Path | None:
    """Copy the end of a segment to a new file beside it, before it is cut off.

    Args:
        path: the segment.
        start: offset of the first byte to copy.

    Returns:
        The file; None if it could not be written.
    """
    beside, number = path.with_name(f"{path.name}{_SUFFIX}"), 1
    try:
        while beside.exists():
            number += 1
            beside = path.with_name(f"{path.name}.{number}{_SUFFIX}")
        write_file(beside, [path.read_bytes()[start:]])
    except OSError:
        return None
    return beside


def read_torn_end(path: Path) -> TornEnd:
    """Return the requests that are whole in an end that was cut off.

    Args:
        path: its file, beside the segment.

    Raises:
        OSError: a file cannot be read.
    """
    data = bytearray(path.read_bytes())
    segment = segment_path(path.parent, int(path.name.partition(".")[0]))
    try:
        salt = salt_of(segment)
    except (FileNotFoundError, StateError, TornSegmentError):
        return TornEnd(
            [], data.count(b"\n"), unclear=next(likely_places(data, 0), None) is not None
        )
    kept, groups, lines = segment.read_bytes(), list[list[Body]](), data.count(b"\n")
    offsets = range(len(kept) + len(data) + _FARTHEST)
    search = FrameSearch(data, salt, offsets=offsets, searches=_SEARCHES)
    place = FoundPlace(0, 0)
    while found := search.after(place):
        at = found.offset + found.shift
        end = whole_frame(data, at, salt ^ found.offset) or at
        frame = JournalFrame(found.offset, end - found.shift, bytes(data[at + FRAME_BYTES : end]))
        if kept[frame.offset : frame.end] != data[at:end]:  # no copy of one that was kept
            groups.append(list(bodies_of(frame)))
        lines -= frame.payload.count(b"\n")
        place = FoundPlace(frame.end, found.shift)
    return TornEnd(groups, lines)


def segment_of(header: SegmentHeader, end: TornEnd) -> bytes:
    """Return a segment of the requests in an end that was cut off.

    Args:
        header: header of the segment.
        end: the end.
    """
    data = bytearray(header.encode())
    for bodies in end.groups:
        data += encode_frame(bodies, salt=header.salt, offset=len(data))
    return bytes(data)


def requests_in(end: TornEnd) -> int:
    """Return how many requests are whole in an end that was cut off."""
    return sum(1 for _ in chain.from_iterable(end.groups))
