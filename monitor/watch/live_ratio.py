"""The current class ratio of one model, and the one expected at this time of the day."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.live_class_ratio import UNKNOWN_RATIO, ClassRatio, live_class_ratio
from monitor.watch.reference import MatureReference
from monitor.windows.outcome_reader import OutcomeReader

_HALF_LIVES = 32
"""What is older, in half-lives, counts less than one in a thousand million."""


class RatioNow(NamedTuple):
    """The class ratio at one moment.

    Attributes:
        ratio: smoothed over mature panes, with its 95 % interval; NaN before the first outcome.
        expected: r that the profile of the reference expects of the last pane with outcomes;
            NaN without either.
    """

    ratio: ClassRatio
    expected: float


UNKNOWN_NOW = RatioNow(UNKNOWN_RATIO, float("nan"))


class LiveRatio:
    """r smoothed over mature panes, and r from the seasonal profile of the reference.

    Args:
        reference: with the dispersion for the interval, and the profile.
        windows: counts.
        half_life_ms: event time after which an outcome counts half, at least a pane.
        edition: returns the version of the model's counts, which are read again once it differs.
    """

    def __init__(
        self,
        reference: MatureReference,
        windows: OutcomeReader,
        half_life_ms: int,
        edition: Callable[[], Hashable],
    ) -> None:
        self._windows, self._edition = windows, edition
        self._known: tuple[Hashable, RatioNow] = (None, UNKNOWN_NOW)
        self._step = step_ms = windows.step_ms
        self._half_life = max(half_life_ms / step_ms, 1.0)
        self._dispersion = reference.dispersion.class_ratio
        self._panes = int(np.ceil(_HALF_LIVES * self._half_life))
        self.profile = reference.profile

    def now(self, row: int, mature: int) -> RatioNow:
        """Return the class ratio by the mature panes.

        Args:
            row: series number of all the model's predictions.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
        """
        end = mature // self._step
        seen = (end, row, self._edition())
        if self._known[0] != seen:
            self._known = (seen, self._read(row, end))
        return self._known[1]

    def _read(self, row: int, end: int) -> RatioNow:
        first = end - self._panes
        cells = self._windows.panes(first, end, np.array([row]))[:, 0, : len(Outcome)]
        filled = np.flatnonzero(cells.any(axis=1))
        if not len(filled):
            return UNKNOWN_NOW
        smoothed = live_class_ratio(
            ConfusionCounts.from_cells(cells),
            half_life=self._half_life,
            dispersion=self._dispersion,
        )
        if self.profile is None:
            return RatioNow(smoothed, float("nan"))
        log_ratio, _ = self.profile.expected((first + int(filled[-1])) * self._step / 1000)
        return RatioNow(smoothed, float(np.exp(log_ratio)))
