"""Recorded events whose times say the day alone."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.events.columns import EventBatch

_ENOUGH = 2
"""Days from which times of one hour say the day alone."""


class DaysAlone:
    """Finds out whether all predictions are of one time of day, as where only the day is known.

    Midnight of a zone is one time of day in UTC, or two an hour apart with daylight saving time.

    >>> DaysAlone().text
    ''
    """

    def __init__(self) -> None:
        self._times_of_day: set[int] = set()
        self._first, self._last = 0, 0

    def add(self, batch: EventBatch) -> None:
        """Note the times of the next predictions.

        Args:
            batch: as decoding gives it.
        """
        if len(self._times_of_day) > _ENOUGH:
            return
        times = np.concatenate([batch.predictions.time, batch.outcomes.time])
        if not len(times):
            return
        first, last = int(times.min()), int(times.max())
        if self._times_of_day:
            first, last = min(first, self._first), max(last, self._last)
        self._first, self._last = first, last
        self._times_of_day |= {*np.unique(times % DAY_MS)[: _ENOUGH + 1].tolist()}

    @property
    def text(self) -> str:
        """A sentence on it; "" where times say more, or are of one day."""
        if not self._times_of_day or self._last - self._first < _ENOUGH * DAY_MS:
            return ""
        if max(self._times_of_day) - min(self._times_of_day) not in (0, HOUR_MS):
            return ""
        when = "of one time of day" if any(self._times_of_day) else "midnight"
        return f"All times are {when}, so that windows shorter than a day say nothing."
