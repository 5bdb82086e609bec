"""When a model was last labelled: labels in force, by the hour that they are dated."""

from __future__ import annotations

import numpy as np

from monitor.clock import HOUR_MS
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.windows.panes import PaneRing

KEPT_DAYS = 90


class LatestLabels:
    """Counts of labels by hour; one that is revised or taken back counts no more."""

    def __init__(self) -> None:
        self._hours = PaneRing(width=HOUR_MS, span=24 * KEPT_DAYS, cells=1)
        self._known: dict[int, tuple[tuple[int, int | None], int | None]] = {}

    def add(self, model: Int64Array, label_time: Int64Array, count: Int64Array) -> None:
        """Take labels that came into force, or with a negative count ceased to be."""
        hours = self._hours.pane_of(label_time)
        self._hours.add(hours, model, np.zeros_like(hours), count)

    def advance(self, watermark: int) -> None:
        """Let event time move on (epoch milliseconds)."""
        self._hours.advance(watermark)

    def ensure(self, models: int) -> None:
        """Make room for so many models."""
        self._hours.ensure(models)

    def end_of_last(self, model: int, changes: int) -> int | None:
        """End of the hour of the latest label in force, epoch milliseconds.

        Args:
            model: its number.
            changes: how often its labels have changed; nothing is read again before.

        Returns:
            None where there is none, or none for 90 days.
        """
        state, known = (changes, self._hours.newest), self._known.get(model)
        if known is None or known[0] != state:
            hour = self._hours.last(model, slice(0, 1))
            known = (state, None if hour is None else (hour + 1) * HOUR_MS)
            self._known[model] = known
        return known[1]

    def state(self) -> State:
        """Every hour."""
        return self._hours.state()

    def restore(self, state: State, models: Int64Array) -> None:
        """Go on from what `state` gave, with the models that are left."""
        self._hours.restore(state, models)
        self._known.clear()
