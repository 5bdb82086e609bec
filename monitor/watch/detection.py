"""Detectors of one model, stepped as its panes mature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.config import RiverDetectorConfig
from monitor.counts import ConfusionCounts
from monitor.drift.class_ratio_detector import ClassRatioDetector
from monitor.drift.components import DAY as DAY_SECONDS
from monitor.drift.day_scatter import DayScatter
from monitor.drift.detectors import ShiryaevRoberts
from monitor.drift.dispersion import Dispersion
from monitor.drift.river_detector import RiverDetector
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State, new_numbers
from monitor.watch.reference import MatureReference


class Alarms(NamedTuple):
    """Alarms of the detectors after a pane.

    Attributes:
        degraded: recall fell or false positives rose, within segments: a page.
        shifted: the class ratio left its profile: an annotation.
    """

    degraded: bool
    shifted: bool


class AlarmLimits(NamedTuple):
    """What bounds the false alarms of a detector.

    Attributes:
        threshold: of a statistic.
        margin: standard errors of the reference by which baselines are moved, see
            `monitor.drift.detectors.margin_of`.
    """

    threshold: float
    margin: float = 1.0


class Detection:
    """The detectors that watch one model against its reference.

    Skill has one statistic for each segment key (one of the totals without segment keys).
    Each sums the evidence within its values, which excludes a change of mix. All of them
    must alarm for a page, so that a change of mix by any one key does not page.

    After an alarm the statistics restart, so that a lasting change alarms again.

    Args:
        reference: of the model.
        cuts: for each segment key the series of its values; the totals alone
            without segment keys.
        limits: of a statistic, see `monitor.drift.detectors.page_threshold`.
        scatter: how the days of the reference scatter, which widens the errors of panes.
    """

    def __init__(
        self,
        reference: MatureReference,
        cuts: Sequence[Int64Array],
        limits: AlarmLimits,
        scatter: DayScatter,
    ) -> None:
        self.reference = reference
        a_day = reference.counts.cells / reference.days_behind
        self._dispersion = scatter.of_panes(ConfusionCounts.from_cells(a_day))
        self._threshold, self._margin = limits
        self._profile = reference.profile
        self._cuts: list[Int64Array] = []
        self._skill: list[ShiryaevRoberts] = []
        self.follow(cuts)
        self._ratio_dispersion = self._dispersion_of_ratio()
        self._ratio = self._ratio_detector()

    @property
    def warming_up(self) -> bool:
        """The reference has too few outcomes; no detector alarms."""
        return any(bool(detector.warming_up) for detector in self._skill)

    @property
    def evidence(self) -> float:
        """The lowest of the skill statistics over its threshold; an alarm from 1 on."""
        return min(float(np.max(detector.evidence, initial=0.0)) for detector in self._skill)

    def follow(self, cuts: Sequence[Int64Array]) -> None:
        """Add new segment values, and keep the evidence so far."""
        if [len(cut) for cut in cuts] == [len(cut) for cut in self._cuts]:
            return
        states = [detector.state() for detector in self._skill]
        self._cuts = list(cuts)
        self._skill = [self._skill_detector(cut) for cut in self._cuts]
        for detector, state in zip(self._skill, states, strict=False):
            detector.restore(state)

    def state(self) -> State:
        """Serializable state: the evidence, and its series."""
        return {
            "cuts": [cut.copy() for cut in self._cuts],
            "skill": [dict(detector.state()) for detector in self._skill],
            "ratio": None if self._ratio is None else dict(self._ratio.state()),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned, for the same reference.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        self._cuts = [new_numbers(left.series)[cut] for cut in state["cuts"]]
        self._skill = [self._skill_detector(cut) for cut in self._cuts]
        for detector, evidence in zip(self._skill, state["skill"], strict=True):
            detector.restore(evidence)
        if self._ratio is not None and state["ratio"] is not None:
            self._ratio.restore(state["ratio"])

    def update(self, cells: Int64Array, rows: Int64Array, opens: int, totals: int) -> Alarms:
        """Update with one mature pane.

        Args:
            cells: outcomes (series, 4) of the model's series.
            rows: their numbers, ascending.
            opens: event time at which the pane opens, epoch milliseconds.
            totals: series of all outcomes.
        """
        alarms = [
            bool(detector.update(ConfusionCounts.from_cells(cells[np.searchsorted(rows, cut)])))
            for cut, detector in zip(self._cuts, self._skill, strict=True)
        ]
        degraded = all(alarms)
        shifted = self._ratio_alarm(cells[np.searchsorted(rows, totals)], opens)
        if degraded:
            self._skill = [self._skill_detector(cut) for cut in self._cuts]
        return Alarms(degraded=degraded, shifted=shifted)

    def _ratio_alarm(self, totals: Int64Array, opens: int) -> bool:
        if self._ratio is None:
            return False
        counts = ConfusionCounts.from_cells(totals)
        alarm = bool(self._ratio.update(counts, opened=opens / 1000))
        if alarm:
            self._ratio = self._ratio_detector()
        return alarm

    def _skill_detector(self, cut: Int64Array) -> ShiryaevRoberts:
        cells = self.reference.cells_of(cut)
        if not len(self.reference.rows):
            cells = self.reference.counts.cells[None, :]
        return ShiryaevRoberts(
            reference=ConfusionCounts.from_cells(cells),
            threshold=self._threshold,
            dispersion=self._dispersion,
            margin=self._margin,
            segments=True,
        )

    def _dispersion_of_ratio(self) -> Dispersion | None:
        """Return how the panes of the reference scatter about its profile; None without panes."""
        panes, profile = self.reference.panes, self._profile
        if panes is None or profile is None:
            return None
        logit, _ = profile.expected(self.reference.opened)
        days = max(1, round(DAY_SECONDS / self.reference.step_seconds))
        prevalence = 1 / (1 + np.exp(-logit))
        return Dispersion.estimate(panes, sorted({1, days}), prevalence)

    def _ratio_detector(self) -> ClassRatioDetector | None:
        profile, dispersion = self._profile, self._ratio_dispersion
        if profile is None or dispersion is None:
            return None
        return ClassRatioDetector(profile=profile, threshold=self._threshold, dispersion=dispersion)


class RiverDetection:
    """A detector of the library river on the totals, instead of `Detection`.

    It learns the normal state from the first panes, ignores segments and seasonality,
    and has no evidence short of an alarm.

    Args:
        reference: of the model.
        settings: the detector and its options.
    """

    warming_up = False

    def __init__(self, reference: MatureReference, settings: RiverDetectorConfig) -> None:
        self.reference = reference
        self._detector = RiverDetector(settings.name, **settings.options)

    @property
    def evidence(self) -> float:
        """1 after a pane in which river found a drift for the worse, else 0."""
        return float(np.max(self._detector.evidence, initial=0.0))

    def follow(self, cuts: Sequence[Int64Array]) -> None:
        """Do nothing: segments are ignored."""

    def update(self, cells: Int64Array, rows: Int64Array, opens: int, totals: int) -> Alarms:
        """Take in one mature pane; see `Detection.update`."""
        own = ConfusionCounts.from_cells(cells[np.searchsorted(rows, totals)])
        degraded = bool(self._detector.update(own, opened=opens / 1000))
        return Alarms(degraded=degraded, shifted=bool(self._detector.class_ratio_moved))

    def state(self) -> State:
        """Return nothing: river detectors have no plain state, and restart empty."""
        return {}

    def restore(self, state: State, left: Numbers) -> None:
        """Do nothing: the detector restarts empty; see `Detection.restore`."""
