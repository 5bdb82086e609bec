"""An interval for a function of several proportions, out of their intervals.

MOVER, the method of variance estimates recovery: each proportion in turn is
moved to its limit in the direction that hurts, and the deviations of the
function are added as if they were standard errors. Unlike the delta method
it keeps the asymmetry of each proportion's interval, which is all there is
to know at a handful of counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.counts import CountArray
    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray

    Method = Callable[[CountArray, CountArray, float], Interval]
    Function = Callable[..., FloatArray]


class Proportion(NamedTuple):
    """One measured proportion with its interval.

    Attributes:
        point: x / n.
        inner: (x + 1/2) / (n + 1), which is never 0 or 1.
        lower: lower limit.
        upper: upper limit.
    """

    point: FloatArray
    inner: FloatArray
    lower: FloatArray
    upper: FloatArray


def proportion(
    successes: CountArray, trials: CountArray, level: float, method: Method
) -> Proportion:
    """Measure a proportion: its points and its limits by the given method.

    Args:
        successes: x, any shape, 0 ≤ x ≤ n.
        trials: n, same shape.
        level: coverage, in (0, 1).
        method: one of the intervals in `proportions`.

    Returns:
        The proportion; point and limits are NaN where there are no trials.

    >>> from monitor.metrics.proportions import wilson
    >>> print(proportion(np.array(0), np.array(9), .95, wilson).inner)
    0.05
    """
    lower, upper = method(successes, trials, level)
    inner = (successes + 0.5) / (trials + 1)
    return Proportion(ratio(successes, trials), inner, lower, upper)


def mover(
    function: Function, first: Proportion, *others: Proportion, correlation: FloatArray | float = 0
) -> Interval:
    """Limits of a function of proportions, each moved to its own limits in turn.

    Where the function has no finite value at the points, as a logarithm at
    zero successes, it is taken at the inner points; the interval still
    reaches the value at the points themselves.

    Args:
        function: of as many proportions as are given, monotonic in each.
        first: a proportion.
        others: more of them, of the same shape.
        correlation: between the first two proportions, for functions that
            rise in both; 0 where they are independent.

    Returns:
        Lower and upper limit on the function's own scale, infinite where a
        limit is; NaN where a proportion has no trials.

    Source:
        Zou & Donner 2008; Zou, Huang & Zhang 2009 (correlated parts).

    >>> from monitor.metrics.proportions import wilson
    >>> tpr = proportion(np.array(81), np.array(119), .95, wilson)
    >>> fpr = proportion(np.array(67), np.array(406), .95, wilson)
    >>> lower, upper = mover(lambda t, f: np.log(t) - np.log(f), tpr, fpr)
    >>> print(lower.round(4), upper.round(4))
    1.1625 1.664
    """
    proportions = (first, *others)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = function(*(part.point for part in proportions))
        points = [np.where(np.isfinite(value), part.point, part.inner)[()] for part in proportions]
        centre = function(*points)
        falls, rises = [], []
        for place, part in enumerate(proportions):
            moved = [
                function(*points[:place], limit, *points[place + 1 :])
                for limit in (part.lower, part.upper)
            ]
            falls.append(centre - np.minimum(centre, np.minimum(*moved)))
            rises.append(np.maximum(centre, np.maximum(*moved)) - centre)
        lower = centre - _length(falls, correlation)
        upper = centre + _length(rises, correlation)
        known = np.where(np.isnan(value), centre, value)
        return np.minimum(lower, known), np.maximum(upper, known)


def _length(deviations: list[FloatArray], correlation: FloatArray | float) -> FloatArray:
    """Root of the summed squares; twice the product of the first two where correlated."""
    squares = sum(deviation**2 for deviation in deviations)
    if len(deviations) > 1 and np.any(correlation):
        squares = squares + 2 * correlation * deviations[0] * deviations[1]
    return np.sqrt(squares)
