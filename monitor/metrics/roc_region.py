"""The part of a ROC curve around an operating point, from score histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from monitor.metrics.curves import roc_curve
from monitor.metrics.histogram import ScoreHistogram

if TYPE_CHECKING:
    from monitor.metrics.ratio import FloatArray

_NAN = float("nan")
_FEWEST_DAYS = 2


class RocBand(NamedTuple):
    """Recall of a ROC curve at some false-positive rates, with pointwise 95 % limits.

    Attributes:
        recall: in [0, 1], (rates,).
        lower: lower limit; NaN with labelled scores of fewer than two days.
        upper: upper limit, likewise.
    """

    recall: FloatArray
    lower: FloatArray
    upper: FloatArray


def roc_band(days: ScoreHistogram, rates: FloatArray) -> RocBand:
    """Return a ROC curve with its limits.

    Args:
        days: labelled cases by score, (days, bins).
        rates: false-positive rates in [0, 1].

    Returns:
        Limits of the larger of the variance between days (delete-one-day jackknife) and that
        of as many independent positives, with Student's t. NaN where a class has no cases.

    Source:
        Macskassy & Provost 2004 (vertical bands); Efron 1982 (jackknife).
    """
    whole = days.sum()
    recall = _recalls(whole, rates)
    held = np.flatnonzero((days.positive + days.negative).any(axis=-1))
    count = len(held)
    if count < _FEWEST_DAYS or not np.isfinite(recall).all():
        unknown = np.full(len(rates), _NAN)
        return RocBand(recall, unknown, unknown)
    left_out = np.array([_recalls(_without(whole, days, day), rates) for day in held.tolist()])
    known = left_out[np.isfinite(left_out).all(axis=-1)]
    between = (count - 1) / count * ((known - known.mean(axis=0)) ** 2).sum(axis=0)
    rows = recall * (1 - recall) / whole.positive.sum()
    half = float(stdtrit(count - 1, 0.975)) * np.sqrt(np.maximum(between, rows))
    return RocBand(recall, np.maximum(recall - half, 0.0), np.minimum(recall + half, 1.0))


def _without(whole: ScoreHistogram, days: ScoreHistogram, day: int) -> ScoreHistogram:
    return ScoreHistogram(
        positive=whole.positive - days.positive[day],
        negative=whole.negative - days.negative[day],
        unlabelled=whole.unlabelled,
    )


def _recalls(histogram: ScoreHistogram, rates: FloatArray) -> FloatArray:
    """Return the recall of the ROC curve at each rate; NaN where a class has no cases."""
    curve = roc_curve(histogram)
    if not np.isfinite(curve.recall[0] + curve.false_positive_rate[0]):
        return np.full(len(rates), _NAN)
    return np.interp(rates, curve.false_positive_rate[::-1], curve.recall[::-1])


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
    if not np.isfinite(false_positive_rate):
        return _NAN
    return float(_recalls(histogram, np.array([false_positive_rate]))[0])


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
