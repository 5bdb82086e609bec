"""The change of a metric of scores between two stretches of time, with its interval."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import stdtr

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_intervals import (
    Interval,
    OnScale,
    ScoredDays,
    Statistic,
    limits,
    on_scale,
)

_NAN = float("nan")


class ScoreChange(NamedTuple):
    """A metric of scores before and after, and its change.

    Attributes:
        before: the metric of the earlier days; NaN where undefined.
        after: of the later days, likewise.
        change: after minus before, with its 95 % interval; NaN where a side is undefined. Limits
            are NaN where those of a side are.
        p_value: two-sided, of no change; NaN where the limits are.
    """

    before: Interval
    after: Interval
    change: Interval
    p_value: float


def interval_of_change(before: Interval, after: Interval) -> Interval:
    """Return the change of a metric between two stretches of time, with its 95 % interval.

    Args:
        before: the metric of the earlier one.
        after: of the later one, of other days.

    Returns:
        After minus before; NaN where a side is undefined. The limits are made of the distances of
        both from their own limits, NaN where those of a side are.

    Source:
        Zou and Donner 2008 (method of variance estimates recovery).

    >>> change = interval_of_change(Interval(0.71, 0.69, 0.73), Interval(0.65, 0.59, 0.71))
    >>> [round(one, 3) for one in change]
    [-0.06, -0.123, 0.003]
    """
    change = after.estimate - before.estimate
    down = math.hypot(after.estimate - after.lower, before.upper - before.estimate)
    up = math.hypot(after.upper - after.estimate, before.estimate - before.lower)
    return Interval(change, change - down, change + up)


def score_change(
    before: ScoreHistogram | None, after: ScoreHistogram | None, statistic: Statistic
) -> ScoreChange:
    """Return the change of a metric of scores.

    Args:
        before: labelled cases by score, (days, bins); None where there are none.
        after: the same of later days.
        statistic: of the metric.

    Returns:
        The p-value is of Student's t for the difference on the scale of the metric, by the days
        of the side that has fewer.

    >>> from monitor.metrics.score_statistics import AREA_UNDER_ROC
    >>> score_change(None, None, AREA_UNDER_ROC).change.estimate
    nan
    """
    sides = [_on_scale(side, statistic) for side in (before, after)]
    old, new = (limits(side, statistic.scale) for side in sides)
    return ScoreChange(old, new, interval_of_change(old, new), _p_value(*sides))


def _on_scale(scores: ScoreHistogram | None, statistic: Statistic) -> OnScale:
    if scores is None:
        return OnScale(_NAN, _NAN, _NAN, 0)
    return on_scale(ScoredDays.of(scores), statistic)


def _p_value(before: OnScale, after: OnScale) -> float:
    variance = before.variance + after.variance
    if not variance > 0:
        return _NAN
    distance = abs(after.middle - before.middle) / math.sqrt(variance)
    return float(2 * stdtr(min(before.days, after.days) - 1, -distance))
