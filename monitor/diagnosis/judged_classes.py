"""Judges each class of a model between two stretches of days, as live windows are judged."""

from __future__ import annotations

from functools import partial

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.day_scatter import DayScatter
from monitor.events.columns import Int64Array
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.verdicts import WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import Counts
from monitor.watch.judging_counts import CountsJudge
from monitor.watch.label_checks import fault_behind
from monitor.watch.level import Stretch
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.reference_cut import cut_reference
from monitor.windows.class_counts import ClassTable
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
    fault = partial(fault_behind, reference, by_days=True) if checks_labels else _no_fault
    judge = CountsJudge(reference, regime, learned, fault, len(rows))
    return judge.verdict(Counts(cells[1], weights, DAY_MS), cuts)


def _no_fault(cells: Int64Array, shift: float) -> LabelFault | None:  # noqa: ARG001  # as `fault_behind`
    return None


def _against_others(table: ClassTable, number: int) -> Int64Array:
    """Return the counts of a class against all others, (days, series, 6); see `ClassView`."""
    matrix, predictions = table
    own, cases = matrix[:, number], matrix.sum(axis=1)
    cells = np.zeros((len(matrix), matrix.shape[-1] + 1, CELLS), dtype=np.int64)
    cells[:, 1:, Outcome.FP], cells[:, 1:, Outcome.TN] = own, cases - own
    cells[:, 1:, PREDICTED_POSITIVE], cells[:, 1:, PREDICTED_NEGATIVE] = own, cases - own
    for right, wrong in ((Outcome.TP, Outcome.FP), (Outcome.FN, Outcome.TN)):
        cells[:, number + 1, right] = cells[:, number + 1, wrong]
        cells[:, number + 1, wrong] = 0
    cells[:, _WHOLE] = cells[:, 1:].sum(axis=1)
    cells[:, _WHOLE, PREDICTED_POSITIVE] = predictions[:, number]
    cells[:, _WHOLE, PREDICTED_NEGATIVE] = predictions.sum(axis=1) - predictions[:, number]
    return cells
