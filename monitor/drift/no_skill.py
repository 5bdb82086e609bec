"""Does the model still tell the classes apart?

A dead model flags nothing, or everything, or cases at random, or negatives rather than
positives. Here one window shows it by its counts alone; `flagged_by_chance` has what several
days show together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import Changes
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.skill import Z_ONE_SIDED, Z_TWO_SIDED
from monitor.metrics.proportions import wilson
from monitor.metrics.ratio import FloatArray

_DEAD_SHARE = 0.25
"""A model that has less than this share of the reference's TPR - FPR left separates nothing."""

_ENOUGH_EXPECTED = 30.0
"""Cases that would have been flagged, or not; that there is none is then no bad day."""
_USELESS = float(np.log(2))
"""Log odds ratio below which a model is of no use: a flag hardly tells anything."""
_MANY_CASES = 50
_TINY = 1e-12


def is_dead(
    before: ConfusionCounts,
    after: ConfusionCounts,
    found: Changes,
    dispersion: Dispersion | ArrayLike = 1.0,
) -> NDArray[np.bool_]:
    """Test for a model that does not tell the classes apart any more.

    It flags one way (see `flags_one_way`); or nothing, everything, or at random, so that
    Youden's J = TPR - FPR is 0, and here its 99 % upper bound is below a quarter of the
    reference's. Either rate or their odds ratio must then also have moved by more than days do
    (p < .01), since on streams whose days scatter widely a day with a small J is a normal one.

    Args:
        before: outcomes of the reference, one series for each index.
        after: outcomes of the window, same shape.
        found: the changes between them.
        dispersion: variance of rows over that of independent ones, at least 1: above it where
            outcomes are estimates, as where labels are corrected for wrong ones.

    Returns:
        Bool array in the shape of the series; False where a class is missing.

    Source:
        Youden 1950.

    >>> from monitor.drift.component_changes import changes
    >>> before = ConfusionCounts(tp=800, fn=200, fp=450, tn=8_550)
    >>> after = ConfusionCounts(tp=0, fn=200, fp=0, tn=1_800)
    >>> bool(is_dead(before, after, changes(before, after)))
    True
    """
    old, new = SmoothedRates.of(before), SmoothedRates.of(after)
    usual, now = old.recall - old.false_positive_rate, new.recall - new.false_positive_rate
    bound = np.maximum(now, 0) + _margin(after, new, Dispersion.of(dispersion))
    both_classes = (after.actual_positive > 0) & (after.actual_negative > 0)
    tested = [Component.RECALL, Component.FALSE_POSITIVE_RATE, Component.ODDS_RATIO]
    moved = (np.abs(found.z[tested]) > Z_TWO_SIDED).any(axis=0)
    by_rates = both_classes & moved & (bound < _DEAD_SHARE * usual)
    return np.asarray(by_rates | flags_one_way(before, after))


def _margin(after: ConfusionCounts, rates: SmoothedRates, dispersion: Dispersion) -> FloatArray:
    """Return how far J may lie above that of some outcomes (p = .01), by Wilson's limits."""
    level = 1 - 2 * float(ndtr(-Z_ONE_SIDED))
    found = after.tp, after.actual_positive, dispersion.recall
    false = after.fp, after.actual_negative, dispersion.false_positive_rate
    (_, most), (least, _) = (wilson(x / d, n / d, level) for x, n, d in (found, false))
    above, below = most - rates.recall, rates.false_positive_rate - least
    return np.asarray(np.hypot(np.maximum(above, 0), np.maximum(below, 0)))


def flags_one_way(before: ConfusionCounts, after: ConfusionCounts) -> NDArray[np.bool_]:
    """Test for a model that flags nothing any more, or everything.

    Args:
        before: outcomes of the reference, one series for each index.
        after: outcomes of the window, same shape.

    Returns:
        True where at least 30 of the window's cases would be flagged at the reference's rates,
        and none is; likewise where none is left unflagged. False where a class is missing, or
        was missing in the reference.

    >>> before = ConfusionCounts(tp=800, fn=200, fp=450, tn=8_550)
    >>> [bool(flags_one_way(before, ConfusionCounts(tp=0, fn=cases, fp=0, tn=0 * cases + 9)))
    ...  for cases in (30, 40)]
    [False, True]
    """
    found = np.asarray(False)
    for hits, false in (("tp", "fp"), ("fn", "tn")):
        expected, flagged = np.zeros(after.shape), np.zeros(after.shape)
        for cell, cases in ((hits, "actual_positive"), (false, "actual_negative")):
            known = np.asarray(getattr(before, cases), dtype=np.float64)
            rate = np.asarray(getattr(before, cell)) / np.maximum(known, _TINY)
            expected = expected + rate * np.asarray(getattr(after, cases))
            flagged = flagged + np.asarray(getattr(after, cell))
        found = found | ((flagged == 0) & (expected >= _ENOUGH_EXPECTED))
    for one in (before, after):
        found = found & (one.actual_positive > 0) & (one.actual_negative > 0)
    return np.asarray(found)


def separates_nothing(counts: ConfusionCounts, dispersion: Dispersion | ArrayLike = 1.0) -> bool:
    """Return whether a model certainly does not tell the classes apart.

    Args:
        counts: outcomes, a scalar.
        dispersion: as for `is_dead`.

    Returns:
        True where the 99 % upper bound of its odds ratio is below 2; or where it flagged
        nothing, or everything, of at least 50 positives and 50 negatives. False where a
        class is missing.

    >>> separates_nothing(ConfusionCounts(tp=100, fn=900, fp=1_000, tn=9_000))
    True
    >>> separates_nothing(ConfusionCounts(tp=30, fn=970, fp=5, tn=9_995))
    False
    """
    fewest = min(float(counts.actual_positive), float(counts.actual_negative))
    if not fewest:
        return False
    if not counts.predicted_positive or not counts.predicted_negative:
        return fewest >= _MANY_CASES
    rates = SmoothedRates.of(counts)
    odds_ratio = rates.components()[Component.ODDS_RATIO]
    variance = rates.variances(Dispersion.of(dispersion))[Component.ODDS_RATIO]
    return bool(odds_ratio + Z_ONE_SIDED * np.sqrt(variance) < _USELESS)
