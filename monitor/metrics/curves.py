"""Curves over all thresholds from score histograms, at any class ratio.

Recall and false-positive rate at a threshold do not depend on prevalence. So one histogram
gives the precision-recall curve at any class ratio: precision changes, recall does not
(Williams 2021, figure 1). Each function also takes histograms with axes before the bins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.precision import precision_of_rates
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray


class PrecisionRecallCurve(NamedTuple):
    """Precision against recall, one point for each threshold, along the last axis.

    Attributes:
        threshold: thresholds, ascending; the last is ∞.
        recall: recall in [0, 1], descending; NaN without actual positives.
        precision: precision in [0, 1]; NaN where nothing is predicted positive.
    """

    threshold: FloatArray
    recall: FloatArray
    precision: FloatArray


class RocCurve(NamedTuple):
    """Recall against false-positive rate, one point for each threshold, along the last axis.

    Attributes:
        threshold: thresholds, ascending; the last is ∞.
        false_positive_rate: FPR in [0, 1], descending; NaN without actual negatives.
        recall: recall in [0, 1], descending; NaN without actual positives.
    """

    threshold: FloatArray
    false_positive_rate: FloatArray
    recall: FloatArray


def precision_recall_curve(
    histogram: ScoreHistogram, *, class_ratio: ArrayLike | None = None
) -> PrecisionRecallCurve:
    """Return precision and recall at every threshold, as observed or at another class ratio.

    `intervals(histogram.counts, "precision_at", class_ratio=…)` gives its confidence band.

    Args:
        histogram: labelled cases by score.
        class_ratio: class ratio r0 of the curve, in [0, ∞); None for the observed one.

    Returns:
        The curve, bins + 1 points along the last axis.

    Raises:
        ValueError: the class ratio is negative or infinite.

    Source:
        Williams 2021, figure 1; Siblini et al. 2020.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2], bins=2)
    >>> precision_recall_curve(scores, class_ratio=.25).precision.round(3).tolist()
    [0.2, 0.333, nan]
    """
    curve = roc_curve(histogram)
    return PrecisionRecallCurve(
        curve.threshold, curve.recall, _precision(histogram, curve, class_ratio)
    )


def roc_curve(histogram: ScoreHistogram) -> RocCurve:
    """Return recall and false-positive rate at every threshold.

    Args:
        histogram: labelled cases by score.

    Returns:
        The curve, bins + 1 points along the last axis; NaN where a class has no cases.

    Source:
        Fawcett 2006.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2], bins=2)
    >>> roc_curve(scores).false_positive_rate.tolist()
    [1.0, 0.5, 0.0]
    """
    recall, false_positive_rate = (ratio(side, side[..., :1]) for side in histogram.at_least)
    return RocCurve(histogram.thresholds, false_positive_rate, recall)


def rising(points: CountArray) -> FloatArray:
    """Return cumulated numbers of cases without falls.

    Args:
        points: numbers of cases from the highest threshold down, the last axis; the last is the
            number of all. Estimated ones (`corrected_scores`) may fall, or lie beyond 0 and all.

    Returns:
        The same where none falls; else the mean of the lowest rising numbers that lie above, and
        the highest that lie below.

    >>> rising(np.array([0, 3, 1, 4, 10])).tolist()
    [0.0, 2.0, 2.0, 4.0, 10.0]
    """
    clipped = np.clip(points, 0, np.maximum(points[..., -1:], 0))
    above = np.maximum.accumulate(clipped, axis=-1)
    below = np.flip(np.minimum.accumulate(np.flip(clipped, -1), axis=-1), -1)
    return np.asarray((above + below) / 2)


def area_under_roc(histogram: ScoreHistogram) -> FloatArray:
    """Area under the ROC curve: P(a positive scores above a negative), ties counting half.

    Args:
        histogram: labelled cases by score; cases in one bin are tied.

    Returns:
        Ratio in [0, 1]; NaN where a class has no cases.

    Source:
        Hanley & McNeil 1982.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> print(area_under_roc(ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])))
    0.875
    """
    curve = roc_curve(histogram)
    heights = (curve.recall[..., 1:] + curve.recall[..., :-1]) / 2
    area: FloatArray = np.sum(-np.diff(curve.false_positive_rate) * heights, axis=-1)
    return area


def tied_pairs(histogram: ScoreHistogram) -> FloatArray:
    """Share of pairs of a positive and a negative whose scores lie in one bin.

    They count half in the area under the ROC curve. If no scores are equal, the area lies
    within half of this share of `area_under_roc`.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.

    Returns:
        Ratio in [0, 1]; NaN where a class has no cases.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> print(tied_pairs(ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])))
    0.25
    """
    positive, negative = histogram.positive.astype(np.float64), histogram.negative
    pairs = positive.sum(axis=-1) * negative.sum(axis=-1)
    return ratio((positive * negative).sum(axis=-1), pairs)


def average_precision(
    histogram: ScoreHistogram, *, class_ratio: ArrayLike | None = None
) -> FloatArray:
    """Average precision: mean over the positives of the precision at their own score.

    Args:
        histogram: labelled cases by score; cases in one bin are tied.
        class_ratio: class ratio r0 of the curve, in [0, ∞); None for the observed one.

    Returns:
        Ratio in [0, 1]; NaN where there are no positives, and at another
        class ratio where there are no negatives.

    Raises:
        ValueError: the class ratio is negative or infinite.

    Source:
        scikit-learn `average_precision_score`; Siblini et al. 2020 at r0.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])
    >>> print(average_precision(scores).round(4))
    0.8333
    """
    curve = roc_curve(histogram)
    steps = -np.diff(curve.recall)
    heights = _precision(histogram, curve, class_ratio)[..., :-1]
    area: FloatArray = np.sum(np.where(steps == 0, 0.0, steps * heights), axis=-1)
    return area


def area_under_gain_curve(
    histogram: ScoreHistogram, *, class_ratio: ArrayLike | None = None
) -> FloatArray:
    """Area under the precision-gain against recall-gain curve, from recall gain 0 on.

    Unlike the area under the precision-recall curve, it averages on the scale on which F1
    is linear, and leaves out thresholds with a recall below prevalence. Between thresholds
    the counts, and with them the gains, are interpolated linearly.

    Args:
        histogram: labelled cases by score.
        class_ratio: class ratio r0 of the curve, in (0, ∞); None for the observed one.

    Returns:
        Area in (-∞, 1]; NaN where a class has no cases, and at r0 = 0.

    Raises:
        ValueError: the class ratio is negative or infinite.

    Source:
        Flach & Kull 2015.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])
    >>> print(area_under_gain_curve(scores))
    0.75
    """
    curve = roc_curve(histogram)
    found, alarms = curve.recall, curve.false_positive_rate
    positives, negatives = (side[..., :1] for side in histogram.at_least)
    odds = ratio(positives, negatives) + np.zeros_like(found)
    if class_ratio is not None:
        odds = odds * 0 + np.expand_dims(at_least_zero("class_ratio", class_ratio), -1)
    last, last_alarms = found[..., :-1], alarms[..., :-1]
    rise = last - found[..., 1:]
    first = np.clip(ratio(odds, 1 + odds)[..., :-1], found[..., 1:], last)
    share = ratio(last - first, rise)
    first_alarms = last_alarms - share * (last_alarms - alarms[..., 1:])
    width = odds[..., :-1] * (ratio(1, first) - ratio(1, last))
    height = 1 - (ratio(first_alarms, first) + ratio(last_alarms, last)) / 2
    area: FloatArray = np.sum(np.where(rise == 0, 0.0, width * height), axis=-1)
    return area


def _precision(
    histogram: ScoreHistogram, curve: RocCurve, class_ratio: ArrayLike | None
) -> FloatArray:
    if class_ratio is None:
        positives, negatives = histogram.at_least
        return ratio(positives, positives + negatives)
    return precision_of_rates(
        curve.recall, curve.false_positive_rate, class_ratio=np.expand_dims(class_ratio, -1)
    )
