"""Means of precision and recall as functions of counts; see `means` for the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from monitor.metrics import means
from monitor.metrics.mover import mover, proportion
from monitor.metrics.precision import precision
from monitor.metrics.proportions import wilson
from monitor.metrics.rates import recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from monitor.counts import ConfusionCounts
    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


def weighted_power_mean(counts: ConfusionCounts, *, gamma: ArrayLike, phi: ArrayLike) -> FloatArray:
    """Weighted power mean of these outcomes' precision and recall.

    Args:
        counts: outcomes of one window, or of many (any shape).
        gamma: weight of precision over that of recall, in [0, ∞).
        phi: exponent, finite.

    Returns:
        Ratio in [0, 1], in the broadcast shape; NaN where there are no
        actual positives or no predicted positives.

    Raises:
        ValueError: a parameter is out of its range.

    Source:
        Gandenberger 2019; see `means.weighted_power_mean`.

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.weighted_power_mean(counts, gamma=1, phi=1).round(4))
    0.7714
    """
    return means.weighted_power_mean(precision(counts), recall(counts), gamma=gamma, phi=phi)


def g_score(counts: ConfusionCounts, *, beta: ArrayLike, rho: ArrayLike) -> FloatArray:
    """Score G of these outcomes: F_β at rho = -2, geometric at -1, arithmetic at 0.

    Args:
        counts: outcomes of one window, or of many (any shape).
        beta: beta in [0, ∞).
        rho: rho, finite.

    Returns:
        Ratio in [0, 1], in the broadcast shape; NaN where there are no
        actual positives or no predicted positives (where F_β is 0 as long as
        one of the two is there).

    Raises:
        ValueError: a parameter is out of its range.

    Source:
        Gandenberger 2019; see `means.g`.

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> print(metrics.g_score(counts, beta=1, rho=-2).round(4))
    0.75
    """
    return means.g(precision(counts), recall(counts), beta=beta, rho=rho)


def g_score_interval(
    counts: ConfusionCounts, level: float, *, beta: ArrayLike, rho: ArrayLike
) -> Interval:
    """Return limits of the G score: MOVER on log odds, from those of precision and recall.

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).
        beta: as for `g_score`.
        rho: as for `g_score`.

    Returns:
        Limits in [0, 1]; NaN where precision or recall is NaN.
    """
    return _mean_of_both(counts, level, lambda p, r: means.g(p, r, beta=beta, rho=rho))


def weighted_power_mean_interval(
    counts: ConfusionCounts, level: float, *, gamma: ArrayLike, phi: ArrayLike
) -> Interval:
    """Return limits of the weighted power mean, by the method of `g_score_interval`.

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).
        gamma: as for `weighted_power_mean`.
        phi: as for `weighted_power_mean`.

    Returns:
        Limits in [0, 1]; NaN where precision or recall is NaN.
    """
    return _mean_of_both(
        counts, level, lambda p, r: means.weighted_power_mean(p, r, gamma=gamma, phi=phi)
    )


def _mean_of_both(
    counts: ConfusionCounts, level: float, mean: Callable[[FloatArray, FloatArray], FloatArray]
) -> Interval:
    """Precision and recall share their true positives, and so are correlated."""
    flagged = proportion(counts.tp, counts.predicted_positive, level, wilson)
    found = proportion(counts.tp, counts.actual_positive, level, wilson)
    lower, upper = mover(
        lambda p, r: logit(mean(p, r)),
        flagged,
        found,
        correlation=np.sqrt((1 - flagged.point) * (1 - found.point)),
    )
    return expit(lower), expit(upper)
