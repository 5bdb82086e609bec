"""Judges each class of a model between two stretches of days, as live windows are judged."""

from __future__ import annotations

from functools import partial

import numpy as np

from monitor.clock import DAY_MS
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.day_scatter import DayScatter
from monitor.events.columns import Int64Array
from monitor.labels.regime import LabelRegime
from monitor.verdicts import WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import Counts
from monitor.watch.judging_counts import CountsJudge
from monitor.watch.label_checks import fault_behind
from monitor.watch.level import Stretch
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.reference_cut import cut_reference
from monitor.windows.class_counts import ClassTable, entries_of
from monitor.windows.class_view import against_others
from monitor.windows.weights import SUMS

_WHOLE = 0
"""Series of a class that holds all outcomes of the model."""


class _Days:
    """The counts of one class by day, read as coarse panes.

    Args:
        cells: (days, series, 6).
        first: number of the first day since 1970, UTC.
    """

    step_ms = DAY_MS

    def __init__(self, cells: Int64Array, first: int) -> None:
        self._cells = cells
        self._first = first

    def panes(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        return self._cells[start - self._first : end - self._first, rows]

    def pane_weights(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        return np.zeros((end - start, len(rows), SUMS), dtype=np.int64)


def judge_class(
    number: int,
    ranges: tuple[TimeRange, TimeRange],
    counted: tuple[ClassTable, ClassTable],
    *,
    scatter: DayScatter | None,
    checks_labels: bool,
) -> WindowVerdict:
    """Return the verdict on one class of a model against all others, within the actual classes.

    Args:
        number: of the class.
        ranges: whole days before and after.
        counted: the counts of all days of these.
        scatter: how the days of the class scatter, where the monitor has learned it; None to learn
            it from these days.
        checks_labels: whether missing labels are a fault of theirs: all are mature, and are to
            come for every prediction.
    """
    cells = [_against_others(table, number) for table in counted]
    rows, regime = np.arange(1, cells[0].shape[1]), LabelRegime()
    cuts = Cuts(_WHOLE, (rows,))
    opens, closes = ranges[0]
    reader = _Days(cells[0], opens // DAY_MS)
    reference = cut_reference(reader, Stretch("window", opens, closes), cuts, regime)
    weights = np.zeros((*cells[1].shape[:2], SUMS), dtype=np.int64)
    learned = LearnedScatter(reference, regime)
    if scatter is None:
        first = ranges[1].opens // DAY_MS
        learned.learn(RecentDays(first + np.arange(len(weights)), cells[1], weights))
    else:
        learned.scatter = scatter
    checked = partial(fault_behind, reference, by_days=True)
    fault = checked if checks_labels else lambda *_: None
    judge = CountsJudge(reference, regime, learned, fault, len(rows))
    days = ranges[1].opens // DAY_MS + np.arange(len(weights))
    return judge.verdict(Counts(cells[1], weights, DAY_MS, days * DAY_MS), cuts)


def _against_others(table: ClassTable, number: int) -> Int64Array:
    """Return the counts of a class against all others, (days, series, 6)."""
    entries, (days, classes) = entries_of(table), table.predictions.shape
    return against_others(entries, number, classes, entries.at, days)
