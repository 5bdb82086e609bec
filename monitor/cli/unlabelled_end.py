"""Labels that end before the predictions of recorded events do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.counts import Outcome
from monitor.events.columns import Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE

_NEARLY_ALL = 0.99
"""The labelled predictions end where so many of them lie before."""
_SHARE = 0.1
"""Share of all predictions after that end, from which it is reported."""
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

    def __str__(self) -> str:
        return f"hardly any prediction since {day_of(self.opens)} has a label: {self.reason}"


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
) -> UnlabelledEnd | None:
    """Return the stretch without labels at the end of the predictions of a model.

    Args:
        opens: first moment of each block of time, epoch milliseconds.
        counts: of the blocks, (blocks, 6), see `monitor.join.deltas`.
        last_prediction: time of the last prediction, epoch milliseconds.
        last_label: time of the last label; None without one in 90 days.
        timed: False where the events do not say when labels came.

    Returns:
        None where the labels reach as far as the predictions, or are fewer than 50.

    >>> hours = np.arange(100) * 3_600_000
    >>> blocks = np.tile([1, 0, 0, 9, 1, 9], (100, 1))
    >>> blocks[60:, : len(Outcome)] = 0
    >>> print(unlabelled_end(hours, blocks, 360_000_000, 210_000_000, timed=True))
    hardly any prediction since 1970-01-03 has a label: labels stopped on 1970-01-03
    """
    labelled = counts[:, : len(Outcome)].sum(axis=1).cumsum()
    predicted = counts[:, PREDICTED_POSITIVE:].sum(axis=1).cumsum()
    if not len(labelled) or labelled[-1] < _FEWEST:
        return None
    last = int(np.searchsorted(labelled, _NEARLY_ALL * labelled[-1]))
    if predicted[-1] - predicted[last] < _SHARE * predicted[-1]:
        return None
    begin = int(opens[last + 1]) if last + 1 < len(opens) else last_prediction
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
