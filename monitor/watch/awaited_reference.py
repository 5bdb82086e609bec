"""How far a model is from its reference: what it has, what it needs, and about when."""

from __future__ import annotations

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
    setting: Reference, opens: int | None, mature: int, age: int, sums: CountsUpTo
) -> AwaitedReference | None:
    """Return what a model still lacks of its reference.

    Args:
        setting: the configured reference.
        opens: the first moment of the model's outcomes, epoch milliseconds; None before.
        mature: up to this moment, epoch milliseconds, outcomes are mature.
        age: age at which they are, milliseconds.
        sums: counts of the model; called only where the first days are asked for.

    Returns:
        None before the first outcome, and for a reference that needs none.
    """
    if setting.window is not None:
        return AwaitedReference(about_ms=setting.window.end + age)
    if opens is None or setting.counts is not None:
        return None
    if setting.trailing is not None:
        return AwaitedReference(about_ms=opens + 2 * setting.trailing + age)
    length = setting.first or FIRST_MS
    needed = (PROVISIONAL_POSITIVES, PROVISIONAL_FALSE_POSITIVES)
    longest, least = max(length, LONGEST_FIRST_MS), length
    if length <= PROVISIONAL_MS:
        needed = (FEWEST_POSITIVES, FEWEST_FALSE_POSITIVES)
    else:
        longest, least = length, PROVISIONAL_MS
    known = max(mature - opens, 0)
    cells = sums([opens + known]) if known else np.zeros((1, len(Outcome)), dtype=np.int64)
    counts = ConfusionCounts.from_cells(cells[0, : len(Outcome)])
    have = (int(counts.actual_positive), int(counts.fp))
    if not any(have):
        return AwaitedReference(about_ms=opens + least + age)
    takes = [
        min(least_n * known / n, longest) if n else longest
        for least_n, n in zip(needed, have, strict=True)
    ]
    takes_days = -(-max(least, *takes) // DAY_MS)
    return AwaitedReference(
        about_ms=opens + int(takes_days) * DAY_MS + age,
        positives=have[0],
        positives_needed=needed[0],
        false_positives=have[1],
        false_positives_needed=needed[1],
    )


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
