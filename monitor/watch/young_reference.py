"""A change of level inside a young reference, which only the days after it show."""

from __future__ import annotations

from collections.abc import Callable

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.level_change import find_level_change

AllDays = Callable[[], ConfusionCounts | None]
"""Returns the outcomes of all days of a model so far, one axis; None where they are not known."""

YOUNG_DAYS = 7
"""Days after a reference of the first days in which its days are tested again with them."""
_FEWEST_BEFORE = 2
"""Days before a change for the worse: beside the days after it, two show a large one."""
_FEWEST_BEFORE_OTHERS = 3
"""Days before any other change: two worse days at the start are no normal state."""
_CERTAIN_FALL = 0.0001
"""P-value of a fall that is looked for every day: at .0003, 2 of 100 healthy models have one."""

_LIKELY_FALL = 0.1
"""P-value of a fall for which longer days are not taken."""


def days_since(closes: int, mature: int) -> int | None:
    """Return how many whole days since a reference are tested together with its own.

    Args:
        closes: first moment after the reference, epoch milliseconds.
        mature: up to this moment, epoch milliseconds, outcomes are mature.

    Returns:
        1 to 7; None before the first day is whole, and once there are more.
    """
    days = (mature - closes) // DAY_MS
    return days if 1 <= days <= YOUNG_DAYS else None


def change_inside(days: ConfusionCounts, length: int) -> int | None:
    """Return the day on which the level changed inside a reference, as the days since show.

    A change that leaves two to four days on a side of it hardly shows among the days of the
    reference. The days after it lie at the level of its last ones, and away from that of its
    first ones.

    Args:
        days: outcomes of the days of the reference and of those since, one axis.
        length: number of days of the reference, fewer than all.

    Returns:
        The first day of the new level, counted from the first day. None unless the likeliest
        change of all days is certain (`find_level_change`) and inside the reference, and was a
        day earlier as well: days that resemble the one before look like a change for a day.

    >>> days = ConfusionCounts(tp=[45] * 4 + [28] * 6, fn=[11] * 4 + [28] * 6, fp=32, tn=612)
    >>> change_inside(days, 7), change_inside(days, 4)
    (4, None)
    """
    latest = _inside(days, length)
    return latest if latest is not None and _inside(days[:-1], length) is not None else None


def lasting_fall(days: ConfusionCounts) -> int | None:
    """Return the day on which the odds ratio of a model fell, as all of its days so far show.

    A short reference may be better than usual by chance, or by days that hang together: what is
    compared with it then looks worse. Among all days such a level is no change. How they scatter
    is learned from both sides of the likeliest day.

    Args:
        days: outcomes of the days of the reference and of those since, one axis.

    Returns:
        The first day of the lower level, counted from the first day. None unless the likeliest
        change is a fall that is certain (p < .0001 in `find_level_change`), and was that a day
        earlier as well.

    >>> days = ConfusionCounts(tp=[45] * 12 + [28] * 5, fn=[11] * 12 + [28] * 5, fp=32, tn=612)
    >>> lasting_fall(days), lasting_fall(days[:15])
    (12, None)
    """
    latest = _fall(days)
    return None if latest is None or _fall(days[:-1]) is None else latest


def likely_fall(days: ConfusionCounts) -> bool:
    """Return whether the days of a model hold a fall that must not become its normal state.

    Compared with a short reference that was better by chance, a model as ever looks worse. Among
    all of its days such a reference is no change of level, and a fall that began later is.

    Args:
        days: outcomes of all days so far, one axis.

    Returns:
        True where the likeliest change is a fall (p < .1 in `find_level_change`).

    >>> days = ConfusionCounts(tp=[5] * 16 + [3] * 20, fn=[1] * 16 + [3] * 20, fp=3, tn=70)
    >>> likely_fall(days), likely_fall(days[:16])
    (True, False)
    """
    found = find_level_change(days, certain=_LIKELY_FALL)
    return found is not None and found.log_odds_ratio < 0


def _fall(days: ConfusionCounts) -> int | None:
    found = find_level_change(days, certain=_CERTAIN_FALL, fewest_before=_FEWEST_BEFORE)
    return None if found is None or found.log_odds_ratio >= 0 else found.day


def _inside(days: ConfusionCounts, length: int) -> int | None:
    change = find_level_change(days, fewest_before=_FEWEST_BEFORE)
    if change is None or change.day >= length:
        return None
    occupied = int((days.total[: change.day] > 0).sum())
    return change.day if occupied >= _FEWEST_BEFORE_OTHERS or change.log_odds_ratio < 0 else None
