"""Audits of predictions: which of them is in force, and what the audited labels were.

An audit counts by the prediction and the label in force of its id, as they are when it is read.
So audit, label and prediction may come in any order. When the prediction is forgotten, nothing
of it changes any more, and its audit is added to the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import Columns, Int64Array, KeyArray, Rows
from monitor.events.renumbering import GONE, Numbers, State, renumbered
from monitor.join import packing as words
from monitor.join.table import PredictionTable

_CLASSES = 2
AUDITED_CELLS = _CLASSES**3
"""Numbers of (predicted class, label, actual class) as one: 4, 2 and 1."""


def _no_rows() -> Int64Array:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCounts(Columns):
    """Audited cases, one row for each group, day and cell.

    Attributes:
        group: number of the group.
        day: of the prediction, since 1970.
        cell: predicted class times 4, label times 2 and actual class.
        count: cases.
    """

    group: Int64Array = field(default_factory=_no_rows)
    day: Int64Array = field(default_factory=_no_rows)
    cell: Int64Array = field(default_factory=_no_rows)
    count: Int64Array = field(default_factory=_no_rows)

    def is_same(self, other: AuditCounts) -> bool:
        """Return whether other rows are the same."""
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self.names())

    def summed(self) -> AuditCounts:
        """Return the counts with each group, day and cell once."""
        place = np.stack([self.group, self.day, self.cell])
        distinct, inverse = np.unique(place, axis=1, return_inverse=True)
        count = np.bincount(inverse.reshape(-1), weights=self.count, minlength=distinct.shape[1])
        group, day, cell = distinct
        return AuditCounts(group=group, day=day, cell=cell, count=count.astype(np.int64))


class LabelledCases(NamedTuple):
    """Predictions with a label in force.

    Attributes:
        key: of their ids.
        group: number of the group of each.
        time: event time of the prediction, epoch milliseconds.
        stratum: predicted class times 2, and the label.
    """

    key: KeyArray
    group: Int64Array
    time: Int64Array
    stratum: Int64Array

    def take(self, rows: Rows) -> LabelledCases:
        """Return the selected cases."""
        return LabelledCases(self.key[rows], self.group[rows], self.time[rows], self.stratum[rows])


class Audits:
    """Audits of remembered predictions, and the counts of those of forgotten ones.

    Args:
        table: of predictions.

    Attributes:
        edition: rises with each change.
        unmet: audits without effect so far: no prediction with their id came, or it is forgotten.

    >>> table = PredictionTable()
    >>> key, when = np.array([7], np.uint64), words.when_words(np.array([0]), np.array([3]))
    >>> labelled = words.label_words(np.array([5]), np.array([1])) | np.uint64(1)
    >>> slots, audits = table.append(key, when, labelled), Audits(table)
    >>> audits.add(key, np.array([9]), np.array([0]))
    >>> found = audits.counts()
    >>> found.group.tolist(), found.day.tolist(), found.cell.tolist(), found.count.tolist()
    ([3], [0], [6], [1])
    """

    def __init__(self, table: PredictionTable) -> None:
        self._table = table
        self._key: KeyArray = np.empty(0, dtype=np.uint64)
        self._time, self._value = _no_rows(), _no_rows()
        self._settled = AuditCounts()
        self.edition = 0
        self.unmet = 0

    @property
    def is_empty(self) -> bool:
        """True before the first audit of a known prediction."""
        return not (len(self._key) or len(self._settled))

    def add(self, key: KeyArray, time: Int64Array, value: Int64Array) -> None:
        """Add audits of remembered predictions; of one id the latest is in force.

        Args:
            key: of their ids.
            time: event time of each, epoch milliseconds.
            value: what each found: 0, 1, or `RETRACTED`, which takes the audit back; at the same
                time the greatest is in force.
        """
        if not len(key):
            return
        key = np.concatenate([self._key, np.maximum(key, np.uint64(1))])
        time, value = np.concatenate([self._time, time]), np.concatenate([self._value, value])
        order = np.lexsort((value, time, key))
        last = np.append(key[order][1:] != key[order][:-1], True)
        rows = order[last]
        self._key, self._time, self._value = key[rows], time[rows], value[rows]
        self.edition += 1

    def settle(self, slots: Int64Array) -> None:
        """Add the audits of predictions to the counts; call before these are forgotten.

        Args:
            slots: of the predictions.
        """
        if not len(self._key):
            return
        keys = self._table.keys(slots)
        place = np.minimum(np.searchsorted(self._key, keys), len(self._key) - 1)
        audited = self._key[place] == keys
        if not audited.any():
            return
        place, slots = place[audited], slots[audited]
        self._settled = AuditCounts.concatenate(
            [self._settled, self._cases(slots, self._value[place])]
        ).summed()
        left = np.ones(len(self._key), dtype=np.bool_)
        left[place] = False
        self._key, self._time, self._value = self._key[left], self._time[left], self._value[left]
        self.edition += 1

    def counts(self) -> AuditCounts:
        """Return all audited cases that have a label in force."""
        if not len(self._key):
            return self._settled
        waiting = self._cases(self._table.find(self._key), self._value)
        return AuditCounts.concatenate([self._settled, waiting]).summed()

    def not_audited(self) -> Iterator[LabelledCases]:
        """Yield the remembered predictions with a label in force and without an audit."""
        for slots in self._table.chunks():
            when, what = self._table.when(slots), self._table.what(slots)
            key, label = self._table.keys(slots), words.label_values_of(what)
            rows = (label >= 0) & (label < _CLASSES) & ~np.isin(key, self._key)
            called = words.predicted_positive_of(what).astype(np.int64)
            cases = LabelledCases(
                key, words.groups_of(when), words.times_of(when), 2 * called + label
            )
            yield cases.take(rows)

    def _cases(self, slots: Int64Array, found: Int64Array) -> AuditCounts:
        when, what = self._table.when(slots), self._table.what(slots)
        label = words.label_values_of(what)
        rows = np.flatnonzero((label >= 0) & (label < _CLASSES) & (found < _CLASSES))
        called = words.predicted_positive_of(what[rows]).astype(np.int64)
        return AuditCounts(
            group=words.groups_of(when[rows]),
            day=words.times_of(when[rows]) // DAY_MS,
            cell=4 * called + 2 * label[rows] + found[rows],
            count=np.ones(len(rows), dtype=np.int64),
        )

    def state(self) -> State:
        """Return the audits of remembered predictions by column, and the counts of the others."""
        settled = self._settled
        return {
            "key": self._key.copy(),
            "time": self._time.copy(),
            "value": self._value.copy(),
            "settled": {name: getattr(settled, name).copy() for name in settled.names()},
            "unmet": self.unmet,
        }

    def restore(self, state: State, left: Numbers, waiting: int) -> None:
        """Restore from `state`; the predictions must be restored already.

        Args:
            state: from `state`.
            left: groups of that state that still exist.
            waiting: audits that wait for their prediction, which older states do not count.
        """
        known = self._table.find(state["key"]) >= 0
        self._key, self._time, self._value = (
            state[name][known].copy() for name in ("key", "time", "value")
        )
        settled = AuditCounts(**state["settled"])
        group = renumbered(settled.group, left.groups)
        columns = {name: getattr(settled, name) for name in settled.names()} | {"group": group}
        self._settled = AuditCounts(**columns).take(group != GONE)
        self.unmet = state.get("unmet", waiting)
        self.edition += 1
