"""A provisional reference: whom it pages, and when it stays for longer."""

from __future__ import annotations

from monitor.clock import DAY_MS
from monitor.drift import Judgement
from monitor.drift.detectors import is_too_small
from monitor.watch.first_days import is_too_small_to_page
from monitor.watch.reference import MatureReference
from monitor.windows.pane_widths import SPARE_MS

MOST_HELD_MS = 28 * DAY_MS
"""For how long first days are held back at most, where the model looks worse and does not page.

A healthy model may look worse for a year: one whose first days were better by chance. Whoever
operates it has four weeks to say which days are normal.
"""
FEWEST_OF_THE_DEAD = 10
"""Labelled positives of the days on which a model shows to be dead against a small reference.

A model that finds .8 of them misses ten in a row once in ten million times, and one whose days
scatter so that it finds half, once in a thousand. Of fewer, single days decide.
"""
_WORSE, _STILL_WORSE = 0.96, 0.5
"""Of the interval of a fall that holds longer days back, and of the one for which they stay so."""
_FELL = ("recall", "odds_ratio")


def pages_only_the_dead(reference: MatureReference, first: int) -> bool:
    """Return whether a reference stands in for first days, so that it pages no other model.

    One that ends before a certain change of level pages: the change is known by all days. One that
    ends for good before a fault which is over is no better known than it was, and pages unless it
    has too few outcomes.

    Args:
        reference: of a model.
        first: length of the first days that its configuration asks for, milliseconds.
    """
    opens, closes = reference.opens, reference.closes
    if reference.source != "first" or opens is None or closes is None or closes - opens >= first:
        return False
    if is_too_small(reference.counts) or reference.ends_at_change:
        return False
    return reference.cut_short is None or is_too_small_to_page(reference.counts)


def is_worse(found: Judgement | None, *, already: bool) -> bool:
    """Return whether the days since a provisional reference look worse, so that it stays.

    A fall that pages nobody would else become the normal state. A fall that began later than these
    days is found among all days (`young_reference.likely_fall`).

    Args:
        found: the judgement on these days; None where nothing can be judged, so that it stays if it
            has.
        already: it has stayed for that reason. It then does until the fall is not even likely:
            among days as few as these, a fall that lasts is now and then less certain.

    Returns:
        True where recall or the odds ratio fell at p < .02, or at p < .25 where it did already.
    """
    if found is None:
        return already
    level = _STILL_WORSE if already else _WORSE
    return any(found.interval(name, level=level)[1] < 0 for name in _FELL)


def hold_ends(opens: int, first: int) -> int:
    """Return the moment up to which outcomes are mature when first days are held back no longer.

    Args:
        opens: their first moment, epoch milliseconds.
        first: their length, milliseconds.
    """
    return opens + first + SPARE_MS + MOST_HELD_MS
