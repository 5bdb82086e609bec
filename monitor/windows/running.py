"""Running counts of one window, updated as panes enter, leave and change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.counts import add_at, add_once
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.windows.panes import PaneRing

BY_PREDICTION, BY_LABEL = 0, 2
"""First of the two rings by the time of the prediction, and of those by the time of the label."""
FINE, COARSE = 0, 1
"""The ring of fine and of coarse panes, to be added to one of these."""


class PaneRange(NamedTuple):
    """Panes [start, end) of one of the rings."""

    ring: int
    start: int
    end: int


_NO_PANES = PaneRange(-1, 0, 0)


class RunningWindow:
    """Sums of counts over the panes of one window; each model has its own pane range.

    Args:
        rings: of panes; `PaneRange.ring` indexes them.
        cells: columns of the table of counts.

    Attributes:
        sums: int64 (series, cells).
        is_in_use: True once it covers panes of any model.
    """

    def __init__(self, rings: Sequence[PaneRing], cells: int) -> None:
        self._rings = rings
        self.sums = np.zeros((0, cells), dtype=np.int64)
        self._ranges: list[PaneRange] = []
        self._table = np.zeros((0, 3), dtype=np.int64)
        self._changes = np.zeros(0, dtype=np.int64)
        self.is_in_use = False

    @property
    def memory(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Pane ranges by model, sums and changes, for the kernel."""
        return self._table, self.sums, self._changes

    def ensure(self, models: int, rows: int) -> None:
        """Extend the tables.

        Args:
            models: number of models.
            rows: number of series.
        """
        for _ in range(models - len(self._ranges)):
            self._ranges.append(_NO_PANES)
            self._table = np.array(self._ranges, dtype=np.int64)
        if len(self._changes) < models:
            self._changes = np.concatenate(
                [self._changes, np.zeros(models - len(self._changes), dtype=np.int64)]
            )
        more = rows - len(self.sums)
        if more > 0:
            fresh = np.zeros((more, self.sums.shape[1]), dtype=np.int64)
            self.sums = np.concatenate([self.sums, fresh])

    def add(
        self,
        model: Int64Array,
        panes: Sequence[Int64Array],
        row: Int64Array,
        cell: Int64Array,
        count: Int64Array,
    ) -> None:
        """Add changes that were added to the rings, where they fall in the window.

        Args:
            model: model number of each change.
            panes: pane of each change, one array a ring.
            row: series.
            cell: column of the counts.
            count: change of the count.
        """
        if not self.is_in_use:
            return
        in_use = set(self._table[:, 0].tolist()) - {_NO_PANES.ring}
        ring, start, end = self._table[model].T
        for number in in_use:
            pane = panes[number]
            inside = np.flatnonzero((ring == number) & (pane >= start) & (pane < end))
            add_at(self.sums, row[inside], cell[inside], count[inside])
            add_once(self._changes, model[inside])

    def changes(self, model: int, panes: PaneRange) -> int | None:
        """Return how often a model's counts have changed; None where it covers other panes.

        Args:
            model: its number.
            panes: the pane range that the caller expects.
        """
        return int(self._changes[model]) if self._ranges[model] == panes else None

    def move(self, model: int, rows: Int64Array, panes: PaneRange) -> None:
        """Move the window of one model to other panes.

        Args:
            model: its number.
            rows: its series.
            panes: the new pane range.
        """
        old = self._ranges[model]
        if panes == old:
            return
        ring = self._rings[panes.ring]
        if self._can_slide(model, old, panes):
            self.sums[rows] += ring.sum(old.end, panes.end, rows)
            self.sums[rows] -= ring.sum(old.start, panes.start, rows)
        else:
            self.sums[rows] = ring.sum(panes.start, panes.end, rows)
        self._ranges[model] = panes
        self._table[model] = panes
        self.is_in_use = True

    def fold(self, model: int, row: int, into: int) -> None:
        """Add the sums of a series to another one, and set them to 0.

        Args:
            model: number of their model.
            row: number of the series.
            into: number of the other one.
        """
        self.sums[into] += self.sums[row]
        self.sums[row] = 0
        self._changes[model] += 1

    def state(self) -> State:
        """Serializable state: pane ranges and sums."""
        return {"places": self._table.copy(), "sums": self.sums.copy()}

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        ranges, sums = state["places"], state["sums"]
        self._table = ranges[left.models[left.models < len(ranges)]]
        self._ranges = [PaneRange(*panes) for panes in self._table.tolist()]
        self.is_in_use = any(panes != _NO_PANES for panes in self._ranges)
        self.sums = sums[left.series[left.series < len(sums)]]

    def _can_slide(self, model: int, old: PaneRange, new: PaneRange) -> bool:
        forward = old.start <= new.start <= old.end <= new.end
        if old.ring != new.ring or not forward:
            return False
        return self._rings[old.ring].reaches_back(old.start, model)
