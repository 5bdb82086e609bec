"""How the rates of a stream scatter from day to day, beyond what independent rows explain.

Real days differ: weather, campaigns, customers. The true class ratio, TPR and FPR of a day
deviate from their level, the deviations of recall and of false positives are correlated, and
part of a deviation carries over to the next day. A window's error therefore has two parts:
that of its rows, and that of its days. The second shrinks with more days, not with more rows
a day, and a window of an hour carries its day's whole deviation.

A day enters by its influence on each component: the first-order effect of its counts, which
is linear in them, so that a day without false positives is no outlier. The variance of the
influences, less that of the rows, is the variance between days. Their first autocorrelation
says how much carries over. Both are shrunk toward a prior while days are few, and tests use
the quantiles of Student's t for the days behind them. A weekly pattern that is certain is no
scatter of whole weeks (`weekly_pattern`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays
from monitor.drift.components import COMPONENTS, gradients
from monitor.drift.day_dispersion import as_dispersion
from monitor.drift.dispersion import Dispersion
from monitor.drift.weekly_pattern import Deviations, divided, share_of_pattern
from monitor.metrics.ratio import FloatArray

PRIOR_DEVIATION = (0.3, 0.2, 0.2)
"""Standard deviations between days assumed at first, of log r, logit TPR and logit FPR."""
PRIOR_CORRELATION = 0.5
"""Correlation assumed at first between a day's deviations of logit TPR and logit FPR."""
PRIOR_CARRY_OVER = 0.4
"""Correlation assumed at first between the deviations of a day and of the next."""
PRIOR_FREEDOM = 4.0
"""Degrees of freedom that the assumed variances are worth."""
UNDATED_DAYS = 28.0
"""Number of days that counts without a time, such as a test set, are taken to stem from."""

_PRIOR_PAIRS = 15.0
_MOST_CARRY_OVER = 0.9
_MOST_LOST = 0.8
_SMOOTHING = 0.5
_FEWEST_DAYS = 2
_RATES = 3
_SMALLEST = 1e-12
_CERTAIN = 0.995


class _Stretch(NamedTuple):
    """Days of one stretch, by component.

    Attributes:
        rest: influence of each day about the level of its stretch and weekday, (8, days).
        rows: variance of their rows, summed, (8,).
        pattern: influence of each day's weekday, (8, days).
        fitted: number of levels fitted to the days.
    """

    rest: FloatArray
    rows: FloatArray
    pattern: FloatArray
    fitted: int

    @property
    def days(self) -> int:
        """Number of days."""
        return int(self.rest.shape[1])

    @property
    def pattern_squares(self) -> FloatArray:
        """Sum of the squares of the pattern, less what chance adds to it, (8,)."""
        if self.fitted == 1:
            return np.zeros(COMPONENTS)
        chance = (self.rest**2).sum(axis=1) / (self.days - self.fitted) * (self.fitted - 1)
        return np.asarray((self.pattern**2).sum(axis=1) - chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayScatter:
    """Variance between days of each component, in the order of `Component`.

    Attributes:
        variance: variance of a day's deviation from the level of its weekday, (8,), in
            squared log-odds, at least 0.
        carry_over: correlation of a day's deviation with the next day's, (8,), in [0, .9].
        freedom: degrees of freedom behind the variance, (8,), those of the prior included.
        weekly: variance of the levels of the weekdays, (8,); zeros without a certain pattern.
    """

    variance: FloatArray
    carry_over: FloatArray
    freedom: FloatArray
    weekly: FloatArray = field(default_factory=lambda: np.zeros(COMPONENTS))

    @classmethod
    def learn(
        cls, stretches: Sequence[ConfusionCounts], *, sampling: ArrayLike = 1.0
    ) -> DayScatter:
        """Learn how days scatter about the level of their stretch.

        Args:
            stretches: outcomes by day along the last axis, of stretches of successive days
                each. A change of level from one stretch to another is no scatter. Days
                without outcomes are left out.
            sampling: variance of the rows over that of independent ones, of log r, TPR and
                FPR, at least 1, where labels are a sample.

        Returns:
            The prior where no stretch has two days with outcomes. The operating point, on
            which the variances of LR+ and LR- depend, is that of all days together.

        Source:
            Hampel et al. 1986, §2.1 (influence function); DerSimonian and Laird 1986
            (variance between groups by moments); Gelman et al. 2013, §3.3 (scaled inverse
            chi-squared prior).

        >>> days = ConfusionCounts(tp=[90, 60] * 14, fn=[10, 40] * 14, fp=50, tn=850)
        >>> found = DayScatter.learn([days])
        >>> [round(float(found.variance[index]), 2) for index in (1, 2)]
        [0.54, 0.01]
        """
        whole = [days.sum(axis=-1) for days in stretches]
        gradient = gradients(ConfusionCounts.from_cells(_sum(whole)))
        found = _stretches(stretches, gradient, sampling)
        prior = _prior(gradient)
        days = sum(one.days for one in found)
        pairs = days - len(found)
        if not found:
            return cls(
                variance=prior,
                carry_over=np.full(COMPONENTS, PRIOR_CARRY_OVER),
                freedom=np.full(COMPONENTS, PRIOR_FREEDOM),
            )
        squares = np.sum([(one.rest**2).sum(axis=1) - one.rows for one in found], axis=0)
        products = [(one.rest[:, :-1] * one.rest[:, 1:]).sum(axis=1) for one in found]
        raw = np.maximum(squares / days, 0.0)
        product = np.sum(products, axis=0) / pairs
        carry_over = _carry_over(raw, product, prior, pairs, days / len(found))
        # Days that hang together deviate less from their own mean than from the true level.
        lengths = np.array([one.days for one in found], dtype=np.float64)
        weekdays = float(sum(one.fitted - 1 for one in found))
        lost = (lengths[:, None] * share_of_mean(lengths[:, None], carry_over)).sum(axis=0)
        lost = lost + weekdays
        independent = (1 - carry_over**2) / (1 + carry_over**2)
        freedom = (lengths[:, None] * independent - 1).sum(axis=0) - weekdays
        freedom = np.maximum(freedom, 0.0)
        variance = raw / (1 - np.minimum(lost / days, _MOST_LOST))
        shrunk = (PRIOR_FREEDOM * prior + freedom * variance) / (PRIOR_FREEDOM + freedom)
        return cls(
            variance=shrunk,
            carry_over=carry_over,
            freedom=PRIOR_FREEDOM + freedom,
            weekly=np.maximum(np.sum([one.pattern_squares for one in found], axis=0) / days, 0.0),
        )

    def of_days(self, days: float) -> FloatArray:
        """Return the variance that days add to the pooled components of a window.

        Args:
            days: number of days that the window's outcomes stem from, above 0; below 1, as
                for a window of an hour, it counts as 1.

        Returns:
            Shape (8,), in the order of `Component`.
        """
        days = max(days, 1.0)
        own = self.variance * share_of_mean(np.array(days), self.carry_over)
        return np.asarray(own + self.weekly * share_of_pattern(days))

    def between(self, before: float, after: float) -> BetweenDays:
        """Return what days add to the errors of a change from one window to another.

        Args:
            before: number of days behind the window before, above 0.
            after: number of days behind the window after.
        """
        return BetweenDays(
            before=self.of_days(before), after=self.of_days(after), freedom=self.freedom
        )

    def of_panes(self, a_day: ConfusionCounts) -> Dispersion:
        """Return the factor on the variance of a pane's rows by which panes add up like days.

        Args:
            a_day: outcomes of a usual day, a scalar, fractional ones too.

        Returns:
            Factors for sums of panes over many days, larger where few days are behind them.
        """
        few = stdtrit(self.freedom, _CERTAIN) / ndtri(_CERTAIN)
        return as_dispersion(a_day, self.long_run * few**2)

    @property
    def long_run(self) -> FloatArray:
        """Variance a day of a sum over many days, (8,): of one day where nothing carries over."""
        return self.variance * (1 + self.carry_over) / (1 - self.carry_over)


def share_of_mean(days: FloatArray, carry_over: FloatArray) -> FloatArray:
    """Return the variance of a mean of correlated days over that of one day.

    Args:
        days: number of days, at least 1; fractions are interpolated.
        carry_over: correlation of a day with the next, in [0, 1); that of days k apart is
            its k-th power.

    Returns:
        In (0, 1], in the shape that both broadcast to; 1/days where nothing carries over.

    >>> share_of_mean(np.array([1.0, 4.0]), np.array(0.0)).tolist()
    [1.0, 0.25]
    """
    rest = 1 - carry_over
    return (days * (1 - carry_over**2) - 2 * carry_over * (1 - carry_over**days)) / (
        days**2 * rest**2
    )


def days_behind(blocks: ArrayLike, blocks_a_day: int) -> float:
    """Return the number of days that a window's outcomes stem from.

    Args:
        blocks: outcomes in each block of time, one axis; the last block ends the window.
        blocks_a_day: number of blocks in a day, at least 1.

    Returns:
        Kish's effective number: fewer than the calendar has where outcomes concentrate on
        few days; at least 1.

    Source:
        Kish 1965, §11.7.

    >>> days_behind([5, 5, 5, 5], 2), days_behind([9, 1, 0, 0], 1)
    (2.0, 1.2195121951219512)
    """
    outcomes = np.asarray(blocks, dtype=np.float64)
    if missing := -len(outcomes) % blocks_a_day:
        outcomes = np.pad(outcomes, (missing, 0))
    a_day = outcomes.reshape(-1, blocks_a_day).sum(axis=1)
    squares = float((a_day**2).sum())
    return max(float(a_day.sum()) ** 2 / squares, 1.0) if squares else 1.0


def _sum(counts: Sequence[ConfusionCounts]) -> FloatArray:
    cells = [one.cells for one in counts] or [np.zeros(4)]
    return np.asarray(np.sum(cells, axis=0, dtype=np.float64))


def _prior(gradient: FloatArray) -> FloatArray:
    """Variance of each component by the prior, (8,)."""
    covariance = np.diag(np.square(PRIOR_DEVIATION))
    covariance[1, 2] = PRIOR_CORRELATION * PRIOR_DEVIATION[1] * PRIOR_DEVIATION[2]
    covariance[2, 1] = covariance[1, 2]
    return np.asarray(np.einsum("ci,ij,cj->c", gradient, covariance, gradient))


def _stretches(
    stretches: Sequence[ConfusionCounts], gradient: FloatArray, sampling: ArrayLike
) -> list[_Stretch]:
    """Days about the level of their stretch and weekday; none of stretches of under two days."""
    held = [days for days in stretches if np.count_nonzero(days.total > 0) >= _FEWEST_DAYS]
    found = [influences(days) for days in held]
    numbers = [np.flatnonzero(days.total > 0) for days in held]
    parts = divided([(one, day) for (one, _), day in zip(found, numbers, strict=True)])
    factors = np.broadcast_to(np.asarray(sampling, dtype=np.float64), (_RATES,))
    return [
        _Stretch(
            rest=gradient @ part.rest,
            rows=gradient**2 @ (rows * factors) * _left(part),
            pattern=gradient @ part.pattern,
            fitted=part.fitted,
        )
        for part, (_, rows) in zip(parts, found, strict=True)
    ]


def _left(part: Deviations) -> float:
    """Share of the variance of rows about their mean that is left about the fitted levels."""
    days = int(part.rest.shape[1])
    return (days - part.fitted) / (days - 1)


def influences(days: ConfusionCounts) -> tuple[FloatArray, FloatArray]:
    """Influences on log r, logit TPR and FPR, (3, days), and the variances of all rows, (3,)."""
    days = days[np.flatnonzero(days.total > 0)]
    influences, rows = [], []
    for hits, trials in (
        (days.actual_positive, days.total),
        (days.tp, days.actual_positive),
        (days.fp, days.actual_negative),
    ):
        rate = (hits.sum() + _SMOOTHING) / (trials.sum() + 2 * _SMOOTHING)
        information = np.maximum(trials.mean(), _SMOOTHING) * rate * (1 - rate)
        influences.append((hits - trials * rate) / information)
        share = trials / max(float(trials.sum()), _SMOOTHING)
        rows.append((trials * (1 - share)).sum() * rate * (1 - rate) / information**2)
    return np.stack(influences), np.array(rows)


def _carry_over(
    variance: FloatArray, product: FloatArray, prior: FloatArray, pairs: int, length: float
) -> FloatArray:
    """First autocorrelation, shrunk toward the prior: the more, the less days scatter at all.

    About the mean of a stretch it is too low by (1 + 3 rho) / length (Kendall 1954).
    """
    seen = np.divide(product, variance, out=np.zeros(COMPONENTS), where=variance > 0)
    seen = np.clip(seen, -1, 1)
    seen = seen + (1 + 3 * seen) / length
    weight = pairs * variance / (variance + prior)
    shrunk = (weight * seen + _PRIOR_PAIRS * PRIOR_CARRY_OVER) / (weight + _PRIOR_PAIRS)
    return np.asarray(np.clip(shrunk, 0.0, _MOST_CARRY_OVER))
