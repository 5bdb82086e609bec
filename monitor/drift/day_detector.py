"""Detector that steps by days: a sequential test for a fall of the odds ratio.

The odds ratio of recall and false positives stays about as it was when the threshold slides,
and it scatters less from day to day than either rate. Each day enters by its influence on the
log odds ratio, which is linear in the counts: a day without false positives is no outlier.
Its variance is that of its rows plus that of days (`day_scatter`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.components import DAY, Component
from monitor.drift.day_scatter import DayScatter
from monitor.drift.detectors import STEPS, TOLERANCE, YEAR
from monitor.drift.dispersion import Dispersion
from monitor.drift.shiryaev_roberts import Mixture, State
from monitor.metrics.ratio import FloatArray

FEWEST_CASES = 20
"""Fewest actual positives, or negatives, of a segment value in the reference to watch it."""

_CLIP = 3.0
_SMALL_DAY = 0.5
_SMOOTHING = 0.5
_CEILING = 100.0
_ODDS_RATIO = Component.ODDS_RATIO


def day_threshold(false_pages_per_year: float) -> float:
    """Return the threshold that bounds the false alarms of a detector that steps by days.

    Args:
        false_pages_per_year: bound on the expected number, above 0.

    Returns:
        A = (days in a year) / false_pages_per_year, at least 1.

    Raises:
        ValueError: the number is not above 0.

    Source:
        Shin, Ramdas and Rinaldo 2023, Theorem 2.4 (average run length of e-detectors).

    >>> day_threshold(0.5)
    730.5
    """
    if not false_pages_per_year > 0:
        raise ValueError(
            f"day_threshold: false_pages_per_year must be above 0, got {false_pages_per_year!r}"
        )
    return max(YEAR / DAY / false_pages_per_year, 1.0)


class DayDetector:
    """Detector of a fall of the log odds ratio, updated once a day.

    A Shiryaev-Roberts statistic over falls of .15, .3, .6 and 1.2 beyond a baseline, which is
    the reference's log odds ratio less a tolerance of .1 and one standard error of the
    reference, or `margin` of them. With segments, the deviations of all values are summed, each
    from its own rates in the reference, so that a change of their mix is no evidence.

    Args:
        reference: normal outcomes, (segment values,); a scalar without segments.
        days: number of days they stem from, above 0.
        threshold: mean statistic at which it alarms, above 0; see `day_threshold`.
        sampling: variance of the reference's rows over that of independent ones, where
            labels are a sample.
        margin: standard errors of the reference, at least 0.

    Source:
        Shiryaev 1963, Roberts 1966; Hampel et al. 1986, §2.1 (influence function).

    >>> reference = ConfusionCounts(tp=2_240, fp=1_260, fn=560, tn=23_940)
    >>> detector = DayDetector(reference=reference, days=28, threshold=730.5)
    >>> scatter = DayScatter.learn([])
    >>> good = ConfusionCounts(tp=80, fp=45, fn=20, tn=855)
    >>> rarer = ConfusionCounts(tp=8, fp=50, fn=2, tn=940)
    >>> worse = ConfusionCounts(tp=50, fp=45, fn=50, tn=855)
    >>> days = [good, rarer, worse, worse, worse, worse]
    >>> [detector.update(day, scatter) for day in days]
    [False, False, False, False, False, True]
    """

    def __init__(
        self,
        *,
        reference: ConfusionCounts,
        days: float,
        threshold: float,
        sampling: Dispersion | ArrayLike = 1.0,
        margin: float = 1.0,
    ) -> None:
        if reference.shape == ():
            reference = reference[None]
        self._days = days
        self._threshold = threshold
        self._margin = margin
        self._sampling = Dispersion.of(sampling)
        self._recall = _Baseline(reference.tp, reference.fn)
        self._false = _Baseline(reference.fp, reference.tn)
        self._mixture = self._empty()

    @property
    def evidence(self) -> float:
        """Mean statistic over the threshold; an alarm from 1 on, 0 at the start."""
        return float(self._mixture.mean) / self._threshold

    def update(
        self,
        counts: ConfusionCounts,
        scatter: DayScatter,
        sampling: Dispersion | ArrayLike = 1.0,
    ) -> bool:
        """Add one day and return whether the detector alarms after it.

        Args:
            counts: outcomes of the day in the shape of the reference.
            scatter: how days scatter.
            sampling: variance of the day's rows over that of independent ones.

        Returns:
            True where the mean statistic is at or above the threshold. A day without
            positives, or without negatives, counts as time that passed.
        """
        if counts.shape == ():
            counts = counts[None]
        recall = self._recall.deviation(counts.tp, counts.fn, self._days)
        false = self._false.deviation(counts.fp, counts.tn, self._days)
        gains = np.zeros(len(STEPS))
        if recall is not None and false is not None:
            factors = Dispersion.of(sampling)
            rows = recall[1] * factors.recall + false[1] * factors.false_positive_rate
            gains = self._gains(recall[0] - false[0], float(rows), scatter)
        return float(self._mixture.update(gains)) >= self._threshold

    def restart(self) -> None:
        """Forget the evidence, as after an alarm."""
        self._mixture = self._empty()

    def state(self) -> State:
        """Return log M of each step, (4,)."""
        return {"log_statistics": self._mixture.log_statistics.copy()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned, given the same reference and threshold."""
        self._mixture = Mixture(state["log_statistics"], ceiling=self._ceiling)

    def _gains(self, deviation: float, rows: float, scatter: DayScatter) -> FloatArray:
        """Log likelihood ratios of a day for each step."""
        most = _CLIP * np.sqrt(rows + scatter.of_days(1)[_ODDS_RATIO])
        deviation = float(np.clip(deviation, -most, most))
        variance = rows + scatter.long_run[_ODDS_RATIO]
        own = self._recall.variance * self._sampling.recall
        own += self._false.variance * self._sampling.false_positive_rate
        own += scatter.of_days(self._days)[_ODDS_RATIO]
        baseline = -TOLERANCE - self._margin * np.sqrt(own)
        step = np.array(STEPS)
        return np.asarray(
            (step * (baseline - deviation) - step**2 / 2) / variance, dtype=np.float64
        )

    @property
    def _ceiling(self) -> float:
        # A ceiling of some thresholds lets the statistic fall soon after a recovery.
        return float(np.log(self._threshold) + np.log(_CEILING))

    def _empty(self) -> Mixture:
        return Mixture(np.full(len(STEPS), -np.inf), ceiling=self._ceiling)


class _Baseline:
    """The rate of one class of cases in the reference, by segment value."""

    def __init__(self, hits: CountArray, misses: CountArray) -> None:
        cases = np.asarray(hits + misses, dtype=np.float64)
        self._rate = (hits + _SMOOTHING) / (cases + 2 * _SMOOTHING)
        known = cases >= FEWEST_CASES if len(cases) > 1 else np.ones(1, dtype=bool)
        self._slope = np.where(known, self._rate * (1 - self._rate), 0.0)
        self._known = known
        self._usual = float((cases * self._slope).sum())

    @property
    def variance(self) -> float:
        """Variance of the reference's common log-odds; infinite without cases."""
        return 1 / self._usual if self._usual else np.inf

    def deviation(
        self, hits: CountArray, misses: CountArray, days: float
    ) -> tuple[float, float] | None:
        """Common deviation of a day's log-odds and its variance; None without cases."""
        cases = np.asarray(hits + misses, dtype=np.float64)
        information = float((cases * self._slope).sum())
        if not information:
            return None
        # A day with few cases counts less than its few cases would make it deviate.
        scale = max(information, _SMALL_DAY * self._usual / days)
        excess = float(np.where(self._known, hits - cases * self._rate, 0.0).sum())
        return excess / scale, information / scale**2
