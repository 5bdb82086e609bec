"""Where a reference ends that is no dated window: of the first days, and of trailing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.detectors import suffices
from monitor.events.columns import Int64Array
from monitor.windows.pane_widths import LONGEST_FIRST_MS, SPARE_MS

FIRST_MS = 28 * DAY_MS
"""Length of the first days where the configuration gives none: enough to see days scatter."""
PROVISIONAL_MS = 7 * DAY_MS
"""Length of the reference that stands in for a longer one until that and a week are known."""
PROVISIONAL_POSITIVES, PROVISIONAL_FALSE_POSITIVES = 100, 20
"""Least numbers of positives and false positives in a provisional reference."""

Enough = Callable[[ConfusionCounts], NDArray[np.bool_]]
"""Tells which of some references hold enough outcomes."""
CountsUpTo = Callable[[Sequence[int]], Int64Array]
"""Returns a model's counts from its first moment up to each of some rising moments, (n, 6)."""


def end_of_first_days(
    opens: int,
    length: int,
    until: int | None,
    counts_up_to: CountsUpTo,
    *,
    spare: int = SPARE_MS,
) -> int | None:
    """Return the moment at which the reference of the first days closes.

    A length of up to 7 days grows by whole days while it holds under 1,000 positives or 500
    false positives, up to 28 days. A longer one has its length once that is known, and a
    provisional reference of 7 days stands in for it before, extended while it holds under
    100 positives or 20 false positives.

    Args:
        opens: its first moment, epoch milliseconds.
        length: its configured length, milliseconds.
        until: outcomes up to this moment are known; None where all are.
        counts_up_to: returns the model's counts from `opens` up to each of some moments.
        spare: how much must be known after a longer reference before it takes over,
            milliseconds: a window to judge.

    Returns:
        Epoch milliseconds; None while too few outcomes are known and more may follow.
    """
    if length <= PROVISIONAL_MS:
        lengths = range(length, max(length, LONGEST_FIRST_MS) + 1, DAY_MS)
        return _grown(lengths, opens, counts_up_to, suffices, known=until)
    if until is None or until >= opens + length + spare:
        return opens + length
    lengths = range(PROVISIONAL_MS, length + 1, DAY_MS)
    return _grown(lengths, opens, counts_up_to, _suffices_at_first, known=until)


def end_of_trailing(earliest: int, length: int, mature: int) -> int:
    """Return the moment at which a trailing reference closes.

    It is whole lengths behind the earliest one, so that it is the same whenever it is looked for.

    Args:
        earliest: where the first one closes, or the last one did, epoch milliseconds.
        length: its length, milliseconds.
        mature: outcomes up to this moment are mature.

    >>> end_of_trailing(7 * DAY_MS, 7 * DAY_MS, 23 * DAY_MS) // DAY_MS
    14
    """
    return earliest + max(mature - length - earliest, 0) // length * length


def _grown(
    lengths: range, opens: int, counts_up_to: CountsUpTo, enough: Enough, *, known: int | None
) -> int | None:
    """First end among rising lengths with enough outcomes; the last of them if none has."""
    ends = [opens + length for length in lengths if known is None or opens + length <= known]
    if not ends:
        return None
    found = enough(ConfusionCounts.from_cells(counts_up_to(ends)[:, : len(Outcome)]))
    found[-1] |= len(ends) == len(lengths)
    return ends[int(found.argmax())] if found.any() else None


def _suffices_at_first(reference: ConfusionCounts) -> NDArray[np.bool_]:
    enough = reference.actual_positive >= PROVISIONAL_POSITIVES
    return np.asarray(enough & (reference.fp >= PROVISIONAL_FALSE_POSITIVES))
