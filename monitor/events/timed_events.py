"""Events of a batch by the time they happened, as the times of models rest on them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array, KeyArray
from monitor.events.identity import event_keys


class EventKind(IntEnum):
    """Kinds of events, in the order of `columns.KINDS`; and what a source of counts reports."""

    PREDICTION = 0
    LABEL = 1
    OUTCOME = 2
    COUNTS = 3
    REPORTED = 4


class TimedEvents(NamedTuple):
    """Events of one model in the order of the stream.

    Attributes:
        time: event time, epoch milliseconds.
        key: what distinguishes events of the same time and kind.
        kind: see `EventKind`.
        arrived: arrival time, epoch milliseconds; `NO_TIME` where it is not known.
    """

    time: Int64Array
    key: KeyArray
    kind: Int64Array
    arrived: Int64Array

    def rows(self, index: slice | Int64Array) -> TimedEvents:
        """Return the selected events."""
        return TimedEvents(self.time[index], self.key[index], self.kind[index], self.arrived[index])


_OWN = {
    "predictions": EventKind.PREDICTION,
    "outcomes": EventKind.OUTCOME,
    "counts": EventKind.COUNTS,
}


def timed_events(
    batch: EventBatch,
) -> Iterator[tuple[Int64Array, Int64Array, Int64Array, TimedEvents]]:
    """Yield the events of each kind that names a model.

    Yields:
        Group and row of each event, its index into the rows of all kinds in turn, and the
        events. What sources report to have reached comes last.
    """
    start = 0
    for name in KINDS:
        columns = getattr(batch, name)
        count = len(columns)
        if name in _OWN and count:
            index = np.arange(start, start + count)
            events = TimedEvents(
                columns.time,
                event_keys(columns, slice(None)),
                np.full(count, _OWN[name], dtype=np.int64),
                arrivals_of(batch, columns.row),
            )
            yield columns.group, columns.row, index, events
        start += count
    reported = np.flatnonzero(batch.counts.watermark != NO_TIME)
    if len(reported):
        counts = batch.counts.take(reported)
        kind = np.full(len(counts), EventKind.REPORTED, dtype=np.int64)
        arrived = arrivals_of(batch, counts.row)
        events = TimedEvents(counts.watermark, counts.batch_key, kind, arrived)
        yield counts.group, counts.row, start - len(batch.counts) + reported, events


def arrivals_of(batch: EventBatch, row: Int64Array) -> Int64Array:
    """Return the arrival time of records, epoch milliseconds; `NO_TIME` where it is not known.

    Args:
        batch: of any events.
        row: position of each record.
    """
    if not batch.arrivals:
        return np.full(len(row), NO_TIME, dtype=np.int64)
    rows, arrived = np.array(batch.arrivals, dtype=np.int64).T
    at = np.searchsorted(rows, row, side="right") - 1
    return np.where(at < 0, NO_TIME, arrived[at])
