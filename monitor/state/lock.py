"""One process per state directory."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from monitor.state.disk import open_file
from monitor.state.state_errors import StateError


class StateLock:
    """Locks a state directory until it is closed, or its process ends.

    Args:
        directory: the state directory; created if missing.

    Raises:
        StateError: another process has locked it, or it cannot be written.
    """

    def __init__(self, directory: Path) -> None:
        try:
            self._file = open_file(directory / "lock", os.O_RDWR)
        except OSError as error:
            raise StateError(f"{directory}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise StateError(
                f"{directory}: is in use by another process; stop it, or configure "
                "another state.directory"
            ) from error

    def close(self) -> None:
        """Release the lock."""
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
