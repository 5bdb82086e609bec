"""The odds ratio within days, which a change of the threshold between them leaves alone.

The sum of two days at different thresholds lies below the ROC curve that both lie on: its odds
ratio is lower than that of either. Days before and after a change of the threshold, counted
together, therefore look like a worse model. The Mantel-Haenszel estimate combines the odds
ratios of single days, however few cases each has.
"""

from __future__ import annotations

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import FloatArray, ratio


def log_odds_ratio_within(days: ConfusionCounts) -> FloatArray:
    """Return the log of the odds ratio that days have in common.

    Args:
        days: outcomes by day along the last axis.

    Returns:
        log(Σ TP·TN/n / Σ FP·FN/n) over the days, n their outcomes; without the last axis.
        NaN where either sum is 0: no day has both true positives and true negatives, or none
        has both kinds of errors.

    Source:
        Mantel and Haenszel 1959 (the common odds ratio of several tables).

    >>> days = ConfusionCounts(tp=[80, 50], fn=[20, 50], fp=[50, 13], tn=[850, 887])
    >>> round(float(log_odds_ratio_within(days)), 2)
    4.22
    >>> round(float(log_odds_ratio_within(days.sum()[None])), 2)
    3.94
    """
    cells = [np.asarray(one, dtype=np.float64) for one in (days.tp, days.tn, days.fp, days.fn)]
    true_positive, true_negative, false_positive, false_negative = cells
    total = np.asarray(days.total, dtype=np.float64)
    right = ratio(true_positive * true_negative, total)
    wrong = ratio(false_positive * false_negative, total)
    sums = [np.nansum(one, axis=-1) for one in (right, wrong)]
    positive = (sums[0] > 0) & (sums[1] > 0)
    logs = [np.log(np.where(positive, one, 1.0)) for one in sums]
    return np.asarray(np.where(positive, logs[0] - logs[1], np.nan))


def in_days(blocks: ConfusionCounts, blocks_a_day: int) -> ConfusionCounts:
    """Return the outcomes of a window by days.

    Args:
        blocks: outcomes of blocks of time along one axis; the last block ends the window.
        blocks_a_day: number of blocks in a day, at least 1.

    Returns:
        Days of 24 hours back from the end of the window; the first may be shorter.

    >>> in_days(ConfusionCounts(tp=[1, 2, 3, 4, 5], fp=0, fn=0, tn=0), 2).tp.tolist()
    [1, 5, 9]
    """
    if blocks_a_day == 1:
        return blocks
    cells, missing = blocks.cells, -blocks.shape[-1] % blocks_a_day
    if missing:
        cells = np.concatenate([np.zeros((missing, cells.shape[-1]), dtype=cells.dtype), cells])
    days = cells.reshape(-1, blocks_a_day, cells.shape[-1]).sum(axis=1)
    return ConfusionCounts.from_cells(days)
