"""Several streams of batches as one, in event time as far as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from monitor.errors import FeedError
from monitor.events.columns import (
    BoolArray,
    EventBatch,
    concatenate,
    rows_where,
    with_groups_in_use,
)

BEFORE_ALL = -(2**63)
"""The time that a stream has come to before anything came."""
_AFTER_ALL = 2**63 - 1
_MOVING = ("predictions", "outcomes", "counts")
_KINDS = (*_MOVING, "labels")


def merged(streams: Sequence[Iterator[EventBatch]]) -> Iterator[EventBatch]:
    """The events of all streams, none before a stream that still goes on has reached its time.

    The stream that has come least far is read on; what lies up to the point
    that all have reached is given. A stream of older and older times delays
    nothing, since it is itself the least far. Memory is a few batches a stream,
    and whatever lies in the future of the least far: labels that a table names
    along with their prediction wait here until their time.

    Raises:
        FeedError: one of the streams tore; raised after all events of all.
    """
    waiting = [_Waiting(stream) for stream in streams]
    due = EventBatch()
    while going := [w for w in waiting if not w.finished]:
        came = min(going, key=lambda w: w.reached).read()
        frontier = min((w.reached for w in waiting if not w.finished), default=_AFTER_ALL)
        due = concatenate([due, came, *(w.take_until(frontier) for w in waiting)])
        if due.rejected or any(len(getattr(due, kind)) for kind in _KINDS):
            yield _in_order(due)
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
        self._held = EventBatch()

    def read(self) -> EventBatch:
        """Takes in the next batch; gives what of it has no time."""
        try:
            batch = next(self._stream, None)
        except FeedError as error:
            batch, self.error = None, error
        if batch is None:
            self.finished = True
            return EventBatch()
        self.reached = max(self.reached, reached_by(batch))
        self._held = concatenate([self._held, replace(batch, rejected=(), records=0)])
        return EventBatch(rejected=batch.rejected, records=batch.records)

    def take_until(self, frontier: int) -> EventBatch:
        """Takes out all events up to a time."""
        due = {kind: getattr(self._held, kind).time <= frontier for kind in _KINDS}
        taken, self._held = _part(self._held, due), _part(self._held, _inverted(due))
        return taken


def reached_by(batch: EventBatch) -> int:
    """How far a batch comes; labels count only where there is nothing else.

    The label of a table's row lies in that row's future and says nothing about
    how far the file is.
    """
    columns = [getattr(batch, kind) for kind in _MOVING]
    if not any(map(len, columns)):
        columns = [batch.labels]
    return max((int(c.time.max()) for c in columns if len(c)), default=BEFORE_ALL)


def _inverted(which: dict[str, BoolArray]) -> dict[str, BoolArray]:
    return {kind: ~mask for kind, mask in which.items()}


def _part(batch: EventBatch, which: dict[str, BoolArray]) -> EventBatch:
    if all(mask.all() for mask in which.values()):
        return batch
    parts: dict[str, Any] = {
        kind: getattr(batch, kind).take(rows_where(mask)) for kind, mask in which.items()
    }
    return with_groups_in_use(replace(batch, **parts))


def _in_order(batch: EventBatch) -> EventBatch:
    return replace(batch, **{kind: _by_time(getattr(batch, kind)) for kind in _KINDS})


def _by_time(columns: Any) -> Any:
    time = columns.time
    if (time[1:] >= time[:-1]).all():
        return columns
    return columns.take(np.argsort(time, kind="stable"))
