"""The weekly pattern of a stream: how the level of its days depends on the weekday.

Fridays that differ from Sundays every week add no scatter to a window of whole weeks, which
has as many of each. Where a pattern is certain, the deviation of a day is taken from the mean of
its weekday, and the pattern's contribution to a window is computed separately: the deviation of
a single day contains all of it, the mean of whole weeks none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from monitor.metrics.ratio import FloatArray

DAYS_A_WEEK = 7
FEWEST_DAYS = 28
"""Days that a stretch needs, with at least two of each weekday, to show a pattern."""
_FEWEST_EACH = 2
_P = 0.01 / 3
"""Of each of log r, recall and the false positive rate: wrong for one in a hundred models."""


class Deviations(NamedTuple):
    """Deviations of the days of one stretch, divided by a weekly pattern.

    Attributes:
        rest: of each day from the level of its weekday, (rates, days).
        pattern: of each day's weekday from the level of the stretch, likewise; zeros where
            none is taken out.
        fitted: number of levels that were fitted: 7, or 1 where none is taken out.
    """

    rest: FloatArray
    pattern: FloatArray
    fitted: int


def divided(
    stretches: Sequence[tuple[FloatArray, NDArray[np.int64]]],
) -> list[Deviations]:
    """Divide the deviations of days by a weekly pattern, where one is certain.

    Args:
        stretches: deviations of each day about the level of its stretch, (rates, days), and
            the number of each day from any first one.

    Returns:
        One for each stretch. Without a certain pattern, and for stretches of under 28 days,
        all of the deviation is the rest.

    Source:
        Fisher 1925, §40 (analysis of variance: between weekdays against within them).
    """
    fits = [_fit(deviation, number % DAYS_A_WEEK) for deviation, number in stretches]
    known = [one for one in fits if one is not None]
    if not known or not _is_certain(known):
        return [Deviations(one, np.zeros_like(one), 1) for one, _ in stretches]
    return [
        Deviations(deviation, np.zeros_like(deviation), 1) if fit is None else fit
        for fit, (deviation, _) in zip(fits, stretches, strict=True)
    ]


def share_of_pattern(days: float) -> float:
    """Return the variance of a weekly pattern's mean over successive days over that of one day.

    Args:
        days: number of days, at least 1.

    Returns:
        In [0, 1]: 1 for a day, 0 for whole weeks; that of days drawn from a week without
        replacement, for weekdays in any order.

    Source:
        Cochran 1977, §2.6 (finite population correction).

    >>> [round(share_of_pattern(days), 3) for days in (1, 2, 7, 10, 28)]
    [1.0, 0.417, 0.0, 0.02, 0.0]
    """
    rest = days % DAYS_A_WEEK
    return rest * (DAYS_A_WEEK - rest) / ((DAYS_A_WEEK - 1) * days**2)


def _fit(deviation: FloatArray, weekday: NDArray[np.int64]) -> Deviations | None:
    """Divide deviations by the mean of each weekday; None where there are too few days."""
    each = np.bincount(weekday, minlength=DAYS_A_WEEK)
    if deviation.shape[1] < FEWEST_DAYS or each.min() < _FEWEST_EACH:
        return None
    level = np.stack([np.bincount(weekday, row, DAYS_A_WEEK) / each for row in deviation])
    pattern = level[:, weekday]
    return Deviations(deviation - pattern, pattern, DAYS_A_WEEK)


def _is_certain(fits: Sequence[Deviations]) -> bool:
    """Return whether the weekdays of any rate differ by more than chance."""
    between = np.sum([(one.pattern**2).sum(axis=1) for one in fits], axis=0)
    within = np.sum([(one.rest**2).sum(axis=1) for one in fits], axis=0)
    free = (DAYS_A_WEEK - 1) * len(fits)
    left = sum(one.rest.shape[1] for one in fits) - DAYS_A_WEEK * len(fits)
    ratio = np.divide(between * left, within * free, out=np.zeros_like(between), where=within > 0)
    return bool((fdtrc(free, left, ratio) < _P).any())
