"""Seasonal profile of prevalence, by time of day and day of the week.

`ClassRatioDetector` compares the class ratio with it. The profile is additive in log-odds:
a smooth curve over the day, and an offset for each day of the week once the history has
each of them twice. The scatter that remains between whole days sets the tolerance of the
detector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.components import DAY
from monitor.metrics.ratio import FloatArray

_WEEK_DAYS = 7
_FIRST_WEEKDAY = 3  # 1970-01-01 was a Thursday; weeks begin on Monday
_SMOOTHED_PHASES = 5
_LEAST_TOLERANCE = 0.1
_FEWEST_WEEKS = 2
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class SeasonalProfile:
    """Expected logit of prevalence by time of the day and day of the week.

    Attributes:
        phases: logit of prevalence at the middle of each phase, an equal part of the day
            in UTC, shape (phases, *series).
        errors: standard errors of `phases` for independent rows, same shape.
        weekdays: offsets in log-odds from Monday to Sunday, shape (7, *series); 0 where
            the history is shorter than two weeks.
        scatter: standard deviation of whole days about the profile in log-odds, in excess
            of that of independent rows, shape of the series.
        positives: number of actual positives in the history, shape of the series.
    """

    phases: FloatArray
    errors: FloatArray
    weekdays: FloatArray
    scatter: FloatArray
    positives: FloatArray

    @classmethod
    def learn(cls, opened: ArrayLike, counts: ConfusionCounts, *, phases: int = 24) -> Self:
        """Learn the profile from a history of panes.

        Args:
            opened: event times at which the panes open, epoch seconds, one axis.
            counts: outcomes of the panes along the last axis; one series for each index
                of the axes in front.
            phases: number of equal parts of the day, at least 1; each is smoothed with
                the two before and the two after it.

        Returns:
            The profile. A phase without outcomes has the prevalence of the history.

        Raises:
            ValueError: the numbers of times and of panes differ.

        >>> hours = 3600.0 * np.arange(24 * 14)
        >>> busy = np.where(np.arange(24 * 14) % 24 < 12, 200, 50)
        >>> counts = ConfusionCounts(tp=busy, fp=0, fn=0, tn=1000 - busy)
        >>> profile = SeasonalProfile.learn(hours, counts)
        >>> expected, error = profile.expected(6 * 3600.0)
        >>> round(float(1 / (1 + np.exp(-expected))), 3)
        0.201
        """
        times = np.asarray(opened, dtype=np.float64)
        if times.ndim != 1 or counts.shape[-1:] != times.shape:
            raise ValueError(
                f"SeasonalProfile: times and the last axis of the counts must match, "
                f"got {times.shape} and {counts.shape}"
            )
        panes = np.stack([counts.actual_positive, counts.actual_negative]).astype(np.float64)
        panes = np.moveaxis(panes, -1, 0)
        by_phase = _summed(panes, np.floor(_position(times, phases)).astype(np.int64), phases)
        smooth = _circular_sum(by_phase + _overall(panes), min(_SMOOTHED_PHASES, phases))
        curve = np.log(smooth[:, 0] / smooth[:, 1])
        (expected,) = _interpolated(times, curve)
        weekdays, scatter = _days(panes, expected, times)
        return cls(
            phases=curve,
            errors=np.sqrt((1 / smooth).sum(axis=1)),
            weekdays=weekdays,
            scatter=scatter,
            positives=panes[:, 0].sum(axis=0),
        )

    @property
    def tolerance(self) -> FloatArray:
        """Change of log-odds to tolerate: twice the scatter between days, at least .1."""
        return np.maximum(_LEAST_TOLERANCE, 2 * self.scatter)

    def expected(self, opened: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the logit of prevalence expected at these times, and its standard error.

        Args:
            opened: event times, epoch seconds, any shape.

        Returns:
            Two arrays of shape (*times, *series).
        """
        times = np.asarray(opened, dtype=np.float64)
        phases, errors = _interpolated(times, self.phases, self.errors)
        return phases + self.weekdays[_weekday(times)], errors


def _days(
    panes: FloatArray, expected: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Offsets of the days of the week, and the scatter of whole days beyond them."""
    day = np.floor(times / DAY).astype(np.int64)
    present, index = np.unique(day, return_inverse=True)
    cases = panes.sum(axis=1)
    hits = _summed(cases / (1 + np.exp(-expected)), index, present.size)
    observed = _summed(panes, index, present.size) + _HALF
    total = observed.sum(axis=1) - 2 * _HALF
    residual = np.log(observed[:, 0] / observed[:, 1])
    residual -= np.log((hits + _HALF) / (total - hits + _HALF))
    noise = (1 / observed).sum(axis=1)
    weight = np.where(total > 0, 1 / (noise + _LEAST_TOLERANCE**2), 0.0)
    weekday = _weekday(np.asarray(present * DAY, dtype=np.float64))
    weekdays = _weekday_offsets(residual, weight, weekday)
    left = residual - weekdays[weekday]
    variance = _mean(left**2 - noise, weight)
    return weekdays, np.sqrt(np.maximum(variance, 0.0))


def _weekday_offsets(
    residual: FloatArray, weight: FloatArray, weekday: NDArray[np.int64]
) -> FloatArray:
    """Mean residual of each day of the week, shrunk by its share of noise."""
    seen = np.bincount(weekday, minlength=_WEEK_DAYS)
    offsets = np.zeros((_WEEK_DAYS, *residual.shape[1:]))
    if seen.min() < _FEWEST_WEEKS:
        return offsets
    for number in range(_WEEK_DAYS):
        days = weekday == number
        offsets[number] = _mean(residual[days], weight[days])
    within = _mean((residual - offsets[weekday]) ** 2, weight) * weekday.size
    within /= weekday.size - _WEEK_DAYS
    between = np.maximum(offsets.var(axis=0, ddof=1), np.finfo(np.float64).tiny)
    return np.asarray(offsets * np.maximum(0.0, 1 - within / seen.mean() / between))


def _mean(values: FloatArray, weight: FloatArray) -> FloatArray:
    total = weight.sum(axis=0)
    return np.asarray((weight * values).sum(axis=0) / np.where(total > 0, total, 1.0))


def _weekday(times: FloatArray) -> NDArray[np.int64]:
    return (np.floor(times / DAY).astype(np.int64) + _FIRST_WEEKDAY) % _WEEK_DAYS


def _position(times: FloatArray, phases: int) -> FloatArray:
    """Time of day in phases, in [0, phases)."""
    return np.asarray(np.minimum(times % DAY / DAY * phases, np.nextafter(phases, 0)))


def _summed(values: FloatArray, index: NDArray[np.int64], size: int) -> FloatArray:
    """Sums along the first axis over equal indices: (size, ...)."""
    sums = np.zeros((size, *values.shape[1:]))
    np.add.at(sums, index, values)
    return sums


def _overall(panes: FloatArray) -> FloatArray:
    """One case, split between the classes in the proportion of the whole history."""
    both = panes.sum(axis=0) + _HALF
    return np.asarray(both / both.sum(axis=0))


def _circular_sum(values: FloatArray, width: int) -> FloatArray:
    offsets = range(-(width // 2), width - width // 2)
    return np.asarray(sum(np.roll(values, offset, axis=0) for offset in offsets))


def _interpolated(times: FloatArray, *curves: FloatArray) -> list[FloatArray]:
    """Circular linear interpolation of curves of one shape between the middles of the phases.

    Each is (phases, *series), its interpolation (*times, *series).
    """
    phases, *series = curves[0].shape
    position = _position(times, phases) - 0.5
    below = np.floor(position).astype(np.int64)
    share = (position - below).reshape(times.shape + (1,) * len(series))
    first, second = below % phases, (below + 1) % phases
    return [np.asarray((1 - share) * curve[first] + share * curve[second]) for curve in curves]
