"""Where a reference ends that is no dated window: of the first days, and of trailing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES
from monitor.events.columns import Int64Array
from monitor.windows.pane_widths import LONGEST_FIRST_MS, SPARE_MS

FIRST_MS = 28 * DAY_MS
"""Length of the first days where the configuration gives none: enough to see days scatter."""
PROVISIONAL_MS = 7 * DAY_MS
"""Length of the reference that stands in for a longer one until that and a week are known."""
CountsUpTo = Callable[[Sequence[int]], Int64Array]
"""Returns a model's counts from its first moment up to each of some rising moments, (n, 6)."""


class OutcomeNumbers(NamedTuple):
    """Numbers of outcomes: those that a reference needs at least, or those of a day.

    Attributes:
        positives: actual positives.
        false_positives: false positives.
        true_positives: true positives.
        false_negatives: false negatives.
    """

    positives: float = 0
    false_positives: float = 0
    true_positives: float = 0
    false_negatives: float = 0


SUFFICIENT = (OutcomeNumbers(FEWEST_POSITIVES, FEWEST_FALSE_POSITIVES),)
"""What first days of up to a week need: enough for the detectors by pane."""
PROVISIONAL = (
    OutcomeNumbers(positives=100, false_positives=20),
    OutcomeNumbers(true_positives=5, false_positives=5, false_negatives=5),
)
"""What a provisional reference needs: either of these.

Few positives compare well enough, but not without a miss: of 17 positives and a recall of .8,
one reference in 40 has none by chance, and a healthy model then looks as if its recall fell.
Chosen by simulation (tests/benchmarks/first_days.py).
"""


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
    provisional reference of 7 days stands in for it before, extended until it holds 100
    positives and 20 false positives, or five true positives, five false negatives and five
    false positives.

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
        return _grown(lengths, opens, counts_up_to, SUFFICIENT, known=until)
    if until is None or until >= opens + length + spare:
        return opens + length
    lengths = range(PROVISIONAL_MS, length + 1, DAY_MS)
    return _grown(lengths, opens, counts_up_to, PROVISIONAL, known=until)


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
    lengths: range,
    opens: int,
    counts_up_to: CountsUpTo,
    enough: tuple[OutcomeNumbers, ...],
    *,
    known: int | None,
) -> int | None:
    """First end among rising lengths with enough outcomes; the last of them if none has."""
    ends = [opens + length for length in lengths if known is None or opens + length <= known]
    if not ends:
        return None
    counts = ConfusionCounts.from_cells(counts_up_to(ends)[:, : len(Outcome)])
    found = np.any([_holds(counts, needed) for needed in enough], axis=0)
    found[-1] |= len(ends) == len(lengths)
    return ends[int(found.argmax())] if found.any() else None


def outcomes_of(counts: ConfusionCounts) -> list[OutcomeNumbers]:
    """Return the numbers of outcomes that a reference needs, of each of some counts.

    Args:
        counts: outcomes, one axis.

    >>> outcomes_of(ConfusionCounts(tp=[8], fp=[5], fn=[2], tn=[85]))
    [OutcomeNumbers(positives=10, false_positives=5, true_positives=8, false_negatives=2)]
    """
    columns = (counts.actual_positive, counts.fp, counts.tp, counts.fn)
    return [OutcomeNumbers(*row) for row in np.stack(columns, axis=1).tolist()]


def is_too_small_to_page(counts: ConfusionCounts) -> bool:
    """Return whether a provisional reference has too few outcomes for a page.

    By fewer than 100 positives and 20 false positives, single days of a healthy model whose days
    scatter look far worse; windows are compared by their errors, which are wider.

    Args:
        counts: its outcomes, a scalar.
    """
    needed = PROVISIONAL[0]
    few_positives = counts.actual_positive < needed.positives
    return bool(few_positives | (counts.fp < needed.false_positives))


def _holds(counts: ConfusionCounts, needed: OutcomeNumbers) -> NDArray[np.bool_]:
    """Return which of some counts hold all outcomes that are needed."""
    return np.asarray((np.array(outcomes_of(counts)) >= np.array(needed)).all(axis=1))
