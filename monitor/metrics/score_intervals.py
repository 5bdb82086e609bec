"""Intervals of metrics of scores that allow for how days differ.

The variance of a metric is the larger of that of independent rows and that between days
(delete-one-day jackknife), on the log-odds of the metric, with Student's t for the days. The
rows are those of DeLong for the area under the ROC curve, the delta method for average
precision, and the variance of a mean for the Brier score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from monitor.metrics.calibration import brier_score, middles
from monitor.metrics.curves import area_under_roc, average_precision
from monitor.metrics.histogram import ScoreHistogram

if TYPE_CHECKING:
    from monitor.metrics.ratio import FloatArray

_FEWEST_DAYS = 2
_NAN = float("nan")


class Interval(NamedTuple):
    """A metric with its interval.

    Attributes:
        estimate: the value; NaN where undefined.
        lower: lower limit; NaN with labelled scores of fewer than two days, and where the
            metric is exactly 0 or 1.
        upper: upper limit, likewise.
    """

    estimate: float
    lower: float = _NAN
    upper: float = _NAN


def roc_auc(days: ScoreHistogram, level: float = 0.95) -> Interval:
    """Return the area under the ROC curve with its interval.

    Args:
        days: labelled cases by score, (days, bins).
        level: coverage, in (0, 1).

    Source:
        Hanley & McNeil 1982; DeLong et al. 1988.
    """
    return _interval(days, area_under_roc, _variance_of_area, level)


def average_precision_interval(days: ScoreHistogram, level: float = 0.95) -> Interval:
    """Return average precision with its interval.

    Args:
        days: labelled cases by score, (days, bins).
        level: coverage, in (0, 1).
    """
    return _interval(days, average_precision, _variance_of_average_precision, level)


def brier_interval(days: ScoreHistogram, level: float = 0.95) -> Interval:
    """Return the Brier score with its interval.

    Args:
        days: labelled cases by score, (days, bins).
        level: coverage, in (0, 1).
    """
    return _interval(days, brier_score, _variance_of_brier_score, level)


def _interval(
    days: ScoreHistogram,
    metric: Callable[[ScoreHistogram], FloatArray],
    variance_of_rows: Callable[[ScoreHistogram], float],
    level: float,
) -> Interval:
    whole = days.sum()
    estimate = float(metric(whole))
    held = (days.positive + days.negative).any(axis=-1)
    if not 0 < estimate < 1 or held.sum() < _FEWEST_DAYS:
        return Interval(estimate)
    positive, negative = days.positive[held], days.negative[held]
    left_out = ScoreHistogram(
        positive=whole.positive - positive,
        negative=whole.negative - negative,
        unlabelled=np.zeros_like(positive),
    )
    others = metric(left_out)
    if not ((others > 0) & (others < 1)).all():
        return Interval(estimate)
    count, values = len(others), logit(others)
    between = (count - 1) / count * float(((values - values.mean()) ** 2).sum())
    rows = variance_of_rows(whole) / (estimate * (1 - estimate)) ** 2
    half = float(stdtrit(count - 1, (1 + level) / 2)) * max(between, rows) ** 0.5
    middle = logit(estimate)
    return Interval(estimate, float(expit(middle - half)), float(expit(middle + half)))


def _variance_of_area(whole: ScoreHistogram) -> float:
    """Variance of the area under the ROC curve for independent rows (DeLong)."""
    positive, negative = whole.positive, whole.negative
    positives, negatives = float(positive.sum()), float(negative.sum())
    below = (np.cumsum(negative) - negative / 2) / negatives
    above = 1 - (np.cumsum(positive) - positive / 2) / positives
    area = float(positive @ below) / positives
    of_positives = float(positive @ (below - area) ** 2) / max(positives - 1, 1) / positives
    of_negatives = float(negative @ (above - area) ** 2) / max(negatives - 1, 1) / negatives
    return of_positives + of_negatives


def _variance_of_average_precision(whole: ScoreHistogram) -> float:
    """Variance of average precision for independent rows: sum of squared influences.

    With T positives and F negatives at or above a bin, and p positives in it, average
    precision is the sum of p T / (T + F), divided by all positives.
    """
    positive, negative = (np.flip(one).astype(float) for one in (whole.positive, whole.negative))
    positives = positive.sum()
    found, false = np.cumsum(positive), np.cumsum(negative)
    flagged = np.maximum(found + false, 1.0)
    precision, share = found / flagged, positive / positives
    more_true, more_false = (
        np.flip(np.cumsum(np.flip(share * part / flagged**2))) for part in (false, found)
    )
    average = float(share @ precision)
    of_positive = precision / positives + more_true - average / positives
    return float(positive @ of_positive**2 + negative @ more_false**2)


def _variance_of_brier_score(whole: ScoreHistogram) -> float:
    score, cases = middles(whole.bins), float((whole.positive + whole.negative).sum())
    mean = float(brier_score(whole))
    squares = whole.positive @ ((1 - score) ** 2 - mean) ** 2
    squares = squares + whole.negative @ (score**2 - mean) ** 2
    return float(squares) / cases**2
