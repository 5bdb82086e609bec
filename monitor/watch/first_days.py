"""The default reference: the first days, extended until detectors can rest on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES, suffices
from monitor.events.columns import Int64Array
from monitor.windows.days import DAY_MS
from monitor.windows.pane_widths import LONGEST_FIRST_MS

FIRST_MS = 7 * DAY_MS
"""Length of the first days where the configuration gives none."""

FIRST_DAYS = (
    f"the first {FIRST_MS // DAY_MS} days, extended up to {LONGEST_FIRST_MS // DAY_MS} while they "
    f"hold under {FEWEST_POSITIVES:,} positives or {FEWEST_FALSE_POSITIVES:,} false positives"
)
"""The rule of `end_of_first_days` in words."""


def end_of_first_days(
    opens: int,
    length: int,
    until: int | None,
    counts_up_to: Callable[[Sequence[int]], Int64Array],
) -> int | None:
    """Return the moment at which the reference of the first days closes.

    The reference grows by whole days while it has too few outcomes, up to
    `LONGEST_FIRST_MS` or to its configured length if that is longer.

    Args:
        opens: its first moment, epoch milliseconds.
        length: its configured length, milliseconds.
        until: outcomes up to this moment are known; None where all are.
        counts_up_to: returns the model's counts from `opens` up to each of some moments
            in rising order, (moments, 6).

    Returns:
        Epoch milliseconds; None while too few outcomes are known and more may follow.
    """
    last = opens + max(length, LONGEST_FIRST_MS)
    ends = range(opens + length, (last if until is None else min(until, last)) + 1, DAY_MS)
    if not ends:
        return None
    cells = counts_up_to(ends)[:, : len(Outcome)]
    enough = suffices(ConfusionCounts.from_cells(cells))
    enough[-1] |= ends[-1] + DAY_MS > last
    return ends[int(enough.argmax())] if enough.any() else None
