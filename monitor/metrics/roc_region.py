"""The part of a ROC curve around an operating point, from score histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from monitor.metrics.curves import rising, roc_curve
from monitor.metrics.ratio import ratio
from monitor.metrics.score_intervals import ScoredDays

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram
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
    scored = ScoredDays.of(days)
    recall, count = _recalls(scored.whole, rates), scored.held
    if count < _FEWEST_DAYS or not np.isfinite(recall).all():
        unknown = np.full(len(rates), _NAN)
        return RocBand(recall, unknown, unknown)
    left_out = _recalls(scored.others, rates)
    known = left_out[np.isfinite(left_out).all(axis=-1)]
    between = (count - 1) / count * ((known - known.mean(axis=0)) ** 2).sum(axis=0)
    rows = recall * (1 - recall) / scored.whole.positive.sum()
    half = float(stdtrit(count - 1, 0.975)) * np.sqrt(np.maximum(between, rows))
    return RocBand(recall, np.maximum(recall - half, 0.0), np.minimum(recall + half, 1.0))


def _recalls(histogram: ScoreHistogram, rates: FloatArray) -> FloatArray:
    """Return the recall of each ROC curve at each rate; NaN where a class has no cases."""
    up, along = (
        ratio(cases, cases[..., -1:])
        for cases in (rising(np.flip(side, -1)) for side in histogram.at_least)
    )
    found = np.full((*up.shape[:-1], len(rates)), _NAN)
    for row in np.ndindex(up.shape[:-1]):
        if np.isfinite(along[row][-1] + up[row][-1]):
            found[row] = np.interp(rates, along[row], up[row])
    return found


def recall_at(histogram: ScoreHistogram, *, false_positive_rate: float) -> FloatArray:
    """Return the recall of the ROC curve at a false-positive rate, interpolated linearly.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        false_positive_rate: in [0, 1]; NaN where there is none.

    Returns:
        Recall in [0, 1]; NaN where a class has no cases, or there is no rate.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.5, .2])
    >>> print(recall_at(scores, false_positive_rate=.25))
    1.0
    """
    found = _recalls(histogram, np.array([false_positive_rate]))[..., 0]
    return np.asarray(np.where(np.isfinite(false_positive_rate), found, _NAN))


def range_around(false_positive_rate: float, factor: float = 2.0) -> tuple[float, float]:
    """Return the range of false-positive rates around one: from a part of it to a multiple.

    Args:
        false_positive_rate: in (0, 1]; NaN where there is none.
        factor: by which the ends are smaller and larger; the upper end is at most 1.
    """
    return false_positive_rate / factor, min(false_positive_rate * factor, 1.0)


def mean_recall(histogram: ScoreHistogram, *, around: float) -> FloatArray:
    """Return the mean recall over false-positive rates around one: a partial area, normalised.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        around: a false-positive rate in (0, 1]; NaN where there is none.

    Returns:
        Area under the ROC curve over the range `range_around`, divided by its width, in
        [0, 1]; NaN where a class has no cases, or there is no rate.

    Source:
        McClish 1989 (partial area under the ROC curve).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.7, .2])
    >>> print(mean_recall(scores, around=.5).round(6))
    0.833333
    """
    low, high = range_around(around)
    curve = roc_curve(histogram)
    rates, recalls = curve.false_positive_rate, curve.recall
    if not low < high:
        return np.full(rates.shape[:-1], _NAN)
    ends = _recalls(histogram, np.array([low, high]))
    inside = (rates > low) & (rates < high)
    x = np.where(inside, rates, np.where(rates >= high, high, low))
    y = np.where(inside, recalls, np.where(rates >= high, ends[..., 1:], ends[..., :1]))
    return np.asarray(-np.trapezoid(y, x, axis=-1) / (high - low))
