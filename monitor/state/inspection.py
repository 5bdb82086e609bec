"""A state directory looked at without changing it: what is there, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from monitor.state.checkpoints import Checkpoint, checkpoints_in, read_checkpoint
from monitor.state.encoding import DamagedError
from monitor.state.errors import StateError
from monitor.state.journal import JOURNAL, START, Place, segment_path, segments_in
from monitor.state.segment import TornError, bodies_of, read_frames, read_header, whole_end

_DAMAGED = "is not as it was written"
_MISSING = "is missing, and with it events that were acknowledged; a start is refused"


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
    checkpoints = [_checkpoint(path) for path in checkpoints_in(directory / "checkpoints")]
    good = [found.checkpoint for found in checkpoints if found.checkpoint is not None]
    used = f"a start uses {good[-1].path.name}" if good else "none is good, and a start is refused"
    for found in checkpoints:
        damaged = found.fault == _DAMAGED
        yield found._replace(fault=f"{_DAMAGED}; {used}") if damaged else found
    place = good[-1].state["positions"].get(JOURNAL) if good else None
    yield from _journal(directory / JOURNAL, START if place is None else Place(**place))


def _checkpoint(path: Path) -> Found:
    nbytes = path.stat().st_size
    try:
        return Found(path, nbytes, checkpoint=read_checkpoint(path))
    except DamagedError:
        return Found(path, nbytes, _DAMAGED)
    except StateError as error:
        return Found(path, nbytes, str(error).removeprefix(f"{path}: "))


def _journal(directory: Path, reaches: Place) -> Iterator[Found]:
    """Its segments, and those that are missing: between others, and where a start begins."""
    segments = segments_in(directory)
    needed = segment_path(directory, reaches.segment or 1)
    there = {*segments, *_between(directory, segments)}
    if needed not in there and (segments or reaches != START):
        there.add(needed)
    for path, following in zip_longest(sorted(there), sorted(there)[1:]):
        if path not in segments:
            yield Found(path, 0, _MISSING)
            continue
        found = _segment(path, following)
        yield _reaching(found, reaches) if path == needed and not found.fault else found


def _between(directory: Path, segments: list[Path]) -> Iterator[Path]:
    """What lies between the first and the last segment."""
    numbers = [int(path.stem) for path in segments if path.stem.isdecimal()]
    if numbers:
        yield from (segment_path(directory, n) for n in range(numbers[0], numbers[-1]))


def _reaching(found: Found, reaches: Place) -> Found:
    """A segment, refused where it ends before what the checkpoint is past."""
    with found.path.open("rb") as file:
        end = whole_end(file, found.path)
    if reaches == START or end > reaches.offset:
        return found
    fault = (
        f"offset {end}: is cut off, the checkpoint is past offset {reaches.offset}: "
        "events that were acknowledged are missing; a start is refused"
    )
    return found._replace(fault=fault, torn=False)


def _segment(path: Path, following: Path | None) -> Found:
    nbytes, bodies = path.stat().st_size, 0
    try:
        with path.open("rb") as file:
            header = read_header(file, path)
            for frame in read_frames(file, path, header.salt):
                bodies += sum(1 for _ in bodies_of(frame))
    except TornError as torn:
        last = following is None
        fault = "" if last else f"offset {torn.offset}: is cut off; a start is refused"
        return Found(path, nbytes, fault, torn=last, bodies=bodies)
    except StateError as error:
        return Found(path, nbytes, str(error).removeprefix(f"{path}: "), bodies=bodies)
    told = nbytes if following is None else _size_before(following)
    fault = "" if told in (nbytes, None) else f"offset {nbytes}: is cut off; a start is refused"
    return Found(path, nbytes, fault, bodies=bodies)


def _size_before(path: Path) -> int | None:
    """Bytes of the segment before, as a segment says; None where it does not."""
    try:
        with path.open("rb") as file:
            return read_header(file, path).previous_size
    except (OSError, StateError, TornError):
        return None
