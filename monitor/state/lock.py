"""One process per state directory."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.state.disk import make_directory, open_file
from monitor.state.locked_directory import LockedDirectory, check_place, lock
from monitor.state.state_errors import StateError


class StateLock:
    """Locks a state directory until it is closed, or its process ends.

    Locks the directory itself, and a file in it for versions of this program that know only
    the file.

    Args:
        directory: the state directory; created if missing.

    Raises:
        StateError: another process has locked it, or it cannot be written.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / "lock"
        self._opened = ExitStack()
        with ExitStack() as opened:
            try:
                make_directory(directory)
                self._file = open_file(self._path, os.O_RDWR)
            except OSError as error:
                raise StateError(f"{directory}: cannot be written: {error.strerror}") from error
            opened.callback(os.close, self._file)
            lock(self._file, directory)
            self._directory = LockedDirectory(directory)
            opened.callback(self._directory.close)
            self._opened = opened.pop_all()

    def check(self) -> None:
        """Check that the directory and its lock are where they were.

        Raises:
            StateGoneError: one of them was removed or replaced.
        """
        self._directory.check()
        check_place(self._path, self._file)

    def close(self) -> None:
        """Release the lock."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
