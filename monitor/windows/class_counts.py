"""Counts of models of many classes: by pane, predicted class and actual class.

The panes are those of the windows, and days for a year. A cell that does not occur takes
no memory. To everything else such a model is counted with all of its classes *pooled*: each
prediction claims its class, and is a true or a false positive; there are no negatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.classes import MOST_CLASSES
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EARLIEST_MS, NO_TIME, Int64Array
from monitor.events.renumbering import GONE, Numbers, State, renumbered
from monitor.events.score_bins import NO_SCORE
from monitor.join import Deltas
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.join.sampling import NO_STRATUM
from monitor.windows.panes import PaneRing
from monitor.windows.running import PaneRange
from monitor.windows.sparse_counts import SparseCounts

DAYS = 366
"""Days that are stored."""

_CLASS_BITS, _PANE_BITS = 6, 34
_CELL_BITS = 2 * _CLASS_BITS
_ANY = (1 << _CLASS_BITS) - 1
"""In place of the actual class: the prediction itself, labelled or not."""
_SIDE = 1 << _CLASS_BITS
assert MOST_CLASSES <= _ANY  # noqa: S101  # the numbers of classes fit their bits


class ClassTable(NamedTuple):
    """Counts of one model of many classes.

    Attributes:
        matrix: int64 (…, classes, classes), labelled predictions by predicted and actual class.
        predictions: int64 (…, classes), predictions by predicted class, labelled or not.
    """

    matrix: Int64Array
    predictions: Int64Array


class ClassEntries(NamedTuple):
    """Counts of one model of many classes that occur in some panes, one for each index.

    Attributes:
        at: number of the pane.
        predicted: number of the predicted class.
        actual: number of the actual class; -1 for predictions, labelled or not.
        cases: how many.
    """

    at: Int64Array
    predicted: Int64Array
    actual: Int64Array
    cases: Int64Array


def entries_of(days: ClassTable) -> ClassEntries:
    """Return the counts of days that occur, numbered from 0.

    Args:
        days: the counts, (days, …).
    """
    at, predicted, actual = np.nonzero(days.matrix)
    made_at, made = np.nonzero(days.predictions)
    return ClassEntries(
        at=np.concatenate([at, made_at]),
        predicted=np.concatenate([predicted, made]),
        actual=np.concatenate([actual, np.full(len(made), -1)]),
        cases=np.concatenate([days.matrix[at, predicted, actual], days.predictions[made_at, made]]),
    )


class _Level:
    """Panes of one width.

    Args:
        width: of a pane, milliseconds.
        span: number of panes that are stored.
    """

    def __init__(self, width: int, span: int) -> None:
        self.width = width
        self.span = span
        self.counts = SparseCounts()
        self._first = EARLIEST_MS // width

    def keys(self, model: Int64Array, time: Int64Array, cell: Int64Array) -> Int64Array:
        pane = time // self.width - self._first
        return (((model << _PANE_BITS) | pane) << _CELL_BITS) | cell

    def bound(self, model: int, pane: int) -> int:
        """Return the least key of a pane of a model."""
        return ((model << _PANE_BITS) | max(0, pane - self._first)) << _CELL_BITS

    def entries(self, model: int, start: int, end: int) -> ClassEntries:
        """Return the counts of a model in the panes [start, end)."""
        keys, counts = self.counts.between(self.bound(model, start), self.bound(model, end))
        at = ((keys >> _CELL_BITS) & ((1 << _PANE_BITS) - 1)) + self._first
        actual = keys & _ANY
        return ClassEntries(
            at=at,
            predicted=(keys >> _CLASS_BITS) & _ANY,
            actual=np.where(actual == _ANY, -1, actual),
            cases=counts,
        )

    def oldest(self, time: int) -> int:
        """Return the oldest pane that is stored when a model's time is this."""
        return time // self.width - self.span + 1

    def forget(self, times: Int64Array) -> None:
        """Drop the panes that are too old; `times` are those of the models."""
        keys, _ = self.counts.entries()
        pane = keys >> _CELL_BITS
        newest = np.where(times == NO_TIME, EARLIEST_MS, times) // self.width - self._first
        oldest = newest[pane >> _PANE_BITS] - self.span
        self.counts.keep((pane & ((1 << _PANE_BITS) - 1)) > oldest)


class ClassCounts:
    """Counts of all models of many classes.

    Args:
        catalogue: models and their settings.
        rings: of the windows, by the time of the prediction: fine panes, coarse panes.

    Attributes:
        in_use: there is, or may be, a model of many classes. Nothing is stored without one.
    """

    def __init__(self, catalogue: Catalogue, rings: Sequence[PaneRing]) -> None:
        self._catalogue = catalogue
        self.in_use = any(s.has_many_classes for s in catalogue.possible_settings)
        self._rings = [_Level(ring.width, ring.span) for ring in rings]
        self._days = _Level(DAY_MS, DAYS)
        self._ever = SparseCounts()
        self._times = np.empty(0, dtype=np.int64)
        self._forgot = -1

    @property
    def nbytes(self) -> int:
        """Memory of the counts."""
        return sum(level.counts.nbytes for level in self._levels)

    def apply(self, deltas: Deltas) -> Deltas:
        """Count changes by class; their order does not matter.

        Returns:
            The changes with the classes pooled; those of binary models as they are.
        """
        model = self._catalogue.model_of_group[deltas.group]
        many = np.array([s.has_many_classes for s in self._catalogue.settings], dtype=np.bool_)
        rows = np.flatnonzero(many[model])
        if not len(rows):
            return deltas
        model, own = model[rows], deltas.take(rows)
        alone = own.cell >= PREDICTED_POSITIVE
        actual = np.where(alone, _ANY, own.stratum)
        cell = (own.score_bin << _CLASS_BITS) | actual
        for level in self._levels:
            level.counts.add(level.keys(model, own.time, cell), own.count)
        self._ever.add((model << _CELL_BITS) | cell, own.count)
        columns = deltas.cell.copy(), deltas.score_bin.copy(), deltas.stratum.copy()
        right = np.where(own.score_bin == own.stratum, int(Outcome.TP), int(Outcome.FP))
        columns[0][rows] = np.where(alone, own.cell, right)
        columns[1][rows], columns[2][rows] = NO_SCORE, NO_STRATUM
        return replace(deltas, cell=columns[0], score_bin=columns[1], stratum=columns[2])

    def advance(self, times: Int64Array | int) -> None:
        """Move the models on to their times; panes that leave are dropped once a day.

        Args:
            times: of each model, or of all, epoch milliseconds; `NO_TIME` for no time yet.
        """
        if not self.in_use:
            return
        self._times = np.array(np.broadcast_to(times, len(self._catalogue.settings)))
        day = int(self._times.max(initial=NO_TIME)) // DAY_MS
        if day > self._forgot:
            self._forgot = day
            self._forget()

    def window(self, model: int, panes: PaneRange) -> ClassTable:
        """Return the counts of a range of panes.

        Args:
            model: its number.
            panes: by the time of the prediction.
        """
        level, start = self._since(model, panes)
        found = level.counts.between(level.bound(model, start), level.bound(model, panes.end))
        return self._table(model, *found)

    def entries(self, model: int, panes: PaneRange) -> ClassEntries:
        """Return the counts that occur in a range of panes.

        Args:
            model: its number.
            panes: by the time of the prediction.
        """
        level, start = self._since(model, panes)
        return level.entries(model, start, panes.end)

    def blocks(self, model: int, panes: PaneRange, each: int) -> Int64Array:
        """Return the matrices of a range of panes in blocks, (blocks, classes, classes).

        Args:
            model: its number.
            panes: by the time of the prediction.
            each: how many panes make a block; the last one may have fewer.
        """
        size = len(self._catalogue.settings[model].classes)
        blocks = -(-(panes.end - panes.start) // each)
        matrices = np.zeros((blocks, size, size), dtype=np.int64)
        at, predicted, actual, cases = self.entries(model, panes)
        own = actual >= 0
        index = (at[own] - panes.start) // each, predicted[own], actual[own]
        np.add.at(matrices, index, cases[own])
        return matrices

    def day_entries(self, model: int, first: int, end: int) -> ClassEntries:
        """Return the counts that occur on some days, at most a year back.

        Args:
            model: its number.
            first: day since 1970, UTC.
            end: day after the last one.
        """
        return self._days.entries(model, first, end)

    def days(self, model: int, first: int, end: int) -> ClassTable:
        """Return the counts of days, with one more axis, (days, …).

        Args:
            model: its number.
            first: day since 1970, UTC.
            end: day after the last one.
        """
        level = self._days
        bounds = [level.bound(model, day) for day in range(first, end + 1)]
        parts = [
            self._table(model, *level.counts.between(opens, closes))
            for opens, closes in pairwise(bounds)
        ]
        return ClassTable(*map(np.stack, zip(*parts, strict=True)))

    def ever(self, model: int) -> ClassTable:
        """Return all counts of a model."""
        first = model << _CELL_BITS
        return self._table(model, *self._ever.between(first, first + (1 << _CELL_BITS)))

    def state(self) -> State:
        """Serializable state; empty without a model of many classes."""
        if not self.in_use:
            return {}
        self._forget()
        return {
            "levels": [[level.width, *level.counts.entries()] for level in self._levels],
            "ever": [*self._ever.entries()],
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; empty for one without a model of many classes.
            left: the models that are still there.
        """
        if not (state and self.in_use):
            return
        for level, (width, keys, counts) in zip(self._levels, state["levels"], strict=True):
            if width == level.width:
                _fill(level.counts, keys, counts, _PANE_BITS + _CELL_BITS, left)
        keys, counts = state["ever"]
        _fill(self._ever, keys, counts, _CELL_BITS, left)

    def _since(self, model: int, panes: PaneRange) -> tuple[_Level, int]:
        """Return where a range of panes is stored, and the first of them that still is."""
        level, start = self._rings[panes.ring], panes.start
        if model < len(self._times):
            start = max(start, level.oldest(int(self._times[model])))
        return level, start

    @property
    def _levels(self) -> list[_Level]:
        return [*self._rings, self._days]

    def _forget(self) -> None:
        if len(self._times):
            for level in self._levels:
                level.forget(self._times)

    def _table(self, model: int, keys: Int64Array, counts: Int64Array) -> ClassTable:
        cells = np.zeros((_SIDE, _SIDE), dtype=np.int64)
        np.add.at(cells.reshape(-1), keys & ((1 << _CELL_BITS) - 1), counts)
        size = len(self._catalogue.settings[model].classes)
        return ClassTable(cells[:size, :size].copy(), cells[:size, _ANY].copy())


def _fill(
    counts: SparseCounts, keys: Int64Array, numbers: Int64Array, bits: int, left: Numbers
) -> None:
    """Add stored counts of the models that are left, under the new numbers of these."""
    model = renumbered(keys >> bits, left.models)
    stay = model != GONE
    keys = (model << bits) | (keys & ((1 << bits) - 1))
    counts.add(keys[stay], numbers[stay])
