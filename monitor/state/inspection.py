"""A state directory looked at without changing it: what is there, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from monitor.state.checkpoints import Checkpoint, checkpoints_in, read_checkpoint
from monitor.state.encoding import DamagedError
from monitor.state.errors import StateError
from monitor.state.journal import segments_in
from monitor.state.segment import TornError, bodies_of, read_frames, read_header


class Found(NamedTuple):
    """One file.

    Attributes:
        path: where it is.
        nbytes: its size.
        fault: what is wrong with it, and what that means; "" where nothing is.
        torn: whether it ends in what never became durable, which is no fault.
        checkpoint: what was read, of a good checkpoint.
        bodies: requests in it, of a segment of the journal.
    """

    path: Path
    nbytes: int
    fault: str = ""
    torn: bool = False
    checkpoint: Checkpoint | None = None
    bodies: int = 0


def inspect(directory: Path) -> Iterator[Found]:
    """Every checkpoint, then every segment of the journal, the oldest first, all of it read.

    Raises:
        StateError: the directory is none, or may not be read.
    """
    if not directory.is_dir():
        raise StateError(f"{directory}: is no directory; give that of state.directory")
    for path in checkpoints_in(directory / "checkpoints"):
        yield _checkpoint(path)
    segments = segments_in(directory / "journal")
    for path in segments:
        yield _segment(path, last=path == segments[-1])


def _checkpoint(path: Path) -> Found:
    nbytes = path.stat().st_size
    try:
        return Found(path, nbytes, checkpoint=read_checkpoint(path))
    except DamagedError:
        return Found(path, nbytes, "is not as it was written; a start uses the one before it")
    except StateError as error:
        return Found(path, nbytes, str(error).removeprefix(f"{path}: "))


def _segment(path: Path, *, last: bool) -> Found:
    nbytes, bodies = path.stat().st_size, 0
    try:
        with path.open("rb") as file:
            header = read_header(file, path)
            for frame in read_frames(file, path, header.salt):
                bodies += sum(1 for _ in bodies_of(frame))
    except TornError as torn:
        fault = "" if last else f"offset {torn.offset}: is cut off; a start is refused"
        return Found(path, nbytes, fault, torn=last, bodies=bodies)
    except StateError as error:
        return Found(path, nbytes, str(error).removeprefix(f"{path}: "), bodies=bodies)
    return Found(path, nbytes, bodies=bodies)
