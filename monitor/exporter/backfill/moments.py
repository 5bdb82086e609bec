"""The states that a running monitor would have shown, replayed from recorded events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from monitor.engine import Monitor
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.events.watermark import Watermark
from monitor.snapshot import Snapshot

_KINDS = ("predictions", "labels", "outcomes", "counts")
_END_OF_TIME = 2**62


class Moments:
    """Feeds a monitor and yields its state at every full step of event time.

    The state at a moment contains the events before it, and windows that end by it. A
    moment is yielded once the watermark has reached it, so that stray records from the
    future add no moments. Where a whole step brings no event and every window is empty,
    moments up to the next event are skipped, so that stray records from the past add few.

    Args:
        monitor: counts the events; in the end it has seen all of them.
        step_ms: event time from one moment to the next, milliseconds.
    """

    def __init__(self, monitor: Monitor, step_ms: int) -> None:
        self._monitor, self._step = monitor, step_ms
        self._ahead = Watermark()
        self._waiting = EventBatch()
        self._next: int | None = None

    def feed(self, batch: EventBatch) -> Iterator[tuple[int, Snapshot]]:
        """Take a batch; yield each moment that it completes, epoch milliseconds, with its state."""
        self._ahead.advance(batch)
        self._waiting = concatenate([self._waiting, batch])
        reached = self._ahead.time
        if reached is None:
            return
        if self._next is None:
            self._next = self._following(_earliest(self._waiting))
        while self._next <= reached:
            moment = self._next
            applied = self._apply(moment)
            state = self._monitor.snapshot(moment)
            yield moment, state
            idle = not applied and not any(w.counts.total.any() for w in state.windows)
            upcoming = self._following(_earliest(self._waiting)) if idle else 0
            self._next = max(moment + self._step, upcoming)
        self._apply(self._next)

    def finish(self) -> None:
        """Apply the events that are left: those beyond the watermark."""
        self._apply(_END_OF_TIME)

    def _following(self, time: int) -> int:
        """Return the first moment after an event."""
        return (time // self._step + 1) * self._step

    def _apply(self, before: int) -> int:
        """Apply the waiting events before a moment; return how many there were."""
        due, self._waiting = _cut(self._waiting, before)
        self._monitor.apply(due)
        return sum(len(getattr(due, kind)) for kind in _KINDS)


def _earliest(batch: EventBatch) -> int:
    """Return the time of the first event; 0 where there is none."""
    times = (getattr(batch, kind).time for kind in _KINDS)
    return min((int(time.min()) for time in times if len(time)), default=0)


def _cut(batch: EventBatch, moment: int) -> tuple[EventBatch, EventBatch]:
    """Split a batch at a moment; rejected records go with the earlier part."""
    before, rest = {}, {}
    for kind in _KINDS:
        columns = getattr(batch, kind)
        early = columns.time < moment
        before[kind] = columns.take(np.flatnonzero(early))
        rest[kind] = columns.take(np.flatnonzero(~early))
    # One record may give two rows: records are split in proportion to the rows.
    used, unused = batch.records - len(batch.rejected), len(batch.rejected)
    rows = sum(map(len, before.values())), sum(map(len, rest.values()))
    read = unused + (round(used * rows[0] / sum(rows)) if rows[1] else used)
    return (
        replace(batch, **before, records=read),
        replace(batch, **rest, rejected=(), records=batch.records - read),
    )
