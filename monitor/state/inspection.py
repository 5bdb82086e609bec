"""Checks a state directory without changing it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from monitor.config.quantities import count_of
from monitor.state.checkpoints import Checkpoint, checkpoints_in, read_checkpoint
from monitor.state.encoding import DamagedError
from monitor.state.journal_position import JOURNAL, START, JournalPosition
from monitor.state.segment import TornSegmentError, bodies_of, read_header
from monitor.state.segment_files import segment_path, segments_in
from monitor.state.segment_reading import read_frames, whole_end
from monitor.state.state_errors import StateError
from monitor.state.torn_ends import read_torn_end, requests_in, torn_ends_in

_DAMAGED = "is damaged"
_MISSING = "is missing, acknowledged events are lost; a start is refused"


class InspectedFile(NamedTuple):
    """A file of the state directory.

    Attributes:
        path: the file.
        nbytes: size in bytes.
        fault: its fault and the consequence; "" for a good file.
        torn: True if its end is not whole: it never became durable, which is no fault, or is
            damaged.
        checkpoint: the content of a good checkpoint.
        bodies: number of requests in a segment of the journal.
    """

    path: Path
    nbytes: int
    fault: str = ""
    torn: bool = False
    checkpoint: Checkpoint | None = None
    bodies: int = 0


def inspect(directory: Path) -> Iterator[InspectedFile]:
    """Yield each checkpoint, then each segment of the journal, oldest first; all are read whole.

    Then come ends that a start cut off, where requests in them are whole.

    Raises:
        StateError: the directory does not exist, or cannot be read.
    """
    if not directory.is_dir():
        raise StateError(f"{directory}: is not a directory; give the configured state.directory")
    checkpoints = [_checkpoint(path) for path in checkpoints_in(directory / "checkpoints")]
    good = [found.checkpoint for found in checkpoints if found.checkpoint is not None]
    used = (
        f"a start uses {good[-1].path.name}"
        if good
        else "no checkpoint is intact, a start is refused; `state salvage` copies the rest"
    )
    for found in checkpoints:
        damaged = found.fault == _DAMAGED
        yield found._replace(fault=f"{_DAMAGED}; {used}") if damaged else found
    position = good[-1].state["positions"].get(JOURNAL) if good else None
    yield from _journal(
        directory / JOURNAL, START if position is None else JournalPosition(**position)
    )


def _checkpoint(path: Path) -> InspectedFile:
    nbytes = path.stat().st_size
    try:
        return InspectedFile(path, nbytes, checkpoint=read_checkpoint(path))
    except DamagedError:
        return InspectedFile(path, nbytes, _DAMAGED)
    except StateError as error:
        return InspectedFile(path, nbytes, str(error).removeprefix(f"{path}: "))


def _journal(directory: Path, reaches: JournalPosition) -> Iterator[InspectedFile]:
    """Yield the segments, and those missing: between others, and where a start begins."""
    segments = segments_in(directory)
    needed = segment_path(directory, reaches.segment or 1)
    there = {*segments, *_between(directory, segments)}
    if needed not in there and (segments or not reaches.is_start):
        there.add(needed)
    for path, following in zip_longest(sorted(there), sorted(there)[1:]):
        if path not in segments:
            yield InspectedFile(path, 0, _MISSING)
            continue
        found = _segment(path, following)
        yield _reaching(found, reaches) if path == needed and not found.fault else found
    for path in torn_ends_in(directory):
        if requests := requests_in(read_torn_end(path)):
            fault = (
                f"a start cut off {count_of(requests, 'request')} that are whole, and no start "
                "counts them; `state salvage` brings them back"
            )
            yield InspectedFile(path, path.stat().st_size, fault)


def _between(directory: Path, segments: list[Path]) -> Iterator[Path]:
    """Yield the paths of all segments between the first and the last."""
    numbers = [int(path.stem) for path in segments if path.stem.isdecimal()]
    if numbers:
        yield from (segment_path(directory, n) for n in range(numbers[0], numbers[-1]))


def _reaching(found: InspectedFile, reaches: JournalPosition) -> InspectedFile:
    """Return a segment, with a fault if it ends before what the checkpoint covers."""
    with found.path.open("rb") as file:
        end = whole_end(file, found.path)
    if reaches.is_start or end > reaches.offset:
        return found
    fault = (
        f"cut off at offset {end}, the checkpoint covers offset {reaches.offset}: acknowledged "
        "events are lost; a start is refused"
    )
    return found._replace(fault=fault, torn=False)


def _segment(path: Path, following: Path | None) -> InspectedFile:
    nbytes, bodies = path.stat().st_size, 0
    try:
        with path.open("rb") as file:
            header = read_header(file, path)
            for frame in read_frames(file, path, header.salt):
                bodies += sum(1 for _ in bodies_of(frame))
    except TornSegmentError as torn:
        last = following is None
        fault = "" if last else f"cut off at offset {torn.offset}; a start is refused"
        return InspectedFile(path, nbytes, fault, torn=last, bodies=bodies)
    except StateError as error:
        return InspectedFile(path, nbytes, str(error).removeprefix(f"{path}: "), bodies=bodies)
    stated = nbytes if following is None else _size_before(following)
    fault = "" if stated in (nbytes, None) else f"cut off at offset {nbytes}; a start is refused"
    return InspectedFile(path, nbytes, fault, bodies=bodies)


def _size_before(path: Path) -> int | None:
    """Return the size of the segment before, as a header states it; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return read_header(file, path).previous_size
    except (OSError, StateError, TornSegmentError):
        return None
