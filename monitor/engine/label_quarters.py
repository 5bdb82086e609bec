"""Labels that lie ahead of all models, by quarters of a day: where they carry what is judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, EventBatch, Int64Array
from monitor.events.crossings import places_of
from monitor.events.time_columns import RANK

LABELS_AHEAD_MS = DAY_MS
"""How far labels may lie ahead of a model's own events before they carry what is judged."""
QUARTER_MS = DAY_MS // 4
_REACH_DAYS = 366


class LabelQuarters:
    """Counts labels that lie more than a day, and at most a year, ahead of all models.

    The third label of a quarter of a day carries what is judged, where no model has other events.
    The numbers are a function of the sequence of records: a batch is cut behind such a label, and
    where a model enters another day.

    >>> quarters, hours = LabelQuarters(), np.array([31, 32, 33])
    >>> quarters.hear(hours[:2] * 3_600_000, 0, 0), quarters.hear(hours[2:] * 3_600_000, 0, 0)
    (False, True)
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def places(
        self, batch: EventBatch, furthest: int, furthest_at: Callable[[int], int] | None = None
    ) -> list[int]:
        """Return the places of the labels in a batch that may carry what is judged.

        Args:
            batch: its rows in the order of their records.
            furthest: time of the model that is furthest before it, epoch milliseconds.
            furthest_at: the same behind the row at a place; None to return places, too, that
                models reach before.
        """
        ahead, quarters = _ahead(batch.labels.time, furthest)
        if not len(ahead):
            return []
        found = []
        for quarter in np.unique(quarters).tolist():
            needed, mine = RANK - self._counts.get(quarter, 0), ahead[quarters == quarter]
            if 0 < needed <= len(mine):
                found.append((int(mine[needed - 1]), quarter * QUARTER_MS - LABELS_AHEAD_MS))
        if not found:
            return []
        place, first = places_of(batch), len(batch.predictions)
        at = [(int(place[first + row]), carried) for row, carried in found]
        return sorted(p for p, to in at if furthest_at is None or to > furthest_at(p))

    def hear(self, time: Int64Array, before: int, furthest: int) -> bool:
        """Count the labels of a part of a batch; return whether they carry what is judged.

        Args:
            time: of the labels, epoch milliseconds.
            before: time of the model that was furthest before the part, epoch milliseconds.
            furthest: time of the one that is furthest behind it.
        """
        _, quarters = _ahead(time, before)
        if not (len(quarters) or self._counts):
            return False
        numbers, counts = np.unique(quarters, return_counts=True)
        carries = False
        for quarter, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            known = self._counts.get(quarter, 0)
            self._counts[quarter] = min(known + count, RANK)
            reaches = known < RANK <= known + count
            carries |= reaches and quarter * QUARTER_MS - LABELS_AHEAD_MS > furthest
        if furthest > before:
            first = (furthest + LABELS_AHEAD_MS) // QUARTER_MS
            self._counts = {q: n for q, n in self._counts.items() if q > first}
        return carries

    def state(self) -> list[list[int]]:
        """Plain values: each quarter since 1970, and its labels, three at most."""
        return [[quarter, self._counts[quarter]] for quarter in sorted(self._counts)]

    def restore(self, state: list[list[int]]) -> None:
        """Load what `state` returned."""
        self._counts = {}
        for quarter, count in state:
            self._counts[quarter] = count


def _ahead(time: Int64Array, furthest: int) -> tuple[Int64Array, Int64Array]:
    """Return which labels lie in quarters that begin ahead of all models, and these quarters."""
    most = int(time.max(initial=NO_TIME))
    if furthest == NO_TIME or most - LABELS_AHEAD_MS <= furthest:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    quarters = time // QUARTER_MS
    first = (furthest + LABELS_AHEAD_MS) // QUARTER_MS
    last = (furthest // DAY_MS + _REACH_DAYS) * DAY_MS // QUARTER_MS
    ahead = np.flatnonzero((quarters > first) & (quarters < last))
    return ahead, quarters[ahead]
