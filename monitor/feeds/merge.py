"""Several streams of batches as one, in event time as far as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.errors import FeedError
from monitor.events.batches import concatenate, in_row_order, in_sequence, with_groups_in_use
from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array

BEFORE_ALL = NO_TIME
"""The time that a stream has come to before anything came."""
_AFTER_ALL = 2**62


class _Timed(NamedTuple):
    """Events of one stream, in order.

    Attributes:
        batch: the events.
        reached: the time that the stream had come to with each, by kind.
    """

    batch: EventBatch
    reached: dict[str, Int64Array]


def merged(streams: Sequence[Iterator[EventBatch]]) -> Iterator[EventBatch]:
    """The events of all streams, none before a stream that still goes on has passed its time.

    Those of each stream stay in their order. Among streams they are in the order of the
    time that each had come to with its event, so that it does not matter where batches end.
    The stream that has come least far is read on; what lies before the point that all have
    reached is given. A stream of older and older times delays nothing, since it is itself
    the least far. Memory is a few batches a stream, and whatever lies in the future of the
    least far.

    Raises:
        FeedError: one of the streams tore; raised after all events of all.
    """
    waiting = [_Waiting(stream) for stream in streams]
    due = EventBatch()
    while going := [w for w in waiting if not w.finished]:
        came = min(going, key=lambda w: w.reached).read()
        passed = min((w.reached for w in waiting if not w.finished), default=_AFTER_ALL)
        due = concatenate([due, came, _in_turn([w.take_before(passed) for w in waiting])])
        if due.rejected or any(len(getattr(due, kind)) for kind in KINDS):
            yield due
            due = EventBatch()
    if due.records:
        yield due
    for torn in (w.error for w in waiting if w.error):
        raise torn


class _Waiting:
    """One stream, and what it gave before its time.

    Attributes:
        reached: the event time that it has come to.
        finished: whether it is at its end.
        error: why it ended early, if it did.
    """

    def __init__(self, stream: Iterator[EventBatch]) -> None:
        self.reached = BEFORE_ALL
        self.finished = False
        self.error: FeedError | None = None
        self._stream = stream
        self._held = _Timed(EventBatch(), {kind: np.empty(0, np.int64) for kind in KINDS})

    def read(self) -> EventBatch:
        """Takes in the next batch; gives what of it has no time."""
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
        self._held = _Timed(
            concatenate([held, events]),
            {kind: np.concatenate([reached[kind], found[kind]]) for kind in KINDS},
        )
        return EventBatch(rejected=batch.rejected, records=batch.records)

    def take_before(self, passed: int) -> _Timed:
        """Takes out all events with which it had not come to a time yet."""
        ends = {k: int(np.searchsorted(times, passed)) for k, times in self._held.reached.items()}
        taken = _part(self._held, {kind: slice(end) for kind, end in ends.items()})
        self._held = _part(self._held, {kind: slice(end, None) for kind, end in ends.items()})
        return taken


def reached_by(batch: EventBatch) -> int:
    """How far a batch comes; a label that came with its prediction says nothing about that."""
    return max(
        (int(time.max()) for time in _times(batch).values() if len(time)), default=BEFORE_ALL
    )


def _times(batch: EventBatch) -> dict[str, Int64Array]:
    times = {kind: getattr(batch, kind).time for kind in KINDS}
    return times | {"labels": np.where(batch.labels.alone, batch.labels.time, BEFORE_ALL)}


def _reached_along(batch: EventBatch, since: int) -> dict[str, Int64Array]:
    """The time that a stream has come to with each event of its next batch, by kind.

    Args:
        batch: the rows of each kind in order.
        since: to which it had come before, epoch milliseconds.
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
    """Events of several streams as one batch, each stream's in its order."""
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
