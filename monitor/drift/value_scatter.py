"""Scatter of days within segment values, which the days of all cases together do not show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays
from monitor.drift.day_scatter import DayScatter

_FEWEST_A_DAY = 10.0
_OF_THE_LARGEST = 1 / 3


class ValueDays(NamedTuple):
    """The values of one segment key by days, in a stretch of usual days.

    Attributes:
        values: outcomes of each value by day, one axis each.
        behind: numbers of days behind the window before, and behind the one after.
    """

    values: Sequence[ConfusionCounts]
    behind: tuple[float, float]


def with_scatter_of_values(between: BetweenDays, days: ValueDays) -> BetweenDays:
    """Return what the scatter of days adds to the errors of a change within a segment value.

    Values that scatter each on their own, as regions with weather of their own, average out in all
    cases: of ten such values these scatter by a third as much. So the larger of both is taken: the
    scatter of all cases, and that of the days of the values, learned of all of them together.

    Args:
        between: the same by the days of all cases.
        days: the values by days. Those of few cases are left out: their days scatter by chance, and
            say little about the rest.

    Returns:
        Each component with the larger variance, and the freedom of that.

    >>> days = ConfusionCounts(tp=[90, 60] * 7, fn=[10, 40] * 7, fp=50, tn=850)
    >>> opposite = ConfusionCounts(tp=[60, 90] * 7, fn=[40, 10] * 7, fp=50, tn=850)
    >>> whole = DayScatter.learn([days + opposite]).between(14, 7)
    >>> wider = with_scatter_of_values(whole, ValueDays([days, opposite], (14, 7)))
    >>> bool(wider.after[1] > 5 * whole.after[1]), bool(wider.after[2] == whole.after[2])
    (True, True)
    """
    sizes = np.array([float(one.actual_positive.sum()) for one in days.values])
    least = _OF_THE_LARGEST * float(sizes.max(initial=0.0))
    large = [
        one
        for one, size in zip(days.values, sizes.tolist(), strict=True)
        if size >= least and size >= _FEWEST_A_DAY * np.count_nonzero(one.total)
    ]
    if not large:
        return between
    found = DayScatter.learn(large).between(*days.behind)
    larger = found.before + found.after > between.before + between.after
    pairs = zip(found, between, strict=True)
    return BetweenDays(*(np.where(larger, own, of_all) for own, of_all in pairs))
