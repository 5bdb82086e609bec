"""Intervals of one proportion: x successes in n trials.

Wilson's closed form is what people see. Jeffreys' joins it where proportions
are combined on the log scale, since Wilson's lower limit there is the weak
one at small counts. Clopper and Pearson's is exact, and what R caret prints.

All take fractional counts, so that an effective sample size is welcome, and
touch 0 at x = 0 and 1 at x = n. NaN where n = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import betaincinv, ndtri

from monitor.metrics.ratio import FloatArray, ratio

if TYPE_CHECKING:
    from monitor.counts import CountArray

Interval: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper limit, each in the shape of the counts."""


def wilson(successes: CountArray, trials: CountArray, level: float) -> Interval:
    """Limits where the score test of the proportion is just not rejected.

    Args:
        successes: x, any shape, 0 ≤ x ≤ n.
        trials: n, same shape.
        level: coverage, in (0, 1).

    Returns:
        Lower and upper limit in [0, 1]; NaN where there are no trials.

    Source:
        Wilson 1927; Brown, Cai & DasGupta 2001.

    >>> lower, upper = wilson(np.array(81), np.array(148), .95)
    >>> print(lower.round(4), upper.round(4))
    0.4669 0.6253
    """
    square = ndtri((1 + level) / 2) ** 2
    failures = trials - successes
    spread = np.sqrt(square * (square / 4 + successes * ratio(failures, trials)))
    lower = ratio(successes + square / 2 - spread, trials + square)
    upper = ratio(successes + square / 2 + spread, trials + square)
    return _touching(lower, upper, successes, trials)


def jeffreys(successes: CountArray, trials: CountArray, level: float) -> Interval:
    """Equal-tailed quantiles of the posterior under the prior Beta(1/2, 1/2).

    Args:
        successes: x, any shape, 0 ≤ x ≤ n.
        trials: n, same shape.
        level: coverage, in (0, 1).

    Returns:
        Lower and upper limit in [0, 1]; NaN where there are no trials.

    Source:
        Brown, Cai & DasGupta 2001.

    >>> lower, upper = jeffreys(np.array(81), np.array(148), .95)
    >>> print(lower.round(4), upper.round(4))
    0.4668 0.6259
    """
    a, b = successes + 0.5, trials - successes + 0.5
    tail = (1 - level) / 2
    return _touching(_beta_quantile(a, b, tail), _beta_quantile(a, b, 1 - tail), successes, trials)


def wilson_or_jeffreys(successes: CountArray, trials: CountArray, level: float) -> Interval:
    """The wider of Wilson's and Jeffreys' limits, on each side.

    Args:
        successes: x, any shape, 0 ≤ x ≤ n.
        trials: n, same shape.
        level: coverage, in (0, 1).

    Returns:
        Lower and upper limit in [0, 1]; NaN where there are no trials.

    Source:
        Own simulation (`tests/benchmarks/interval_coverage.py`): combined on
        the log scale either alone falls to 88-90 % at few expected counts.

    >>> lower, upper = wilson_or_jeffreys(np.array(81), np.array(148), .95)
    >>> print(lower.round(4), upper.round(4))
    0.4668 0.6259
    """
    low, high = wilson(successes, trials, level)
    low_too, high_too = jeffreys(successes, trials, level)
    return np.minimum(low, low_too), np.maximum(high, high_too)


def clopper_pearson(successes: CountArray, trials: CountArray, level: float) -> Interval:
    """Limits that cover at least at the level, whatever the proportion.

    Args:
        successes: x, any shape, 0 ≤ x ≤ n.
        trials: n, same shape.
        level: coverage, in (0, 1).

    Returns:
        Lower and upper limit in [0, 1]; NaN where there are no trials.

    Source:
        Clopper & Pearson 1934; R `binom.test`, which caret prints.

    >>> lower, upper = clopper_pearson(np.array(420), np.array(525), .95)
    >>> print(lower.round(4), upper.round(4))
    0.7632 0.8334
    """
    failures = trials - successes
    tail = (1 - level) / 2
    lower = _beta_quantile(np.where(successes > 0, successes, 1.0), failures + 1, tail)
    upper = _beta_quantile(successes + 1, np.where(failures > 0, failures, 1.0), 1 - tail)
    return _touching(lower, upper, successes, trials)


def _beta_quantile(a: CountArray, b: CountArray, share: float) -> FloatArray:
    return np.asarray(betaincinv(a, b, share), dtype=np.float64)


def _touching(
    lower: FloatArray, upper: FloatArray, successes: CountArray, trials: CountArray
) -> Interval:
    """Zero successes reach down to 0, zero failures up to 1; no trials say nothing."""
    empty = np.equal(trials, 0)
    low = np.where(empty, np.nan, np.where(np.equal(successes, 0), 0.0, lower))
    high = np.where(empty, np.nan, np.where(np.equal(successes, trials), 1.0, upper))
    return low[()], high[()]
