"""Checkpoints: the whole state in one file, written whole or not at all, the last two kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from monitor.events.renumbering import State
from monitor.state.disk import Sync, make_directory, write_file
from monitor.state.encoding import DamagedError, decoded, encoded
from monitor.state.errors import StateError, StateFullError

KEPT = 2
"""Checkpoints that are kept: the newest, and the one before in case it is damaged."""
_SUFFIX = ".checkpoint"


class Checkpoint(NamedTuple):
    """One that was read.

    Attributes:
        path: its file.
        number: the higher, the newer.
        state: what was written; its arrays are its own.
    """

    path: Path
    number: int
    state: State


class Checkpoints:
    """Writes checkpoints, and finds the newest that is as it was written.

    Args:
        directory: of the files; made where it is missing.
        sync: makes a descriptor durable.

    Attributes:
        damaged: files that were found not to be as they were written,.

    Raises:
        StateError: the directory cannot be made.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     checkpoints = Checkpoints(Path(folder))
    ...     for n in range(3):
    ...         _ = checkpoints.write({"n": n})
    ...     checkpoints.newest().state, len(list(Path(folder).iterdir()))
    ({'n': 2}, 2)
    """

    def __init__(self, directory: Path, *, sync: Sync = os.fsync) -> None:
        self.damaged: list[Path] = []
        self._directory = directory
        self._sync = sync
        try:
            make_directory(directory, sync=sync)
        except OSError as error:
            raise StateError(f"{directory}: cannot be made: {error.strerror}") from error

    def newest(self) -> Checkpoint | None:
        """The newest good one; None where none was ever written.

        Raises:
            StateError: there are checkpoints, and none is good; or one cannot be read.
        """
        paths = checkpoints_in(self._directory)
        for path in reversed(paths):
            try:
                return read_checkpoint(path)
            except DamagedError:
                self.damaged.append(path)
        if paths:
            raise StateError(
                f"{paths[-1]}: is damaged, and so is every other checkpoint; restore one from a "
                "copy, or move the whole state directory away to begin anew"
            )
        return None

    def write(self, state: State) -> int:
        """Write one, durably; those beyond the last two good ones are deleted.

        Returns:
            Its bytes.

        Raises:
            StateFullError: it could not be written; those before are as they were.
        """
        paths = checkpoints_in(self._directory)
        number = 1 + max((int(path.stem) for path in paths), default=0)
        path = self._directory / f"{number:08}{_SUFFIX}"
        try:
            size = write_file(path, encoded(state, number), sync=self._sync)
            good = [path for path in paths if path not in self.damaged]
            for old in set(paths) - set(good[1 - KEPT :]):
                old.unlink()
        except OSError as error:
            raise StateFullError(
                f"{path}: cannot be written: {error.strerror}; make room on the disk"
            ) from error
        return size


def checkpoints_in(directory: Path) -> list[Path]:
    """The files of a directory, the oldest first."""
    return sorted(p for p in directory.glob(f"*{_SUFFIX}") if p.stem.isdecimal())


def read_checkpoint(path: Path) -> Checkpoint:
    """One checkpoint.

    Raises:
        DamagedError: it is not as it was written.
        StateError: it is of another schema version, or cannot be read.
    """
    try:
        data = bytearray(path.stat().st_size)
        with path.open("rb") as file:
            file.readinto(data)
    except OSError as error:
        raise StateError(f"{path}: cannot be read: {error.strerror}") from error
    number, state = decoded(data, path)
    if number != int(path.stem):
        raise DamagedError
    return Checkpoint(path, number, state)
