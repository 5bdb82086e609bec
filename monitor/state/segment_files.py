"""Names of the segment files of a journal, and errors about missing ones."""

from __future__ import annotations

from pathlib import Path

from monitor.state.state_errors import StateError

_SUFFIX = ".journal"
_WAYS_ON = (
    "restore the file from a backup, copy the rest with `precision-monitor state salvage`, or move "
    "the whole state directory away to start over"
)


def segment_path(directory: Path, number: int) -> Path:
    """Return the file of a segment.

    Args:
        directory: directory of the journal.
        number: number of the segment.
    """
    return directory / f"{number:08}{_SUFFIX}"


def segments_in(directory: Path) -> list[Path]:
    """Return the segment files of a directory, oldest first."""
    return sorted(directory.glob(f"*{_SUFFIX}"))


def segment_numbers(directory: Path) -> list[int]:
    """Return the numbers of the segments in a directory; the first ones may have been deleted.

    Raises:
        StateError: a segment between others is missing.
    """
    found = segments_in(directory)
    first = _number_of(found[0]) if found else 1
    numbers = list(range(first, first + len(found)))
    for path, number in zip(found, numbers, strict=True):
        if path != segment_path(directory, number):
            raise missing(segment_path(directory, number))
    return numbers


def missing(path: Path) -> StateError:
    """Return the error of a missing segment."""
    return StateError(f"{path}: is missing, acknowledged events are lost; {_WAYS_ON}")


def cut_off(path: Path, length: int, needed: int) -> StateError:
    """Return the error of a segment that ends too early.

    Args:
        path: the segment.
        length: offset of its end.
        needed: offset that the checkpoint covers.
    """
    return StateError(
        f"{path}: cut off at offset {length}, acknowledged events are lost: the checkpoint "
        f"covers offset {needed}; {_WAYS_ON}"
    )


def of_another_journal(path: Path) -> StateError:
    """Return the error of a segment that is not the one that the checkpoint covers."""
    return StateError(
        f"{path}: belongs to another journal than the checkpoint; restore journal and checkpoints "
        "of one time together, or move the whole state directory away to start over"
    )


def _number_of(path: Path) -> int:
    if not path.stem.isdecimal():
        raise StateError(f"{path}: is not a segment of a journal; move it away")
    return int(path.stem)
