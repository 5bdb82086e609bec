"""Share of the predictions that are rejected: those that are left are then no random sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from monitor.cli.rejected_records import RejectedRecords
from monitor.config.quantities import count_of
from monitor.diagnosis import Diagnosis, Side
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.snapshot import Snapshot

_FIELDS = ("score", "scores", "prediction")
"""Fields that only records of predictions have."""
_MANY = 0.1
"""Share from which on they are no few odd ones."""


class _Read(NamedTuple):
    """Predictions of a batch: their first and last time, epoch milliseconds, and how many."""

    first: int
    last: int
    accepted: int
    rejected: int


class RejectedPredictions:
    """Predictions that were read, accepted or not, by about when they were made.

    A record that is rejected has no time: it counts where those of its batch do.
    """

    def __init__(self) -> None:
        self._read: list[_Read] = []

    def add(self, batch: EventBatch) -> None:
        """Add the predictions of a batch.

        Args:
            batch: in the order of the recording.
        """
        times = [one.time for one in (batch.predictions, batch.outcomes) if len(one.time)]
        rejected = sum(one.field in _FIELDS for one in batch.rejected)
        if times:
            first = min(int(one.min()) for one in times)
            last = max(int(one.max()) for one in times)
        elif rejected and self._read:
            first = last = self._read[-1].last
        else:
            return
        self._read.append(_Read(first, last, sum(map(len, times)), rejected))

    def beside(self, found: Diagnosis) -> Diagnosis:
        """Return a diagnosis that says first where many predictions were rejected.

        What is left of them is no random sample, so that it advises no correction and no threshold.

        Args:
            found: of two periods of what was read.
        """
        sides = ((found.before, "before"), (found.after, "after"))
        shares = {name: self._share(side) for side, name in sides}
        if max(shares.values()) < _MANY:
            return found
        both = " and ".join(f"{100 * share:.0f} % {name}" for name, share in shares.items())
        scores = found.scores and replace(found.scores, recalibration=None, threshold=None)
        told = f"Of the predictions {both} were rejected: what is left is no random sample"
        return replace(found, rejected_predictions=told, scores=scores)

    def _share(self, side: Side) -> float:
        if side.opens is None or side.closes is None:
            return 0.0
        within = [one for one in self._read if one.first < side.closes and one.last >= side.opens]
        rejected = sum(one.rejected for one in within)
        return rejected / max(1, rejected + sum(one.accepted for one in within))


def many_predictions_rejected(snapshot: Snapshot, faults: RejectedRecords) -> str:
    """Return how many predictions were rejected, a clause; "" for less than a tenth.

    Args:
        snapshot: after all records.
        faults: of the rejected records.
    """
    rejected, every = _numbers(snapshot, faults)
    if not rejected or rejected < _MANY * every:
        return ""
    return (
        f"{rejected:,} of {count_of(every, 'prediction')} were rejected, and those that are left "
        "are no random sample"
    )


def predictions_mostly_rejected(snapshot: Snapshot, faults: RejectedRecords) -> bool:
    """Return whether more than half of the predictions were rejected.

    Args:
        snapshot: after all records.
        faults: of the rejected records.
    """
    rejected, every = _numbers(snapshot, faults)
    return rejected * 2 > every


def _numbers(snapshot: Snapshot, faults: RejectedRecords) -> tuple[int, int]:
    """Return how many predictions were rejected, and how many were read."""
    kinds: Iterable[tuple[RejectReason, str]] = (
        (reason, field) for reason in RejectReason for field in _FIELDS
    )
    rejected = sum(faults.number(*kind) for kind in kinds)
    accepted = sum(
        one.predictions_positive + one.predictions_negative + one.duplicates
        for one in snapshot.models
    )
    return rejected, rejected + accepted
