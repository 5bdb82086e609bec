"""Days of every series, kept for a year, at no cost while events are counted.

What leaves the ring of coarse panes is summed into its day; what is still there is
read from it. Where coarse panes do not fill a day exactly, no days are kept.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing

DAY_MS = 86_400_000


class Days:
    """Counts by day (UTC) and series.

    Args:
        coarse: the ring that panes come from.
        span: days kept.
    """

    def __init__(self, coarse: PaneRing, span: int) -> None:
        self._coarse = coarse
        self._gone = PaneRing(width=DAY_MS, span=span, cells=coarse.cells)
        self._panes = DAY_MS // coarse.width
        self.kept = DAY_MS % coarse.width == 0

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._gone.nbytes

    def ensure(self, rows: int) -> None:
        """Make room for so many series."""
        self._gone.ensure(rows)

    def advance(self, time: int) -> None:
        """Take over what the coarse ring is about to lose; call it before that moves on."""
        self._gone.advance(time)
        old, new = self._coarse.newest, time // self._coarse.width
        if not self.kept or old is None or new <= old:
            return
        first = old - self._coarse.span + 1
        end = min(new - self._coarse.span, old) + 1
        rows = np.arange(self._coarse.rows)
        while first < end:
            day = first // self._panes
            following = min((day + 1) * self._panes, end)
            self._gone.add_table(day, self._coarse.sum(first, following, rows))
            first = following

    def add_late(self, pane: Int64Array, row: Int64Array, cell: Int64Array, n: Int64Array) -> None:
        """Count what came for coarse panes that have left already."""
        if self.kept and len(pane) and not self._coarse.reaches_back(int(pane.min())):
            newest = self._coarse.newest or 0
            late = np.flatnonzero(pane <= newest - self._coarse.span)
            self._gone.add(pane[late] // self._panes, row[late], cell[late], n[late])

    def state(self) -> State:
        """The days that have left the ring of coarse panes."""
        return self._gone.state()

    def restore(self, state: State, rows: Int64Array) -> None:
        """Go on from what `state` gave, with the series that are left."""
        self._gone.restore(state, rows)

    def reaches_back(self, day: int) -> bool:
        """Whether this day is kept."""
        return self.kept and self._gone.reaches_back(day)

    def table(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Counts of each of the days [start, end), numbered from 1970 on, (days, rows, cells)."""
        table = self._gone.table(start, end, rows)
        for i, day in enumerate(range(start, end)):
            table[i] += self._coarse.sum(day * self._panes, (day + 1) * self._panes, rows)
        return table
