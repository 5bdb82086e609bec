"""Counts by a wider pane, of panes that leave their ring: at no cost per event.

Panes that leave the ring are summed into the wider pane that they lie in; panes still in the
ring are read from it. Where the panes do not fill a wider one exactly, none are stored.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing

_MOST_CELLS = 1 << 16
"""Panes times rows that are read from the ring at once, at most, to save memory."""


class PassedPanes:
    """Counts by wider pane and row.

    Args:
        ring: the ring that panes come from.
        width: of a wider pane, milliseconds.
        span: number of wider panes.
    """

    def __init__(self, ring: PaneRing, width: int, span: int) -> None:
        self._ring = ring
        self._passed = PaneRing(width=width, span=span, cells=ring.cells)
        self._panes = width // ring.width
        self._whole = width % ring.width == 0

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._passed.nbytes

    def ensure(self, owners: Int64Array) -> None:
        """Make room for rows; `owners` is the model number of each."""
        self._passed.ensure(owners)

    def advance(self, times: Int64Array | int) -> None:
        """Sum the panes that are about to leave the ring; call before the ring moves on.

        Those ahead that a leap of time passes over go to their wider panes, too.

        Args:
            times: of each model, as `PaneRing.advance` takes them.
        """
        self._passed.advance(times)
        if not self._whole:
            return
        if len(self._ring.ahead):
            pane, row, cell, count = self._ring.take_passed(times).T
            self._passed.add(pane // self._panes, row, cell, count)
        span = self._ring.span
        for rows, old, new in self._ring.moves(times):
            first, end = old - span + 1, min(new - span, old) + 1
            while first < end:
                wider = first // self._panes
                following = min((wider + 1) * self._panes, end)
                table = self._ring.sum(first, following, rows)
                row, cell = np.nonzero(table)
                self._passed.add(np.full(len(row), wider), rows[row], cell, table[row, cell])
                first = following

    def add_late(self, pane: Int64Array, row: Int64Array, cell: Int64Array, n: Int64Array) -> None:
        """Count changes in panes that have already left the ring.

        Args:
            pane: pane of each change, in the numbers of the ring.
            row: row of the table.
            cell: column of the counts.
            n: change of the count.
        """
        if self._whole and len(pane):
            late = self._ring.has_left(pane, row)
            self._passed.add(pane[late] // self._panes, row[late], cell[late], n[late])

    def fold(self, row: int, into: int) -> None:
        """Add the counts of a row to another one, as `PaneRing.fold` does for the ring itself.

        Args:
            row: its number.
            into: number of the other one.
        """
        self._passed.fold(row, into)

    def drop(self, row: int) -> None:
        """Set the counts of a row to 0.

        Args:
            row: its number.
        """
        self._passed.drop(row)

    def state(self) -> State:
        """Serializable state: the wider panes of those that have left the ring."""
        return self._passed.state()

    def restore(
        self, state: State, rows: Int64Array, models: Int64Array, owners: Int64Array
    ) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            rows: as in `PaneRing.restore`.
            models: as in `PaneRing.restore`.
            owners: as in `PaneRing.restore`.
        """
        self._passed.restore(state, rows, models, owners)

    def reaches_back(self, pane: int, model: int) -> bool:
        """Return whether a wider pane is stored for a model.

        Args:
            pane: its number since the epoch.
            model: number of the model.
        """
        return self._whole and self._passed.reaches_back(pane, model)

    def passed(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return what has left the ring, by wider pane, (panes, rows, cells).

        Args:
            start: first wider pane, numbered from 1970.
            end: first wider pane after the last.
            rows: to read.
        """
        return self._passed.table(start, end, rows)

    def table(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of each wider pane, (panes, rows, cells).

        Args:
            start: first wider pane, numbered from 1970.
            end: first wider pane after the last.
            rows: to read.
        """
        table = self.passed(start, end, rows)
        at_once = max(1, _MOST_CELLS // max(1, self._panes * len(rows)))
        for first in range(start, end, at_once):
            last = min(first + at_once, end)
            panes = self._ring.table(first * self._panes, last * self._panes, rows)
            of_each = panes.reshape(last - first, self._panes, *panes.shape[1:])
            table[first - start : last - start] += of_each.sum(axis=1)
        return table
