"""The segments together: appended durably, read back in order."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from monitor.state.disk import AppendFile, Sync, make_directory, sync_directory
from monitor.state.errors import StateError, StateFullError
from monitor.state.segment import (
    Body,
    Header,
    TornError,
    bodies_of,
    damage,
    encode_frame,
    read_frames,
    read_header,
    whole_end,
)

JOURNAL = "journal"
"""Its folder in the state directory, and what a checkpoint keeps the place in it under."""
SEGMENT_BYTES = 64 * 1024 * 1024
"""A segment is not begun anew before it has so many bytes."""
_SUFFIX = ".journal"


class Place(NamedTuple):
    """A place between two bodies of the journal.

    Attributes:
        segment: number of a segment; 0 before all of them.
        offset: where a frame of it begins.
        bodies: bodies of that frame that lie before the place.
    """

    segment: int
    offset: int
    bodies: int


START = Place(0, 0, 0)
"""Before everything."""


class Journal:
    r"""What was pushed, on disk: what `append` has returned for outlives any crash.

    Belongs to one process (see `StateLock`); one thread appends, while others may forget and ask.

    Args:
        directory: of its segments; made where it is missing.
        reaches: a place behind what was acknowledged; a journal that ends before it is refused,
            and left as it is.
        segment_bytes: size from which on the next segment is begun.
        sync: makes a file or directory durable, by its descriptor.

    Attributes:
        torn_bytes: bytes at the end that never had become durable, and were cut off.

    Raises:
        StateError: the last segment is damaged, segments are missing, something that was
            acknowledged is, or the directory cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
    ...     first, _ = journal.append([Body(1_000, b"first\n"), Body(1_001, b"second\n")])
    ...     [body.lines for body, _ in journal.read(first)]
    [b'second\n']
    """

    def __init__(
        self,
        directory: Path,
        *,
        reaches: Place = START,
        segment_bytes: int = SEGMENT_BYTES,
        sync: Sync = os.fsync,
    ) -> None:
        self.torn_bytes = 0
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._sync = sync
        self._file: AppendFile | None = None
        self._salt = 0
        self._lock = threading.Lock()
        self._make_directory()
        self._found_ends: dict[int, int] = {}
        self._numbers = self._find()
        self._sizes = {number: self._path(number).stat().st_size for number in self._numbers}
        if reaches != START:
            self._check_reaches(reaches, self._whole_end())
        self._open_last()

    @property
    def nbytes(self) -> int:
        """Bytes of all segments; may be asked for by any thread."""
        with self._lock:
            own = 0 if self._file is None else self._file.size
            return sum(tuple(self._sizes.values())[:-1]) + own

    @property
    def end(self) -> Place:
        """The place behind everything."""
        return START if self._file is None else Place(self._numbers[-1], self._file.size, 0)

    def append(self, bodies: Sequence[Body]) -> list[Place]:
        """Make bodies durable, together: all of them, or none.

        Returns:
            The place behind each.

        Raises:
            StateFullError: they could not be written. The journal is as before,
                and a later call may succeed.
        """
        try:
            if self._file is None or self._file.size >= self._segment_bytes:
                with self._lock:
                    self._begin_segment()
            assert self._file is not None  # noqa: S101  # begun, or there before
            offset = self._file.size
            self._file.append(encode_frame(bodies, salt=self._salt, offset=offset))
        except OSError as error:
            raise StateFullError(
                f"{self._directory}: cannot be written: {error.strerror}; make room on the disk"
            ) from error
        return [Place(self._numbers[-1], offset, number + 1) for number in range(len(bodies))]

    def read(self, since: Place = START) -> Iterator[tuple[Body, Place]]:
        """All bodies behind a place that were appended before, in order; the place behind each.

        Raises:
            StateError: a segment is damaged or missing; its name and the offset are
                told, and all before it were given.
        """
        end = self.end
        self._check_reaches(since, end)
        for number in [number for number in self._numbers if number >= since.segment]:
            start = since if number == since.segment else Place(number, 0, 0)
            for body, place in self._bodies(start, None if number < end.segment else end.offset):
                if place > since:
                    yield body, place

    def check(self, since: Place = START) -> None:
        """Look for damage behind a place, but for the last segment: its opening has done so.

        Raises:
            StateError: a segment is damaged or missing.
        """
        last = self.end.segment
        self._check_reaches(since, self.end)
        for number in [number for number in self._numbers if number >= since.segment]:
            start = since if number == since.segment else Place(number, 0, 0)
            for _ in self._bodies(start, 0 if number == last else None):
                pass

    def forget(self, before: Place) -> None:
        """Delete the segments that lie before a place as a whole.

        Raises:
            StateFullError: one could not be deleted.
        """
        try:
            with self._lock:
                gone = [number for number in self._numbers[:-1] if number < before.segment]
                for number in gone:
                    self._path(number).unlink()
                    self._numbers.remove(number)
                    del self._sizes[number]
            if gone:
                sync_directory(self._directory, sync=self._sync)
        except OSError as error:
            raise StateFullError(
                f"{self._directory}: cannot be written: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Let go of the files."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _path(self, number: int) -> Path:
        return segment_path(self._directory, number)

    def _make_directory(self) -> None:
        try:
            make_directory(self._directory, sync=self._sync)
        except OSError as error:
            raise StateError(f"{self._directory}: cannot be made: {error.strerror}") from error

    def _find(self) -> list[int]:
        """Numbers of the segments; the first ones may have been forgotten.

        Raises:
            StateError: one between others is missing.
        """
        found = segments_in(self._directory)
        first = _number_of(found[0]) if found else 1
        numbers = list(range(first, first + len(found)))
        for path, number in zip(found, numbers, strict=True):
            if path != self._path(number):
                raise _missing(self._path(number))
        return numbers

    def _check_reaches(self, since: Place, end: Place) -> None:
        """Refuse to begin at a place that the journal does not have."""
        first = self._numbers[0] if self._numbers else 1
        if since == START and first > 1:
            raise _missing(self._path(first - 1))
        if since != START and (since.segment < first or not self._numbers):
            raise _missing(self._path(since.segment))
        if since.segment > max(self._numbers, default=0):
            raise _missing(self._path(since.segment))
        if since != START and since[:2] >= end[:2]:
            raise _cut_off(self._path(since.segment), end, since)

    def _whole_end(self) -> Place:
        """Where the journal ends but for what is torn; nothing is changed."""
        for number in reversed(self._numbers):
            if end := self._end_of(number):
                return Place(number, end, 0)
        return START

    def _end_of(self, number: int) -> int:
        """Where a segment ends as it was found, but for what is torn; all of it is read, once."""
        if number not in self._found_ends:
            path = self._path(number)
            with path.open("rb") as file:
                self._found_ends[number] = whole_end(file, path)
        return self._found_ends[number]

    def _open_last(self) -> None:
        """Open the last segment that was begun as a whole, and cut off its torn end."""
        while self._numbers:
            number = self._numbers[-1]
            path, size, end = self._path(number), self._sizes[number], self._end_of(number)
            self.torn_bytes += size - end
            if end:
                with path.open("rb") as file:
                    self._salt = read_header(file, path).salt
                self._file = AppendFile(path, sync=self._sync)
                if end < size:
                    self._file.cut(end)
                return
            path.unlink()
            sync_directory(self._directory, sync=self._sync)
            del self._sizes[self._numbers.pop()]

    def _begin_segment(self) -> None:
        number, size = self._numbers[-1] + 1 if self._numbers else 1, 0
        if self._file is not None:
            size = self._file.size
            self._file.cut(size)
        header, path = Header.new(number, size), self._path(number)
        file = AppendFile(path, sync=self._sync, new=True)
        try:
            file.append(header.encode())
            sync_directory(self._directory, sync=self._sync)
        except OSError:
            file.close()
            path.unlink()
            raise
        self.close()
        self._sizes |= {number - 1: size, number: 0} if size else {number: 0}
        self._numbers.append(number)
        self._file, self._salt = file, header.salt

    def _bodies(self, start: Place, end: int | None) -> Iterator[tuple[Body, Place]]:
        """Bodies of a segment from a frame up to an offset; None for all that is there."""
        number, path = start.segment, self._path(start.segment)
        with path.open("rb") as file:
            try:
                header = read_header(file, path)
                self._check_place(header, number)
                file.seek(max(start.offset, file.tell()))
                for frame in read_frames(file, path, header.salt):
                    if end is not None and frame.offset >= end:
                        return
                    for position, body in enumerate(bodies_of(frame), start=1):
                        yield body, Place(number, frame.offset, position)
            except TornError as torn:
                if end is None or torn.offset < end:
                    raise damage(path, torn.offset) from torn

    def _check_place(self, header: Header, number: int) -> None:
        """Refuse a segment that is another one, or whose predecessor has another length."""
        if header.number != number:
            raise damage(self._path(number), 0)
        if number == self._numbers[0]:
            return  # what lay before it is forgotten, or there was nothing
        before = self._path(number - 1).stat().st_size
        if header.previous_size != before:
            raise damage(self._path(number - 1), min(before, header.previous_size))


def segment_path(directory: Path, number: int) -> Path:
    """The file of a segment."""
    return directory / f"{number:08}{_SUFFIX}"


def segments_in(directory: Path) -> list[Path]:
    """The files of a directory, the oldest first."""
    return sorted(directory.glob(f"*{_SUFFIX}"))


def _number_of(path: Path) -> int:
    if not path.stem.isdecimal():
        raise StateError(f"{path}: is no segment of a journal; move it away")
    return int(path.stem)


def _cut_off(path: Path, end: Place, since: Place) -> StateError:
    kept = end.offset if end.segment == since.segment else 0
    return StateError(
        f"{path}: offset {kept}: is cut off there, and with it events that were acknowledged: the "
        f"checkpoint is past offset {since.offset}; restore the file from a copy, or move the "
        "whole state directory away to begin anew"
    )


def _missing(path: Path) -> StateError:
    return StateError(
        f"{path}: is missing, and with it events that were acknowledged; restore it from a "
        "copy, or move the whole state directory away to begin anew"
    )
