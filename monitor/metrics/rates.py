"""Rates: shares of the four outcomes in the actual, the predicted, or all cases.

Each is one quotient of counts. Those given the actual class (recall, specificity,
false-positive and false-negative rate) do not depend on prevalence; predictive values,
accuracy and shares of all cases do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts
    from monitor.metrics.ratio import FloatArray


def recall(counts: ConfusionCounts) -> FloatArray:
    """Share of the actual positives that the classifier found (TPR, sensitivity).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        TP / P in [0, 1], same shape; NaN where there are no actual positives.

    Source:
        Yerushalmy 1947 (sensitivity); Fawcett 2006, figure 1.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.recall(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.9
    """
    return ratio(counts.tp, counts.actual_positive)


def specificity(counts: ConfusionCounts) -> FloatArray:
    """Share of the actual negatives that the classifier called negative (TNR).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        TN / N in [0, 1], same shape; NaN where there are no actual negatives.

    Source:
        Yerushalmy 1947; Fawcett 2006, figure 1.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.specificity(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(4))
    0.9444
    """
    return ratio(counts.tn, counts.actual_negative)


def false_positive_rate(counts: ConfusionCounts) -> FloatArray:
    """Share of the actual negatives that the classifier called positive (FPR).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        FP / N in [0, 1], same shape; NaN where there are no actual negatives.

    Source:
        Fawcett 2006, figure 1.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.false_positive_rate(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(4))
    0.0556
    """
    return ratio(counts.fp, counts.actual_negative)


def false_negative_rate(counts: ConfusionCounts) -> FloatArray:
    """Share of the actual positives that the classifier missed (FNR).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        FN / P in [0, 1], same shape; NaN where there are no actual positives.

    Source:
        Fawcett 2006, figure 1.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.false_negative_rate(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.1
    """
    return ratio(counts.fn, counts.actual_positive)


def negative_predictive_value(counts: ConfusionCounts) -> FloatArray:
    """Share of the predicted negatives that are actually negative.

    The counterpart of precision for predicted negatives; it depends on prevalence as well.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        TN / (TN + FN) in [0, 1], same shape; NaN where nothing is predicted
        negative.

    Source:
        Vecchio 1966; R caret `negPredValue` at the observed prevalence.

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.negative_predictive_value(counts).round(4))
    0.9884
    """
    return ratio(counts.tn, counts.predicted_negative)


def prevalence(counts: ConfusionCounts) -> FloatArray:
    """Share of all cases that are actually positive, π = P / (P + N).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Ratio in [0, 1], same shape; NaN where nothing was counted.

    Source:
        R caret `confusionMatrix`, "Prevalence".

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.prevalence(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.1
    """
    return ratio(counts.actual_positive, counts.total)


def class_ratio(counts: ConfusionCounts) -> FloatArray:
    """Actual positives per actual negative, r = P / N: the odds of prevalence.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Ratio in [0, ∞), same shape; NaN where there are no actual negatives.

    Source:
        Williams 2021 (r).

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.class_ratio(ConfusionCounts(tp=90, fp=10, fn=10, tn=190)))
    0.5
    """
    return ratio(counts.actual_positive, counts.actual_negative)


def predicted_positive_rate(counts: ConfusionCounts) -> FloatArray:
    """Share of all cases that the classifier called positive.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        (TP + FP) / all in [0, 1], same shape; NaN where nothing was counted.

    Source:
        R caret `confusionMatrix`, "Detection Prevalence".

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.predicted_positive_rate(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.14
    """
    return ratio(counts.predicted_positive, counts.total)


def detection_rate(counts: ConfusionCounts) -> FloatArray:
    """Share of all cases that are actually positive and called positive.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        TP / all in [0, 1], same shape; NaN where nothing was counted.

    Source:
        R caret `confusionMatrix`, "Detection Rate".

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.detection_rate(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.09
    """
    return ratio(counts.tp, counts.total)


def accuracy(counts: ConfusionCounts) -> FloatArray:
    """Share of all cases that the classifier called correctly.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        (TP + TN) / all in [0, 1], same shape; NaN where nothing was counted.

    Source:
        R caret `confusionMatrix`, "Accuracy".

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.accuracy(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.94
    """
    return ratio(counts.tp + counts.tn, counts.total)


def balanced_accuracy(counts: ConfusionCounts) -> FloatArray:
    """Accuracy these outcomes would show if half of the cases were positive.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        (recall + specificity) / 2 in [0, 1], same shape; NaN where there are
        no actual positives or no actual negatives.

    Source:
        Brodersen et al. 2010; R caret `confusionMatrix`, "Balanced Accuracy".

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.balanced_accuracy(counts).round(4))
    0.9222
    """
    return (recall(counts) + specificity(counts)) / 2


def no_information_rate(counts: ConfusionCounts) -> FloatArray:
    """Accuracy of always predicting the more common class.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        max(P, N) / all in [1/2, 1], same shape; NaN where nothing was counted.

    Source:
        R caret `confusionMatrix`, "No Information Rate".

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.no_information_rate(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)))
    0.9
    """
    return ratio(np.maximum(counts.actual_positive, counts.actual_negative), counts.total)
