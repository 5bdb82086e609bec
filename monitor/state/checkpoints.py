"""Checkpoints: the whole state in one file, written atomically; the last two stay."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from monitor.events.renumbering import State
from monitor.state.disk import Sync, make_directory, synced, write_file
from monitor.state.encoding import DamagedError, decoded, encoded
from monitor.state.state_errors import StateError, StateFullError

RETAINED = 2
"""Number of checkpoints on disk: the newest, and the one before in case it is damaged."""
_SUFFIX = ".checkpoint"


class Checkpoint(NamedTuple):
    """A checkpoint that was read.

    Attributes:
        path: its file.
        number: increases with each checkpoint.
        state: the state; it owns its arrays.
    """

    path: Path
    number: int
    state: State


class Checkpoints:
    """Writes checkpoints, and finds the newest that is intact.

    Args:
        directory: directory of the files; created if missing.
        sync: makes a file descriptor durable.

    Attributes:
        damaged: files found damaged.
        older_positions: positions in the other intact checkpoint; empty without one.

    Raises:
        StateError: the directory cannot be created.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     checkpoints = Checkpoints(Path(folder))
    ...     for n in range(3):
    ...         _ = checkpoints.write({"n": n})
    ...     checkpoints.newest().state, len(list(Path(folder).iterdir()))
    ({'n': 2}, 2)
    """

    def __init__(self, directory: Path, *, sync: Sync = synced) -> None:
        self.damaged: list[Path] = []
        self.older_positions: State = {}
        self._directory = directory
        self._sync = sync
        try:
            make_directory(directory, sync=sync)
        except OSError as error:
            raise StateError(f"{directory}: cannot be created: {error.strerror}") from error

    def newest(self) -> Checkpoint | None:
        """Return the newest intact checkpoint; None if none was ever written.

        All are read, so that damage of the other one is known before that one is needed.

        Raises:
            StateError: all checkpoints are damaged, or one cannot be read.
        """
        newest, paths = None, checkpoints_in(self._directory)
        for path in reversed(paths):
            try:
                found = read_checkpoint(path)
            except DamagedError:
                self.damaged.append(path)
            except StateError:
                if newest is None:
                    raise
            else:
                if newest is None:
                    newest = found
                elif not self.older_positions:
                    self.older_positions = found.state.get("positions", {})
        if paths and newest is None:
            raise StateError(
                f"{paths[-1]}: is damaged, as is every other checkpoint; copy the rest with "
                "`precision-monitor state salvage`, from which a start counts what the journal "
                "holds, restore one from a backup, or move the whole state directory away to "
                "start over"
            )
        return newest

    def write(self, state: State) -> int:
        """Write a checkpoint durably, and delete those beyond the last two good ones.

        Returns:
            Size in bytes.

        Raises:
            StateFullError: it could not be written; the earlier ones are unchanged.
        """
        path = self._directory
        try:
            paths = checkpoints_in(self._directory)
            number = 1 + max((int(path.stem) for path in paths), default=0)
            path = self._directory / f"{number:08}{_SUFFIX}"
            size = write_file(path, encoded(state, number), sync=self._sync)
            good = [path for path in paths if path not in self.damaged]
            for old in set(paths) - set(good[1 - RETAINED :]):
                old.unlink()
        except OSError as error:
            raise StateFullError(
                f"{path}: cannot be written: {error.strerror}; free space on the disk"
            ) from error
        return size


def checkpoints_in(directory: Path) -> list[Path]:
    """Return the checkpoint files of a directory, oldest first."""
    return sorted(p for p in directory.glob(f"*{_SUFFIX}") if p.stem.isdecimal())


def read_checkpoint(path: Path) -> Checkpoint:
    """Read one checkpoint.

    Raises:
        DamagedError: it is damaged.
        StateError: it has another schema version, or cannot be read.
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
