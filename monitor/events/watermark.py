"""The watermark: the third-highest event time seen.

If `counts` events carry the watermark of their sender, it is at least that.

Two stray records from the future do not move it. An event counts once however often it
is delivered, so that repeated strays do not add up. A record with both a prediction and
its label is one event, at the time of the prediction: the time of its label does not
show how far the stream has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.batches import in_sequence
from monitor.events.columns import (
    KINDS,
    NO_TIME,
    BoolArray,
    CountDeltas,
    EventBatch,
    Int64Array,
    KeyArray,
    Labels,
    Outcomes,
    Predictions,
)
from monitor.events.renumbering import State
from monitor.events.score_bins import score_bins

AnyColumns = Predictions | Labels | Outcomes | CountDeltas

_RANK = 3
_LOOKED_AT = 32
"""This many highest times nearly always include three that differ."""
_BEFORE_ALL = NO_TIME
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
            events = zip(columns.time[rows].tolist(), _keys(columns, rows).tolist(), strict=True)
            known |= {(when, key, kind) for when, key in events if when > self.moment}
        self._highest = sorted(known, reverse=True)[:_RANK]
        if len(self._highest) == _RANK:
            self._reach(self._highest[-1][0])
        if len(batch.counts):
            reached = int(batch.counts.watermark.max())
            if reached != NO_TIME:
                self._reach(reached)

    def seeing(self, batch: EventBatch) -> Watermark:
        """Return a copy, advanced by a batch."""
        seen = copy(self)  # shallow: `advance` replaces attributes and changes none in place
        seen.advance(batch)
        return seen

    def along(self, batch: EventBatch) -> Int64Array:
        """Compute the watermark before each record of a batch, as if advanced one by one.

        Returns:
            Epoch milliseconds, a value for each row, kind by kind; `NO_TIME` before three
            distinct events came.
        """
        sizes = [len(getattr(batch, name)) for name in KINDS]
        ends = np.cumsum(sizes)
        time = np.full(int(ends[-1]), _BEFORE_ALL)
        reached = np.full(len(time), _BEFORE_ALL)
        identity = np.zeros(len(time), dtype=np.uint64)
        for kind, name in enumerate(KINDS):
            columns = getattr(batch, name)
            later = self._later(columns)
            rows = later + ends[kind] - sizes[kind]
            time[rows] = columns.time[later]
            identity[rows] = _identities(columns.time[later], _keys(columns, later), kind)
        reached[ends[-1] - sizes[-1] :] = batch.counts.watermark
        order = in_sequence(batch)
        found_time = _once(time[order], identity[order], self._identities())
        passed = self._running(found_time, reached[order])
        before = np.empty(len(order), dtype=np.int64)
        before[order] = np.concatenate([[self.moment], passed[:-1]])
        return before

    def enters_another(self, step: int, seen: Watermark) -> bool:
        """Return whether a later watermark is in another step of event time.

        Args:
            step: length of the steps, milliseconds.
            seen: the later watermark.
        """
        return self.moment // step != seen.moment // step

    @property
    def moment(self) -> int:
        """Its time; `NO_TIME` before three distinct events came."""
        return NO_TIME if self.time is None else self.time

    def state(self) -> State:
        """The highest events, and the time that follows from them."""
        return {"time": self.time, "highest": [list(event) for event in self._highest]}

    def restore(self, state: State) -> None:
        """Restore from `state`."""
        self._highest = [(when, key, kind) for when, key, kind in state["highest"]]
        if state["time"] is not None:
            self._reach(state["time"])

    def _reach(self, time: int) -> None:
        """Advance to a time; drop the events up to it, which can no longer matter."""
        self.time = time if self.time is None else max(self.time, time)
        self._highest = [event for event in self._highest if event[0] > self.time]

    def _later(self, columns: AnyColumns) -> Int64Array:
        """Return the rows of the events that are later than the watermark."""
        later: BoolArray = columns.time > self.moment
        if isinstance(columns, Labels):
            later = later & columns.alone
        return later.nonzero()[0]

    def _identities(self) -> KeyArray:
        known = [
            _identities(np.array([when]), np.array([key], dtype=np.uint64), kind)
            for when, key, kind in self._highest
        ]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *known])

    def _running(self, time: Int64Array, reached: Int64Array) -> Int64Array:
        """Compute the watermark after each of some records, from times of distinct later events."""
        known = sorted([event[0] for event in self._highest], reverse=True)
        tops = [*known, *[_BEFORE_ALL] * _RANK][:_RANK]
        highest = time
        for top in tops:
            highest = np.maximum.accumulate(np.concatenate([[top], time]))
            time = np.minimum(highest[:-1], time)  # without the highest so far
        third = highest[1:]
        return np.maximum(np.maximum(third, np.maximum.accumulate(reached)), self.moment)


def _keys(columns: AnyColumns, rows: Int64Array) -> KeyArray:
    """Hash what identifies events: the id, or all fields of an event without an id."""
    if isinstance(columns, Outcomes):
        chosen = columns.take(rows)
        called = chosen.predicted_positive * 2 + chosen.actual_positive
        return _mixed([chosen.label_time, chosen.group, score_bins(chosen.score), called])
    if isinstance(columns, CountDeltas):
        counted = columns.take(rows)
        return _mixed([counted.batch_key, counted.group, counted.label_time, *counted.cells.T])
    return columns.key[rows]


def _identities(time: Int64Array, key: KeyArray, kind: int) -> KeyArray:
    return _mixed([key, time, np.full(len(time), kind)])


def _mixed(parts: Sequence[NDArray[Any]]) -> KeyArray:
    """Hash several columns into one 64-bit key."""
    found = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        found = (found ^ part.astype(np.uint64)) * _MIX
        found ^= found >> np.uint64(29)
    return found


def _once(time: Int64Array, identity: KeyArray, known: KeyArray) -> Int64Array:
    """Return times of events, with `_BEFORE_ALL` for those that came before."""
    counted = (time != _BEFORE_ALL).nonzero()[0]
    own = np.concatenate([known, identity[counted]])
    ordered = np.sort(own)
    if not (ordered[1:] == ordered[:-1]).any():
        return time
    _, first = np.unique(own, return_index=True)
    fresh = np.full(len(time), _BEFORE_ALL)
    new = counted[first[first >= len(known)] - len(known)]
    fresh[new] = time[new]
    return fresh


def _highest_of(columns: AnyColumns) -> Int64Array:
    """Return the rows of the events that may be among the highest."""
    time = columns.time
    if isinstance(columns, Labels) and not (alone := columns.alone).all():
        rows = alone.nonzero()[0]
        return rows[_highest_times(time[rows])] if len(rows) else rows
    return _highest_times(time)


def _highest_times(time: Int64Array) -> Int64Array:
    return (time >= _third_highest_time(time)).nonzero()[0]


def _third_highest_time(time: Int64Array) -> int:
    """Return the third-highest distinct time; the lowest if there are fewer."""
    few = min(len(time), _LOOKED_AT)
    distinct = np.unique(np.partition(time, -few)[-few:])
    if len(distinct) < _RANK:
        distinct = np.unique(time)
    return int(distinct[-min(_RANK, len(distinct))])
