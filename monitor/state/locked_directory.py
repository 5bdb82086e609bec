"""A directory that one process has locked, and that has to stay where it is."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from monitor.state.state_errors import StateError, StateGoneError


class LockedDirectory:
    """Locks an existing directory itself, not its name; one process at a time has it.

    The lock follows the directory where it is moved. The descriptor stays open, so that no
    other directory gets its inode number, and `check` finds out that it was replaced.

    Args:
        path: the directory.

    Attributes:
        path: the directory.

    Raises:
        StateError: another process has locked it, or it cannot be opened.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     directory = LockedDirectory(Path(folder))
    ...     directory.check()
    >>> directory.check()
    Traceback (most recent call last):
      ...
    monitor.state.state_errors.StateGoneError: ...: was removed or replaced while...
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise StateError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            lock(self._opened, path)
        except StateError:
            self.close()
            raise

    def check(self) -> None:
        """Check that the path still leads to this directory.

        Raises:
            StateGoneError: it leads elsewhere, or nowhere.
        """
        check_place(self.path, self._opened)

    def close(self) -> None:
        """Release the lock."""
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1


def lock(descriptor: int, path: Path) -> None:
    """Lock an open file or directory until it is closed, or its process ends.

    Args:
        descriptor: the open file.
        path: what the message names.

    Raises:
        StateError: another process has locked it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StateError(
            f"{path}: is in use by another process; stop it, or configure another state.directory"
        ) from error


def check_place(path: Path, descriptor: int) -> None:
    """Check that a path leads to an open file or directory.

    Args:
        path: the path that it was opened by.
        descriptor: the open file.

    Raises:
        StateGoneError: the path leads elsewhere, or nowhere.
    """
    try:
        same = os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        same = False
    if not same:
        raise StateGoneError(
            f"{path}: was removed or replaced while the monitor runs; move it back, or restart "
            "the monitor, which then continues from the state in it"
        )
