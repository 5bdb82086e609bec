"""Precision, precision at a given class ratio, and skill (log LR+).

    logit(precision)                    = log r  + log TPR - log FPR
    logit(precision at class ratio r0)  = log r0 + log TPR - log FPR
    balanced precision                  = precision at r0 = 1
    log LR+                             = log TPR - log FPR

The first line is exact for every table of counts (Williams 2021, eq. 2): prevalence enters
through r alone, and log LR+ does not depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.rates import false_positive_rate, recall
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import ConfusionCounts
    from monitor.metrics.ratio import FloatArray


def precision(counts: ConfusionCounts) -> FloatArray:
    """Share of the predicted positives that are actually positive.

    It falls when the classifier gets worse and also when positives become rarer;
    `balanced_precision` falls only in the first case.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        TP / (TP + FP) in [0, 1], same shape; NaN where nothing is predicted
        positive.

    Source:
        Vecchio 1966 (positive predictive value); Williams 2021.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.precision(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(4))
    0.6429
    """
    return ratio(counts.tp, counts.predicted_positive)


def precision_at(counts: ConfusionCounts, *, class_ratio: ArrayLike) -> FloatArray:
    """Precision these outcomes would show at another class ratio.

    r0 TPR / (r0 TPR + FPR), with the measured TPR and FPR.

    Args:
        counts: outcomes of one window, or of many (any shape).
        class_ratio: r0, positives per negative, in [0, ∞); broadcasts against
            the counts. NaN gives NaN.

    Returns:
        Ratio in [0, 1], in the broadcast shape; NaN where there are no actual
        positives, no actual negatives, or no predicted positives, and at
        r0 = 0 without false positives.

    Raises:
        ValueError: a class ratio is negative or infinite.

    Source:
        Williams 2021, eq. 2; Siblini et al. 2020 with π0 = r0 / (1 + r0).

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=10, fn=10, tn=170)
    >>> print(metrics.precision(counts), metrics.precision_at(counts, class_ratio=1 / 9).round(4))
    0.9 0.6429
    """
    return precision_of_rates(recall(counts), false_positive_rate(counts), class_ratio=class_ratio)


def precision_of_rates(
    recall: FloatArray, false_positive_rate: FloatArray, *, class_ratio: ArrayLike
) -> FloatArray:
    """Precision at a class ratio, from the rates of an operating point.

    Args:
        recall: TPR, any shape.
        false_positive_rate: FPR, any shape.
        class_ratio: r0, positives per negative, in [0, ∞); broadcasts against the rates.

    Returns:
        As of `precision_at`.

    Raises:
        ValueError: a class ratio is negative or infinite.

    >>> print(precision_of_rates(np.array(.9), np.array(.05), class_ratio=1 / 9).round(4))
    0.6667
    """
    odds = at_least_zero("precision_at: class_ratio", class_ratio) * recall
    return ratio(odds, odds + false_positive_rate)


def balanced_precision(counts: ConfusionCounts) -> FloatArray:
    """Precision these outcomes would show if half of the cases were positive.

    TPR / (TPR + FPR). Prevalence cancels out: a fall here means that the
    classifier separates the classes worse, while a fall in `precision` alone
    may only mean that positives became rarer. It saturates near 1, so judge
    changes by `log_likelihood_ratio`, which is its logit.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Ratio in [0, 1], same shape; NaN where there are no actual positives,
        no actual negatives, or no predicted positives.

    Source:
        Soroka 2024; Siblini et al. 2020 (calibrated precision at π0 = 1/2).

    >>> from monitor import ConfusionCounts, metrics
    >>> common = ConfusionCounts(tp=90, fp=10, fn=10, tn=170)
    >>> rare = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.balanced_precision(common).round(4))
    0.9419
    >>> print(metrics.balanced_precision(rare).round(4))
    0.9419
    """
    return precision_at(counts, class_ratio=1.0)


def log_likelihood_ratio(counts: ConfusionCounts) -> FloatArray:
    """Skill: by how much a positive prediction raises the log odds of an actual positive.

    log LR+ = log TPR - log FPR = logit of balanced precision.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Natural logarithm in [-∞, ∞], same shape: 0 for a random classifier, +∞ without
        false positives, -∞ without true positives; NaN where there are no actual
        positives, no actual negatives, or no predicted positives.

    Source:
        Williams 2021, eq. 2 (the part without r); Altman & Bland 1994 (LR+).

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.log_likelihood_ratio(counts).round(4))
    2.785
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        difference: FloatArray = np.log(recall(counts)) - np.log(false_positive_rate(counts))
    return difference
