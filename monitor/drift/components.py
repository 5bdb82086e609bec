"""The components of a change, and how well each is known.

    log r, logit TPR, logit FPR, log LR+ = log TPR - log FPR,
    log LR- = log(1 - TPR) - log(1 - FPR), log odds ratio = logit TPR - logit FPR

Half a count is added to each cell, so that every component is finite. A change is after
minus before. Its standard error is the larger of two: that of independent rows (delta
method) and that between blocks of time (jackknife). On real streams the rows of one day
are correlated, which makes the first several times too small. Recall and false positives
also move together from day to day, which makes log LR+ far better known than either; so
each component has its own error between blocks, instead of one factor for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.dispersion import Dispersion
from monitor.metrics.ratio import FloatArray

DAY = 86_400.0
HOUR = 3_600.0
_DAYS_THAT_SUFFICE = 20
_SMOOTHING = 0.5


class Component(IntEnum):
    """Index along the first axis of every array of components.

    The first five have a status; the odds ratio is tested beside them (see `skill`). The
    last two are logit(precision) without the contribution of recall, log r - log FPR, and
    without that of false positives, log r + log TPR. Without that of prevalence it is
    log LR+.
    """

    CLASS_RATIO = 0
    RECALL = 1
    FALSE_POSITIVE_RATE = 2
    LOG_LIKELIHOOD_RATIO = 3
    NEGATIVE_LOG_LIKELIHOOD_RATIO = 4
    ODDS_RATIO = 5
    ALL_BUT_RECALL = 6
    ALL_BUT_FALSE_POSITIVES = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothedRates:
    """Class ratio, TPR and FPR with half a count added to each cell, and their variances.

    The three are uncorrelated where rows are independent. The complements are stored as
    well, since 1 - FPR loses digits where FPR is close to 1. All fields have one shape.

    Attributes:
        log_class_ratio: log r = log(P / N).
        recall: TPR, in (0, 1).
        miss_rate: 1 - TPR.
        false_positive_rate: FPR, in (0, 1).
        specificity: 1 - FPR.
        log_class_ratio_variance: variance of log r for independent rows.
        recall_variance: variance of TPR for independent rows.
        false_positive_rate_variance: variance of FPR for independent rows.
    """

    log_class_ratio: FloatArray
    recall: FloatArray
    miss_rate: FloatArray
    false_positive_rate: FloatArray
    specificity: FloatArray
    log_class_ratio_variance: FloatArray
    recall_variance: FloatArray
    false_positive_rate_variance: FloatArray

    @classmethod
    def of(cls, counts: ConfusionCounts) -> Self:
        """Return the rates of these outcomes, always finite, in the shape of the counts."""
        tp, fp = counts.tp + _SMOOTHING, counts.fp + _SMOOTHING
        fn, tn = counts.fn + _SMOOTHING, counts.tn + _SMOOTHING
        positive, negative = tp + fn, fp + tn
        recall, miss_rate = tp / positive, fn / positive
        false_positive_rate, specificity = fp / negative, tn / negative
        return cls(
            log_class_ratio=np.log(positive / negative),
            recall=recall,
            miss_rate=miss_rate,
            false_positive_rate=false_positive_rate,
            specificity=specificity,
            log_class_ratio_variance=1 / positive + 1 / negative,
            recall_variance=recall * miss_rate / positive,
            false_positive_rate_variance=false_positive_rate * specificity / negative,
        )

    def components(self) -> FloatArray:
        """Return all eight components, (8, *shape), in the order of `Component`."""
        log_recall, log_miss = np.log(self.recall), np.log(self.miss_rate)
        log_false, log_true = np.log(self.false_positive_rate), np.log(self.specificity)
        return np.stack(
            [
                self.log_class_ratio,
                log_recall - log_miss,
                log_false - log_true,
                log_recall - log_false,
                log_miss - log_true,
                log_recall - log_miss - log_false + log_true,
                self.log_class_ratio - log_false,
                self.log_class_ratio + log_recall,
            ]
        )

    def variances(self, dispersion: Dispersion) -> FloatArray:
        """Return variances of the components, (8, *shape): independent rows times dispersion."""
        ratio = self.log_class_ratio_variance * dispersion.class_ratio
        recall = self.recall_variance * dispersion.recall
        false = self.false_positive_rate_variance * dispersion.false_positive_rate
        log_recall, log_false = recall / self.recall**2, false / self.false_positive_rate**2
        logit_recall, logit_false = log_recall / self.miss_rate**2, log_false / self.specificity**2
        return np.stack(
            np.broadcast_arrays(
                ratio,
                logit_recall,
                logit_false,
                log_recall + log_false,
                recall / self.miss_rate**2 + false / self.specificity**2,
                logit_recall + logit_false,
                ratio + log_false,
                ratio + log_recall,
            )
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """Components after minus before, and their standard errors.

    Attributes:
        change: (8, *series) in the order of `Component`; log-odds of rates, logs of ratios.
        standard_error: same shape, above 0.
    """

    change: FloatArray
    standard_error: FloatArray


def components(counts: ConfusionCounts) -> FloatArray:
    """Return log r, logit TPR, logit FPR, log LR+ and log LR- of these outcomes.

    Half a count is added to each cell, so that every component is finite even where a
    cell, or the whole window, is empty.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Shape (5, *counts.shape), in the order of `Component`; never NaN.

    Source:
        Gart and Zweifel 1967 (half a count); Biggerstaff 2000 (LR+ and LR-).

    >>> components(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(3).tolist()
    [-2.188, 2.154, -2.824, 2.772, -2.206]
    """
    return SmoothedRates.of(counts).components()[: Component.ODDS_RATIO]


def changes(
    before: ConfusionCounts, after: ConfusionCounts, dispersion: Dispersion | ArrayLike = 1.0
) -> Changes:
    """Return the change of each component from one window to another, and its error.

    Args:
        before: outcomes of blocks of time along the last axis; one series for each
            index of the axes in front. A scalar is one block.
        after: the same; the number of blocks may differ.
        dispersion: variance over that of independent rows, at least 1. It scales only
            the error of independent rows; the error between blocks includes it.

    Returns:
        Changes of shape (8, *series). The variance of each window is the larger of that
        of independent rows and that between its non-empty blocks (delete-one-block
        jackknife); that of independent rows where it has fewer than two such blocks.

    Source:
        Efron 1982 (jackknife); Busing et al. 1999 (delete-m); delta method.

    >>> day = ConfusionCounts(tp=[8, 9], fp=[5, 6], fn=[2, 1], tn=[90, 90])
    >>> found = changes(day, day)
    >>> float(abs(found.change).max()), bool((found.standard_error > 0).all())
    (0.0, True)
    """
    factors = Dispersion.of(dispersion)
    old, old_variance = _estimate(before, factors)
    new, new_variance = _estimate(after, factors)
    return Changes(change=new - old, standard_error=np.sqrt(old_variance + new_variance))


def leave_one_out(blocks: ConfusionCounts) -> ConfusionCounts:
    """Return the sum of all blocks but one, for each block of the last axis (same shape).

    >>> leave_one_out(ConfusionCounts(tp=[1, 2, 4], fp=0, fn=0, tn=0)).tp.tolist()
    [6, 5, 3]
    """
    cells = blocks.cells
    return ConfusionCounts.from_cells(cells.sum(axis=-2, keepdims=True) - cells)


def jackknife_variance(estimates: FloatArray, occupied: NDArray[np.bool_]) -> FloatArray:
    """Return the variance of an estimate between blocks of time: delete-one-block jackknife.

    Args:
        estimates: the estimate with one block left out, blocks along the last axis.
        occupied: True where the left-out block has outcomes; broadcasts against the
            estimates.

    Returns:
        (g - 1)/g times the sum of squares about the mean over the g occupied blocks,
        without the last axis; NaN where g < 2.

    Source:
        Efron 1982, eq. 3.2 (the jackknife estimate of variance).

    >>> float(jackknife_variance(np.array([1.0, 2.0, 3.0]), np.array([True, True, True])))
    1.3333333333333333
    """
    blocks = occupied.sum(axis=-1)
    weight = occupied / np.maximum(blocks, 1)[..., None]
    mean = (weight * estimates).sum(axis=-1, keepdims=True)
    spread = (weight * (estimates - mean) ** 2).sum(axis=-1)
    return np.where(blocks > 1, (blocks - 1) * spread, np.nan)


def block_seconds(window_seconds: float) -> float:
    """Return the length of the blocks of time for errors: days, or hours in short windows.

    Args:
        window_seconds: length of the window, seconds of event time.

    Returns:
        Seconds: 86400 for windows of 20 days and more, else 3600.

    >>> block_seconds(30 * 86400), block_seconds(7 * 86400)
    (86400.0, 3600.0)
    """
    return DAY if window_seconds >= _DAYS_THAT_SUFFICE * DAY else HOUR


def _estimate(window: ConfusionCounts, dispersion: Dispersion) -> tuple[FloatArray, FloatArray]:
    blocks = as_blocks(window)
    rates = SmoothedRates.of(blocks.sum(axis=-1))
    variances = rates.variances(dispersion)
    if blocks.shape[-1] > 1:
        estimates = SmoothedRates.of(leave_one_out(blocks)).components()
        variances = np.fmax(variances, jackknife_variance(estimates, blocks.total > 0))
    return rates.components(), variances


def as_blocks(window: ConfusionCounts) -> ConfusionCounts:
    """Return the window as blocks along the last axis; a scalar becomes one block."""
    return window[None] if window.shape == () else window
