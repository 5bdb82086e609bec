"""Quantiles for all looks of 60 days at a window that moves on.

A limit of one look is wrong sooner or later for somebody who looks all day. These quantiles make
it a limit for all looks at once.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtri, ndtr

from monitor.metrics.ratio import FloatArray

FALSE_CLAIMS, LOOKED_AT_DAYS = 0.05, 60.0
"""Probability that a bound of a model is wrong at any moment of so many days."""

_NODES = 256
_STEPS_A_DAY = 4
_KNOWN = 1e4
"""Degrees of freedom from which a variance counts as known."""
_MOST_ERRORS, _BISECTIONS = 1e3, 48


def quantile_of_all_looks(days: float, freedom: float = math.inf) -> float:
    """Return how many standard errors a moving mean hardly ever lies from the truth.

    The chance that it ever lies c true errors below is about T c φ(c) for T windows in a row. Where
    the error is estimated, one estimate serves all looks, so that the chance is the
    mean of this over the estimates that χ² allows, and each estimate can be wrong once. Student's t
    at the level of a look takes each look for one with an estimate of its own, and is wider.

    Args:
        days: length of the window, in days, at least 1; rounded down to a quarter of a day.
        freedom: degrees of freedom behind the squared standard error, above 0; rounded down to two
            digits.

    Returns:
        Above 1. The chance of `LOOKED_AT_DAYS` is `FALSE_CLAIMS`.

    Source:
        Siegmund 1985, §11 (maximum of a moving sum).

    >>> [round(quantile_of_all_looks(7, freedom), 1) for freedom in (4, 9, 30, math.inf)]
    [6.1, 4.3, 3.6, 3.3]
    """
    steps = math.floor(days * _STEPS_A_DAY)
    return _quantile(steps / _STEPS_A_DAY, math.inf if freedom > _KNOWN else _rounded(freedom))


def _rounded(freedom: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(freedom)) - 1)
    return math.floor(freedom / unit) * unit


@lru_cache(1 << 12)
def _quantile(days: float, freedom: float) -> float:
    windows = LOOKED_AT_DAYS / days
    errors, weights = _estimates(freedom)
    low, high = 1.0, _MOST_ERRORS
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        if weights @ _ever_beyond(middle * errors, windows) > FALSE_CLAIMS:
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


def _ever_beyond(errors: FloatArray, windows: float) -> FloatArray:
    """Chance that a moving mean is ever this many true standard errors below the truth."""
    density = np.exp(-(errors**2) / 2) / math.sqrt(2 * math.pi)
    chance = windows * errors * density + ndtr(-errors)
    return np.where(errors < 1, 1.0, np.minimum(chance, 1.0))
