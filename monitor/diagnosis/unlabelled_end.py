"""Labels that end before the predictions do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.counts import Outcome
from monitor.diagnosis.time_ranges import JUDGED_MS
from monitor.events.columns import Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE

_HARDLY_ANY = 0.02
"""The share that has a label, of all in the stretch, is so much smaller than of all predictions."""
MANY = 0.1
"""Share of all predictions in the stretch, from which a configuration reports it."""
_FEWEST = 50
"""Labels needed to tell: so many leave a tenth out by chance with a probability of .9^50 = .005."""


class UnlabelledEnd(NamedTuple):
    """The last stretch of a model's predictions, where it has no labels.

    Attributes:
        opens: when it begins, epoch milliseconds.
        days: its length up to the last prediction, days.
        reason: why, as far as the events show it; a sentence without a capital and a full stop.
    """

    opens: int
    days: float
    reason: str

    @property
    def week_before(self) -> str:
        """The last week that has labels, as options of time ranges have it."""
        return f"{day_of(self.opens - JUDGED_MS)}..{day_of(self.opens)}"

    @property
    def since(self) -> str:
        """When it begins, in UTC: the day, and the time where that is not midnight."""
        time = format_time(self.opens)[11:16]
        return day_of(self.opens) + (f" {time}" if time != "00:00" else "")

    def __str__(self) -> str:
        return f"hardly any prediction since {self.since} has a label: {self.reason}"


def day_of(milliseconds: int) -> str:
    """Return the day of a time, in UTC.

    >>> day_of(90_000_000)
    '1970-01-02'
    """
    return format_time(milliseconds)[:10]


def unlabelled_end(
    opens: Int64Array,
    counts: Int64Array,
    last_prediction: int,
    last_label: int | None,
    *,
    timed: bool,
    least: float = MANY,
) -> UnlabelledEnd | None:
    """Return the stretch without labels at the end of the predictions of a model.

    Args:
        opens: first moment of each block of time, epoch milliseconds.
        counts: of the blocks, (blocks, 6), see `monitor.join.deltas`.
        last_prediction: time of the last prediction, epoch milliseconds.
        last_label: time of the last label; None without one in 90 days.
        timed: False where the events do not say when labels came.
        least: share of all predictions that must lie in it, in [0, 1].

    Returns:
        None where the labels reach as far as the predictions, or are fewer than 50.

    >>> hours = np.arange(100) * 3_600_000
    >>> blocks = np.tile([1, 0, 0, 9, 1, 9], (100, 1))
    >>> blocks[60:, : len(Outcome)] = 0
    >>> print(unlabelled_end(hours, blocks, 360_000_000, 210_000_000, timed=True))
    hardly any prediction since 1970-01-03 12:00 has a label: labels stopped on 1970-01-03
    """
    labelled = counts[::-1, : len(Outcome)].sum(axis=1).cumsum()[::-1]
    predicted = counts[::-1, PREDICTED_POSITIVE:].sum(axis=1).cumsum()[::-1]
    if not len(labelled) or labelled[0] < _FEWEST:
        return None
    first = int(np.argmax(labelled * predicted[0] < _HARDLY_ANY * labelled[0] * predicted))
    if not first or predicted[first] < least * predicted[0]:
        return None
    first = _behind_labelled(counts, first, float(labelled[0] / predicted[0]))
    begin = int(opens[first])
    length = last_prediction - begin
    if not timed:
        reason = "labels stopped, or take so long; label_ts, the time of a label, would show which"
    elif last_label is None:
        reason = "labels stopped"
    elif last_prediction - last_label > length / 2:
        reason = f"labels stopped on {day_of(last_label)}"
    else:
        reason = f"labels come late, and came until {day_of(last_label)}"
    return UnlabelledEnd(begin, length / DAY_MS, reason)


def _behind_labelled(counts: Int64Array, first: int, share: float) -> int:
    """Return the block behind those at the start of the stretch that have their labels.

    A long stretch is below its share although its first hours have labels. Those end where labels
    exceed half of the usual share by most, summed from the first block.

    Args:
        counts: of all blocks.
        first: block from which on hardly any prediction has a label.
        share: of all predictions that have a label.
    """
    labelled = counts[first:, : len(Outcome)].sum(axis=1)
    predicted = counts[first:, PREDICTED_POSITIVE:].sum(axis=1)
    excess = (labelled - share / 2 * predicted).cumsum()
    last = int(np.argmax(excess))
    return first + last + 1 if excess[last] > 0 else first
