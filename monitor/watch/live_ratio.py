"""The current class ratio of one model, and the one expected at this time of the day."""

from __future__ import annotations

from typing import Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.live_class_ratio import ClassRatio, LiveClassRatio
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.watch.reference import MatureReference


class LiveRatio:
    """r smoothed over mature panes, and r from the seasonal profile of the reference.

    Args:
        reference: with the dispersion for the interval, and the profile.
        half_life_ms: event time after which an outcome counts half, at least a pane.
        step_ms: width of a pane.
    """

    def __init__(self, reference: MatureReference, half_life_ms: int, step_ms: int) -> None:
        self._step = step_ms
        self._live = LiveClassRatio(
            half_life=max(half_life_ms / step_ms, 1.0),
            dispersion=reference.dispersion.class_ratio,
        )
        self._last: int | None = None
        self._now: ClassRatio | None = None
        self.profile = reference.profile

    @property
    def now(self) -> ClassRatio:
        """The smoothed class ratio with its 95 % interval; NaN before the first pane."""
        if self._now is None:
            self._now = self._live.estimate()
        return self._now

    @property
    def expected(self) -> float:
        """The class ratio that the profile expects of the last pane; NaN without either."""
        if self.profile is None or self._last is None:
            return float("nan")
        log_ratio, _ = self.profile.expected(self._last * self._step / 1000)
        return float(np.exp(log_ratio))

    def update(self, cells: Int64Array, pane: int) -> None:
        """Update with one mature pane.

        Args:
            cells: outcomes of all the model's predictions in it, (4,).
            pane: its number; panes come in order, and empty ones may be skipped.
        """
        since = 1 if self._last is None else pane - self._last
        self._live.update(ConfusionCounts.from_cells(cells), panes=since)
        self._last, self._now = pane, None

    def state(self) -> State:
        """Serializable state."""
        return {"last": self._last, "live": self._live.state()}

    def restored(self, state: State) -> Self:
        """Load what `state` returned, and return itself."""
        self._last = state["last"]
        self._live.restore(state["live"])
        self._now = None
        return self
