"""Salvages a damaged state directory: copies what is whole, and reports what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from monitor.config.quantities import count_of
from monitor.state.checkpoints import Checkpoint, checkpoints_in, read_checkpoint
from monitor.state.disk import make_directory, write_file
from monitor.state.encoding import DamagedError
from monitor.state.id_seed import SEED_FILE, whole_seed
from monitor.state.journal_position import JOURNAL
from monitor.state.segment import SegmentHeader, TornSegmentError, read_header
from monitor.state.segment_files import segment_path, segments_in
from monitor.state.segment_repair import ANY_BYTE, RepairedSegment, repair, variants
from monitor.state.state_errors import StateError
from monitor.state.state_identity import IDENTITY_FILE, whole_identity
from monitor.state.torn_ends import (
    TornEnd,
    read_torn_end,
    requests_in,
    segment_of,
    torn_ends_in,
)

_CHECKPOINTS = "checkpoints"
_OWN = (_CHECKPOINTS, JOURNAL, "lock")
_MOST_TRIED = 64
"""Bytes of a small file that are tried to repair."""
_WITHOUT_IDENTITY = (
    "is damaged, left out: a start draws another identity; if other monitors forward to this one, "
    "restore the file from a backup, or they send what they remember again, and it counts twice"
)


class Salvaged(NamedTuple):
    """Result for one file.

    Attributes:
        path: the file in the damaged directory.
        text: what was done with it, for a person.
        lost: True if a part of it is not in the copy.
    """

    path: Path
    text: str
    lost: bool = False


def salvage(directory: Path, to: Path) -> Iterator[Salvaged]:
    """Copy a state directory to another one, without its damage; yield what became of each file.

    The original is unchanged. A start on the copy counts what it holds, and nothing else:
    a damaged checkpoint is left out, and in the journal blank lines take the place of what
    cannot be repaired.

    Args:
        directory: the state directory; no monitor may be using it.
        to: the new directory; must not exist.

    Raises:
        StateError: the directory cannot be read, or the new one exists or cannot be written.
    """
    if not directory.is_dir():
        raise StateError(f"{directory}: is not a directory; give the configured state.directory")
    if to.exists():
        raise StateError(f"{to}: exists already; give a new directory")
    try:
        make_directory(to)
        yield from _salvaged(directory, to)
    except OSError as error:
        raise StateError(f"{error.filename or to}: {error.strerror}") from error


def _salvaged(directory: Path, to: Path) -> Iterator[Salvaged]:
    good: list[Checkpoint] = []
    found = checkpoints_in(directory / _CHECKPOINTS)
    make_directory(to / _CHECKPOINTS)
    for path in found:
        try:
            good.append(read_checkpoint(path))
        except DamagedError:
            yield Salvaged(path, "is damaged, left out", lost=len(found) == 1)
            continue
        write_file(to / _CHECKPOINTS / path.name, [path.read_bytes()])
        yield Salvaged(path, "whole")
    if found and not good:
        text = "no checkpoint is whole: counts from before the journal are lost"
        yield Salvaged(directory / _CHECKPOINTS, text, lost=True)
    yield from _journal(directory / JOURNAL, to / JOURNAL, good)
    for path in sorted(directory.iterdir()):
        if path.name not in _OWN and path.is_file():
            yield _copied(path, to / path.name, has_checkpoint=bool(good))


def _copied(path: Path, to: Path, *, has_checkpoint: bool) -> Salvaged:
    """Copy a file of the directory itself, unless a start would refuse it."""
    content = path.read_bytes()
    if path.name == IDENTITY_FILE and whole_identity(content) is None:
        trials = (bytes(trial) for trial in variants(content[:_MOST_TRIED], ANY_BYTE))
        whole = next((trial for trial in trials if whole_identity(trial) is not None), None)
        if whole is None:
            return Salvaged(path, _WITHOUT_IDENTITY, lost=True)
        write_file(to, [whole])
        return Salvaged(path, "a damaged byte is repaired")
    if path.name == SEED_FILE and whole_seed(content) is None and not has_checkpoint:
        return Salvaged(path, "is damaged, left out: a start draws another one")
    write_file(to, [content])
    return Salvaged(path, "copied")


class _Known(NamedTuple):
    """Data of the checkpoints about a segment.

    Attributes:
        offsets: offsets of frames in it.
        salt: its salt; None if no checkpoint holds it.
    """

    offsets: set[int]
    salt: int | None


def _known(good: list[Checkpoint]) -> dict[int, _Known]:
    found: dict[int, _Known] = {}
    for checkpoint in good:
        position = checkpoint.state["positions"].get(JOURNAL)
        if position and position["segment"]:
            salt = position.get("salt") or None  # that of an older version has none
            known = found.setdefault(position["segment"], _Known(set(), salt))
            known.offsets.add(position["offset"])
    return found


def _journal(directory: Path, to: Path, good: list[Checkpoint]) -> Iterator[Salvaged]:
    """Repair all segments, in order; each states the size of the one before."""
    known = _known(good)
    there = {int(path.stem): path for path in segments_in(directory) if path.stem.isdecimal()}
    needed = {*there, *known}
    numbers = list(range(min(needed), max(needed) + 1)) if needed else []
    shift = 0 if known or not numbers else numbers[0] - 1
    make_directory(to)
    before = 0
    for number in numbers:
        path = segment_path(directory, number)
        repaired = _segment(path, number - shift, before, there.get(number + 1), known.get(number))
        write_file(segment_path(to, number - shift), [repaired.data])
        before = len(repaired.data)
        yield _described(path, repaired, missing=number not in there)
    number = max(needed, default=0) - shift
    for path in torn_ends_in(directory):
        end = read_torn_end(path)
        if end.groups:
            number += 1
            data = segment_of(SegmentHeader.new(number, before), end)
            write_file(segment_path(to, number), [data])
            before = len(data)
        else:
            write_file(to / path.name, [path.read_bytes()])
        yield _of_torn_end(path, end)


def _of_torn_end(path: Path, end: TornEnd) -> Salvaged:
    if end.unclear:
        text = "may hold requests, which only its segment would prove, and that is gone or damaged"
        return Salvaged(path, f"{text}; copied, not counted", lost=True)
    if not end.groups:
        return Salvaged(path, "no request in it is whole; copied")
    requests = count_of(requests_in(end), "request")
    text = f"{requests} that a start cut off are whole; a start on the copy counts them last"
    rest = f"; lost: about {count_of(end.lines, 'record')} beside them" if end.lines else ""
    return Salvaged(path, text + rest, lost=bool(end.lines))


def _segment(
    path: Path, number: int, before: int, following: Path | None, known: _Known | None
) -> RepairedSegment:
    found = path.read_bytes() if path.exists() else b""
    return repair(
        found,
        SegmentHeader.new(number, before),
        salt=None if known is None else known.salt,
        boundaries=() if known is None else known.offsets,
        nbytes=None if following is None else _size_before(following),
    )


def _size_before(path: Path) -> int | None:
    """Return the size of the segment before, as a header states it; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return read_header(file, path).previous_size or None
    except (StateError, TornSegmentError):
        return None


def _described(path: Path, repaired: RepairedSegment, *, missing: bool) -> Salvaged:
    parts = []
    if missing:
        parts.append("is missing")
    if repaired.repaired:
        parts.append(f"repaired at offsets {', '.join(map(str, repaired.repaired))}")
    if repaired.unchecked:
        parts.append("its header is lost: requests are copied as they are found, unchecked")
    lost = [lost for lost in repaired.lost if lost.end > lost.start]
    parts += [
        f"lost: offsets {start} to {end}, about {count_of(lines, 'record')}"
        for start, end, lines in lost
    ]
    return Salvaged(path, "; ".join(parts) or "whole", lost=missing or bool(lost))
