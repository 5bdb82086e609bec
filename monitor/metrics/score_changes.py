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


def score_change(
    before: ScoreHistogram | None, after: ScoreHistogram | None, statistic: Statistic
) -> ScoreChange:
    """Return the change of a metric of scores.

    Args:
        before: labelled cases by score, (days, bins); None where there are none.
        after: the same of later days.
        statistic: of the metric.

    Returns:
        The limits of the change are made of the distances of both metrics from their own limits
        (MOVER). The p-value is of Student's t for the difference on the scale of the metric, by
        the days of the side that has fewer.

    Source:
        Zou and Donner 2008 (method of variance estimates recovery).

    >>> from monitor.metrics.score_statistics import AREA_UNDER_ROC
    >>> score_change(None, None, AREA_UNDER_ROC).change.estimate
    nan
    """
    sides = [_on_scale(side, statistic) for side in (before, after)]
    old, new = (limits(side, statistic.scale) for side in sides)
    change = new.estimate - old.estimate
    down = math.hypot(new.estimate - new.lower, old.upper - old.estimate)
    up = math.hypot(new.upper - new.estimate, old.estimate - old.lower)
    return ScoreChange(old, new, Interval(change, change - down, change + up), _p_value(*sides))


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
