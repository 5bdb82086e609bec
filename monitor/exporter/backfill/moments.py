"""Recorded events up to one moment after the other, as a running monitor would have seen them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from monitor.engine import Monitor
from monitor.events.columns import EventBatch, concatenate
from monitor.events.watermark import Watermark
from monitor.snapshot import Snapshot

_KINDS = ("predictions", "labels", "outcomes", "counts")
_AFTER_ALL = 2**62


class Moments:
    """Feeds a monitor, and gives its state at every full step of event time.

    A moment's state holds the events before it, and windows that end by it. It
    is given once event time has surely come there, so that strays from the
    future make no moments. Where a whole step brought no event and every window
    is empty, the moments up to the next event are left out, so that strays from
    the past make few.

    Args:
        monitor: what counts; in the end it has seen every event.
        step_ms: event time from one moment to the next, milliseconds.
    """

    def __init__(self, monitor: Monitor, step_ms: int) -> None:
        self._monitor, self._step = monitor, step_ms
        self._ahead = Watermark()
        self._waiting = EventBatch()
        self._next: int | None = None

    def after(self, batch: EventBatch) -> Iterator[tuple[int, Snapshot]]:
        """Take a batch; each moment that it completes, epoch milliseconds, with the state then."""
        self._ahead.advance(batch)
        self._waiting = concatenate([self._waiting, batch])
        reached = self._ahead.time
        if reached is None:
            return
        if self._next is None:
            self._next = self._following(_earliest(self._waiting))
        while self._next <= reached:
            moment = self._next
            came = self._apply(moment)
            state = self._monitor.snapshot(moment)
            yield moment, state
            idle = not came and not any(w.counts.total.any() for w in state.windows)
            upcoming = self._following(_earliest(self._waiting)) if idle else 0
            self._next = max(moment + self._step, upcoming)
        self._apply(self._next)

    def finish(self) -> None:
        """Take what is left: events that lie ahead of all the others."""
        self._apply(_AFTER_ALL)

    def _following(self, time: int) -> int:
        """The first moment after an event."""
        return (time // self._step + 1) * self._step

    def _apply(self, before: int) -> int:
        """Apply what waits and lies before a moment; how many events that was."""
        due, self._waiting = _cut(self._waiting, before)
        self._monitor.apply(due)
        return sum(len(getattr(due, kind)) for kind in _KINDS)


def _earliest(batch: EventBatch) -> int:
    """Time of the first of all events; only where there are some."""
    times = (getattr(batch, kind).time for kind in _KINDS)
    return min((int(time.min()) for time in times if len(time)), default=0)


def _cut(batch: EventBatch, moment: int) -> tuple[EventBatch, EventBatch]:
    """What lies before a moment, with the records that could not be used, and the rest."""
    before, rest = {}, {}
    for kind in _KINDS:
        columns = getattr(batch, kind)
        early = columns.time < moment
        before[kind] = columns.take(np.flatnonzero(early))
        rest[kind] = columns.take(np.flatnonzero(~early))
    # A record may have given two rows: records go with their share of the rows.
    used, unused = batch.records - len(batch.rejected), len(batch.rejected)
    rows = sum(map(len, before.values())), sum(map(len, rest.values()))
    read = unused + (round(used * rows[0] / sum(rows)) if rows[1] else used)
    return (
        replace(batch, **before, records=read),
        EventBatch(**rest, groups=batch.groups, records=batch.records - read),
    )
