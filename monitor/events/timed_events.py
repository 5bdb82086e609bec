"""Events of a batch by the time they happened, as the times of models rest on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from monitor.events.columns import (
    KINDS,
    NO_TIME,
    BoolArray,
    CountDeltas,
    EventBatch,
    Int64Array,
    KeyArray,
    Outcomes,
    Predictions,
)
from monitor.events.identity import event_keys

_REPEATED = 1024


class EventKind:
    """Kinds of events, in the order of `columns.KINDS`; and what a source of counts reports.

    They fill columns, so they are integers. Of a member of an `IntEnum`, numpy first asks whether
    it is an array; Python 3.11 answers by code in Python, and numpy drops what that code raises:
    a Ctrl-C at this moment would be lost.
    """

    PREDICTION: Final = 0
    LABEL: Final = 1
    OUTCOME: Final = 2
    COUNTS: Final = 3
    REPORTED: Final = 4


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


OWN_TIME = {
    "predictions": EventKind.PREDICTION,
    "outcomes": EventKind.OUTCOME,
    "counts": EventKind.COUNTS,
}
"""Kinds of events that name a model, by their columns."""


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
        if name in OWN_TIME and count:
            index = np.arange(start, start + count)
            events = TimedEvents(
                times_of(columns),
                event_keys(columns, slice(None)),
                np.full(count, OWN_TIME[name], dtype=np.int64),
                arrivals_of(batch, columns.row),
            )
            yield columns.group, columns.row, index, events
        start += count
    reported = np.flatnonzero(batch.counts.reached != NO_TIME)
    if len(reported):
        counts = batch.counts.take(reported)
        kind = np.full(len(counts), EventKind.REPORTED, dtype=np.int64)
        arrived = arrivals_of(batch, counts.row)
        events = TimedEvents(counts.reached, counts.batch_key, kind, arrived)
        yield counts.group, counts.row, start - len(batch.counts) + reported, events


def times_of(columns: Predictions | Outcomes | CountDeltas) -> Int64Array:
    """Return the times to which events carry the time of their model, epoch milliseconds."""
    return columns.carried if isinstance(columns, CountDeltas) else columns.time


def arrivals_of(batch: EventBatch, row: Int64Array) -> Int64Array:
    """Return the arrival time of records, epoch milliseconds; `NO_TIME` where it is not known.

    Args:
        batch: of any events.
        row: position of each record.
    """
    if not batch.arrivals:
        return np.full(len(row), NO_TIME, dtype=np.int64)
    if len(batch.arrivals) == 1 and len(row) and batch.arrivals[0][0] <= int(row[0]):
        return np.full(len(row), batch.arrivals[0][1], dtype=np.int64)
    rows, arrived = np.array(batch.arrivals, dtype=np.int64).T
    at = np.searchsorted(rows, row, side="right") - 1
    return np.where(at < 0, NO_TIME, arrived[at])


def one_by_one(events: TimedEvents) -> Iterator[tuple[int, int, int, int]]:
    """Return time, key, kind and arrival of each event."""
    return zip(*(column.tolist() for column in events), strict=True)


def repetitions(events: TimedEvents, known: Mapping[tuple[int, int, int], int]) -> int:
    """Return how many of some events, up to the first other one, repeat known ones.

    Args:
        events: of one model.
        known: arrival by time, key and kind.

    Returns:
        Of events that arrived like the known ones; at most `_REPEATED` at a time.
    """
    events = events.rows(slice(_REPEATED))
    same = np.zeros(len(events.time), dtype=np.bool_)
    for (time, key, kind), arrived in known.items():
        one = zip(events, (time, key, kind, arrived), strict=True)
        same |= np.logical_and.reduce([column == value for column, value in one])
    return len(same) if same.all() else int(same.argmin())


def times_once(
    events: TimedEvents, time: int, known: tuple[tuple[int, int, int], ...]
) -> Int64Array:
    """Return the event times, `NO_TIME` for those not later than a time and for repetitions.

    Args:
        events: of one model.
        time: epoch milliseconds.
        known: time, key and kind of events that came before.
    """
    later = events.time > time
    if not later.any():
        return np.full(len(later), NO_TIME, dtype=np.int64)
    old = np.array(known, dtype=object).reshape(-1, 3)
    columns = [
        np.concatenate([old[:, i].astype(column.dtype), column[later]])
        for i, column in enumerate(events[:3])
    ]
    tied = _tied(columns[0])
    columns = [column[tied] for column in columns]
    order = np.lexsort(columns[::-1])
    same: BoolArray = np.zeros(len(order), dtype=np.bool_)
    same[1:] = np.logical_and.reduce([c[order][1:] == c[order][:-1] for c in columns])
    repeated = tied[order[same]] - len(known)
    found = np.where(later, events.time, NO_TIME)
    found[np.flatnonzero(later)[repeated[repeated >= 0]]] = NO_TIME
    return found


def _tied(time: Int64Array) -> Int64Array:
    """Return the rows whose time another row has, by time: no other row repeats an event."""
    order = np.argsort(time, kind="stable")
    equal = np.diff(time[order]) == 0
    tied: BoolArray = np.append(equal, False) | np.insert(equal, 0, False)
    return order[tied]
