"""Files that the monitor writes: opened for itself alone, written whole or not at all.

Journal, checkpoints, lock and dead letters all go through here. What is made
durable is up to the caller: `sync` makes a descriptor durable, and a file that
may get lost takes `unsynced`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

Sync = Callable[[int], None]
Data = bytes | bytearray | memoryview

_MODE = 0o600


def unsynced(_: int) -> None:
    """For files of which the end may be lost when the machine stops."""


def open_file(path: Path, flags: int) -> int:
    """A descriptor of a file that this user alone may read, made with its directory if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, _MODE)


def make_directory(path: Path, *, sync: Sync = os.fsync) -> None:
    """Make a directory durably where it is missing."""
    path.mkdir(parents=True, exist_ok=True)
    sync_directory(path.parent, sync=sync)


def sync_directory(path: Path, *, sync: Sync = os.fsync) -> None:
    """Make durable which files a directory has."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, parts: Iterable[Data], *, sync: Sync = os.fsync) -> int:
    """Write a whole file in the place of what has its name, durably; at no moment half of it.

    Returns:
        Its bytes.

    Raises:
        OSError: it could not be written; what had the name is as before.
    """
    temporary, size = path.with_name(f"{path.name}.new"), 0
    descriptor = open_file(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        for part in parts:
            size += _write_all(descriptor, part, size)
        sync(descriptor)
        temporary.rename(path)
        sync_directory(path.parent, sync=sync)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return size


class AppendFile:
    r"""A file that grows at its end, each time by all that is given or by nothing.

    Args:
        path: the file; made with its directory where it is missing.
        sync: makes a descriptor durable.
        new: the file must not be there yet.

    Attributes:
        size: its bytes.

    Raises:
        OSError: it cannot be opened for writing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = AppendFile(Path(folder) / "lines", sync=unsynced)
    ...     file.append(b"one\n")
    ...     file.close()
    ...     file.size
    4
    """

    def __init__(self, path: Path, *, sync: Sync, new: bool = False) -> None:
        self._sync = sync
        self._torn = False
        self._file = open_file(path, os.O_WRONLY | (os.O_EXCL if new else 0))
        self.size = os.fstat(self._file).st_size

    def append(self, data: Data) -> None:
        """Append, and make durable.

        Raises:
            OSError: it could not; the file is as before, at the latest when the
                next append begins.
        """
        if self._torn:
            self.cut(self.size)
        self._torn = True
        try:
            length = _write_all(self._file, data, self.size)
            self._sync(self._file)
        except OSError:
            with suppress(OSError):
                self.cut(self.size)
            raise
        self.size += length
        self._torn = False

    def cut(self, size: int) -> None:
        """Leave so many bytes alone."""
        os.ftruncate(self._file, size)
        self._sync(self._file)
        self.size, self._torn = size, False

    def close(self) -> None:
        """Let go of it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _write_all(file: int, data: Data, offset: int) -> int:
    rest = memoryview(data).cast("B")
    length = len(rest)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written
    return length
