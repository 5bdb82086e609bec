"""Trend over weeks: since when a model slides, and by how much a week.

Days of the log odds ratio are fitted by a level up to a change point and a slope from there
on. Their covariance is that of rows, which is independent from day to day, and that of days
(`day_scatter`), which carries over. The largest statistic over all change points is tested
with a p-value that allows for the search. A step at a change point is fitted beside the
slope, and the likelihoods tell which of the two the days support.

A day enters by its deviation from the rates of the whole record, which is linear in its
counts. A slope of it is therefore a slope of recall, or of the false-positive rate, itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri, stdtr

from monitor.counts import ConfusionCounts
from monitor.drift.components import Component
from monitor.drift.day_regression import DayRate, DaySeries, Fits
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.metrics.ratio import FloatArray

WEEK = 7
FEWEST_DAYS = 42
"""Least number of days from the first to the last for a trend."""
SHORTEST = 14
"""Least number of days that a slope lasts."""
CERTAIN = 0.01
"""P-value below which a trend is certain."""

_EDGE = 7
_MOST_BENDS = 120
_CLEARLY = 2 * float(np.log(20))
_LEVEL = 0.95
_MANY = 1e6
_TINY = 1e-12
_MOST_OF_A_STEP = -2 * float(np.log(1 - np.sqrt(_LEVEL)))
"""Loss of likelihood within which a step lies in 95 % of cases (Siegmund 1988)."""

Shape = Literal["slope", "step", "unknown"]


class Weekly(NamedTuple):
    """A change a week, with its 95 % interval.

    Attributes:
        estimate: change a week.
        lower: lower bound.
        upper: upper bound.
    """

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A level up to a change point, then a slope.

    Attributes:
        since: the change point, or the moment of the step, in days since 1970, UTC.
        earliest: lower bound of its 95 % interval, not before the first day of the record.
        latest: upper bound of its 95 % interval.
        change: change of the log odds ratio from before to the last day.
        odds_ratio: change of the log odds ratio a week.
        recall: change of recall a week, as a fraction of 1.
        false_positive_rate: change of the false-positive rate a week, as a fraction of 1.
        p_value: two-sided, of the largest statistic over all change points.
        shape: `step` where a step at one moment explains the days at least twenty times
            better than a slope, `slope` where it is the other way round, else `unknown`.
    """

    since: float
    earliest: float
    latest: float
    change: float
    odds_ratio: Weekly
    recall: Weekly
    false_positive_rate: Weekly
    p_value: float
    shape: Shape


def find_trend(
    number: ArrayLike,
    days: ConfusionCounts,
    scatter: DayScatter,
    sampling: Dispersion | ArrayLike = 1.0,
    *,
    certain: float = CERTAIN,
) -> Trend | None:
    """Return the trend of some days, if it is certain that there is one.

    Args:
        number: of each day, in days since 1970, ascending.
        days: outcomes of each day, (days,) or (days, segment values). Each segment value
            deviates from its own rates, so that a change of their mix is no trend.
        scatter: how days scatter.
        sampling: variance of rows over that of independent ones, at least 1.
        certain: p-value that a certain trend is below.

    Returns:
        None where a level without a slope is not excluded, or the days with positives and
        negatives span fewer than 42. The change point is a day; over more than four months
        it is looked for every second day, over eight every third.

    Source:
        Hudson 1966, Feder 1975 (fits and likelihood of broken lines); Siegmund 1988
        (likelihood of a step); Hotelling 1939, Knowles and Siegmund 1989, Davies 1987 (the
        largest statistic over a parameter that only the alternative has); Satterthwaite
        1946 (degrees of freedom).

    >>> fallen = np.concatenate([np.zeros(40), np.linspace(0, 40, 60).round()])
    >>> days = ConfusionCounts(tp=160 - fallen, fn=40 + fallen, fp=90, tn=1_710)
    >>> found = find_trend(range(100), days, DayScatter.learn([days[np.arange(40)]]))
    >>> found.shape, round(found.recall.estimate, 3)
    ('slope', -0.024)
    """
    if len(days.shape) == 1:
        days = days[:, None]
    both = np.minimum(days.actual_positive.sum(axis=1), days.actual_negative.sum(axis=1))
    known = np.flatnonzero(both > 0)
    moments, days = np.asarray(number, dtype=np.float64)[known], days[known]
    if not len(known) or moments[-1] - moments[0] + 1 < FEWEST_DAYS:
        return None
    factors = Dispersion.of(sampling)
    recall = DayRate.of(days.tp, days.fn, float(factors.recall))
    false = DayRate.of(days.fp, days.tn, float(factors.false_positive_rate))
    odds = DayRate(recall.deviation - false.deviation, recall.variance + false.variance, 1.0)
    series = [
        DaySeries.of(moments, rate, scatter, component)
        for rate, component in (
            (odds, Component.ODDS_RATIO),
            (recall, Component.RECALL),
            (false, Component.FALSE_POSITIVE_RATE),
        )
    ]
    slopes = _Slopes.of(series[0], scatter)
    if not slopes.p_value < certain:
        return None
    return _trend(slopes, series, (1.0, recall.slope, false.slope))


class _Slopes(NamedTuple):
    """Slopes of the log odds ratio from each change point on.

    Attributes:
        bends: the change points, in days since 1970.
        weeks: of each day since each change point, (days, change points).
        fits: of the slopes.
        freedom: degrees of freedom of the likeliest slope; many where rows make up most of
            its error.
    """

    bends: FloatArray
    weeks: FloatArray
    fits: Fits
    freedom: float

    @classmethod
    def of(cls, days: DaySeries, scatter: DayScatter) -> _Slopes:
        """Fit the slopes."""
        first, last = days.number[0], days.number[-1] - SHORTEST + 1
        bends = np.arange(first, last + 1, 1 + (last - first) // _MOST_BENDS)
        weeks = np.maximum(days.number[:, None] - bends, 0.0) / WEEK
        fits = days.fits(weeks)
        behind = float(scatter.freedom[Component.ODDS_RATIO])
        freedom = behind / max(float(fits.of_days[fits.best]), _TINY) ** 2
        return cls(bends, weeks, fits, min(freedom, _MANY))

    @property
    def p_value(self) -> float:
        """Bound on the probability of a statistic as large as the largest, of either sign.

        The statistics of all change points are projections of one vector on unit vectors
        that trace a curve. The bound is the volume of the tube about the curve.
        """
        largest = float(np.sqrt(self.fits.likelihood.max()))
        density = float((1 + largest**2 / self.freedom) ** (-self.freedom / 2))
        along = float(self.fits.angle.sum()) / (2 * np.pi) * density
        return min(2 * float(stdtr(self.freedom, -largest) + along), 1.0)

    @property
    def most(self) -> float:
        """Loss of likelihood within which change point and slope lie together, 95 % of times.

        The region of both, since that of the change point alone is too narrow for slopes of
        a few weeks (88 to 94 % in simulations).
        """
        return 2 * float(fdtri(2, self.freedom, _LEVEL))

    def weekly(self, fits: Fits, unit: float) -> Weekly:
        """Return a slope at the likeliest change point, and its interval over the likely ones.

        Each change point leaves the slope the more room, the likelier it is: for the odds
        ratio itself this is the region of both by their likelihood.

        Args:
            fits: of the slope from each change point on.
            unit: what a unit of it is worth.
        """
        lost = self.fits.lost
        likely = lost <= self.most
        room = np.sqrt((self.most - lost[likely]) / fits.information[likely])
        lower, upper = (fits.size[likely] - room).min(), (fits.size[likely] + room).max()
        return Weekly(
            float(fits.size[self.fits.best]) * unit, float(lower) * unit, float(upper) * unit
        )


def _trend(slopes: _Slopes, series: Sequence[DaySeries], units: Sequence[float]) -> Trend:
    """Describe the likeliest slope, or the step that explains the days better.

    Args:
        slopes: of the log odds ratio.
        series: days of the log odds ratio, of recall, and of the false-positive rate.
        units: what a unit of each is worth.
    """
    moments, fits = series[0].number, slopes.fits
    since, likely = slopes.bends[fits.best], slopes.bends[fits.lost <= slopes.most]
    change = float(fits.size[fits.best] * (moments[-1] + 1 - since) / WEEK)
    # Up to the last day: else the steepest slope would stand for a step of the last days.
    moves = np.arange(moments[0] + _EDGE, moments[-1] + 1)
    step = series[0].fits((moments[:, None] >= moves).astype(np.float64))
    gain = float(step.likelihood.max() - fits.likelihood.max())
    shape: Shape = "slope" if gain < -_CLEARLY else "unknown"
    if gain > _CLEARLY:
        shape = "step"
        since, likely = moves[step.best], moves[step.lost <= _MOST_OF_A_STEP]
        change = float(step.size[step.best])
    all_fits = [fits, *(one.fits(slopes.weeks) for one in series[1:])]
    odds_ratio, recall, false = map(slopes.weekly, all_fits, units)
    return Trend(
        since=float(since),
        earliest=float(likely[0]),
        latest=float(likely[-1]),
        change=change,
        odds_ratio=odds_ratio,
        recall=recall,
        false_positive_rate=false,
        p_value=slopes.p_value,
        shape=shape,
    )
