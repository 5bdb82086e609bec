"""Reads the bodies of segments of a journal, and checks that each belongs where it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from monitor.state.journal_position import JournalPosition
from monitor.state.segment import (
    Body,
    SegmentHeader,
    TornSegmentError,
    bodies_of,
    damage,
    read_header,
)
from monitor.state.segment_files import segment_numbers, segment_path
from monitor.state.segment_reading import read_frames
from monitor.state.state_errors import StateError


def bodies_between(
    directory: Path, start: JournalPosition, end: int | None, *, is_first: bool
) -> Iterator[tuple[Body, JournalPosition]]:
    """Yield the bodies of a segment from a frame on, each with the position behind it.

    Args:
        directory: directory of the journal.
        start: the segment, and the offset of the first frame.
        end: offset of the first frame to leave out; None for all.
        is_first: no segment comes before it: those were deleted, or never existed.

    Raises:
        StateError: the segment is damaged; all bodies before the damage were yielded.
    """
    number, path = start.segment, segment_path(directory, start.segment)
    with path.open("rb") as file:
        try:
            header = read_header(file, path)
            _check_header(header, directory, number, is_first=is_first)
            file.seek(max(start.offset, file.tell()))
            for frame in read_frames(file, path, header.salt):
                if end is not None and frame.offset >= end:
                    return
                for position, body in enumerate(bodies_of(frame), start=1):
                    yield body, JournalPosition(number, frame.offset, position, header.salt)
        except TornSegmentError as torn:
            if end is None or torn.offset < end:
                raise damage(path, torn.offset) from torn


def lines_behind(directory: Path, since: JournalPosition) -> int:
    """Return how many lines that are not blank lie behind a position, up to a damage.

    Args:
        directory: directory of the journal, which another object may have open.
        since: the position.
    """
    found = 0
    with suppress(StateError, OSError):
        numbers = segment_numbers(directory)
        for number in [number for number in numbers if number >= since.segment]:
            start = since if number == since.segment else JournalPosition(number, 0, 0)
            is_first = number == numbers[0]
            for body, position in bodies_between(directory, start, None, is_first=is_first):
                if since.is_before(position):
                    found += sum(1 for line in body.lines.split(b"\n") if line.strip())
    return found


def _check_header(header: SegmentHeader, directory: Path, number: int, *, is_first: bool) -> None:
    """Refuse a segment with a wrong number, or whose predecessor has another size."""
    if header.number != number:
        raise damage(segment_path(directory, number), 0)
    if is_first:
        return
    path = segment_path(directory, number - 1)
    before = path.stat().st_size
    if header.previous_size != before:
        raise damage(path, min(before, header.previous_size))
