"""Files and directories that only this user can read, written atomically or appended durably.

Journal, checkpoints, lock and dead-letter file all go through here. The caller
decides on durability: `synced` makes a file descriptor durable, and `unsynced`
serves files that may be lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

Sync = Callable[[int], None]
Data = bytes | bytearray | memoryview

_MODE, _DIRECTORY_MODE = 0o600, 0o700


def synced(descriptor: int) -> None:
    """Sync an open file or directory: what was written survives when the machine stops."""
    os.fsync(descriptor)


def unsynced(_: int) -> None:
    """Sync nothing: the end of the file may be lost when the machine stops."""


def open_file(path: Path, flags: int) -> int:
    """Open a file that only this user may read, creating it and its directory if missing.

    Args:
        path: the file.
        flags: flags of `os.open`.

    Returns:
        The file descriptor.
    """
    if not path.parent.is_dir():
        make_directory(path.parent)
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, _MODE)


def make_directory(path: Path, *, sync: Sync = synced) -> None:
    """Create a directory durably, with those above it that are missing, for this user alone.

    A directory that exists becomes durable, too: the process that created it may have been killed
    before. One above it that this user may not read is left to the system.

    Args:
        path: the directory.
        sync: makes a file descriptor durable.
    """
    above = [parent for parent in path.parents if not parent.is_dir()]
    for level in (*reversed(above), path):
        level.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
        if not level.is_mount():  # the name of a mount is in another file system
            with suppress(PermissionError):
                sync_directory(level.parent, sync=sync)


def sync_directory(path: Path, *, sync: Sync = synced) -> None:
    """Make the list of files of a directory durable.

    Args:
        path: the directory.
        sync: makes a file descriptor durable.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, parts: Iterable[Data], *, sync: Sync = synced) -> int:
    """Replace a file durably and atomically.

    Args:
        path: the file.
        parts: its content, in order.
        sync: makes a file descriptor durable.

    Returns:
        Size in bytes.

    Raises:
        OSError: it could not be written; a file of this name is unchanged.
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


def delete_file(path: Path) -> None:
    """Delete a file; one that is gone, even if the call failed, is deleted.

    Args:
        path: the file.

    Raises:
        OSError: the file is still there.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError:
        if path.exists():
            raise


class AppendFile:
    r"""A file that grows at its end; each append writes all of its data or nothing.

    Args:
        path: the file; created with its directory if missing.
        sync: makes a file descriptor durable.

    Attributes:
        size: size in bytes.

    Raises:
        OSError: the file cannot be opened for writing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = AppendFile(Path(folder) / "lines", sync=unsynced)
    ...     file.append(b"one\n")
    ...     file.close()
    ...     file.size
    4
    """

    def __init__(self, path: Path, *, sync: Sync) -> None:
        self._sync = sync
        self._torn = False
        self._file = open_file(path, os.O_WRONLY)
        self.size = os.fstat(self._file).st_size

    def take_up(self) -> None:
        """Go on where the file ends now: others may cut it, or append to it.

        Raises:
            OSError: the file cannot be examined.
        """
        if not self._torn:
            self.size = os.fstat(self._file).st_size

    def append(self, data: Data) -> None:
        """Append data durably.

        Raises:
            OSError: it could not be written; the file is as before, at the latest when
                the next append begins.
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

    def rewrite(self, data: Data, offset: int) -> None:
        """Write data that is in the file already again, durably.

        Args:
            data: what the file holds there.
            offset: of its first byte.

        Raises:
            OSError: it could not be written.
        """
        _write_all(self._file, data, offset)
        self._sync(self._file)

    def cut(self, size: int) -> None:
        """Truncate the file to a size, durably."""
        os.ftruncate(self._file, size)
        self._sync(self._file)
        self.size, self._torn = size, False

    @property
    def descriptor(self) -> int:
        """Descriptor of the open file."""
        return self._file

    def close(self) -> None:
        """Close the file; undo an append that failed, if it still has to be."""
        if self._file >= 0:
            if self._torn:
                with suppress(OSError):
                    self.cut(self.size)
            os.close(self._file)
            self._file = -1


def _write_all(file: int, data: Data, offset: int) -> int:
    rest = memoryview(data).cast("B")
    length = len(rest)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written
    return length
