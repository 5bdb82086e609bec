"""How far a model is from its reference: what it has, what it needs, and about when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Reference
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.reference_news import AwaitedOutcomes, AwaitedReference
from monitor.watch.first_days import (
    FIRST_MS,
    PROVISIONAL,
    PROVISIONAL_MS,
    SUFFICIENT,
    CountsUpTo,
    OutcomeNumbers,
    outcomes_of,
)
from monitor.windows.pane_widths import LONGEST_FIRST_MS, SPARE_MS


def awaited_reference(
    setting: Reference,
    opens: int | None,
    mature: int,
    age: int,
    sums: CountsUpTo,
    *,
    silent: bool = False,
) -> AwaitedReference | None:
    """Return what a model still lacks of its reference.

    All outcomes so far are counted, so that their number does not fall while the monitor learns
    that labels take longer than it knew. The date rests on mature ones alone.

    Args:
        setting: the configured reference.
        opens: the first moment of the model's outcomes, epoch milliseconds; None before.
        mature: up to this moment, epoch milliseconds, outcomes are mature.
        age: age at which they are, milliseconds.
        sums: counts of the model; called only where the first days are asked for.
        silent: silence is a negative, so that only mature outcomes are known.

    Returns:
        None before the first outcome, and for a reference that needs none.
    """
    if setting.window is not None:
        return AwaitedReference(about_ms=setting.window.end + age)
    if opens is None or setting.counts is not None:
        return None
    if setting.trailing is not None:
        return AwaitedReference(about_ms=opens + 2 * setting.trailing + age)
    first = _first_days(setting)
    known = max(mature - opens, 0)
    ends = [opens + known, max(opens + known, mature + (0 if silent else age))]
    nothing = np.zeros((len(ends), len(Outcome)), dtype=np.int64)
    cells = sums(ends) if ends[-1] > opens else nothing
    counts = ConfusionCounts.from_cells(cells[:, : len(Outcome)])
    settled, have = outcomes_of(counts)
    if not counts.total.any():
        return AwaitedReference(about_ms=opens + first.least + age)
    days, needed = first.least // DAY_MS, first.enough[0]
    if known and any(settled):
        days, needed = first.soonest(OutcomeNumbers(*(n * DAY_MS / known for n in settled)))
    return AwaitedReference(
        about_ms=opens + days * DAY_MS + age,
        positives=int(have.positives),
        counted=tuple(
            AwaitedOutcomes(kind.replace("_", " "), int(came), int(least))
            for kind, came, least in zip(OutcomeNumbers._fields, have, needed, strict=True)
            if least
        ),
        whole_ms=first.longest if first.least < first.longest == days * DAY_MS else 0,
    )


def next_close(setting: Reference, opens: int | None) -> int | None:
    """Return a moment at which the first reference may close, or whole days from it.

    A later one closes with a day.

    Args:
        setting: the configured reference.
        opens: the first moment that it may open at, epoch milliseconds; None before it is known.

    Returns:
        Epoch milliseconds; None where nothing is known of it.
    """
    if setting.counts is not None:
        return None
    if setting.window is not None:
        return setting.window.end
    length = 2 * setting.trailing if setting.trailing is not None else setting.first or FIRST_MS
    return None if opens is None else opens + length


class FirstDays(NamedTuple):
    """What the first reference of a model needs.

    Attributes:
        least: shortest length, milliseconds.
        longest: length at which it is taken whatever it holds, milliseconds.
        enough: sets of outcomes, one of which it needs before that.
    """

    least: int
    longest: int
    enough: tuple[OutcomeNumbers, ...]

    def soonest(self, a_day: OutcomeNumbers) -> tuple[int, OutcomeNumbers]:
        """Return the whole days that it takes, and the set of outcomes that is complete then.

        Args:
            a_day: outcomes a day.

        Returns:
            Of sets that are complete on the same day, the first.

        >>> days = FirstDays(7 * DAY_MS, 28 * DAY_MS, PROVISIONAL)
        >>> days.soonest(OutcomeNumbers(positives=12, false_positives=6, true_positives=12))
        (9, OutcomeNumbers(positives=100, false_positives=20, true_positives=0, false_negatives=0))
        >>> days.soonest(OutcomeNumbers(12, 6, true_positives=9, false_negatives=3))[0]
        7
        """
        takes = [self._days(needed, a_day) for needed in self.enough]
        return min(takes), self.enough[takes.index(min(takes))]

    def _days(self, needed: OutcomeNumbers, a_day: OutcomeNumbers) -> int:
        takes = (
            min(least / rate * DAY_MS, self.longest) if rate else self.longest
            for least, rate in zip(needed, a_day, strict=True)
            if least
        )
        return int(-(-max(self.least, *takes) // DAY_MS))


def first_days(setting: Reference) -> FirstDays | None:
    """Return what the first reference of a model needs; None where it is no first days.

    Args:
        setting: the configured reference.
    """
    given = (setting.window, setting.counts, setting.trailing)
    return None if any(one is not None for one in given) else _first_days(setting)


def _first_days(setting: Reference) -> FirstDays:
    length = setting.first or FIRST_MS
    if length <= PROVISIONAL_MS:
        longest = max(length, LONGEST_FIRST_MS)
        return FirstDays(length, longest, SUFFICIENT)
    return FirstDays(PROVISIONAL_MS, length, PROVISIONAL)


def longer_first_days(
    setting: Reference, opens: int, closes: int, now: int, age: int
) -> AwaitedReference | None:
    """Return the configured first days that a shorter reference stands in for.

    Args:
        setting: the configured reference.
        opens: first moment of the reference in use, epoch milliseconds.
        closes: first moment after it.
        now: current event time, epoch milliseconds.
        age: age at which outcomes are mature, milliseconds.

    Returns:
        None where the reference in use is the configured one, or where only a model that looks
        moved keeps that one from its place.
    """
    first = setting.first
    if first is None or closes - opens >= first:
        return None
    about = opens + first + SPARE_MS + age
    return AwaitedReference(about_ms=about, first_ms=first) if about > now else None
