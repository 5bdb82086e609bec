"""A change of level within a reference, which makes it a mixture of two normal states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import Changes, changes
from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter, days_behind
from monitor.drift.odds_ratio_within import log_odds_ratio_within
from monitor.drift.skill import EQUIVALENCE
from monitor.metrics.rates import false_positive_rate, recall

CERTAIN = 0.001
"""P-value below which a change of level is certain, for all days on which it may have been."""

_TESTED = (Component.RECALL, Component.FALSE_POSITIVE_RATE, Component.ODDS_RATIO)
_FEWEST_DAYS, _ENOUGH_DAYS = 3, 5
_FEW = 10
"""Factor on the p-value where a part has fewer than five days."""
_SMALLEST = 2 * EQUIVALENCE
_MOST_SPLITS = 40


class LevelChange(NamedTuple):
    """The day on which recall, the false-positive rate or the odds ratio changed.

    Attributes:
        day: first day of the new level, counted from the first day.
        recall: recall before and from then on.
        false_positive_rate: the same of the false-positive rate.
        log_odds_ratio: change of the logarithm of the odds ratio within days, above 0 where the
            model is better from then on; estimated as by `changes`, so that a rate of 0 or 1
            among few cases is not infinite odds.
        p_value: two-sided, for all days and all three components.
    """

    day: int
    recall: tuple[float, float]
    false_positive_rate: tuple[float, float]
    log_odds_ratio: float
    p_value: float


def find_level_change(
    days: ConfusionCounts, *, certain: float = CERTAIN, fewest_before: int = _FEWEST_DAYS
) -> LevelChange | None:
    """Return the change of level within some days, if it is certain that there is one.

    The days are divided at each day in turn. How days scatter is learned from both parts
    about their own level, so that the change itself is no scatter.

    Args:
        days: outcomes of successive days, one axis.
        certain: p-value that a certain change is below (Bonferroni); a tenth of it counts
            where a part has fewer than 5 days, which tell little of scatter.
        fewest_before: days with outcomes before the change, at least 2; after it there are 3.

    Returns:
        The likeliest one. None where no change is certain, where it is one of less than .4 in
        log-odds, or where a part would have fewer days with outcomes than these.

    Source:
        Worsley 1983 (the largest of the statistics at all change points).

    >>> days = ConfusionCounts(tp=[80] * 14 + [50] * 14, fn=[20] * 14 + [50] * 14, fp=50, tn=850)
    >>> found = find_level_change(days)
    >>> found.day, found.recall
    (14, (0.8, 0.5))
    >>> find_level_change(days[np.arange(14)]) is None
    True
    """
    occupied = np.flatnonzero(days.total > 0)
    last = len(occupied) - _FEWEST_DAYS
    splits = range(fewest_before, last + 1, 1 + max(last - fewest_before, 0) // _MOST_SPLITS)
    tested = [(z, split) for split in splits for z in _statistics(days, occupied, split)]
    if not tested:
        return None
    # Logarithms, since the p-values of many outcomes are all 0.
    p_values = [(float(log_ndtr(-z)) + math.log(2 * len(tested)), split) for z, split in tested]
    weighed, p_value, split = min((p + _weight(split, occupied), p, split) for p, split in p_values)
    if not weighed < math.log(certain):
        return None
    old, new = (part.sum() for part in _divided(days, occupied, split))
    return LevelChange(
        day=int(occupied[split]),
        recall=(float(recall(old)), float(recall(new))),
        false_positive_rate=(float(false_positive_rate(old)), float(false_positive_rate(new))),
        log_odds_ratio=float(_changes(days, occupied, split).change[Component.ODDS_RATIO]),
        p_value=math.exp(p_value),
    )


def _weight(split: int, occupied: np.ndarray) -> float:
    """Return what is added to the logarithm of a p-value of parts with few days."""
    return 0.0 if _ENOUGH_DAYS <= split <= len(occupied) - _ENOUGH_DAYS else math.log(_FEW)


def _divided(
    days: ConfusionCounts, occupied: np.ndarray, split: int
) -> tuple[ConfusionCounts, ConfusionCounts]:
    return days[occupied[:split]], days[occupied[split:]]


def _statistics(days: ConfusionCounts, occupied: np.ndarray, split: int) -> Iterator[float]:
    """Yield |z| of each tested component between the two parts; 0 for a small change."""
    found = _changes(days, occupied, split)
    for component in _TESTED:
        small = abs(float(found.change[component])) < _SMALLEST
        yield 0.0 if small else abs(float(found.z[component]))


def _changes(days: ConfusionCounts, occupied: np.ndarray, split: int) -> Changes:
    """Return the changes between the two parts, with the scatter of days about each one's level."""
    old, new = _divided(days, occupied, split)
    behind = (days_behind(part.total, 1) for part in (old, new))
    between = DayScatter.learn([old, new]).between(*behind)
    within = float(log_odds_ratio_within(new) - log_odds_ratio_within(old))
    return changes(old.sum(), new.sum(), between=between).within_days(within)
