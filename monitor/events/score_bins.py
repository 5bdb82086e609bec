"""Bins of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from monitor.events.columns import FloatArray, Int64Array

SCORE_BINS = 1000
"""Number of score bins: thresholds are distinguished to a thousandth."""
NO_SCORE = 1023
"""Bin of a prediction without a score."""


def bin_of(scores: ArrayLike, bins: int = SCORE_BINS) -> Int64Array:
    """Return the bin of each score: the last one whose lower edge it reaches.

    Exact at the edges: `bin_of(score) >= k` wherever `score >= k / bins`.

    Args:
        scores: in [0, 1], any shape.
        bins: number of bins of equal width.

    Returns:
        Index in [0, bins), same shape; the score 1 belongs to the last bin.

    Raises:
        ValueError: a score lies outside [0, 1] or is NaN.

    >>> bin_of([0.0, 0.29, 0.2999, 1.0], bins=100).tolist()
    [0, 29, 29, 99]
    """
    values = np.asarray(scores, dtype=np.float64)
    if not (values.min(initial=0) >= 0 and values.max(initial=1) <= 1):  # NaN is neither
        raise ValueError(f"bin_of: scores must lie in [0, 1], got {scores!r}")
    index = (values * bins).astype(np.int64)
    index = index - (values < index / bins) + (values >= (index + 1) / bins)
    return np.minimum(index, bins - 1)


def score_bins(score: FloatArray) -> Int64Array:
    """Return the bin of each prediction's score; `NO_SCORE` where it is NaN.

    >>> score_bins(np.array([0.0, 0.29, 0.2999, 1.0, np.nan])).tolist()
    [0, 290, 299, 999, 1023]
    """
    missing = np.isnan(score)
    if not missing.any():
        return bin_of(score)
    return np.where(missing, NO_SCORE, bin_of(np.where(missing, 0.0, score)))
