"""A change of level within a reference, which makes it a mixture of two normal states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import Changes, changes
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.day_scatter import DayScatter, days_behind
from monitor.drift.odds_ratio_within import log_odds_ratio_within
from monitor.drift.skill import EQUIVALENCE
from monitor.metrics.rates import false_positive_rate, prevalence, recall

CERTAIN = 0.001
"""P-value below which a change of level is certain, for all days on which it may have been."""

_TESTED = (Component.RECALL, Component.FALSE_POSITIVE_RATE, Component.ODDS_RATIO)
_FEWEST_DAYS, _ENOUGH_DAYS = 3, 5
_FEW = 10
"""Factor on the p-value where a part has fewer than five days."""
_SMALLEST = 2 * EQUIVALENCE
_MOST_SPLITS = 40
_ROUNDING = 1e-6


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


class PrevalenceChange(NamedTuple):
    """The day on which the share of positives changed.

    Attributes:
        day: first day after the change, counted from the first day.
        prevalence: before and from then on.
    """

    day: int
    prevalence: tuple[float, float]


class _Split(NamedTuple):
    """The likeliest day of a change, by its place among those with outcomes."""

    place: int
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
    found = _likeliest(days, occupied, _TESTED, certain, fewest_before)
    if found is None:
        return None
    old, new = (part.sum() for part in _divided(days, occupied, found.place))
    change = _changes(days, occupied, found.place).change
    return LevelChange(
        day=int(occupied[found.place]),
        recall=(float(recall(old)), float(recall(new))),
        false_positive_rate=(float(false_positive_rate(old)), float(false_positive_rate(new))),
        log_odds_ratio=float(change[Component.ODDS_RATIO]),
        p_value=found.p_value,
    )


def find_prevalence_change(days: ConfusionCounts) -> PrevalenceChange | None:
    """Return the change of the class ratio within some days, by the test of `find_level_change`.

    Args:
        days: outcomes of successive days, one axis.

    Returns:
        The likeliest one; None where none is certain, or all are smaller than .4 in log-odds.

    >>> rarer = ConfusionCounts(tp=[64] * 20 + [24] * 8, fn=[16] * 20 + [6] * 8, fp=20, tn=900)
    >>> found = find_prevalence_change(rarer)
    >>> found.day, [round(one, 3) for one in found.prevalence]
    (20, [0.08, 0.032])
    """
    occupied = np.flatnonzero(days.total > 0)
    found = _likeliest(days, occupied, (Component.CLASS_RATIO,), CERTAIN, _FEWEST_DAYS)
    if found is None:
        return None
    old, new = (float(prevalence(p.sum())) for p in _divided(days, occupied, found.place))
    return PrevalenceChange(int(occupied[found.place]), (old, new))


def _likeliest(
    days: ConfusionCounts,
    occupied: np.ndarray,
    tested: Sequence[Component],
    certain: float,
    fewest_before: int,
) -> _Split | None:
    """Return the likeliest change of some components; None where none is certain."""
    last = len(occupied) - _FEWEST_DAYS
    splits = range(fewest_before, last + 1, 1 + max(last - fewest_before, 0) // _MOST_SPLITS)
    large = _with_large_changes(days, occupied, splits, tested)
    values = [(z, split) for split in large for z in _statistics(days, occupied, split, tested)]
    if not values:
        return None
    tests = len(splits) * len(tested)
    # Logarithms, since the p-values of many outcomes are all 0.
    p_values = [(float(log_ndtr(-z)) + math.log(2 * tests), split) for z, split in values]
    weighed, p_value, split = min((p + _weight(split, occupied), p, split) for p, split in p_values)
    return _Split(split, math.exp(p_value)) if weighed < math.log(certain) else None


def _with_large_changes(
    days: ConfusionCounts, occupied: np.ndarray, splits: range, tested: Sequence[Component]
) -> list[int]:
    """Return the splits at which `_statistics` may be above 0.

    The change within days is no larger than that of all outcomes.
    """
    if not splits:
        return []
    cells = days[occupied].cells
    until = np.cumsum(cells, axis=0)[np.array(splits) - 1]
    sides = (until, np.maximum(cells.sum(axis=0) - until, 0))
    old, new = (SmoothedRates.of(ConfusionCounts.from_cells(one)).components() for one in sides)
    least = _SMALLEST * (1 - _ROUNDING)
    large = (np.abs(new - old)[list(tested)] >= least).any(axis=0)
    return [splits[place] for place in np.flatnonzero(large).tolist()]


def _weight(split: int, occupied: np.ndarray) -> float:
    """Return what is added to the logarithm of a p-value of parts with few days."""
    return 0.0 if _ENOUGH_DAYS <= split <= len(occupied) - _ENOUGH_DAYS else math.log(_FEW)


def _divided(
    days: ConfusionCounts, occupied: np.ndarray, split: int
) -> tuple[ConfusionCounts, ConfusionCounts]:
    return days[occupied[:split]], days[occupied[split:]]


def _statistics(
    days: ConfusionCounts, occupied: np.ndarray, split: int, tested: Sequence[Component]
) -> Iterator[float]:
    """Yield |z| of each tested component between the two parts; 0 for a small change."""
    found = _changes(days, occupied, split)
    for component in tested:
        small = abs(float(found.change[component])) < _SMALLEST
        yield 0.0 if small else abs(float(found.z[component]))


def _changes(days: ConfusionCounts, occupied: np.ndarray, split: int) -> Changes:
    """Return the changes between the two parts, with the scatter of days about each one's level."""
    old, new = _divided(days, occupied, split)
    behind = (days_behind(part.total, 1) for part in (old, new))
    between = DayScatter.learn([old, new]).between(*behind)
    within = float(log_odds_ratio_within(new) - log_odds_ratio_within(old))
    return changes(old.sum(), new.sum(), between=between).within_days(within)
