"""Counts that are judged, and what a judgement of them rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift import Judgement, Verdict, block_seconds
from monitor.drift.all_looks import Looks
from monitor.drift.component_changes import BetweenDays
from monitor.drift.components import SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import no_scores
from monitor.drift.recall_evidence import Because
from monitor.events.columns import Int64Array
from monitor.labels.error_ranges import Corner
from monitor.labels.faults import LabelFault
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import WindowVerdict
from monitor.watch.within_cuts import WithinCuts
from monitor.windows.outcome_reader import OutcomeReader

UNJUDGED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.TOO_FEW)
"""The verdict on counts that cannot be compared."""
_SMALL_SHIFT = 0.35
"""More than slower labels take from the class ratio of a window that was .99 mature."""


class Counts(NamedTuple):
    """Counts of a stretch of time, of the series of `Cuts.in_order`.

    Attributes:
        cells: by blocks of time, (blocks, series, 6).
        weights: of the labels, (blocks, series, 8).
        block_ms: length of a block, milliseconds.
        opens: first moment of each block, epoch milliseconds.
        scores: returns the labelled scores by day, (days, bins).
        grows: True for the stretch since a reference, see `Looks`.
    """

    cells: Int64Array
    weights: Int64Array
    block_ms: int
    opens: Int64Array
    scores: Callable[[], ScoreHistogram | None] = no_scores
    grows: bool = False


class Tested(NamedTuple):
    """A judgement, and what it rests on.

    Attributes:
        judgement: on the totals, or within segments where a change of mix explains more.
        middle: the same at the middle of the ranges of wrong labels alone.
        fault: of the labels behind it; None where there is none.
        total: all outcomes, a scalar.
        looks: the stretch, as it is looked at.
        dispersion: variance of rows over that of independent ones.
        between: what the scatter of days adds.
        corners: the comparison at the ends of the ranges of wrong labels; none without.
        within: the outcomes of segment values.
    """

    judgement: Judgement
    middle: Judgement
    fault: LabelFault | None
    total: ConfusionCounts
    looks: Looks
    dispersion: Dispersion
    between: BetweenDays
    corners: tuple[Corner, ...]
    within: WithinCuts


def untrusted(fault: LabelFault) -> WindowVerdict:
    """Return the verdict on counts whose labels are faulty; without causes.

    Args:
        fault: of the labels.
    """
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=str(fault))


def without_small_shift(found: WindowVerdict) -> WindowVerdict:
    """Return a window without the verdict on a shift so small that labels may explain it.

    Args:
        found: the verdict; returned as it is where it is another one.
    """
    verdict, judgement = Verdict.INSUFFICIENT_EVIDENCE, found.judgement
    if judgement is None or found.verdict is not Verdict.PREVALENCE_SHIFT:
        return found
    if abs(judgement.change["class_ratio"]) > _SMALL_SHIFT:
        return found
    return replace(
        found,
        verdict=verdict,
        judgement=replace(judgement, verdict=verdict),
        because=Because.MOVED,
    )


def ratio_change(before: ConfusionCounts, after: ConfusionCounts) -> float:
    """Return the change of the log class ratio; 0 where nothing came after.

    Args:
        before: outcomes, a scalar.
        after: likewise.
    """
    if not after.total:
        return 0.0
    old, new = (SmoothedRates.of(one).log_class_ratio for one in (before, after))
    return float(new - old)


def block_length(windows: OutcomeReader, name: str, now: int, age: int) -> int:
    """Return the length of the blocks of time into which a window is divided for its errors.

    Args:
        windows: counts.
        name: of the window.
        now: epoch milliseconds.
        age: maturity, milliseconds.

    Returns:
        Milliseconds: an hour, or a day in windows of 20 days and more, rounded down to whole
        panes; a pane where it is longer.
    """
    width = windows.width(windows.pane_range(name, now, age))
    return _whole_panes(windows.length(name), width)


def blocks_between(
    windows: OutcomeReader, rows: Int64Array, opens: int, closes: int
) -> tuple[Int64Array, Int64Array, int]:
    """Return counts of a stretch of time by the time of the prediction, in blocks of time.

    Args:
        windows: counts.
        rows: series to read.
        opens: first moment, epoch milliseconds.
        closes: first moment after it.

    Returns:
        Counts (blocks, series, 6) and weights (blocks, series, 8) of the whole coarse panes
        in it, none where it holds no such pane; and the length of a block, milliseconds.
    """
    step = windows.step_ms
    start, end = -(-opens // step), closes // step
    end = max(start, end)
    block_ms = _whole_panes(closes - opens, step)
    firsts = np.arange(0, end - start, block_ms // step)
    tables = windows.panes(start, end, rows), windows.pane_weights(start, end, rows)
    cells, weights = (np.add.reduceat(table, firsts, axis=0) for table in tables)
    return cells, weights, block_ms


def _whole_panes(length: int, width: int) -> int:
    """Return the length of a block in a stretch of this length, whole panes, milliseconds."""
    wanted = int(block_seconds(max(length, width) / 1000)) * 1000
    return max(1, wanted // width) * width
