"""Intervals of metrics of scores that allow for how days differ.

The variance of a metric is the larger of that of independent rows and that between days
(delete-one-day jackknife), on the scale of the metric, with Student's t for the days.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit, logit, stdtrit

from monitor.metrics.binned_loss import HiddenLoss
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray
from monitor.metrics.score_influences import Influences

_FEWEST_DAYS = 2
_ROUNDING = 1e-12
"""A metric so near to an end of its range, as sums of floats leave it, is at this end."""
_NAN = float("nan")


class Interval(NamedTuple):
    """A metric with its interval.

    Attributes:
        estimate: the value; NaN where undefined.
        lower: lower limit; NaN with labelled scores of fewer than two days, and where the
            metric, with or without one of the days, is at an end of its range.
        upper: upper limit, likewise.
    """

    estimate: float
    lower: float = _NAN
    upper: float = _NAN


class Scale(NamedTuple):
    """A scale on which the limits of an interval lie evenly about the estimate.

    Attributes:
        forward: from the metric to the scale, increasing; infinite at the ends of its range.
        back: from the scale to the metric.
        slope: derivative of `forward`.
        lowest: lower end of the metric's range.
        highest: upper end.
    """

    forward: Callable[[FloatArray], FloatArray]
    back: Callable[[float], float]
    slope: Callable[[float], float]
    lowest: float = -np.inf
    highest: float = np.inf


LOG_ODDS = Scale(logit, expit, lambda value: 1 / (value * (1 - value)), 0.0, 1.0)
"""For metrics in [0, 1]."""
LOG = Scale(np.log, np.exp, lambda value: 1 / value, 0.0)
"""For metrics of at least 0."""
LOG_BELOW_ONE = Scale(
    lambda value: -np.log1p(-value),
    lambda value: -np.expm1(-value),
    lambda value: 1 / (1 - value),
    highest=1.0,
)
"""For metrics of at most 1."""
PLAIN = Scale(lambda value: value, lambda value: value, lambda _: 1.0)
"""For metrics of any size."""


class Statistic(NamedTuple):
    """How a metric of scores and its interval are computed.

    Attributes:
        value: the metric of labelled cases by score, with axes before the bins.
        influence: of single cases on it, for the variance of independent rows.
        scale: of its interval.
        hidden: how far the metric of the exact scores may lie from `value`, which knows their
            bins alone; None where that is at most a bin.
    """

    value: Callable[[ScoreHistogram], FloatArray]
    influence: Callable[[ScoreHistogram], Influences]
    scale: Scale = LOG_ODDS
    hidden: Callable[[ScoreHistogram], HiddenLoss] | None = None


class ScoredDays(NamedTuple):
    """The labelled scores of all days, and of all but each.

    Attributes:
        whole: of all days, (bins,).
        others: without each of the days that have any, (days, bins).
    """

    whole: ScoreHistogram
    others: ScoreHistogram

    @classmethod
    def of(cls, days: ScoreHistogram) -> Self:
        """Return them.

        Args:
            days: labelled cases by score, (days, bins).
        """
        whole = days.sum()
        held = (days.positive + days.negative).any(axis=-1)
        positive, negative = days.positive[held], days.negative[held]
        return cls(
            whole,
            ScoreHistogram(
                positive=whole.positive - positive,
                negative=whole.negative - negative,
                unlabelled=np.zeros_like(positive),
            ),
        )

    @property
    def held(self) -> int:
        """Number of days with labelled scores."""
        return len(self.others.positive)


class OnScale(NamedTuple):
    """A metric on the scale of its interval.

    Attributes:
        estimate: the value; NaN where undefined.
        middle: it on the scale; NaN where its interval is undefined.
        variance: of `middle`, the larger of that of independent rows and that between days;
            NaN likewise.
        days: days with labelled scores.
    """

    estimate: float
    middle: float
    variance: float
    days: int


def interval(days: ScoredDays, statistic: Statistic, level: float = 0.95) -> Interval:
    """Return a metric of scores with its interval.

    Args:
        days: labelled scores.
        statistic: of the metric.
        level: coverage, in (0, 1).

    Returns:
        An estimate beyond the range of the metric, as where labels are corrected by rates that
        leave too few positives, is the end of that range. Limits allow for what the bins of the
        scores hide of the metric.

    Source:
        Efron 1982 (jackknife and infinitesimal jackknife).
    """
    found = limits(on_scale(days, statistic), statistic.scale, level)
    if statistic.hidden is None:
        return found
    hidden = statistic.hidden(days.whole)
    lower = float(np.maximum(found.lower - hidden.below, statistic.scale.lowest))
    return Interval(found.estimate, lower, found.upper + hidden.above)


def limits(found: OnScale, scale: Scale, level: float = 0.95) -> Interval:
    """Return a metric of scores with its interval; without limits where its variance is NaN.

    Args:
        found: the metric.
        scale: of its interval.
        level: coverage, in (0, 1).
    """
    if not np.isfinite(found.variance):
        return Interval(found.estimate)
    half = _quantile(found.days - 1, level) * found.variance**0.5
    lower, upper = (float(scale.back(found.middle + end)) for end in (-half, half))
    return Interval(found.estimate, lower, upper)


def on_scale(days: ScoredDays, statistic: Statistic) -> OnScale:
    """Return a metric of scores, and its variance on the scale of its interval.

    Args:
        days: labelled scores.
        statistic: of the metric.
    """
    value, count, scale = float(statistic.value(days.whole)), days.held, statistic.scale
    estimate = min(max(value, scale.lowest), scale.highest)  # NaN stays NaN
    unknown = OnScale(estimate, _NAN, _NAN, count)
    if not np.isfinite(estimate) or count < _FEWEST_DAYS:
        return unknown
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = statistic.value(days.others)
        middle = float(scale.forward(np.asarray(estimate)))
        others = scale.forward(left_out)
    if not (np.isfinite(middle) and np.isfinite(others).all()):
        return unknown
    every = np.append(left_out, estimate)
    if min(float((every - scale.lowest).min()), float((scale.highest - every).min())) < _ROUNDING:
        return unknown
    between = (count - 1) / count * float(((others - others.mean()) ** 2).sum())
    rows = statistic.influence(days.whole).variance(days.whole) * scale.slope(estimate) ** 2
    return OnScale(estimate, middle, max(between, rows), count)


@lru_cache(maxsize=256)
def _quantile(freedom: int, level: float) -> float:
    """Return Student's t that so large a share of a distribution lies within."""
    return float(stdtrit(freedom, (1 + level) / 2))
