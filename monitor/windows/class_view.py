"""One class of a model of many against the others, read like a binary model with segments.

The segments are the actual classes: the first series is the whole, and the series j + 1 holds
the cases of actual class j. Those of the class itself are its positives, all others are
negatives. A verdict that holds within these segments is standardised over the actual class:
where only the shares of the classes move, no rate does.
"""

from __future__ import annotations

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import Int64Array
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.windows.class_counts import ClassEntries
from monitor.windows.running import COARSE, PaneRange
from monitor.windows.weights import SUMS
from monitor.windows.windows import Edition, Windows


class ClassView:
    """Outcomes of one class against the others; see `OutcomeReader` for what is not said here.

    Args:
        windows: counts.
        model: number of a model of many classes, the only one that can be read.
        number: of the class.
        classes: how many the model has.
    """

    def __init__(self, windows: Windows, model: int, number: int, classes: int) -> None:
        self._windows = windows
        self._model = model
        self._number = number
        self._classes = classes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the windows of every model."""
        return self._windows.names

    @property
    def longest(self) -> int:
        """Length of the longest window, milliseconds."""
        return self._windows.longest

    @property
    def shortest(self) -> int:
        """Length of the shortest window, milliseconds."""
        return self._windows.shortest

    @property
    def step_ms(self) -> int:
        """Width of a coarse pane, milliseconds."""
        return self._windows.step_ms

    def length(self, name: str) -> int:
        """Return the length of a window, milliseconds."""
        return self._windows.length(name)

    def first_pane(self, model: int) -> int | None:
        """Return the first coarse pane with a prediction of the model; None without any."""
        return self._windows.first_pane(model)

    def edition(self, name: str, model: int, now: int, age: int) -> Edition | None:
        """As `Windows.edition`, of the counts of the whole model."""
        return self._windows.edition(name, model, now, age)

    def pane_range(self, name: str, now: int, age: int) -> PaneRange:
        """As `Windows.pane_range`."""
        return self._windows.pane_range(name, now, age)

    def width(self, panes: PaneRange) -> int:
        """Return the width of these panes, milliseconds."""
        return self._windows.width(panes)

    def panes(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """As `WindowCounts.panes`; series are the whole, then the actual classes."""
        entries = self._windows.classes.entries(self._model, PaneRange(COARSE, start, end))
        return self._cells(entries, entries.at - start, end - start)[:, rows]

    def pane_weights(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """As `Windows.pane_weights`; all are zero."""
        return np.zeros((end - start, len(rows), SUMS), dtype=np.int64)

    def blocks(self, name: str, rows: Int64Array, now: int, age: int, block_ms: int) -> Int64Array:
        """As `Windows.blocks`; series are the whole, then the actual classes."""
        panes, each, blocks = self._divided(name, now, age, block_ms)
        entries = self._windows.classes.entries(self._model, panes)
        return self._cells(entries, (entries.at - panes.start) // each, blocks)[:, rows]

    def weight_blocks(
        self, name: str, rows: Int64Array, now: int, age: int, block_ms: int
    ) -> Int64Array:
        """As `Windows.weight_blocks`; all are zero."""
        _, _, blocks = self._divided(name, now, age, block_ms)
        return np.zeros((blocks, len(rows), SUMS), dtype=np.int64)

    def days(self, first: int, end: int) -> Int64Array:
        """Return the counts of days (UTC), (days, series, 6).

        Args:
            first: day since 1970.
            end: day after the last one.
        """
        entries = self._windows.classes.day_entries(self._model, first, end)
        return self._cells(entries, entries.at - first, end - first)

    def _divided(self, name: str, now: int, age: int, block_ms: int) -> tuple[PaneRange, int, int]:
        """Return the panes of a window, how many make a block, and how many blocks there are."""
        panes = self._windows.pane_range(name, now, age)
        each = max(1, block_ms // self._windows.width(panes))
        return panes, each, -(-(panes.end - panes.start) // each)

    def _cells(self, entries: ClassEntries, block: Int64Array, blocks: int) -> Int64Array:
        """Return counts by blocks, (blocks, series, 6)."""
        return against_others(entries, self._number, self._classes, block, blocks)


def against_others(
    entries: ClassEntries, number: int, classes: int, block: Int64Array, blocks: int
) -> Int64Array:
    """Return the counts of one class against all others; series as in the module's text.

    Of unlabelled predictions the actual class is not known: they count in the whole alone.

    Args:
        entries: counts of the model, (entries,) each.
        number: of the class.
        classes: how many the model has.
        block: number of the block of time that each entry lies in, (entries,).
        blocks: how many there are.

    Returns:
        int64 (blocks, 1 + classes, 6), the last axis as in `monitor.join.deltas`.
    """
    cells = np.zeros((blocks, classes + 1, CELLS), dtype=np.int64)
    own, alone = entries.predicted == number, entries.actual < 0
    made = np.where(own, PREDICTED_POSITIVE, PREDICTED_NEGATIVE)
    np.add.at(
        cells,
        (block[alone], np.zeros(int(alone.sum()), np.int64), made[alone]),
        entries.cases[alone],
    )
    right, wrong = np.where(
        entries.actual == number,
        [[Outcome.TP], [Outcome.FN]],
        [[Outcome.FP], [Outcome.TN]],
    )
    series, outcome = entries.actual + 1, np.where(own, right, wrong)
    for column in (outcome, made):
        index = block[~alone], series[~alone], column[~alone]
        np.add.at(cells, index, entries.cases[~alone])
    cells[:, 0, : len(Outcome)] = cells[:, 1:, : len(Outcome)].sum(axis=1)
    return cells
