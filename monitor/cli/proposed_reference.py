"""The reference and the windows that recorded events carry, for a configuration."""

from __future__ import annotations

import math
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Reference
from monitor.config.quantities import format_duration, parse_duration
from monitor.counts import ConfusionCounts
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES
from monitor.watch.awaited_reference import awaited_reference
from monitor.watch.first_days import PROVISIONAL_MS, CountsUpTo, end_of_first_days
from monitor.windows.pane_widths import LONGEST_FIRST_MS, SPARE_MS

WINDOWS = ("1h", "6h", "1d", "7d", "30d")
"""Windows to choose from."""
REFERENCES = ("7d", "14d", "30d", "60d")
"""Lengths of the reference to choose from."""

_MOST_WINDOWS = 3
_FLAGGED_A_WINDOW = 100
"""Labelled predicted positives that a window needs: its precision is known to about 0.1."""


class ProposedReference(NamedTuple):
    """The first days of a model, as a configuration gives them.

    Attributes:
        first: their configured length.
        days: how many days they hold once they are complete: more than configured where a week
            or less has too few outcomes.
        complete_ms: when they are complete, epoch milliseconds of event time.
        detectable: shortest length on which detectors can run; None where none is known to do.
        within: the events reach that moment.
    """

    first: str
    days: float
    complete_ms: int
    detectable: str | None
    within: bool

    @property
    def extended(self) -> str:
        """Length that a week grows to for want of outcomes; "" where it does not."""
        length = round(self.days * DAY_MS)
        return format_duration(length) if length > parse_duration(self.first) else ""

    @property
    def suffices(self) -> bool:
        """Whether detectors can run on them: what grows for that ends with enough outcomes."""
        if self.extended and self.days * DAY_MS < LONGEST_FIRST_MS:
            return True
        return self.detectable is not None and _in_days(self.detectable) <= self.days


class ProposedWindows(NamedTuple):
    """The windows of a model, as a configuration gives them.

    Attributes:
        names: at least one: those that the volume carries, and that the events fill beyond the
            reference; where they fill none, all that the volume carries.
        left_out: longer ones that the volume would carry.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()


class Labelled(NamedTuple):
    """The labelled stretch of a model, from its first prediction on.

    Attributes:
        first: time of its first prediction, epoch milliseconds.
        last: of its last one.
        days: how many days of it have labels.
        age: age at which outcomes are mature, milliseconds.
        counts: its labelled outcomes, scalars.
        sums: its counts from the first prediction up to each of some moments.
    """

    first: int
    last: int
    days: float
    age: int
    counts: ConfusionCounts
    sums: CountsUpTo


def proposed_reference(labelled: Labelled) -> ProposedReference:
    """Return the reference that the events carry: for detectors, or else to compare with at all.

    Args:
        labelled: the labelled stretch of a model.

    Returns:
        Of those that are complete within the events, the one for detectors; else the longest one
        that takes at most half of the days with labels, so that as much is left to compare. If
        there is none, the one that is complete first.
    """
    detectable = _detectable(labelled.counts, labelled.days)
    every = [_candidate(text, labelled, detectable) for text in REFERENCES]
    complete = [one for one in every if one.within]
    for one in complete:
        if one.first == detectable and one.days <= labelled.days:
            return one
    carried = [one for one in complete if 2 * one.days <= labelled.days]
    return carried[-1] if carried else min(every, key=lambda one: one.complete_ms)


def proposed_windows(
    flagged_a_day: float, reference: ProposedReference, last: int
) -> ProposedWindows:
    """Return the windows that the volume carries, and that the events fill beyond the reference.

    Args:
        flagged_a_day: labelled predicted positives.
        reference: of the model.
        last: time of its last prediction, epoch milliseconds.
    """
    enough = [text for text in WINDOWS if flagged_a_day * _in_days(text) >= _FLAGGED_A_WINDOW]
    carried = tuple(enough[:_MOST_WINDOWS]) or WINDOWS[-1:]
    left = last - reference.complete_ms + _spare(reference.first)
    filled = tuple(text for text in carried if parse_duration(text) <= left)
    return ProposedWindows(filled, carried[len(filled) :]) if filled else ProposedWindows(carried)


def _candidate(text: str, labelled: Labelled, detectable: str | None) -> ProposedReference:
    length, opens = parse_duration(text), labelled.first
    if length <= PROVISIONAL_MS:
        mature = labelled.last - labelled.age
        closes = end_of_first_days(opens, length, mature, labelled.sums)
        if closes is None:
            setting = Reference(first=text)
            awaited = awaited_reference(setting, opens, mature, labelled.age, labelled.sums)
            closes = opens + length if awaited is None else awaited.about_ms - labelled.age
        length = closes - opens
    complete = opens + length + _spare(text) + labelled.age
    within = complete <= labelled.last
    return ProposedReference(text, length / DAY_MS, complete, detectable, within)


def _spare(text: str) -> int:
    """Return what must be known after a reference before it is in use, milliseconds."""
    return SPARE_MS if parse_duration(text) > PROVISIONAL_MS else 0


def _detectable(counts: ConfusionCounts, days: float) -> str | None:
    """Return the shortest reference that detectors can use; None where none is long enough.

    Args:
        counts: labelled outcomes.
        days: length of the stretch that they are of.
    """
    least = {FEWEST_POSITIVES: counts.actual_positive, FEWEST_FALSE_POSITIVES: counts.fp}
    needed = max(
        (fewest / float(came) * days if came else math.inf) for fewest, came in least.items()
    )
    return next((text for text in REFERENCES if _in_days(text) >= needed), None)


def _in_days(text: str) -> float:
    return parse_duration(text) / DAY_MS
