"""The level that detectors and pages rest on: longer once that is known, and renewed upward.

A model that decays slowly takes a trailing reference along, and one that was retrained for
the better can lose all of it again before it is below its first days. So the level is apart
from what windows are compared with: it starts as the first reference, and only ever rises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Reference
from monitor.drift import Judgement
from monitor.drift.verdict import IMPROVED
from monitor.watch.first_days import FIRST_MS
from monitor.watch.reference import MatureReference
from monitor.windows.pane_widths import SPARE_MS

WEEK = 7
"""Days between two looks at the level, and at the trend since."""
_LEAST_SHARE = 0.5


class Stretch(NamedTuple):
    """A stretch of time that becomes the level.

    Attributes:
        source: `first` for the first days, `renewed` for those after an improvement.
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
    """

    source: str
    opens: int
    closes: int


def longer_level(level: MatureReference, end: int) -> Stretch | None:
    """Return the first 28 days as the level of a shorter trailing reference, once known.

    Args:
        level: the first trailing reference.
        end: outcomes before this day since 1970 are mature.

    Returns:
        None where the level is another one, and until a week after the 28 days.
    """
    if level.source != "trailing" or level.opens is None or level.closes is None:
        return None
    closes = level.opens + FIRST_MS
    if level.closes >= closes or end * DAY_MS < closes + SPARE_MS:
        return None
    return Stretch("first", level.opens, closes)


def renewal_days(reference: Reference) -> int | None:
    """Return how many days a better level must last to be taken for the usual one.

    Args:
        reference: as configured.

    Returns:
        Its length in whole weeks, at least 28; None where a range of time or counts are
        given, which stay what the model is measured by.
    """
    if reference.window is not None or reference.counts is not None:
        return None
    length = max(reference.first or reference.trailing or FIRST_MS, FIRST_MS)
    return -(-length // (WEEK * DAY_MS)) * WEEK


def renewed_level(
    level: MatureReference, days: int, end: int, judged: Callable[[int, int], Judgement | None]
) -> Stretch | None:
    """Return the last days as the level, where the model has certainly been better in them.

    Args:
        level: so far.
        days: how many of them, whole weeks.
        end: outcomes before this day since 1970 are mature.
        judged: judges the days [first, end) against the level; None where it cannot.

    Returns:
        None unless the verdict on the days is that the model improved, and the odds ratio of
        each of their weeks lies above half of the rise, so that they hold no week from before.
    """
    first = end - days
    if level.closes is None or first * DAY_MS < level.closes:
        return None
    whole = judged(first, end)
    if whole is None or whole.verdict not in IMPROVED:
        return None
    least = _LEAST_SHARE * whole.change["odds_ratio"]
    for start in range(first, end, WEEK):
        week = judged(start, start + WEEK)
        if week is None or week.change["odds_ratio"] <= least:
            return None
    return Stretch("renewed", first * DAY_MS, end * DAY_MS)
