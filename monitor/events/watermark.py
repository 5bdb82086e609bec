"""How far event time has come: the third-highest event time seen.

Where counts say how far their sender has come, that far at least.

Two stray records from the future move nothing. An event counts once however
often it is delivered, so that repeated strays do not add up.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import NO_TIME, EventBatch, Int64Array, KeyArray
from monitor.events.renumbering import State

_RANK = 3
_LOOKED_AT = 32
"""So many of the highest times nearly always hold three that differ."""
_PREDICTION, _LABEL, _OUTCOME, _COUNTS = range(4)


class Watermark:
    """Event time as it advances; never goes back.

    Attributes:
        time: the third-highest event time seen, epoch milliseconds; None before
            three distinct events came.
    """

    def __init__(self) -> None:
        self.time: int | None = None
        self._highest: list[tuple[int, int, int]] = []

    def advance(self, batch: EventBatch) -> None:
        """Take notice of all events of a batch."""
        anonymous = [
            (batch.outcomes.time, np.arange(len(batch.outcomes), dtype=np.uint64), _OUTCOME),
            (batch.counts.time, np.arange(len(batch.counts), dtype=np.uint64), _COUNTS),
        ]
        identified = [
            (batch.predictions.time, batch.predictions.key, _PREDICTION),
            (batch.labels.time, batch.labels.key, _LABEL),
        ]
        for time, key, kind in (*identified, *anonymous):
            self._see(time, key, kind)
        if len(batch.counts):
            reached = int(batch.counts.watermark.max())
            if reached != NO_TIME:
                self._reach(reached)

    def state(self) -> State:
        """The highest events, and the time that follows from them."""
        return {"time": self.time, "highest": [list(event) for event in self._highest]}

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self.time = state["time"]
        self._highest = [(when, key, kind) for when, key, kind in state["highest"]]

    def _reach(self, time: int) -> None:
        self.time = time if self.time is None else max(self.time, time)

    def _see(self, time: Int64Array, key: KeyArray, kind: int) -> None:
        if not len(time) or (self.time is not None and time.max() <= self.time):
            return
        high = (time >= _third_highest_time(time)).nonzero()[0]
        events = zip(time[high].tolist(), key[high].tolist(), strict=True)
        known = {(when, identity, kind) for when, identity in events} | set(self._highest)
        self._highest = sorted(known, reverse=True)[:_RANK]
        if len(self._highest) == _RANK:
            self._reach(self._highest[-1][0])


def _third_highest_time(time: Int64Array) -> int:
    """A time at or below which the third-highest distinct event of these lies."""
    few = min(len(time), _LOOKED_AT)
    distinct = np.unique(np.partition(time, -few)[-few:])
    if len(distinct) < _RANK:
        distinct = np.unique(time)
    return int(distinct[-min(_RANK, len(distinct))])
