"""The sampling probability of a label, in seven bits of its row.

The weight of a label is one over that probability. Weights are rounded to a grid of eighths
of an octave. 1 is exact. Any other weight goes to one of its two neighbours at random, so
that the expected value is the weight. The random choice depends only on the id. So estimates
are unbiased although the grid is coarse, and do not depend on the order of arrival or on
restarts.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import FloatArray, Int64Array, KeyArray

NO_STRATUM = 0
"""Stratum of a label without a probability, or of a model that does not weight labels."""
STRATA = 128
"""Number of codes; the rarest distinct sampling probability is one in 54,000."""

WEIGHT_UNIT = 256
"""Weights and their squares are sums of integers in this fraction."""

_PER_OCTAVE = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)

_WEIGHTS: FloatArray = np.concatenate([[0.0], 2.0 ** (np.arange(STRATA - 1) / _PER_OCTAVE)])
WEIGHTS: Int64Array = np.rint(_WEIGHTS * WEIGHT_UNIT).astype(np.int64)
"""Weight of each stratum, in units; none where no probability came."""
SQUARED_WEIGHTS: Int64Array = np.rint(_WEIGHTS**2 * WEIGHT_UNIT).astype(np.int64)
"""Its square, in units."""


def strata(probability: FloatArray, key: KeyArray) -> Int64Array:
    """Stratum of each label.

    Args:
        probability: in (0, 1]; NaN where none came.
        key: of the label's prediction.

    Returns:
        Codes from 1 on; `NO_STRATUM` where no probability came.

    >>> strata(np.array([1.0, 0.5, np.nan]), np.array([1, 2, 3], np.uint64)).tolist()
    [1, 9, 0]
    """
    given = ~np.isnan(probability)
    weight = np.clip(1 / np.where(given, probability, 1.0), 1.0, _WEIGHTS[-1])
    lower = np.searchsorted(_WEIGHTS, weight, side="right") - 1
    upper = np.minimum(lower + 1, STRATA - 1)
    gap = np.where(upper > lower, _WEIGHTS[upper] - _WEIGHTS[lower], 1.0)
    chance = ((key * _MIX) >> np.uint64(11)).astype(np.float64) / 2.0**53
    chosen = np.where(chance < (weight - _WEIGHTS[lower]) / gap, upper, lower)
    return np.where(given, chosen, NO_STRATUM)
