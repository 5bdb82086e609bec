"""Tests for labels missing by segment value and score range.

Labels missing at random bias nothing. Where one segment value or score range misses
more labels than the rest, as with cancelled flights, its labelled outcomes do not
represent its predictions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from monitor.events.columns import FloatArray, Int64Array
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import ratio
from monitor.verdicts import MissingLabels

_SIGNIFICANCE = 0.01
_TIMES = 1.5
_FEWEST = 20
_RANGES = 10

SCORE = "score"
"""The segment key under which score ranges are reported."""


def concentrations(
    key: str, values: Sequence[str], labelled: Int64Array, made: Int64Array
) -> tuple[MissingLabels, ...]:
    """Return the values that miss at least 1.5 times the share of labels of all others.

    Args:
        key: segment key, or `SCORE`.
        values: its values.
        labelled: predictions with a label, by value.
        made: predictions, by value.

    Returns:
        Values where this is significant (p < .01, Bonferroni-corrected for the number of
        values) and that miss at least 20 labels; the largest excess first.

    >>> found = concentrations("origin", ["EWR", "JFK"], np.array([900, 995]), np.array([1000] * 2))
    >>> [(m.value, m.share, m.elsewhere) for m in found]
    [('EWR', 0.1, 0.005)]
    """
    missing = np.maximum(made - labelled, 0)
    whole, gap = made.sum(), missing.sum()
    share, elsewhere = ratio(missing, made), ratio(gap - missing, whole - made)
    z = _z(share, elsewhere, made, whole - made, float(ratio(gap, whole)))
    p = np.minimum(ndtr(-z) * max(len(values), 1), 1.0)
    named = (p < _SIGNIFICANCE) & (share >= _TIMES * elsewhere) & (missing >= _FEWEST)
    excess = missing - made * np.nan_to_num(elsewhere)
    return tuple(
        MissingLabels(key, values[i], float(share[i]), float(elsewhere[i]), int(missing[i]))
        for i in np.argsort(-excess, kind="stable").tolist()
        if named[i]
    )


def in_score_ranges(scores: ScoreHistogram) -> tuple[MissingLabels, ...]:
    """Return the tenths of the score range that miss more labels than the others."""
    made = _tenths(np.asarray(scores.total))
    labelled = _tenths(np.asarray(scores.positive) + np.asarray(scores.negative))
    names = [f"{i / _RANGES:g}..{(i + 1) / _RANGES:g}" for i in range(_RANGES)]
    return concentrations(SCORE, names, labelled, made)


def _tenths(bins: Int64Array) -> Int64Array:
    return np.asarray(bins.reshape(_RANGES, -1).sum(axis=1))


def _z(
    share: FloatArray, elsewhere: FloatArray, made: Int64Array, others: Int64Array, pooled: float
) -> FloatArray:
    """Return by how many standard errors a share of missing labels exceeds that elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(pooled * (1 - pooled) * (1 / made + 1 / others))
        return np.nan_to_num((share - elsewhere) / error, nan=0.0, posinf=0.0, neginf=0.0)
