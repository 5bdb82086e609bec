"""Counts of the past year by day of UTC; those of older days by the week."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing
from monitor.windows.passed_panes import PassedPanes

DAYS = 62
"""Days that are stored by the day."""
WEEK_DAYS = 7
WEEKS = 53
"""Weeks, which begin on a Thursday (UTC), that are stored: a year."""


class DaysThenWeeks:
    """Tables of counts, (rows, cells), by day and then by week; each count is stored once.

    Each row belongs to a model, and each model has a time of its own.

    Args:
        cells: columns of the tables.

    Attributes:
        days: the days, a ring that may be counted into directly where no day has left it.
    """

    def __init__(self, cells: int) -> None:
        self.days = PaneRing(width=DAY_MS, span=DAYS, cells=cells)
        self._weeks = PassedPanes(self.days, WEEK_DAYS * DAY_MS, WEEKS)

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self.days.nbytes + self._weeks.nbytes

    @property
    def models(self) -> int:
        """Models that it has a time for, or room for one."""
        return len(self.days.memory[2])

    def ensure(self, owners: Int64Array) -> None:
        """Make room for rows; `owners` is the model number of each."""
        self.days.ensure(owners)
        self._weeks.ensure(owners)

    def add(self, day: Int64Array, row: Int64Array, cell: Int64Array, n: Int64Array) -> None:
        """Count changes in days, or in the weeks of days that have left their ring.

        Args:
            day: number of the day since 1970 of each change.
            row: row of the table.
            cell: column of the table.
            n: change of the count; may be negative.
        """
        self._weeks.add_late(day, row, cell, n)
        self.days.add(day, row, cell, n)

    def advance(self, times: Int64Array) -> None:
        """Move on to the times of the models, as `PaneRing.advance` takes them."""
        self._weeks.advance(times)
        self.days.advance(times)

    def since(self, model: int) -> int:
        """Return the first day of a model that is stored by the day; 0 before it has a time.

        Args:
            model: its number.
        """
        newest = self.days.newest(model)
        return 0 if newest is None else newest - DAYS + 1

    def by_week(self, model: int, rows: Int64Array, start: int, end: int) -> Int64Array:
        """Return the counts of whole weeks, as far as they are stored by the week.

        Args:
            model: number of the model that owns the rows.
            rows: to read.
            start: first day.
            end: first day after the last.

        Returns:
            (weeks, rows, cells). The last week may be short of days that are stored by the day.
        """
        since = self.since(model)
        first, last = -(-start // WEEK_DAYS), min(end, since) // WEEK_DAYS
        if since <= end:
            last = -(-since // WEEK_DAYS)
        return self._weeks.passed(first, max(first, last), rows)

    def blocks(self, model: int, rows: Int64Array, start: int, end: int) -> Int64Array:
        """Return the counts of days by blocks of time, weeks and then days.

        Args:
            model: as in `by_week`.
            rows: as in `by_week`.
            start: as in `by_week`.
            end: as in `by_week`.

        Returns:
            (blocks, rows, cells).
        """
        weeks, first = self.by_week(model, rows, start, end), max(start, self.since(model))
        return np.concatenate([weeks, self.days.table(first, max(first, end), rows)])

    def drop(self, row: int) -> None:
        """Set the counts of a row to 0.

        Args:
            row: its number.
        """
        self.days.drop(row)
        self._weeks.drop(row)

    def state(self) -> State:
        """Serializable state: that of the days, with the weeks."""
        return {**self.days.state(), "weeks": self._weeks.state()}

    def restore(
        self, state: State, rows: Int64Array, models: Int64Array, owners: Int64Array
    ) -> None:
        """Load what `state` returned, as `PaneRing.restore` does.

        Args:
            state: of an earlier run; one without weeks has none.
            rows: as in `PaneRing.restore`.
            models: as in `PaneRing.restore`.
            owners: as in `PaneRing.restore`.
        """
        self.days.restore(state, rows, models, owners)
        if "weeks" in state:
            self._weeks.restore(state["weeks"], rows, models, owners)
