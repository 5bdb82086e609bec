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
the quantiles of Student's t for the days behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays
from monitor.drift.components import COMPONENTS, Component, SmoothedRates, gradients
from monitor.drift.dispersion import Dispersion
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
_FEWEST_OF_A_LEVEL = 5
_OF_A_CHANGE = 0.65
_SMALLEST = 1e-12
_CERTAIN = 0.995


class _Stretch(NamedTuple):
    """Influences of the days of one stretch, (8, days), and the variance of their rows, (8,)."""

    influence: FloatArray
    rows: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DayScatter:
    """Variance between days of each component, in the order of `Component`.

    Attributes:
        variance: variance of a day's deviation, (8,), in squared log-odds, at least 0.
        carry_over: correlation of a day's deviation with the next day's, (8,), in [0, .9].
        freedom: degrees of freedom behind the variance, (8,), those of the prior included.
    """

    variance: FloatArray
    carry_over: FloatArray
    freedom: FloatArray

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
        found = [one for days in stretches if (one := _stretch(days, gradient, sampling))]
        prior = _prior(gradient)
        days = sum(one.influence.shape[1] for one in found)
        pairs = days - len(found)
        if not found:
            return cls(
                variance=prior,
                carry_over=np.full(COMPONENTS, PRIOR_CARRY_OVER),
                freedom=np.full(COMPONENTS, PRIOR_FREEDOM),
            )
        squares = np.sum([(one.influence**2).sum(axis=1) - one.rows for one in found], axis=0)
        products = [(one.influence[:, :-1] * one.influence[:, 1:]).sum(axis=1) for one in found]
        raw = np.maximum(squares / days, 0.0)
        product = np.sum(products, axis=0) / pairs
        carry_over = _carry_over(raw, product, prior, pairs, days / len(found))
        # Days that hang together deviate less from their own mean than from the true level.
        lengths = np.array([one.influence.shape[1] for one in found], dtype=np.float64)
        lost = (lengths[:, None] * share_of_mean(lengths[:, None], carry_over)).sum(axis=0)
        independent = (1 - carry_over**2) / (1 + carry_over**2)
        freedom = np.maximum((lengths[:, None] * independent - 1).sum(axis=0), 0.0)
        variance = raw / (1 - np.minimum(lost / days, _MOST_LOST))
        shrunk = (PRIOR_FREEDOM * prior + freedom * variance) / (PRIOR_FREEDOM + freedom)
        return cls(variance=shrunk, carry_over=carry_over, freedom=PRIOR_FREEDOM + freedom)

    def of_days(self, days: float) -> FloatArray:
        """Return the variance that days add to the pooled components of a window.

        Args:
            days: number of days that the window's outcomes stem from, above 0; below 1, as
                for a window of an hour, it counts as 1.

        Returns:
            Shape (8,), in the order of `Component`.
        """
        return self.variance * share_of_mean(np.array(max(days, 1.0)), self.carry_over)

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


def at_one_level(days: ConfusionCounts) -> list[ConfusionCounts]:
    """Divide days where their level changed, since a change of level is no scatter.

    Args:
        days: outcomes by day along the last axis.

    Returns:
        The days as they are; or two parts, where the best division explains over .65 of
        the variance of a day's log r, TPR or FPR. Days that hang together rarely reach that.
        Parts of fewer than 5 days are dropped.
    """
    count = days.shape[-1]
    found = _influences(days) if count >= 2 * _FEWEST_OF_A_LEVEL else None
    if found is None:
        return [days]
    influence, _ = found
    occupied = np.flatnonzero(days.total > 0)
    deviation = np.cumsum(influence - influence.mean(axis=1, keepdims=True), axis=1)[:, :-1]
    first = np.arange(1, len(occupied))
    rest = len(occupied) - first
    explained = deviation**2 * (1 / first + 1 / rest)
    share = explained / np.maximum(influence.var(axis=1, keepdims=True) * len(occupied), _SMALLEST)
    best = int(share.max(axis=0).argmax())
    if share[:, best].max() < _OF_A_CHANGE:
        return [days]
    cut = int(occupied[best + 1])
    parts = [days[np.arange(cut)], days[np.arange(cut, count)]]
    return [part for part in parts if part.shape[-1] >= _FEWEST_OF_A_LEVEL]


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
    missing = -len(outcomes) % blocks_a_day
    a_day = np.pad(outcomes, (missing, 0)).reshape(-1, blocks_a_day).sum(axis=1)
    squares = float((a_day**2).sum())
    return max(float(a_day.sum()) ** 2 / squares, 1.0) if squares else 1.0


def as_dispersion(counts: ConfusionCounts, added: FloatArray) -> Dispersion:
    """Return the scatter of days as a factor on the variance of independent rows.

    Args:
        counts: outcomes of the window, a scalar; half a count is added to each cell.
        added: variance that days add to the window's components, (8,).

    Returns:
        (rows + days) / rows of log r, logit TPR and logit FPR, at least 1.
    """
    rates = SmoothedRates.of(counts)
    rows = rates.variances(Dispersion.of(1.0))
    ratio, recall, false = (1 + added[stream] / rows[stream] for stream in range(3))
    return Dispersion(class_ratio=ratio, recall=recall, false_positive_rate=false)


def off_the_curve(counts: ConfusionCounts, added: FloatArray) -> Dispersion:
    """Return the scatter of days off the ROC curve as a factor on the variance of rows.

    Days move a point along the curve and off it. What moves both rates alike stays on it, so
    that the scatter of the odds ratio stands for that of recall at a given FPR.

    Args:
        counts: outcomes of the window, a scalar; half a count is added to each cell.
        added: variance that days add to the window's components, (8,).

    Returns:
        Factors for `roc.below_reference_curve`, at least 1.
    """
    scatter = np.zeros(COMPONENTS)
    scatter[Component.RECALL] = min(added[Component.RECALL], added[Component.ODDS_RATIO])
    return as_dispersion(counts, scatter)


def _sum(counts: Sequence[ConfusionCounts]) -> FloatArray:
    cells = [one.cells for one in counts] or [np.zeros(4)]
    return np.asarray(np.sum(cells, axis=0, dtype=np.float64))


def _prior(gradient: FloatArray) -> FloatArray:
    """Variance of each component by the prior, (8,)."""
    covariance = np.diag(np.square(PRIOR_DEVIATION))
    covariance[1, 2] = PRIOR_CORRELATION * PRIOR_DEVIATION[1] * PRIOR_DEVIATION[2]
    covariance[2, 1] = covariance[1, 2]
    return np.asarray(np.einsum("ci,ij,cj->c", gradient, covariance, gradient))


def _stretch(days: ConfusionCounts, gradient: FloatArray, sampling: ArrayLike) -> _Stretch | None:
    """Influences of days about the level of their stretch; None with fewer than two days."""
    found = _influences(days)
    if found is None:
        return None
    influence, rows = found
    factors = np.broadcast_to(np.asarray(sampling, dtype=np.float64), (len(rows),))
    return _Stretch(gradient @ influence, gradient**2 @ (rows * factors))


def _influences(days: ConfusionCounts) -> tuple[FloatArray, FloatArray] | None:
    """Influences on log r, logit TPR and FPR, (3, days), and the variances of all rows, (3,)."""
    days = days[np.flatnonzero(days.total > 0)]
    if days.shape[-1] < _FEWEST_DAYS:
        return None
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
