"""How far a model is from its reference: what it has, what it needs, and about when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Reference
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES
from monitor.drift.reference_news import AwaitedReference
from monitor.watch.first_days import (
    FIRST_MS,
    PROVISIONAL_FALSE_POSITIVES,
    PROVISIONAL_MS,
    PROVISIONAL_POSITIVES,
    CountsUpTo,
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
    settled, have = zip(counts.actual_positive.tolist(), counts.fp.tolist(), strict=True)
    if not counts.total.any():
        return AwaitedReference(about_ms=opens + first.least + age)
    days = first.least // DAY_MS
    if known and any(settled):
        days = first.takes_days(*(n * DAY_MS / known for n in settled))
    return AwaitedReference(
        about_ms=opens + days * DAY_MS + age,
        positives=int(have[0]),
        positives_needed=first.positives,
        false_positives=int(have[1]),
        false_positives_needed=first.false_positives,
        whole_ms=first.longest if first.least < first.longest == days * DAY_MS else 0,
    )


class FirstDays(NamedTuple):
    """What the first reference of a model needs.

    Attributes:
        least: shortest length, milliseconds.
        longest: length at which it is taken whatever it holds, milliseconds.
        positives: actual positives that it needs before that.
        false_positives: false positives that it needs before that.
    """

    least: int
    longest: int
    positives: int
    false_positives: int

    def takes_days(self, positives: float, false_positives: float) -> int:
        """Return the days that it takes, whole ones.

        Args:
            positives: actual positives a day.
            false_positives: false positives a day.

        >>> FirstDays(7 * DAY_MS, 28 * DAY_MS, 100, 20).takes_days(10, 100)
        10
        """
        takes = (
            min(needed / rate * DAY_MS, self.longest) if rate else self.longest
            for needed, rate in (
                (self.positives, positives),
                (self.false_positives, false_positives),
            )
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
        return FirstDays(length, longest, FEWEST_POSITIVES, FEWEST_FALSE_POSITIVES)
    return FirstDays(PROVISIONAL_MS, length, PROVISIONAL_POSITIVES, PROVISIONAL_FALSE_POSITIVES)


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
