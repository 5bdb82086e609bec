"""Quantiles for all looks of 60 days at a window that moves on, or at a stretch that grows.

A limit of one look is wrong sooner or later for somebody who looks all day. These quantiles make
it a limit for all looks at once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, ndtr

from monitor.metrics.ratio import FloatArray

FALSE_CLAIMS, LOOKED_AT_DAYS = 0.05, 60.0
"""Probability that a bound of a model is wrong at any moment of so many days."""

_WHILE_IT_GROWS = 0.01
"""Probability that a bound of the stretch since a reference is ever wrong.

The approximation for windows that move overstates theirs, so that both together stay below
`FALSE_CLAIMS`.
"""
_GROWS = math.log(28 / 0.25)
"""Logarithm of the factor by which a stretch grows at most: from six hours to 28 days."""
_NODES = 256
_STEPS_A_DAY = 4
_KNOWN = 1e4
"""Degrees of freedom from which a variance counts as known."""
_MOST_ERRORS, _BISECTIONS = 1e3, 48


class Looks(NamedTuple):
    """What is looked at all day.

    Attributes:
        days: length of a window that moves on, in days; a shorter one counts as a day. Whatever
            the length is, a stretch that grows has the same quantile.
        grows: True for a stretch that begins once, such as the one since a reference, and grows;
            False for a window that moves on.
    """

    days: float
    grows: bool = False


def quantile_of_all_looks(looks: Looks, freedom: float = math.inf) -> float:
    """Return how many standard errors a mean hardly ever lies from the truth.

    The chance that a moving mean ever lies c true errors below is about T c φ(c) for T windows in a
    row, that of a mean of a growing stretch c φ(c) log(k) / 2 while it grows by the factor k. Where
    the error is estimated, one estimate serves all looks, so that the chance is the
    mean of this over the estimates that χ² allows, and each estimate can be wrong once. Student's t
    at the level of a look takes each look for one with an estimate of its own, and is wider.

    Args:
        looks: what is looked at; a length is rounded down to a quarter of a day.
        freedom: degrees of freedom behind the squared standard error, above 0; rounded down to two
            digits.

    Returns:
        Above 1. The chance within `LOOKED_AT_DAYS` is `FALSE_CLAIMS` at most, for both together.

    Source:
        Siegmund 1985, §11 (maximum of a moving sum) and §4 (repeated significance tests).

    >>> [round(quantile_of_all_looks(Looks(7), freedom), 1) for freedom in (4, 9, 30, math.inf)]
    [6.1, 4.3, 3.6, 3.3]
    >>> [round(quantile_of_all_looks(Looks(1, grows)), 1) for grows in (False, True)]
    [3.9, 3.4]
    """
    crossings = _GROWS / 2
    if not looks.grows:
        steps = math.floor(max(looks.days, 1.0) * _STEPS_A_DAY)
        crossings = LOOKED_AT_DAYS * _STEPS_A_DAY / steps
    known = math.inf if freedom > _KNOWN else _rounded(freedom)
    chance = _WHILE_IT_GROWS if looks.grows else FALSE_CLAIMS
    return _quantile(crossings, known, chance)


def _rounded(freedom: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(freedom)) - 1)
    return math.floor(freedom / unit) * unit


@lru_cache(1 << 12)
def _quantile(crossings: float, freedom: float, chance: float) -> float:
    errors, weights = _estimates(freedom)
    low, high = 1.0, _MOST_ERRORS
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        if weights @ _ever_beyond(middle * errors, crossings) > chance:
            low = middle
        else:
            high = middle
    return high


def _estimates(freedom: float) -> tuple[FloatArray, FloatArray]:
    """Estimated over true standard errors and their probabilities, finer where they are low."""
    if math.isinf(freedom):
        return np.ones(1), np.ones(1)
    root = (np.arange(_NODES) + 0.5) / _NODES
    return np.sqrt(chdtri(freedom, 1 - root**2) / freedom), 2 * root / _NODES


def _ever_beyond(errors: FloatArray, crossings: float) -> FloatArray:
    """Chance that a mean is ever this many true standard errors below the truth."""
    density = np.exp(-(errors**2) / 2) / math.sqrt(2 * math.pi)
    chance = crossings * errors * density + ndtr(-errors)
    return np.where(errors < 1, 1.0, np.minimum(chance, 1.0))
