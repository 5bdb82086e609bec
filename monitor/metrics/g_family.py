"""Means of precision and recall as functions of counts; see `means` for the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.metrics import means
from monitor.metrics.precision import precision
from monitor.metrics.rates import recall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import ConfusionCounts
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
