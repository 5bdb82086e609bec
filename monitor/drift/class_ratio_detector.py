"""Detector of prevalence: a sequential test of the class ratio against its seasonal profile."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from monitor.counts import ConfusionCounts
from monitor.drift.detectors import (
    FEWEST_POSITIVES,
    STEPS,
    BoolArray,
    baseline_margin,
    check_tolerance,
)
from monitor.drift.dispersion import Dispersion
from monitor.drift.profile import SeasonalProfile
from monitor.drift.shiryaev_roberts import State, TwoSidedStatistic, gains
from monitor.metrics.ratio import FloatArray


class ClassRatioDetector:
    """Detector of a class ratio that leaves its seasonal profile, on either side.

    Its alarms are annotations and never page. It consists of two one-sided e-detectors on
    the share of positives among the labelled outcomes, with the expectation of the profile
    for the time of the pane as baseline.

    Args:
        profile: expected prevalence by time, of one series or of many.
        threshold: mean statistic at which a side alarms, above 0; see `page_threshold`.
        dispersion: variance over that of independent rows, at least 1.
        tolerance: change of log-odds that never alarms, at least 0; None for that of the
            profile, twice the scatter between days and at least .1.

    Raises:
        ValueError: the threshold or the tolerance is out of range.

    >>> hours = 3600.0 * np.arange(24 * 20)
    >>> history = ConfusionCounts(tp=80, fp=45, fn=20, tn=np.full(480, 855))
    >>> profile = SeasonalProfile.learn(hours, history)
    >>> detector = ClassRatioDetector(profile=profile, threshold=1e5)
    >>> halved = ConfusionCounts(tp=40, fp=47, fn=10, tn=903)
    >>> [bool(detector.update(halved, opened=3600.0 * (480 + hour))) for hour in range(3)]
    [False, True, True]
    """

    def __init__(
        self,
        *,
        profile: SeasonalProfile,
        threshold: float,
        dispersion: Dispersion | ArrayLike = 1.0,
        tolerance: float | None = None,
    ) -> None:
        if tolerance is not None:
            check_tolerance(tolerance)
        self._profile = profile
        self._sides = TwoSidedStatistic(("falling", "rising"), threshold)
        self._dispersion = Dispersion.of(dispersion).class_ratio
        self._tolerance = profile.tolerance if tolerance is None else np.asarray(tolerance)
        self._margin = baseline_margin(profile.positives), np.sqrt(self._dispersion)

    @property
    def warming_up(self) -> BoolArray:
        """True for series whose profile rests on fewer than 1,000 positives; they never alarm."""
        return np.asarray(self._profile.positives < FEWEST_POSITIVES)

    @property
    def evidence(self) -> FloatArray:
        """Larger of the two statistics over the threshold; an alarm from 1 on, 0 at the start."""
        return self._sides.evidence

    def by_side(self) -> dict[str, FloatArray]:
        """Return the evidence of each side, `falling` and `rising`."""
        return self._sides.by_side()

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Add one closed pane and return the series that have left their profile.

        Args:
            counts: outcomes of the pane, one series for each index.
            opened: event time at which the pane opens, epoch seconds.

        Returns:
            Bool array in the shape of the series.

        Raises:
            ValueError: the shape differs from that of earlier panes.
        """
        expected, error = self._profile.expected(opened)
        z, scatter = self._margin
        margin = z * error * scatter + self._tolerance
        positive, negative = counts.actual_positive, counts.actual_negative
        ratios = []
        for direction in (-1.0, 1.0):
            baseline = np.broadcast_to(expected + direction * margin, counts.shape)
            hit, miss = gains(baseline, direction * np.array(STEPS))
            ratios.append((hit * positive + miss * negative) / self._dispersion)
        return (self._sides.update(*ratios) >= 1) & ~self.warming_up

    def state(self) -> State:
        """Return log M of each side, (alternatives, *series); empty before the first pane."""
        return self._sides.state()

    def restore(self, state: State) -> None:
        """Restore what `state` returned, given the same profile and threshold."""
        self._sides.restore(state)
