"""How far event time has come in a stream as a whole: the third-highest event time seen.

If `counts` events carry the watermark of their sender, it is at least that.

Two stray records from the future do not move it. An event counts once however often it
is delivered, so that repeated strays do not add up. A record with both a prediction and
its label is one event, at the time of the prediction: the time of its label does not
show how far the stream has come.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array, Labels
from monitor.events.identity import AnyColumns, event_keys

_RANK = 3
_LOOKED_AT = 32
"""So many of the highest times nearly always hold three that differ."""


class Watermark:
    """The watermark; never decreases.

    Attributes:
        time: the third-highest event time seen, epoch milliseconds; None before
            three distinct events came.
    """

    def __init__(self) -> None:
        self.time: int | None = None
        self._highest: list[tuple[int, int, int]] = []

    def advance(self, batch: EventBatch) -> None:
        """Advance by all events of a batch."""
        known = set(self._highest)
        for kind, name in enumerate(KINDS):
            columns = getattr(batch, name)
            if not len(columns) or columns.time.max() <= self.moment:
                continue
            rows = _highest_of(columns)
            keys = event_keys(columns, rows).tolist()
            events = zip(columns.time[rows].tolist(), keys, strict=True)
            known |= {(when, key, kind) for when, key in events if when > self.moment}
        self._highest = sorted(known, reverse=True)[:_RANK]
        if len(self._highest) == _RANK:
            self._reach(self._highest[-1][0])
        if len(batch.counts):
            reached = int(batch.counts.watermark.max())
            if reached != NO_TIME:
                self._reach(reached)

    @property
    def moment(self) -> int:
        """Its time; `NO_TIME` before three distinct events came."""
        return NO_TIME if self.time is None else self.time

    @property
    def time_of_few(self) -> int | None:
        """Its time; before three distinct events came, that of the earliest; None before any."""
        few = (when for when, _, _ in self._highest)
        return min(few, default=None) if self.time is None else self.time

    def _reach(self, time: int) -> None:
        """Advance to a time; drop the events up to it, which can no longer matter."""
        self.time = time if self.time is None else max(self.time, time)
        self._highest = [event for event in self._highest if event[0] > self.time]


def _highest_of(columns: AnyColumns) -> Int64Array:
    """Return the rows of the events that may be among the highest."""
    time = columns.time
    if isinstance(columns, Labels) and not (alone := columns.alone).all():
        rows = alone.nonzero()[0]
        return rows[_highest_times(time[rows])] if len(rows) else rows
    return _highest_times(time)


def _highest_times(time: Int64Array) -> Int64Array:
    return (time >= third_highest_time(time)).nonzero()[0]


def third_highest_time(time: Int64Array) -> int:
    """Return a time at or below which the third-highest distinct event of some lies.

    >>> third_highest_time(np.array([1, 5, 5, 2, 4]))
    2
    """
    few = min(len(time), _LOOKED_AT)
    distinct = np.unique(np.partition(time, -few)[-few:])
    if len(distinct) < _RANK:
        distinct = np.unique(time)
    return int(distinct[-min(_RANK, len(distinct))])
