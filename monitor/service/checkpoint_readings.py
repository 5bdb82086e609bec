"""Series of the checkpoints and the state of a service, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from monitor.prometheus.process_series import (
    CHECKPOINT_BYTES,
    CHECKPOINT_DURATION,
    CHECKPOINT_LAST_SUCCESS,
    CHECKPOINT_STALL,
    STATE_BEGAN,
    STATE_FAULTS,
    NumberByLabels,
    SeriesDescription,
)
from monitor.state import StateFaults


class WrittenCheckpoint(NamedTuple):
    """The last checkpoint on disk.

    Attributes:
        at: wall time of the copy of the state, epoch seconds.
        stall: seconds during which nothing was counted while the state was copied.
        duration: seconds from the start of the copy to the last byte on disk.
        nbytes: size of the file.
    """

    at: float
    stall: float = float("nan")
    duration: float = float("nan")
    nbytes: float = float("nan")


def checkpoint_readings(
    written: Callable[[], WrittenCheckpoint | None], began: float, faults: StateFaults
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series and how each is read.

    Args:
        written: returns the last checkpoint on disk; None without one.
        began: wall time when counting began, epoch seconds.
        faults: of the state.
    """

    def of_last(name: str) -> Callable[[], NumberByLabels]:
        def read() -> NumberByLabels:
            last = written()
            number = float("nan") if last is None else getattr(last, name)
            return {} if number != number else {(): number}  # noqa: PLR0124  # NaN is undefined

        return read

    return {
        CHECKPOINT_LAST_SUCCESS: of_last("at"),
        CHECKPOINT_DURATION: of_last("duration"),
        CHECKPOINT_STALL: of_last("stall"),
        CHECKPOINT_BYTES: of_last("nbytes"),
        STATE_BEGAN: lambda: {(): began},
        STATE_FAULTS: lambda: {
            (kind.value,): float(count) for kind, count in faults.counts.items()
        },
    }
