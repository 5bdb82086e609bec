"""The segments together: appended durably, read back in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from monitor.state.errors import StateError, StateFullError
from monitor.state.segment import (
    HEADER_BYTES,
    Body,
    Header,
    TornError,
    bodies_of,
    damage,
    encode_frame,
    read_frames,
    read_header,
)

SEGMENT_BYTES = 64 * 1024 * 1024
"""A segment is not begun anew before it has so many bytes."""
_SUFFIX = ".journal"


class Journal:
    r"""What was pushed, on disk: what `append` has returned for outlives any crash.

    To be used by one thread, in one process (see `StateLock`).

    Args:
        directory: of its segments; made where it is missing.
        segment_bytes: size from which on the next segment is begun.
        sync: makes a file or directory durable, by its descriptor.

    Attributes:
        torn_bytes: bytes at the end that never had become durable, and were cut off.

    Raises:
        StateError: the last segment is damaged, segments are missing, or the
            directory cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
    ...     journal.append([Body(1_000, b"first\n"), Body(1_001, b"second\n")])
    ...     [body.lines for body in journal.read()]
    [b'first\n', b'second\n']
    """

    def __init__(
        self,
        directory: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        sync: Callable[[int], None] = os.fsync,
    ) -> None:
        self.torn_bytes = 0
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._sync = sync
        self._file = -1
        self._torn = False
        self._make_directory()
        self._numbers = self._find()
        self._salt, self._end = self._opened_last() if self._numbers else (0, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of all segments."""
        return sum(self._path(number).stat().st_size for number in self._numbers)

    def append(self, bodies: Sequence[Body]) -> None:
        """Make bodies durable, together: all of them, or none.

        Raises:
            StateFullError: they could not be written. The journal is as before,
                and a later call may succeed.
        """
        try:
            self._cut_torn()
            if self._file < 0 or self._end >= self._segment_bytes:
                self._begin_segment()
            self._write(encode_frame(bodies, salt=self._salt, offset=self._end))
        except OSError as error:
            raise StateFullError(
                f"{self._directory}: cannot be written: {error.strerror}; make room on the disk"
            ) from error

    def read(self) -> Iterator[Body]:
        """All bodies that were appended before, in order.

        Raises:
            StateError: a segment is damaged; its name and the offset are told,
                and all before it were given.
        """
        last, end = (self._numbers[-1], self._end) if self._numbers else (0, 0)
        for number in tuple(self._numbers):
            yield from self._bodies(number, None if number < last else end)

    def close(self) -> None:
        """Let go of the files."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

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
        return self._directory / f"{number:08}{_SUFFIX}"

    def _make_directory(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._sync_directory(self._directory.parent)
        except OSError as error:
            raise StateError(f"{self._directory}: cannot be made: {error.strerror}") from error

    def _find(self) -> list[int]:
        """Numbers of the segments.

        Raises:
            StateError: one is missing.
        """
        found = sorted(path for path in self._directory.iterdir() if path.suffix == _SUFFIX)
        numbers = list(range(1, len(found) + 1))
        for path, number in zip(found, numbers, strict=True):
            if path != self._path(number):
                raise StateError(
                    f"{self._path(number)}: is missing, though {path.name} is there; restore it "
                    "from a copy, or move the whole state directory away to begin anew"
                )
        return numbers

    def _opened_last(self) -> tuple[int, int]:
        """Salt and end of the last segment, whose torn end is cut off."""
        path = self._path(self._numbers[-1])
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                header = read_header(file, path)
            except TornError:
                self.torn_bytes += size
                return self._without_last(path)
            end = _durable_end(file, path, header.salt)
        self._file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        self._end, self._torn = end, end < size
        self.torn_bytes += size - end
        self._cut_torn()
        return header.salt, end

    def _without_last(self, path: Path) -> tuple[int, int]:
        """The last segment was never begun: go on with the one before."""
        path.unlink()
        self._sync_directory(self._directory)
        self._numbers.pop()
        return self._opened_last() if self._numbers else (0, 0)

    def _cut_torn(self) -> None:
        """Cut off what a failed write left behind."""
        if self._torn:
            os.ftruncate(self._file, self._end)
            self._sync(self._file)
            self._torn = False

    def _begin_segment(self) -> None:
        number = self._numbers[-1] + 1 if self._numbers else 1
        header, path = Header.new(number, self._end), self._path(number)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write_all(file, header.encode(), 0)
            self._sync(file)
            self._sync_directory(self._directory)
        except OSError:
            os.close(file)
            path.unlink()
            raise
        self.close()
        self._numbers.append(number)
        self._file, self._salt, self._end = file, header.salt, HEADER_BYTES

    def _write(self, frame: bytes) -> None:
        self._torn = True
        try:
            _write_all(self._file, frame, self._end)
            self._sync(self._file)
        except OSError:
            self._undo()
            raise
        self._end += len(frame)
        self._torn = False

    def _undo(self) -> None:
        """Leave nothing half-written; where even that fails, the next append does it first."""
        try:
            self._cut_torn()
        except OSError:
            self._torn = True

    def _sync_directory(self, directory: Path) -> None:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._sync(descriptor)
        finally:
            os.close(descriptor)

    def _bodies(self, number: int, end: int | None) -> Iterator[Body]:
        """Bodies of a segment up to an offset; None for all of one that is not the last."""
        path = self._path(number)
        with path.open("rb") as file:
            try:
                header = read_header(file, path)
                self._check_place(header, number)
                for frame in read_frames(file, path, header.salt):
                    if end is not None and frame.offset >= end:
                        return
                    yield from bodies_of(frame)
            except TornError as torn:
                if end is None or torn.offset < end:
                    raise damage(path, torn.offset) from torn

    def _check_place(self, header: Header, number: int) -> None:
        """Refuse a segment that is another one, or whose predecessor has another length."""
        if header.number != number:
            raise damage(self._path(number), 0)
        before = self._path(number - 1).stat().st_size if number > 1 else 0
        if header.previous_size != before:
            raise damage(self._path(number - 1), min(before, header.previous_size))


def _durable_end(file: BinaryIO, path: Path, salt: int) -> int:
    """Where the last whole frame ends."""
    end = file.tell()
    try:
        for frame in read_frames(file, path, salt):
            end = frame.end
    except TornError as torn:
        return torn.offset
    return end


def _write_all(file: int, data: bytes, offset: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written
