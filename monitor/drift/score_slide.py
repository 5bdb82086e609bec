"""How far the scores of each actual class slid: the change of their mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from monitor.counts import CountArray
from monitor.metrics.calibration import middles
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray
from monitor.metrics.score_intervals import Interval

_FEWEST_DAYS = 2


class ScoreSlide(NamedTuple):
    """Change of the mean score of each actual class, after minus before.

    A slide of both classes alike moves the operating point along the ROC curve; positives that
    slide toward the negatives lower the curve.

    Attributes:
        positive: of actual positives, with its 95 % interval; NaN where a side has none. Limits
            are NaN where the class has scores on fewer than two days of a side.
        negative: of actual negatives, likewise.
    """

    positive: Interval
    negative: Interval


class _Mean(NamedTuple):
    """A mean, its variance, and the days behind it."""

    value: float
    variance: float
    days: int


def score_slide(before: ScoreHistogram, after: ScoreHistogram) -> ScoreSlide:
    """Return how far the scores slid, class by class.

    Args:
        before: labelled cases by score, (days, bins).
        after: the same of later days.

    Returns:
        Changes in units of the score. The variance of a mean is the larger of that of
        independent rows and that between days (delete-one-day jackknife); limits are Student's
        t, by the days of the side that has fewer.

    >>> day = ScoreHistogram.from_scores(positive=[.8, .7], negative=[.2])
    >>> later = ScoreHistogram.from_scores(positive=[.7, .6], negative=[.2])
    >>> rows = lambda one: ScoreHistogram(
    ...     positive=one.positive[None], negative=one.negative[None],
    ...     unlabelled=one.unlabelled[None])
    >>> slide = score_slide(rows(day), rows(later))
    >>> round(slide.positive.estimate, 3), slide.negative.estimate
    (-0.1, 0.0)
    """
    return ScoreSlide(
        positive=_change(_mean(before.positive), _mean(after.positive)),
        negative=_change(_mean(before.negative), _mean(after.negative)),
    )


def _change(before: _Mean, after: _Mean) -> Interval:
    days = min(before.days, after.days)
    change = after.value - before.value
    if days < _FEWEST_DAYS:
        return Interval(change)
    half = float(stdtrit(days - 1, 0.975)) * (before.variance + after.variance) ** 0.5
    return Interval(change, change - half, change + half)


def _mean(cases: CountArray) -> _Mean:
    score = middles(cases.shape[-1])
    number, total = cases.sum(axis=-1), cases @ score
    held, count = number > 0, float(number.sum())
    days = int(held.sum())
    if not count:
        return _Mean(float("nan"), float("nan"), 0)
    mean = float(total.sum() / count)
    if days < _FEWEST_DAYS:
        return _Mean(mean, float("nan"), days)
    rows = float(cases.sum(axis=0) @ (score - mean) ** 2) / count / max(count - 1, 1.0)
    left_out: FloatArray = (total.sum() - total[held]) / (count - number[held])
    between = (days - 1) / days * float(((left_out - left_out.mean()) ** 2).sum())
    return _Mean(mean, float(np.maximum(rows, between)), days)
