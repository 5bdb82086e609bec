"""Detectors: has recall fallen, have false positives risen, did the class ratio leave its profile?

Owns the sequential tests on closed panes. Given the labels, true positives among
the positives and false positives among the negatives are binomial whatever
prevalence does; a test of these two streams cannot mistake rarer positives for
a worse model, which a test of precision or of errors does every day. The class
ratio is tested against its own seasonal profile, and only ever noted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.dispersion import Dispersion
from monitor.drift.profile import SeasonalProfile
from monitor.drift.shiryaev_roberts import State, TwoSidedStatistic, gains
from monitor.metrics.ratio import FloatArray

BoolArray = NDArray[np.bool_]

STEPS = (0.15, 0.3, 0.6, 1.2)
"""Alternatives, in log-odds beyond the tolerated baseline."""
TOLERANCE = 0.1
"""Change of log-odds that is never a reason to page."""
YEAR = 31_557_600.0

FEWEST_POSITIVES = 1_000
FEWEST_FALSE_POSITIVES = 500
"""What a reference must hold for detectors to rest on it."""
_MANY_POSITIVES = 10_000
_HALF = 0.5


class Detector(Protocol):
    """What the engine asks of a detector: one closed pane in, alarms out."""

    @property
    def warming_up(self) -> BoolArray:
        """Whether the reference does not suffice yet: such series never alarm."""
        ...

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Take in one closed pane, and say which series are in alarm after it.

        Args:
            counts: outcomes of the pane, a series for each index.
            opened: event time at which the pane opens, epoch seconds; for
                detectors that know the hour of the day.
        """
        ...

    @property
    def evidence(self) -> FloatArray:
        """Statistic over its threshold, a value for each series; 1 and more is an alarm."""
        ...

    def state(self) -> State:
        """All that the detector remembers, as plain arrays."""
        ...

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        ...


def suffices(reference: ConfusionCounts) -> BoolArray:
    """Whether detectors can rest on a reference: 1,000 positives and 500 false positives.

    Args:
        reference: outcomes of any shape.

    Returns:
        Bool array of that shape.

    >>> bool(suffices(ConfusionCounts(tp=900, fn=100, fp=499, tn=9_000)))
    False
    """
    enough = reference.actual_positive >= FEWEST_POSITIVES
    return np.asarray(enough & (reference.fp >= FEWEST_FALSE_POSITIVES))


def page_threshold(false_pages_per_year: float, *, series: int, pane_seconds: float) -> float:
    """Threshold at which all series together page falsely at most so often.

    Args:
        false_pages_per_year: for the whole model; above 0.
        series: number of series watched, at least 1.
        pane_seconds: length of a pane.

    Returns:
        A = 2 · series · panes in the years between two false pages; the 2
        pays for the two sides. At least 1.

    Raises:
        ValueError: a value is not above 0.

    Source:
        Shin, Ramdas and Rinaldo 2023, Theorem 2.4 (average run length of e-detectors).

    >>> page_threshold(1, series=1, pane_seconds=300)
    210384.0
    """
    if not (false_pages_per_year > 0 and series > 0 and pane_seconds > 0):
        raise ValueError(
            f"page_threshold: all must be above 0, got false_pages_per_year="
            f"{false_pages_per_year!r}, series={series!r}, pane_seconds={pane_seconds!r}"
        )
    return max(2.0 * series * YEAR / (false_pages_per_year * pane_seconds), 1.0)


class ShiryaevRoberts:
    """Pages where recall falls or the false positive rate rises; prevalence cannot reach it.

    Two one-sided e-detectors. Their baselines are the reference's TPR and FPR,
    moved towards the alarm by z standard errors of the reference and by the
    tolerance, so that neither a small reference nor a small change pages: z falls
    from 2 at 1,000 reference positives to 1 at 10,000. A series whose reference has
    under 1,000 positives or 500 false positives is warming up and never alarms.

    Args:
        reference: what is normal; of the shape of the series, or a scalar for
            all. With `segments` its last axis is the segments of each series.
        threshold: mean statistic of a side at which it alarms; see `page_threshold`.
        dispersion: variance over that of independent rows; log likelihood
            ratios are divided by it. Broadcast to the reference.
        tolerance: change of log-odds that never pages.
        segments: the last axis of reference and panes is segments, whose
            evidence is summed inside one statistic: a change of their mix is
            no evidence.

    Raises:
        ValueError: threshold, tolerance or shapes that cannot be.

    Source:
        Shiryaev 1963, Roberts 1966; Shin, Ramdas and Rinaldo 2023 (e-detectors);
        McCullagh and Nelder 1989, ch. 9 (quasi-likelihood).

    >>> reference = ConfusionCounts(tp=32_000, fp=18_000, fn=8_000, tn=342_000)
    >>> detector = ShiryaevRoberts(reference=reference, threshold=1e5)
    >>> good = ConfusionCounts(tp=80, fp=45, fn=20, tn=855)
    >>> rarer = ConfusionCounts(tp=8, fp=50, fn=2, tn=940)
    >>> worse = ConfusionCounts(tp=50, fp=45, fn=50, tn=855)
    >>> [bool(detector.update(pane)) for pane in (good, rarer, worse, worse)]
    [False, False, True, True]
    """

    def __init__(
        self,
        *,
        reference: ConfusionCounts,
        threshold: float,
        dispersion: Dispersion | ArrayLike = 1.0,
        tolerance: float = TOLERANCE,
        segments: bool = False,
    ) -> None:
        _check_tolerance(tolerance)
        if segments and reference.shape == ():
            raise ValueError(
                "ShiryaevRoberts: segments need a reference along an axis, got a scalar"
            )
        self._segments = segments
        self._sides = TwoSidedStatistic(("recall", "false_positive_rate"), threshold)
        whole = reference.sum(axis=-1) if segments else reference
        self._warming_up = ~suffices(whole)
        z = _caution(whole.actual_positive)
        if segments:
            z = z[..., None]
        factors, steps = Dispersion.of(dispersion), np.array(STEPS)
        recall = _logit(reference.tp, reference.fn)
        recall -= z * _logit_error(reference.tp, reference.fn, factors.recall) + tolerance
        false = _logit(reference.fp, reference.tn)
        false += (
            z * _logit_error(reference.fp, reference.tn, factors.false_positive_rate) + tolerance
        )
        self._gains = [
            tuple(gain / factor for gain in gains(baseline, direction * steps))
            for baseline, direction, factor in (
                (recall, -1.0, factors.recall),
                (false, 1.0, factors.false_positive_rate),
            )
        ]

    @property
    def warming_up(self) -> BoolArray:
        """The reference does not suffice yet: such series never alarm."""
        return np.asarray(self._warming_up)

    @property
    def evidence(self) -> FloatArray:
        """Statistic over threshold of the stronger side; an alarm from 1 on, 0 at the start."""
        return self._sides.evidence

    def by_side(self) -> dict[str, FloatArray]:
        """Evidence of each side, `recall` (falling) and `false_positive_rate` (rising)."""
        return self._sides.by_side()

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Take in one closed pane, and say which series are in alarm after it.

        Args:
            counts: outcomes of the pane, of the shape of all panes before it, a
                series for each index (with `segments`, those along the last axis).
            opened: event time of the pane; of no use here.

        Returns:
            Bool array in the shape of the series. A pane without outcomes
            counts as time that passed.

        Raises:
            ValueError: the shape does not fit the reference or earlier panes.
        """
        del opened
        (recall_hit, recall_miss), (false_hit, false_miss) = self._gains
        evidence = self._sides.update(
            self._sum(recall_hit, counts.tp, recall_miss, counts.fn),
            self._sum(false_hit, counts.fp, false_miss, counts.tn),
        )
        return (evidence >= 1) & ~self._warming_up

    def _sum(
        self, hit: FloatArray, hits: CountArray, miss: FloatArray, misses: CountArray
    ) -> FloatArray:
        alternatives, shape = hit.shape[0], hit.shape[1:]
        axes = (alternatives,) + (1,) * (hits.ndim - len(shape)) + shape
        ratios: FloatArray = hit.reshape(axes) * hits
        ratios = ratios + miss.reshape(axes) * misses
        return np.asarray(ratios.sum(axis=-1)) if self._segments else ratios

    def state(self) -> State:
        """Evidence of each side as log M, (alternatives, *series); empty before the first pane."""
        return self._sides.state()

    def restore(self, state: State) -> None:
        """Go on from what `state` gave, with the same reference and threshold."""
        self._sides.restore(state)


class ClassRatioDetector:
    """Notes where the class ratio leaves its seasonal profile, on either side.

    An annotation, never a page: two one-sided e-detectors on the share of
    positives among the labelled, about what the profile expects of the hour.

    Args:
        profile: what is expected when; of one series, or an array of series.
        threshold: mean statistic of a side at which it alarms; see `page_threshold`.
        dispersion: variance over that of independent rows.
        tolerance: change of log-odds that is never noted; the profile's own,
            twice the scatter between days and at least .1, where not given.

    Raises:
        ValueError: threshold or tolerance that cannot be.

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
            _check_tolerance(tolerance)
        self._profile = profile
        self._sides = TwoSidedStatistic(("falling", "rising"), threshold)
        self._dispersion = Dispersion.of(dispersion).class_ratio
        self._tolerance = profile.tolerance if tolerance is None else np.asarray(tolerance)
        self._z = _caution(profile.positives)

    @property
    def warming_up(self) -> BoolArray:
        """The history of the profile has under 1,000 positives: such series never alarm."""
        return np.asarray(self._profile.positives < FEWEST_POSITIVES)

    @property
    def evidence(self) -> FloatArray:
        """Statistic over threshold of the stronger side; an alarm from 1 on, 0 at the start."""
        return self._sides.evidence

    def by_side(self) -> dict[str, FloatArray]:
        """Evidence of each side, `falling` and `rising`."""
        return self._sides.by_side()

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Take in one closed pane, and say which series have left their profile.

        Args:
            counts: outcomes of the pane, a series for each index.
            opened: event time at which the pane opens, epoch seconds.

        Returns:
            Bool array in the shape of the series.
        """
        expected, error = self._profile.expected(opened)
        margin = self._z * error * np.sqrt(self._dispersion) + self._tolerance
        positive, negative = counts.actual_positive, counts.actual_negative
        ratios = []
        for direction in (-1.0, 1.0):
            baseline = np.broadcast_to(expected + direction * margin, counts.shape)
            hit, miss = gains(baseline, direction * np.array(STEPS))
            ratios.append((hit * positive + miss * negative) / self._dispersion)
        return (self._sides.update(*ratios) >= 1) & ~self.warming_up

    def state(self) -> State:
        """Evidence of each side as log M, (alternatives, *series); empty before the first pane."""
        return self._sides.state()

    def restore(self, state: State) -> None:
        """Go on from what `state` gave, with the same profile and threshold."""
        self._sides.restore(state)


def _caution(positives: CountArray) -> FloatArray:
    """Standard errors of a reference that are given away: 2 at 1,000 positives to 1 at 10,000.

    Between them by the logarithm: a step would make a page later for a reference
    that has almost grown up.
    """
    grown = np.log(np.maximum(positives, 1) / FEWEST_POSITIVES)
    return np.asarray(2.0 - np.clip(grown / np.log(_MANY_POSITIVES / FEWEST_POSITIVES), 0.0, 1.0))


def _logit(hits: ArrayLike, misses: ArrayLike) -> FloatArray:
    return np.log((np.asarray(hits) + _HALF) / (np.asarray(misses) + _HALF))


def _logit_error(hits: ArrayLike, misses: ArrayLike, dispersion: FloatArray) -> FloatArray:
    variance = 1 / (np.asarray(hits) + _HALF) + 1 / (np.asarray(misses) + _HALF)
    return np.sqrt(dispersion * variance)


def _check_tolerance(tolerance: float) -> None:
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"detector: tolerance must be at least 0 and finite, got {tolerance!r}")
