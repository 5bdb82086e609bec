"""The days that tell how the days of a model scatter, for the errors of a diagnosis.

Two ranges alone show little of it: of a healthy model whose days scatter by .2 and hang together
by .7, 7 days differed certainly (p < .01) from 7 others in skill in 4 to 8 % of draws by their own
days, and in 1 to 2.3 % by all days of the model; with .5 and .4, 1 to 3 days in 6 to 12 % and in 0
to 1 %. All days are the same whatever reference is configured, and the reference is taken where
the verdict is that of a window: it is learned as the verdict on windows takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.diagnosis.period_labels import PeriodOutcomes
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.day_levels import at_one_level
from monitor.drift.day_scatter import DayScatter
from monitor.events.columns import BoolArray, Int64Array
from monitor.join.deltas import known
from monitor.labels.checks import OF_A_WINDOW, label_fault
from monitor.labels.regime import LabelRegime
from monitor.snapshot import ModelState
from monitor.windows.weights import SUMS

_STRETCH_DAYS = 28
"""Days that are about one level, as those that a monitor learns from after its reference."""
_FEWEST_DAYS = 2
_LABEL_DAYS = 7
"""Days whose labels are tested together, as those of a window are."""

ScatterSource = Literal["days", "reference", "level", "ranges"]
"""Days that the scatter is learned from: all of the model, those of its reference or of its level
and what followed, or those of both ranges alone."""


class ScatterDays(NamedTuple):
    """The days that the scatter of days is learned from.

    Attributes:
        source: which they are.
        opens: first moment of all days, epoch milliseconds; None for any other source.
        closes: first moment after them; None likewise.
        faulty: number of days in between that are left out, since their labels are faulty.
    """

    source: ScatterSource
    opens: int | None = None
    closes: int | None = None
    faulty: int = 0


class ModelScatter(NamedTuple):
    """How the days of a model scatter.

    Attributes:
        scatter: of its days.
        days: which days tell.
    """

    scatter: DayScatter
    days: ScatterDays


class DayCounts(NamedTuple):
    """Counts of the totals of a model by day.

    Attributes:
        opens: first moment of each day, epoch milliseconds, ascending.
        cells: int64 (days, 6), see `monitor.join.deltas`.
    """

    opens: Int64Array
    cells: Int64Array

    @classmethod
    def of_hours(cls, opens: Int64Array, cells: Int64Array) -> Self:
        """Return the days of UTC of some hours.

        Args:
            opens: first moment of each hour, epoch milliseconds, ascending.
            cells: (hours, 6).
        """
        numbers, first = np.unique(opens // DAY_MS, return_index=True)
        if not len(first):
            return cls(opens, cells)
        return cls(numbers * DAY_MS, np.add.reduceat(cells, first, axis=0))

    def until(self, moment: int) -> DayCounts:
        """Return the days with predictions that end by a moment, epoch milliseconds."""
        inside = (self.opens + DAY_MS <= moment) & self.cells.any(axis=1)
        return DayCounts(self.opens[inside], self.cells[inside])


def knows_all_days(labelling: Labelling) -> bool:
    """Return whether outcomes of any day are known: weights of labels are not stored that long."""
    return labelling is not Labelling.WEIGHTED


def scatter_of_days(
    days: DayCounts, regime: LabelRegime, ranges: Sequence[TimeRange]
) -> ModelScatter | None:
    """Learn how days scatter from all days of a model.

    Each range has a level of its own, since a change from one to the other is no scatter, and so
    have about every 28 days; and more where it changed within them, for good or for a while. Days
    whose labels are faulty do not count, as in what a monitor learns after its reference (see
    `_faulty`).

    Args:
        days: whose labels have come.
        regime: how labels come, and how often they are wrong.
        ranges: that are compared.

    Returns:
        None with labels of fewer than two days.
    """
    faulty = _faulty(days, regime, ranges)
    days = DayCounts(days.opens[~faulty], days.cells[~faulty])
    weights = np.zeros((len(days.cells), SUMS), dtype=np.int64)
    found = PeriodOutcomes.of(regime, days.cells, weights, days.opens)
    held = np.flatnonzero(found.blocks.total > 0)
    if len(held) < _FEWEST_DAYS:
        return None
    bounds = [(one.opens // DAY_MS, -(-one.closes // DAY_MS)) for one in ranges]
    edges = np.unique(np.array(bounds, dtype=np.int64))
    cuts = np.searchsorted(days.opens[held] // DAY_MS, edges).tolist()
    stretches = [
        part
        for one in np.split(held, cuts)
        for part in np.array_split(one, max(1, round(len(one) / _STRETCH_DAYS)))
    ]
    parts = [part for one in stretches for part in at_one_level(found.blocks[one], episodes=True)]
    rows = None if found.sample is None else found.sample.dispersion
    sampling = 1.0 if rows is None else [rows.class_ratio, rows.recall, rows.false_positive_rate]
    opens = days.opens[held[[0, -1]]].tolist()
    return ModelScatter(
        DayScatter.learn(parts, sampling=sampling),
        ScatterDays("days", opens[0], opens[1] + DAY_MS, int(faulty.sum())),
    )


def _faulty(days: DayCounts, regime: LabelRegime, ranges: Sequence[TimeRange]) -> BoolArray:
    """Return which days have faulty labels, beside those of the first range, (days,).

    About every seven days outside of the ranges are tested together, as a window is, under
    labelling `complete`: others have no test of counts. None are where those of the first range
    are faulty themselves, since nothing tells then how labels usually come.
    """
    found = np.zeros(len(days.opens), dtype=bool)
    if regime.labelling is not Labelling.COMPLETE or not ranges:
        return found
    cells = known(days.cells)
    inside = [(days.opens + DAY_MS > one.opens) & (days.opens < one.closes) for one in ranges]
    usual = cells[inside[0]]
    if label_fault(usual, usual, OF_A_WINDOW, by_days=True) is not None:
        return found
    compared = np.logical_or.reduce(inside)
    for part in np.split(np.arange(len(found)), np.flatnonzero(np.diff(compared)) + 1):
        if not len(part) or compared[part[0]]:
            continue
        for week in np.array_split(part, max(1, round(len(part) / _LABEL_DAYS))):
            found[week] = label_fault(usual, cells[week], OF_A_WINDOW, by_days=True) is not None
    return found


def scatter_of(
    model: ModelState,
    source: str,
    days: DayCounts | None,
    regime: LabelRegime,
    ranges: Sequence[TimeRange],
) -> ModelScatter | None:
    """Return how the days of a model scatter, for two ranges or for its reference.

    Args:
        model: the model.
        source: of the period to compare with; "" where its bounds were asked for.
        days: all days of the model; None where they are not known.
        regime: how its labels come, and how often they are wrong.
        ranges: that are compared.

    Returns:
        As the verdict on its windows takes it where its reference or its level is compared with;
        else of all days whose labels have come. None where these are fewer than two, and without
        a reference: both ranges alone tell it.
    """
    if not source and knows_all_days(regime.labelling):
        until = model.mature_until
        if days is None or until is None:
            return None
        return scatter_of_days(days.until(until), regime, ranges)
    watched = model.watched
    learned = watched.level_scatter if source == "level" else watched.day_scatter
    if learned is None:
        return None
    return ModelScatter(learned, ScatterDays("level" if source == "level" else "reference"))
