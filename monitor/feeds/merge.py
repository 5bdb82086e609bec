"""Several streams of batches merged by event time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.errors import FeedError
from monitor.events.batches import concatenate, in_row_order, in_sequence, with_groups_in_use
from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array

BEFORE_ALL = NO_TIME
"""Time reached by a stream without events."""
_AFTER_ALL = 2**62


class _Timed(NamedTuple):
    """Events of one stream, in order.

    Attributes:
        batch: the events.
        reached: the latest time of the stream up to each event, by kind.
    """

    batch: EventBatch
    reached: dict[str, Int64Array]


def merged(streams: Sequence[Iterator[EventBatch]]) -> Iterator[EventBatch]:
    """Merge streams by event time.

    A stream *reaches* the latest event time that it has given so far. Events of one stream
    stay in their order. Events of several streams are in the order of the time that their
    stream had reached, so that the sizes of batches do not matter. This reads the stream
    that has reached the least, and yields the events that all unfinished streams have
    passed. Memory holds a few batches a stream, and the events after the time that the
    slowest stream has reached.

    Raises:
        FeedError: a stream raised it; raised again after all events of all streams.
    """
    waiting = [_Waiting(stream) for stream in streams]
    due = EventBatch()
    while going := [w for w in waiting if not w.finished]:
        came = min(going, key=lambda w: w.reached).read()
        passed = min((w.reached for w in waiting if not w.finished), default=_AFTER_ALL)
        parts = [w.take_before(passed) for w in waiting if w.earliest < passed]
        due = concatenate([due, came, *([_in_turn(parts)] if parts else [])])
        if due.rejected or any(len(getattr(due, kind)) for kind in KINDS):
            yield due
            due = EventBatch()
    if due.records:
        yield due
    for torn in (w.error for w in waiting if w.error):
        raise torn


def by_time(streams: Sequence[tuple[EventBatch, int]]) -> EventBatch:
    """Merge a batch of each of several streams, as `merged` would if they had no more.

    Args:
        streams: at least one; what each gave, and the time that it had reached before, epoch
            milliseconds.
    """
    return _in_turn([_Timed(batch, _reached_along(batch, since)) for batch, since in streams])


class _Waiting:
    """One stream, and its events that are not due yet.

    Attributes:
        reached: the latest event time that it has given, epoch milliseconds.
        earliest: the time that it had reached with the first event that is not due yet; beyond
            all times where there is none.
        finished: True at its end.
        error: why it ended early; None if it did not.
    """

    def __init__(self, stream: Iterator[EventBatch]) -> None:
        self.reached = BEFORE_ALL
        self.earliest = _AFTER_ALL
        self.finished = False
        self.error: FeedError | None = None
        self._stream = stream
        self._held = _Timed(EventBatch(), {kind: np.empty(0, np.int64) for kind in KINDS})

    def read(self) -> EventBatch:
        """Read the next batch; return its parts without a time (rejections, counts of records)."""
        try:
            batch = next(self._stream, None)
        except FeedError as error:
            batch, self.error = None, error
        if batch is None:
            self.finished = True
            return EventBatch()
        events = in_row_order(replace(batch, rejected=(), records=0))
        found = _reached_along(events, self.reached)
        self.reached = max(self.reached, reached_by(events))
        held, reached = self._held
        self._hold(
            _Timed(
                concatenate([held, events]),
                {kind: np.concatenate([reached[kind], found[kind]]) for kind in KINDS},
            )
        )
        return EventBatch(rejected=batch.rejected, records=batch.records)

    def take_before(self, passed: int) -> _Timed:
        """Remove and return all events up to which the stream had not reached a time."""
        ends = {k: int(np.searchsorted(times, passed)) for k, times in self._held.reached.items()}
        taken = _part(self._held, {kind: slice(end) for kind, end in ends.items()})
        self._hold(_part(self._held, {kind: slice(end, None) for kind, end in ends.items()}))
        return taken

    def _hold(self, events: _Timed) -> None:
        self._held = events
        firsts = (int(times[0]) for times in events.reached.values() if len(times))
        self.earliest = min(firsts, default=_AFTER_ALL)


def reached_by(batch: EventBatch) -> int:
    """Return the latest event time of a batch, epoch milliseconds; `BEFORE_ALL` if empty.

    Labels that came in one record with their prediction do not count.
    """
    return max(
        (int(time.max()) for time in _times(batch).values() if len(time)), default=BEFORE_ALL
    )


def begins_at(batch: EventBatch) -> int:
    """Return the earliest event time of a batch, epoch milliseconds; `BEFORE_ALL` if empty.

    Labels that came in one record with their prediction do not count.
    """
    times = np.concatenate([*_times(batch).values()])
    return int(min(times[times > BEFORE_ALL], default=BEFORE_ALL))


def _times(batch: EventBatch) -> dict[str, Int64Array]:
    times = {kind: getattr(batch, kind).time for kind in KINDS}
    return times | {"labels": np.where(batch.labels.alone, batch.labels.time, BEFORE_ALL)}


def _reached_along(batch: EventBatch, since: int) -> dict[str, Int64Array]:
    """Return the time that a stream has reached with each event of its next batch, by kind.

    Args:
        batch: the rows of each kind in order.
        since: the time reached before, epoch milliseconds.
    """
    time = np.concatenate([*_times(batch).values()])
    order = in_sequence(batch)
    time[order] = np.maximum.accumulate(np.maximum(time[order], since))
    sizes = [len(getattr(batch, kind)) for kind in KINDS]
    return dict(zip(KINDS, np.split(time, np.cumsum(sizes)[:-1]), strict=True))


def _part(timed: _Timed, which: dict[str, slice]) -> _Timed:
    batch = timed.batch
    taken = {kind: getattr(batch, kind).take(rows) for kind, rows in which.items()}
    reached = {kind: timed.reached[kind][rows] for kind, rows in which.items()}
    return _Timed(with_groups_in_use(replace(batch, **taken)), reached)


def _in_turn(parts: Sequence[_Timed]) -> EventBatch:
    """Merge events of several streams into one batch, each stream's in its order."""
    columns = [getattr(part.batch, kind) for part in parts for kind in KINDS]
    sizes = [*map(len, columns)]
    time = np.concatenate([part.reached[kind] for part in parts for kind in KINDS])
    row = np.concatenate([own.row for own in columns])
    source = np.repeat(np.arange(len(columns)), sizes)  # streams in order, kinds in order
    place = np.empty(len(time), dtype=np.int64)
    place[np.lexsort((source, row, source // len(KINDS), time))] = np.arange(len(time))
    places = iter(np.split(place, np.cumsum(sizes)[:-1]))
    turned = []
    for part in parts:
        batch = part.batch
        moved = {kind: replace(getattr(batch, kind), row=next(places)) for kind in KINDS}
        turned.append(replace(batch, **moved))
    return concatenate(turned, interleaved=True)
