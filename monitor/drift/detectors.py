"""Detectors: sequential tests on closed panes for a fall of recall or a rise of FPR.

Given the labels, true positives among the actual positives and false positives among the
actual negatives are binomial, whatever the prevalence. A test of these two streams cannot
mistake rarer positives for a worse model, as tests of precision or of errors do.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.dispersion import Dispersion
from monitor.drift.shiryaev_roberts import State, TwoSidedStatistic, gains
from monitor.metrics.ratio import FloatArray

BoolArray = NDArray[np.bool_]

STEPS = (0.15, 0.3, 0.6, 1.2)
"""Grid of alternatives, in log-odds beyond the tolerated baseline."""
TOLERANCE = 0.1
"""Change of log-odds that never pages."""
YEAR = 31_557_600.0
"""Seconds of a Julian year."""

FEWEST_POSITIVES = 1_000
FEWEST_FALSE_POSITIVES = 500
"""Least numbers of actual positives and of false positives in a reference for detectors."""
FEWEST_COMPARED = 10
"""Least number of actual positives, and of negatives, in a reference to compare with."""
_MANY_POSITIVES = 10_000
_HALF = 0.5


class Detector(Protocol):
    """A detector of the engine: takes one closed pane after another and returns alarms."""

    @property
    def warming_up(self) -> BoolArray:
        """True for series whose reference is too small; they never alarm."""
        ...

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Add one closed pane and return the series that are in alarm after it.

        Args:
            counts: outcomes of the pane, one series for each index.
            opened: event time at which the pane opens, epoch seconds, for detectors that
                use the time of day.

        Returns:
            Bool array in the shape of the series.
        """
        ...

    @property
    def evidence(self) -> FloatArray:
        """Statistic over its threshold, in the shape of the series; an alarm from 1 on."""
        ...

    def state(self) -> State:
        """Return the serializable state, as plain arrays."""
        ...

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        ...


def is_too_small(reference: ConfusionCounts) -> bool:
    """Return whether a reference has too few cases of a class for any comparison.

    Args:
        reference: outcomes, a scalar.

    Returns:
        True with fewer than 10 actual positives, or negatives.

    >>> is_too_small(ConfusionCounts(tp=0, fp=2, fn=3, tn=23))
    True
    """
    return bool(min(reference.actual_positive, reference.actual_negative) < FEWEST_COMPARED)


def suffices(reference: ConfusionCounts) -> BoolArray:
    """Return True where a reference has at least 1,000 positives and 500 false positives.

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
    """Return the threshold that bounds the false pages of all series of a model together.

    Args:
        false_pages_per_year: bound on the expected number for the whole model, above 0.
        series: number of series watched, at least 1.
        pane_seconds: length of a pane, seconds, above 0.

    Returns:
        A = 2 · series · (panes in a year) / false_pages_per_year, at least 1; the factor
        2 accounts for the two sides.

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
    """Detector of a fall of recall and of a rise of the false-positive rate.

    A change of prevalence alone does not affect it. It consists of two one-sided
    e-detectors. Their baselines are the reference's TPR and FPR, moved towards the alarm
    by z standard errors of the reference and by the tolerance, so that neither a small
    reference nor a small change pages; z falls from 2 at 1,000 reference positives to 1
    at 10,000. A series whose reference has fewer than 1,000 positives or 500 false
    positives is warming up and never alarms.

    Args:
        reference: normal outcomes, in the shape of the series, or a scalar for all
            series. With `segments`, its last axis is the segments of each series.
        threshold: mean statistic at which a side alarms, above 0; see `page_threshold`.
        dispersion: variance over that of independent rows, at least 1; the log likelihood
            ratios are divided by it. Broadcasts to the reference.
        tolerance: change of log-odds that never pages, at least 0.
        margin: standard errors of the reference by which the baselines are moved at the
            least, at least 0.
        segments: True where the last axis of reference and panes is segments. Their
            evidence is summed in one statistic, so that a change of their mix is no
            evidence.

    Raises:
        ValueError: the threshold or the tolerance is out of range, or `segments` is set
            and the reference is a scalar.

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
        margin: float = 1.0,
        segments: bool = False,
    ) -> None:
        check_tolerance(tolerance)
        if segments and reference.shape == ():
            raise ValueError(
                "ShiryaevRoberts: segments need a reference along an axis, got a scalar"
            )
        self._segments = segments
        self._sides = TwoSidedStatistic(("recall", "false_positive_rate"), threshold)
        whole = reference.sum(axis=-1) if segments else reference
        self._warming_up = ~suffices(whole)
        z = np.asarray(np.maximum(baseline_margin(whole.actual_positive), margin))
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
        """True for series whose reference is too small; they never alarm."""
        return np.asarray(self._warming_up)

    @property
    def evidence(self) -> FloatArray:
        """Larger of the two statistics over the threshold; an alarm from 1 on, 0 at the start."""
        return self._sides.evidence

    def by_side(self) -> dict[str, FloatArray]:
        """Return the evidence of each side: `recall` (falling), `false_positive_rate` (rising)."""
        return self._sides.by_side()

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Add one closed pane and return the series that are in alarm after it.

        Args:
            counts: outcomes of the pane, one series for each index, in the same shape for
                every pane; with `segments`, the last axis is segments.
            opened: event time of the pane; not used.

        Returns:
            Bool array in the shape of the series: True where the mean statistic of a
            side is at or above the threshold. A pane without outcomes counts as time
            that passed.

        Raises:
            ValueError: the shape does not match the reference or earlier panes.
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
        """Return log M of each side, (alternatives, *series); empty before the first pane."""
        return self._sides.state()

    def restore(self, state: State) -> None:
        """Restore what `state` returned, given the same reference and threshold."""
        self._sides.restore(state)


def baseline_margin(positives: CountArray) -> FloatArray:
    """Return by how many standard errors z a detector moves its baseline towards the alarm.

    2 up to 1,000 reference positives, 1 from 10,000 on, linear in the logarithm between
    them: a step would make a reference of slightly fewer positives page much later.

    Args:
        positives: actual positives of the reference, any shape.

    Returns:
        z in [1, 2], same shape.

    >>> baseline_margin(np.array([1_000, 10_000])).tolist()
    [2.0, 1.0]
    """
    excess = np.log(np.maximum(positives, 1) / FEWEST_POSITIVES)
    return np.asarray(2.0 - np.clip(excess / np.log(_MANY_POSITIVES / FEWEST_POSITIVES), 0.0, 1.0))


def _logit(hits: ArrayLike, misses: ArrayLike) -> FloatArray:
    return np.log((np.asarray(hits) + _HALF) / (np.asarray(misses) + _HALF))


def _logit_error(hits: ArrayLike, misses: ArrayLike, dispersion: FloatArray) -> FloatArray:
    variance = 1 / (np.asarray(hits) + _HALF) + 1 / (np.asarray(misses) + _HALF)
    return np.sqrt(dispersion * variance)


def margin_of(detectors: int) -> float:
    """Return by how many standard errors each of several detectors moves its baseline.

    A reference that is off by more than its margin by chance alarms sooner or later. For all
    references together that is as likely as for one alone with a margin of one standard error.

    Args:
        detectors: how many, each with a reference of its own, at least 1.

    >>> margin_of(1), round(margin_of(20), 2)
    (1.0, 2.41)
    """
    return 1.0 if detectors == 1 else float(-ndtri(ndtr(-1.0) / detectors))


def check_tolerance(tolerance: float) -> None:
    """Check the tolerance of a detector.

    Args:
        tolerance: change of log-odds.

    Raises:
        ValueError: it is negative or not finite.
    """
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"detector: tolerance must be at least 0 and finite, got {tolerance!r}")
