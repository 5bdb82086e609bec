"""The level that detectors and pages rest on: longer once that is known, and renewed.

A model that decays slowly takes a trailing reference along. One that was retrained for the
better can lose all of it again before it is below its first days, and one whose threshold was
lowered or raised can get worse and still look like another threshold from there. So the level
is apart from what windows are compared with: it starts as the first reference, and is renewed
where the model is better, or at another operating point with an odds ratio that did not fall.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Reference
from monitor.drift import Judgement
from monitor.drift.skill import EQUIVALENCE
from monitor.drift.verdict import IMPROVED, Verdict
from monitor.watch.first_days import FIRST_MS
from monitor.watch.reference import MatureReference
from monitor.windows.pane_widths import SPARE_MS

WEEK = 7
"""Days between two looks at the level, and at the trend since."""
_LEAST_SHARE = 0.5
_AS_SKILLED = EQUIVALENCE / 2
"""What the odds ratio of another operating point may have fallen by, in log-odds."""
_AT_ANOTHER_POINT = frozenset({Verdict.OPERATING_POINT_MOVED, Verdict.PREVALENCE_SHIFT})


class Stretch(NamedTuple):
    """A stretch of time that becomes the level.

    Attributes:
        source: `first` for the first days, `renewed` for later ones.
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
        lost: how far its odds ratio lies above the best level so far, in log-odds; below 0 where
            operating points since then had a lower one.
    """

    source: str
    opens: int
    closes: int
    lost: float = 0.0


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
    level: MatureReference,
    days: int,
    end: int,
    judged: Callable[[int, int], Judgement | None],
    lost: float = 0.0,
) -> Stretch | None:
    """Return the last days as the level, where the model was better or moved in all of them.

    Better is a verdict of an improvement. Moved is one of another operating point without scores,
    where the odds ratio did not fall by `_AS_SKILLED`: a threshold that was set anew. That is
    since the best level, so that many thresholds in a row do not add up to a worse model. With
    scores the curve of the level judges at any threshold, so that the level stays.

    Args:
        level: so far.
        days: how many of them, whole weeks.
        end: outcomes before this day since 1970 are mature.
        judged: judges the days [first, end) against the level; None where it cannot.
        lost: of the level so far, see `Stretch`.

    Returns:
        None unless the days are better or moved, and each of their weeks shows more than half
        of the change: of the odds ratio of a better model, of both rates of one that moved. So
        they hold no week from before.
    """
    first = end - days
    if level.closes is None or first * DAY_MS < level.closes:
        return None
    whole = judged(first, end)
    changed = () if whole is None else _changed(whole, lost)
    if whole is None or not changed:
        return None
    for start in range(first, end, WEEK):
        week = judged(start, start + WEEK)
        if week is None:
            return None
        if any(week.change[name] / whole.change[name] <= _LEAST_SHARE for name in changed):
            return None
    since = min(0.0, lost + whole.change["odds_ratio"])
    return Stretch("renewed", first * DAY_MS, end * DAY_MS, since)


def _changed(whole: Judgement, lost: float) -> tuple[str, ...]:
    """Return the components in which a stretch is another level; none where it is not."""
    if whole.verdict in IMPROVED:
        return ("odds_ratio",)
    at_another = whole.verdict in _AT_ANOTHER_POINT and whole.operating_point_moved
    as_skilled = lost + whole.change["odds_ratio"] > -_AS_SKILLED
    if at_another and as_skilled and math.isnan(whole.curve_z):
        return ("recall", "false_positive_rate")
    return ()
