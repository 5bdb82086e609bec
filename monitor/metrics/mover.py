"""MOVER: the interval of a function of several proportions, from their intervals.

The method of variance estimates recovery moves each proportion in turn to its limit and
adds the deviations of the function as if they were standard errors. Unlike the delta
method it preserves the asymmetry of the proportions' intervals, which matters at small
counts.
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
    """A proportion with its interval, any shape.

    Attributes:
        point: x / n in [0, 1]; NaN without trials.
        inner: (x + 1/2) / (n + 1), strictly between 0 and 1.
        lower: lower limit; NaN without trials.
        upper: upper limit; NaN without trials.
    """

    point: FloatArray
    inner: FloatArray
    lower: FloatArray
    upper: FloatArray


def proportion(
    successes: CountArray, trials: CountArray, level: float, method: Method
) -> Proportion:
    """Return a proportion with its limits by the given method.

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
    """Return limits of a function of proportions.

    Where the function is not finite at the points, such as a logarithm at zero successes,
    it is evaluated at the inner points; the interval still includes the value at the
    points.

    Args:
        function: function of as many proportions as are given, monotonic in each.
        first: first proportion.
        others: the other proportions, of the same shape.
        correlation: correlation of the first two proportions, for functions that rise in
            both; 0 where they are independent.

    Returns:
        Lower and upper limit on the scale of the function, possibly infinite; NaN where a
        proportion has no trials.

    Source:
        Zou & Donner 2008; Zou, Huang & Zhang 2009 (correlated proportions).

    >>> from monitor.metrics.proportions import wilson
    >>> tpr = proportion(np.array(81), np.array(119), .95, wilson)
    >>> fpr = proportion(np.array(67), np.array(406), .95, wilson)
    >>> lower, upper = mover(lambda t, f: np.log(t) - np.log(f), tpr, fpr)
    >>> print(lower.round(4), upper.round(4))
    1.1625 1.664
    """
    proportions = (first, *others)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = function(*(each.point for each in proportions))
        points = [np.where(np.isfinite(value), each.point, each.inner)[()] for each in proportions]
        centre = function(*points)
        falls, rises = [], []
        for index, each in enumerate(proportions):
            moved = [
                function(*points[:index], limit, *points[index + 1 :])
                for limit in (each.lower, each.upper)
            ]
            falls.append(centre - np.minimum(centre, np.minimum(*moved)))
            rises.append(np.maximum(centre, np.maximum(*moved)) - centre)
        lower = centre - _length(falls, correlation)
        upper = centre + _length(rises, correlation)
        included = np.where(np.isnan(value), centre, value)
        return np.minimum(lower, included), np.maximum(upper, included)


def _length(deviations: list[FloatArray], correlation: FloatArray | float) -> FloatArray:
    """Root of the sum of squares, plus twice the correlated product of the first two."""
    squares = sum(deviation**2 for deviation in deviations)
    if len(deviations) > 1 and np.any(correlation):
        squares = squares + 2 * correlation * deviations[0] * deviations[1]
    return np.sqrt(squares)
