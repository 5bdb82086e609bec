"""The time of each model's latest label."""

from __future__ import annotations

import numpy as np

from monitor.clock import HOUR_MS
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing

STORED_DAYS = 90


class LatestLabels:
    """Counts of labels in force by the hour of their time.

    Attributes:
        hours: the counts.
    """

    def __init__(self) -> None:
        self.hours = PaneRing(width=HOUR_MS, span=24 * STORED_DAYS, cells=1)
        self._cached: dict[int, tuple[tuple[int, int | None], int | None]] = {}

    def add(self, model: Int64Array, label_time: Int64Array, count: Int64Array) -> None:
        """Count labels that came into force, or with a negative count were revoked.

        Args:
            model: model number of each label.
            label_time: epoch milliseconds.
            count: change of the count.
        """
        hours = self.hours.pane_of(label_time)
        self.hours.add(hours, model, np.zeros_like(hours), count)

    def advance(self, times: Int64Array) -> None:
        """Move the panes on to the times of the models, as `PaneRing.advance` takes them."""
        self.hours.advance(times)

    def ensure(self, models: int) -> None:
        """Make room for so many models."""
        self.hours.ensure(np.arange(models))

    def end_of_last(self, model: int, changes: int) -> int | None:
        """Return the end of the hour of the latest label in force, epoch milliseconds.

        Args:
            model: its number.
            changes: number of changes to its labels; the answer is cached until it grows.

        Returns:
            None without a label in the last 90 days.
        """
        version, cached = (changes, self.hours.newest(model)), self._cached.get(model)
        if cached is None or cached[0] != version:
            hour = self.hours.last(model, slice(0, 1))
            cached = (version, None if hour is None else (hour + 1) * HOUR_MS)
            self._cached[model] = cached
        return cached[1]

    def state(self) -> State:
        """Serializable state."""
        return self.hours.state()

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            models: old numbers of the models that are still there.
        """
        self.hours.restore(state, models, models, np.arange(len(models)))
        self._cached.clear()
