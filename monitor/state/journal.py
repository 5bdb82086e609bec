"""The journal of posted requests: durable appends, reads in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.state.disk import (
    AppendFile,
    Sync,
    delete_file,
    make_directory,
    sync_directory,
    synced,
)
from monitor.state.journal_position import START, JournalPosition
from monitor.state.locked_directory import LockedDirectory, check_place
from monitor.state.segment import (
    Body,
    SegmentHeader,
    encode_frame,
    salt_of,
)
from monitor.state.segment_bodies import bodies_between
from monitor.state.segment_files import (
    cut_off,
    missing,
    of_another_journal,
    segment_numbers,
    segment_path,
)
from monitor.state.segment_reading import whole_end
from monitor.state.segment_repair import repair_end, rewrite_end
from monitor.state.state_errors import StateError, StateFullError, StateGoneError
from monitor.state.torn_ends import set_aside

SEGMENT_BYTES = 64 * 1024 * 1024
"""Minimum size of a segment before the next one begins."""


class Journal:
    r"""Posted requests on disk: once `append` returns, its bodies survive a crash.

    Belongs to one process, which locks the directory. One thread appends; other threads may
    delete segments, read the size and check the place.

    Args:
        directory: directory of the segments; created if missing.
        reaches: position of an acknowledged body; a journal that ends before it is refused
            and left as it is.
        segment_bytes: size from which on the next segment begins.
        sync: makes a file or directory durable, by its descriptor.

    Attributes:
        repaired: True if a damaged byte of the last frame was repaired.
        torn_bytes: bytes at the end that are not whole, and were cut off: an append that never
            became durable, or damage.
        torn_file: the file that has them now; None if there are none, or it could not be
            written.

    Raises:
        StateError: the last segment is damaged, segments or acknowledged bodies are missing,
            the directory cannot be written, or another process uses it.

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
        reaches: JournalPosition = START,
        segment_bytes: int = SEGMENT_BYTES,
        sync: Sync = synced,
    ) -> None:
        self.repaired = False
        self.torn_bytes = 0
        self.torn_file: Path | None = None
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._sync = sync
        self._file: AppendFile | None = None
        self._salt = 0
        self._deletes = False  # and the directory is not synced yet
        self._lock = threading.Lock()
        try:
            make_directory(directory, sync=sync)
        except OSError as error:
            raise StateError(f"{directory}: cannot be created: {error.strerror}") from error
        self._found_ends: dict[int, int] = {}
        with ExitStack() as opened:
            self._locked = LockedDirectory(directory)
            opened.callback(self.close)
            self._numbers = segment_numbers(directory)
            try:
                self._take_up(reaches)
            except OSError as error:
                raise StateError(f"{directory}: cannot be used: {error.strerror}") from error
            opened.pop_all()

    @property
    def nbytes(self) -> int:
        """Size of all segments in bytes; safe from any thread."""
        with self._lock:
            own = 0 if self._file is None else self._file.size
            return sum(tuple(self._sizes.values())[:-1]) + own

    @property
    def end(self) -> JournalPosition:
        """Position behind the last body."""
        return (
            START
            if self._file is None
            else JournalPosition(self._numbers[-1], self._file.size, 0, self._salt)
        )

    def append(self, bodies: Sequence[Body]) -> list[JournalPosition]:
        """Make bodies durable together: all of them, or none.

        Returns:
            The position behind each.

        Raises:
            StateGoneError: the journal is no longer where it was.
            StateFullError: they could not be written. The journal is as before,
                and a later call may succeed.
        """
        self.check_place()
        try:
            if self._file is None or self._file.size >= self._segment_bytes:
                self._begin_segment()
            assert self._file is not None  # noqa: S101  # opened above or before
            offset = self._file.size
            self._file.append(encode_frame(bodies, salt=self._salt, offset=offset))
            self._check_or_cut(offset)
        except OSError as error:
            raise StateFullError(
                f"{self._directory}: cannot be written: {error.strerror}; free space on the disk"
            ) from error
        return [
            JournalPosition(self._numbers[-1], offset, number + 1, self._salt)
            for number in range(len(bodies))
        ]

    def check_place(self) -> None:
        """Check that directory and last segment are where they were; safe from any thread.

        Raises:
            StateGoneError: one of them was removed or replaced.
        """
        with self._lock:
            self._locked.check()
            if self._file is not None:
                check_place(self._path(self._numbers[-1]), self._file.descriptor)

    def read(self, since: JournalPosition = START) -> Iterator[tuple[Body, JournalPosition]]:
        """Yield all bodies behind a position, in order, each with the position behind it.

        Raises:
            StateError: a segment is damaged or missing; the message names it and the offset.
                All bodies before it were yielded.
        """
        end = self.end
        self._check_reaches(since, end)
        for number in [number for number in self._numbers if number >= since.segment]:
            start = since if number == since.segment else JournalPosition(number, 0, 0)
            for body, position in self._bodies(start, None if number < end.segment else end.offset):
                if since.is_before(position):
                    yield body, position

    def check(self, since: JournalPosition = START) -> None:
        """Search for damage behind a position; the last segment was checked when it was opened.

        Raises:
            StateError: a segment is damaged or missing.
        """
        last = self.end.segment
        self._check_reaches(since, self.end)
        for number in [number for number in self._numbers if number >= since.segment]:
            start = since if number == since.segment else JournalPosition(number, 0, 0)
            for _ in self._bodies(start, 0 if number == last else None):
                pass

    def delete_before(self, before: JournalPosition) -> None:
        """Delete the segments that lie wholly before a position; called by who appends.

        Raises:
            StateFullError: a segment could not be deleted.
        """
        try:
            old = [number for number in self._numbers[:-1] if number < before.segment]
            while old or self._deletes:
                if not self._deletes:
                    self._deletes = True
                    delete_file(self._path(old[0]))
                    with self._lock:
                        self._numbers.remove(old[0])
                        del self._sizes[old.pop(0)]
                # One by one: a crash that undoes the first alone would leave a gap.
                sync_directory(self._directory, sync=self._sync)
                self._deletes = False
        except OSError as error:
            raise StateFullError(
                f"{self._directory}: cannot be written: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Close the files and release the directory."""
        self._close_last()
        self._locked.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _close_last(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _check_or_cut(self, size: int) -> None:
        """Check the place after an append; undo the append if the journal has gone meanwhile."""
        try:
            self.check_place()
        except StateGoneError:
            assert self._file is not None  # noqa: S101  # it was appended to
            self._file.cut(size)
            raise

    def _path(self, number: int) -> Path:
        return segment_path(self._directory, number)

    def _check_reaches(self, since: JournalPosition, end: JournalPosition) -> None:
        """Refuse a position that the journal does not have."""
        first = self._numbers[0] if self._numbers else 1
        if since.is_start and first > 1:
            raise missing(self._path(first - 1))
        if not since.is_start and (since.segment < first or not self._numbers):
            raise missing(self._path(since.segment))
        if since.segment > max(self._numbers, default=0):
            raise missing(self._path(since.segment))
        if not since.is_start and since[:2] >= end[:2]:
            raise cut_off(
                self._path(since.segment),
                end.offset if end.segment == since.segment else 0,
                since.offset,
            )
        if since.salt and salt_of(self._path(since.segment)) != since.salt:
            raise of_another_journal(self._path(since.segment))

    def _whole_end(self) -> JournalPosition:
        """Return the end of the journal without a torn end; nothing is changed."""
        for number in reversed(self._numbers):
            if end := self._end_of(number):
                return JournalPosition(number, end, 0)
        return START

    def _end_of(self, number: int) -> int:
        """Return the end of a segment as found, without a torn end; each segment is read once."""
        if number not in self._found_ends:
            path = self._path(number)
            with path.open("rb") as file:
                self._found_ends[number] = whole_end(file, path)
        return self._found_ends[number]

    def _take_up(self, reaches: JournalPosition) -> None:
        """Repair the last frame if it can be, refuse a journal that is too short, and open it."""
        if self._numbers:
            number = self._numbers[-1]
            path, end = self._path(number), self._end_of(number)
            if repair_end(path, end, sync=self._sync):
                self.repaired = True
                del self._found_ends[number]
        self._sizes = {number: self._path(number).stat().st_size for number in self._numbers}
        if not reaches.is_start:
            self._check_reaches(reaches, self._whole_end())
        self._open_last()

    def _open_last(self) -> None:
        """Open the last segment with a whole header, and cut off its torn end."""
        while self._numbers:
            number = self._numbers[-1]
            path, size, end = self._path(number), self._sizes[number], self._end_of(number)
            self.torn_bytes += size - end
            if end < size:
                self.torn_file = set_aside(path, end)
            if end:
                self._salt = salt_of(path)
                self._file = AppendFile(path, sync=self._sync)
                self._file.cut(end)
                rewrite_end(path, self._file)  # a killed process may have left it unsynced
                sync_directory(self._directory, sync=self._sync)
                return
            path.unlink()
            sync_directory(self._directory, sync=self._sync)
            del self._sizes[self._numbers.pop()]

    def _begin_segment(self) -> None:
        number, size = self._numbers[-1] + 1 if self._numbers else 1, 0
        if self._file is not None:
            size = self._file.size
            self._file.cut(size)
        header, path = SegmentHeader.new(number, size), self._path(number)
        file = AppendFile(path, sync=self._sync)
        try:
            file.cut(0)  # what an attempt that failed may have left
            file.append(header.encode())
            sync_directory(self._directory, sync=self._sync)
        except OSError:
            file.close()
            with suppress(OSError):
                path.unlink()
            raise
        with self._lock:  # not while the disk is waited for: `check_place` would wait as well
            self._close_last()
            self._sizes |= {number - 1: size, number: 0} if size else {number: 0}
            self._numbers.append(number)
            self._file, self._salt = file, header.salt

    def _bodies(
        self, start: JournalPosition, end: int | None
    ) -> Iterator[tuple[Body, JournalPosition]]:
        """Yield the bodies of a segment from a frame up to an offset; None for all."""
        is_first = start.segment == self._numbers[0]
        return bodies_between(self._directory, start, end, is_first=is_first)
