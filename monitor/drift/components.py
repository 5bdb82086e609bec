"""The components of a change.

    log r, logit TPR, logit FPR, log LR+ = log TPR - log FPR,
    log LR- = log(1 - TPR) - log(1 - FPR), log odds ratio = logit TPR - logit FPR

Half a count is added to each cell, so that every component is finite. `changes` compares the
components of two windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

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


COMPONENTS = len(Component)


def gradients(counts: ConfusionCounts) -> FloatArray:
    """Return the derivatives of the components by log r, logit TPR and logit FPR, (8, 3).

    Args:
        counts: outcomes whose operating point they are taken at, a scalar; half a count is
            added to each cell.

    >>> gradients(ConfusionCounts(tp=80, fp=20, fn=20, tn=80))[Component.ODDS_RATIO].tolist()
    [0.0, 1.0, -1.0]
    """
    rates = SmoothedRates.of(counts)
    miss, specificity = float(rates.miss_rate), float(rates.specificity)
    return np.array(
        [
            [1, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
            [0, miss, -specificity],
            [0, miss - 1, 1 - specificity],
            [0, 1, -1],
            [1, 0, -specificity],
            [1, miss, 0],
        ]
    )


def covariance_of_logs(between: FloatArray, rates: SmoothedRates) -> FloatArray:
    """Return the covariance between days of log r, log TPR and log FPR, (3, 3).

    Args:
        between: variance that days add to each component, (8,). Those of the sums and
            differences of two logs give their covariance.
        rates: the operating point, scalars.

    Returns:
        Positive semidefinite. The variances are estimates of their own, and need not go
        together; what is negative in their matrix is set to zero.

    Source:
        Higham 1988 (nearest positive semidefinite matrix).
    """
    recall, false = Component.RECALL, Component.FALSE_POSITIVE_RATE
    variances = [
        between[Component.CLASS_RATIO],
        between[recall] * float(rates.miss_rate) ** 2,
        between[false] * float(rates.specificity) ** 2,
    ]
    found = np.diag(variances)
    for first, second, sign, component in (
        (0, 1, 1, Component.ALL_BUT_FALSE_POSITIVES),
        (0, 2, -1, Component.ALL_BUT_RECALL),
        (1, 2, -1, Component.LOG_LIKELIHOOD_RATIO),
    ):
        both = variances[first] + variances[second]
        most = np.sqrt(variances[first] * variances[second])
        covariance = np.clip(sign * (between[component] - both) / 2, -most, most)
        found[first, second] = found[second, first] = covariance
    values, vectors = np.linalg.eigh(found)
    if values[0] >= 0:
        return np.asarray(found)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


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
