"""Counts of the past year: hours of each model's totals, days of each series."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.join import CELLS, Deltas
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.windows.days import Days
from monitor.windows.panes import PaneRing
from monitor.windows.recalled import Recalled, busy, in_blocks
from monitor.windows.running import COARSE, PaneRange
from monitor.windows.silence import Silence
from monitor.windows.weights import SUMS, WeightSums

HISTORY_DAYS = 366
"""Days for which each model's totals are stored by the hour, and every series by the day."""
_END = 1 << 60


class History(NamedTuple):
    """Hours of one model's totals.

    Attributes:
        open: first moment of each hour, epoch milliseconds.
        cells: int64 (hours, 6): tp, fp, fn, tn, predicted positive, predicted negative.
    """

    open: Int64Array
    cells: Int64Array


class PastCounts:
    """Counts by hour and day of the past year, and the reading of past time ranges.

    Args:
        catalogue: numbers of models and series.
        coarse: the ring of coarse panes, which days and finer blocks are read from.
        weights: of labels that carry a sampling probability; of the same panes.
        silence: turns stored counts into counts to read.
    """

    def __init__(
        self, catalogue: Catalogue, coarse: PaneRing, weights: WeightSums, silence: Silence
    ) -> None:
        self._catalogue = catalogue
        self._coarse = coarse
        self._weights = weights
        self._silence = silence
        self._hours = PaneRing(width=HOUR_MS, span=24 * HISTORY_DAYS, cells=CELLS)
        self._days = Days(coarse, HISTORY_DAYS)

    @property
    def hours(self) -> PaneRing:
        """The counts of the models' totals by hour."""
        return self._hours

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._days.nbytes + self._hours.nbytes

    def ensure(self, models: int, owners: Int64Array) -> None:
        """Make room for models and series.

        Args:
            models: how many there are.
            owners: model number of each series.
        """
        self._hours.ensure(np.arange(models))
        self._days.ensure(owners)

    def add_totals(self, model: Int64Array, deltas: Deltas) -> None:
        """Count changes of the models' totals.

        Args:
            model: model number of each change.
            deltas: the changes.
        """
        self._hours.add(self._hours.pane_of(deltas.time), model, deltas.cell, deltas.count)

    def add_late(self, pane: Int64Array, row: Int64Array, cell: Int64Array, n: Int64Array) -> None:
        """Count changes in coarse panes that have already left their ring.

        Args:
            pane: coarse pane of each change.
            row: series.
            cell: column of the counts.
            n: change of the count.
        """
        self._days.add_late(pane, row, cell, n)

    def fold(self, row: int, into: int) -> None:
        """Add the days of a series to another one, and set them to 0.

        Args:
            row: number of the series.
            into: number of the other one.
        """
        self._days.fold(row, into)

    def advance_days(self, times: Int64Array | int) -> None:
        """Sum coarse panes that are about to leave their ring; call before the ring moves on.

        Args:
            times: of each model, as `PaneRing.advance` takes them.
        """
        self._days.advance(times)

    def advance_hours(self, times: Int64Array | int) -> None:
        """Move the hours on to the times of the models, as `PaneRing.advance` takes them."""
        self._hours.advance(times)

    def last_hour(self, model: int, cells: slice) -> int | None:
        """End of the last hour with counts in these cells, epoch milliseconds; None without any.

        Args:
            model: its number.
            cells: columns of the counts.
        """
        hour = self._hours.last(model, cells)
        return None if hour is None else (hour + 1) * HOUR_MS

    def predictions(self, model: int, opens: int, closes: int) -> Int64Array:
        """Return positive and negative predictions of each hour, (hours, 2).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; a whole hour.
            closes: first moment after it; a whole hour.
        """
        table = self._hours.table(opens // HOUR_MS, closes // HOUR_MS, np.array([model]))
        return table[:, 0, PREDICTED_POSITIVE:]

    def predictions_since(self, model: int, moment: int, last: int | None) -> int:
        """Count a model's predictions from the hour of a moment on; 0 where it is not stored.

        Args:
            model: its number.
            moment: epoch milliseconds.
            last: count up to the hour of this moment and with it; None for all.
        """
        hour, end = moment // HOUR_MS, _END if last is None else last // HOUR_MS + 1
        if not self._hours.reaches_back(hour, model):
            return 0
        return int(self._hours.sum(hour, end, np.array([model]))[:, PREDICTED_POSITIVE:].sum())

    def first_hour(self, model: int, since: int) -> int | None:
        """Return the first stored hour with predictions of a model, epoch milliseconds.

        Args:
            model: its number.
            since: epoch milliseconds; earlier hours do not count.
        """
        hour = self._hours.first(model, slice(PREDICTED_POSITIVE, CELLS), since // HOUR_MS)
        return None if hour is None else hour * HOUR_MS

    def history(self, model: int) -> History:
        """Return a model's totals by the hour, as far back as they are stored."""
        hours, cells = self._hours.series(model)
        rows = np.array([self._totals_row(model)])
        return History(hours * HOUR_MS, self._silence.as_negatives(cells[:, None], rows)[:, 0])

    def newest_hour(self, model: int) -> int | None:
        """Return the number since 1970 of a model's newest hour; None before it has a time.

        Args:
            model: its number.
        """
        return self._hours.newest(model)

    def holds(self, model: int, opens: int, closes: int) -> bool:
        """Return whether the hours of [opens, closes) of a model are stored.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds.
            closes: first moment after it.
        """
        longest = self._hours.span * HOUR_MS
        return closes - opens <= longest and self._hours.reaches_back(opens // HOUR_MS, model)

    def recall(self, model: int, opens: int, closes: int, block_ms: int) -> Recalled:
        """Return a copy of the counts of a past time range.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; a whole hour.
            closes: first moment after it; a whole hour.
            block_ms: length of the blocks of the result: an hour or a day.

        Raises:
            ValueError: the bounds are not whole hours in order.
        """
        if opens % HOUR_MS or closes % HOUR_MS or opens > closes:
            raise ValueError(f"recall: must be whole hours in order, got [{opens}, {closes})")
        rows = self._catalogue.rows_of(model)
        total = self._totals_row(model)
        others = rows[rows != total]
        by_hour = self._hours.table(opens // HOUR_MS, closes // HOUR_MS, np.array([model]))
        readable = self._silence.as_negatives(by_hour, np.array([total]))
        totals = in_blocks(readable, opens, HOUR_MS, block_ms)
        found = self._segments(model, others, opens, closes, block_ms)
        cells = totals if found is None else np.concatenate([totals, found], axis=1)
        columns = np.concatenate([[total], [] if found is None else others]).astype(np.int64)
        held = busy(totals[:, 0])
        return Recalled(
            opens=opens,
            closes=closes,
            block_ms=block_ms,
            numbers=opens // block_ms + held,
            columns=tuple(self._catalogue.series[row] for row in columns.tolist()),
            cells=cells[held],
            label_weights=self._recalled_weights(model, columns, opens, closes, block_ms)[held],
            without_segments=found is None,
        )

    def state(self) -> tuple[State, State]:
        """Return the serializable hours and days."""
        return self._hours.state(), self._days.state()

    def restore(self, hours: State, days: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            hours: of the models' totals.
            days: of the series.
            left: the models and series that are still there.
        """
        self._hours.restore(hours, left.models, left.models, np.arange(len(left.models)))
        owners = self._catalogue.model_of_series()
        self._days.restore(days, left.series, left.models, owners)

    def _recalled_weights(
        self, model: int, rows: Int64Array, opens: int, closes: int, block_ms: int
    ) -> Int64Array:
        """Weights of labels by blocks, (blocks, rows, 8); zeros where they are not stored."""
        width = self._coarse.width
        whole = opens % width == closes % width == block_ms % width == 0
        if self._weights.stored and whole and self._coarse.reaches_back(opens // width, model):
            table = self._weights.table(PaneRange(COARSE, opens // width, closes // width), rows)
            return in_blocks(table, opens, width, block_ms)
        blocks = -(-closes // block_ms) - opens // block_ms
        return np.zeros((blocks, len(rows), SUMS), dtype=np.int64)

    def _segments(
        self, model: int, rows: Int64Array, opens: int, closes: int, block_ms: int
    ) -> Int64Array | None:
        """Series by blocks, (blocks, rows, 6), from days, else from coarse panes; else None."""
        for stored, width in ((self._days, DAY_MS), (self._coarse, self._coarse.width)):
            whole = opens % width == closes % width == block_ms % width == 0
            if whole and stored.reaches_back(opens // width, model):
                table = stored.table(opens // width, closes // width, rows)
                readable = self._silence.as_negatives(table, rows)
                return in_blocks(readable, opens, width, block_ms)
        return None

    def _totals_row(self, model: int) -> int:
        return self._catalogue.totals_row(self._catalogue.models[model])
