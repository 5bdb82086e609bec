"""Counts of every series by day, stored for a year at no cost per event.

Panes that leave the ring of coarse panes are summed into their day; panes still in the
ring are read from it. Where coarse panes do not fill a day exactly, no days are stored.
"""

from __future__ import annotations

from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing

DAY_MS = 86_400_000


class Days:
    """Counts by day (UTC) and series.

    Args:
        coarse: the ring that panes come from.
        span: number of days.
    """

    def __init__(self, coarse: PaneRing, span: int) -> None:
        self._coarse = coarse
        self._left = PaneRing(width=DAY_MS, span=span, cells=coarse.cells)
        self._panes = DAY_MS // coarse.width
        self._whole = DAY_MS % coarse.width == 0

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._left.nbytes

    def ensure(self, owners: Int64Array) -> None:
        """Make room for series; `owners` is the model number of each."""
        self._left.ensure(owners)

    def advance(self, times: Int64Array | int) -> None:
        """Sum the panes that are about to leave the coarse ring; call before the ring moves on.

        Those ahead that a leap of time passes over go to their days, too.

        Args:
            times: of each model, as `PaneRing.advance` takes them.
        """
        self._left.advance(times)
        if not self._whole:
            return
        pane, row, cell, count = self._coarse.take_passed(times).T
        self._left.add(pane // self._panes, row, cell, count)
        span = self._coarse.span
        for rows, old, new in self._coarse.moves(times):
            first, end = old - span + 1, min(new - span, old) + 1
            while first < end:
                day = first // self._panes
                following = min((day + 1) * self._panes, end)
                self._left.add_table(day, rows, self._coarse.sum(first, following, rows))
                first = following

    def add_late(self, pane: Int64Array, row: Int64Array, cell: Int64Array, n: Int64Array) -> None:
        """Count changes in coarse panes that have already left the ring.

        Args:
            pane: coarse pane of each change.
            row: series.
            cell: column of the counts.
            n: change of the count.
        """
        if self._whole and len(pane):
            late = self._coarse.has_left(pane, row)
            self._left.add(pane[late] // self._panes, row[late], cell[late], n[late])

    def state(self) -> State:
        """Serializable state: the days that have left the ring of coarse panes."""
        return self._left.state()

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
        self._left.restore(state, rows, models, owners)

    def reaches_back(self, day: int, model: int) -> bool:
        """Return whether a day is stored for a model.

        Args:
            day: number of the day since the epoch.
            model: its number.
        """
        return self._whole and self._left.reaches_back(day, model)

    def table(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of each day, (days, rows, cells).

        Args:
            start: first day, numbered from 1970.
            end: first day after the last.
            rows: series to read.
        """
        table = self._left.table(start, end, rows)
        for i, day in enumerate(range(start, end)):
            table[i] += self._coarse.sum(day * self._panes, (day + 1) * self._panes, rows)
        return table
