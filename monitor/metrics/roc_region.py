"""The part of a ROC curve around an operating point, from score histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.curves import roc_curve

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram

_NAN = float("nan")


def recall_at(histogram: ScoreHistogram, *, false_positive_rate: float) -> float:
    """Return the recall of the ROC curve at a false-positive rate, interpolated linearly.

    Args:
        histogram: labelled cases by score, bins on its only axis.
        false_positive_rate: in [0, 1]; NaN where there is none.

    Returns:
        Recall in [0, 1]; NaN where a class has no cases, or there is no rate.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.5, .2])
    >>> recall_at(scores, false_positive_rate=.25)
    1.0
    """
    curve = roc_curve(histogram)
    if not np.isfinite(curve.recall[0] + curve.false_positive_rate[0] + false_positive_rate):
        return _NAN
    rates, recalls = curve.false_positive_rate[::-1], curve.recall[::-1]
    return float(np.interp(false_positive_rate, rates, recalls))


def mean_recall(histogram: ScoreHistogram, *, around: float, factor: float = 2.0) -> float:
    """Return the mean recall over false-positive rates around one: a partial area, normalised.

    Args:
        histogram: labelled cases by score, bins on its only axis.
        around: a false-positive rate in (0, 1]; NaN where there is none.
        factor: the area is that from `around / factor` to `around * factor`, at most 1.

    Returns:
        Area under the ROC curve over this range, divided by its width, in [0, 1]; NaN where
        a class has no cases, or there is no rate.

    Source:
        McClish 1989 (partial area under the ROC curve).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.7, .2])
    >>> mean_recall(scores, around=.5)
    0.8333333333333334
    """
    curve = roc_curve(histogram)
    if not np.isfinite(curve.recall[0] + curve.false_positive_rate[0] + around) or around <= 0:
        return _NAN
    low, high = around / factor, min(around * factor, 1.0)
    rates, recalls = curve.false_positive_rate[::-1], curve.recall[::-1]
    inside = (rates > low) & (rates < high)
    x = np.concatenate([[low], rates[inside], [high]])
    ends = np.interp([low, high], rates, recalls)
    y = np.concatenate([ends[:1], recalls[inside], ends[1:]])
    return float(np.trapezoid(y, x) / (high - low))
