"""Rates of two versions at the same mix of cases.

Two versions rarely get the same traffic: a canary may get one region, the nights, or most of its
cases on a Monday. A rate is therefore compared within strata, each a combination of segment
values in a block of hours of the day in a block of days, and averaged with the same weights for
both versions. A stratum with n cases of one version and m of the other has the weight nm/(n + m),
under which the difference of the rates scatters least (Mantel and Haenszel 1959). Where both
versions have the same share of each stratum, that is the mix of all cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from monitor.drift.version_outcomes import HOURS_A_DAY, VersionOutcomes
from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray, ratio

_MOST_LEFT_OUT = 0.1
_CASES_A_STRATUM = 10
"""On average; a stratum of k cases loses the information of one: its own rate is not known."""
_HOURS = (1, 2, 3, 6)
"""Lengths of the blocks of hours of the day."""
_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualMixRate:
    """One rate of two versions, A and B, over the strata that both have cases of.

    Attributes:
        rate: the rate of each version, (2,); NaN where no stratum has cases of both.
        cases: number of cases of one stratum with as much information, (2,).
        within: variance over that of as many cases of one stratum, (2,), in (0, 1]: below 1
            where strata differ in their rates.
        influence: effect of each day's cases on the rate, (2, days); it sums to 0.
        days: days that have cases of both versions.
        left_out: share of all cases in strata that lack one version, in [0, 1]; NaN where
            there is no case.
        block_days: length of the blocks of days.
        block_hours: length of the blocks of hours of the day; 24 where hours are no strata.
    """

    rate: FloatArray
    cases: FloatArray
    within: FloatArray
    influence: FloatArray
    days: int
    left_out: float
    block_days: int
    block_hours: int

    @property
    def smoothed(self) -> FloatArray:
        """The rates with half a case added to hits and misses, in (0, 1)."""
        known = np.nan_to_num(self.rate * self.cases)
        return np.asarray((known + _SMOOTHING) / (self.cases + 2 * _SMOOTHING))

    @property
    def variance(self) -> FloatArray:
        """Variance of the rates for independent cases, (2,); infinite without cases."""
        rate = self.smoothed
        with np.errstate(divide="ignore"):
            return np.asarray(self.within * rate * (1 - rate) / self.cases)


def equal_mix_rate(hits: FloatArray, cases: FloatArray, rows: VersionOutcomes) -> EqualMixRate:
    """Return a rate of two versions at the same mix of cases.

    The strata are as fine as cases allow: ten on average in a stratum, and at most a tenth more
    of them in strata that lack one version than with the widest blocks. Blocks of hours have 1, 2,
    3 or 6, which divide nights from days; blocks of days have 1, 2, 4, 8, … or all. Where no six
    hours of the day have cases of both versions, as where versions take turns by half days, hours
    are no strata.

    Args:
        hits: (2, rows), a row for each version.
        cases: the same shape, at least the hits.
        rows: hour and segment of each row.

    >>> hits, cases = np.array([[90, 10], [9, 10]]), np.array([[100, 20], [10, 20]])
    >>> rows = VersionOutcomes(np.array([0, 0]), np.array([0, 1]), cases)
    >>> equal_mix_rate(hits, cases, rows).rate.round(3).tolist(), hits.sum(1) / cases.sum(1)
    ([0.69, 0.69], array([0.83333333, 0.63333333]))
    """
    hits, cases = np.asarray(hits, dtype=np.float64), np.asarray(cases, dtype=np.float64)
    strata = _finest(cases, rows)
    hits_in, cases_in = strata.sums(hits), strata.sums(cases)
    weight = np.nan_to_num(ratio(cases_in.prod(axis=0), cases_in.sum(axis=0)))
    if weight.any():
        weight = weight / weight.sum()
    share = np.nan_to_num(ratio(weight, cases_in))  # of one case, (2, strata)
    rate = (share * hits_in).sum(axis=1) if weight.any() else np.full(2, np.nan)
    by_row = share[:, strata.of_row]
    in_segments = _Sums(rows.segment)
    weight_of_row = by_row * cases
    weights = in_segments.sums(weight_of_row)
    of_segment = np.nan_to_num(ratio(in_segments.sums(by_row * hits), weights))
    squared = in_segments.sums(by_row * weight_of_row)
    in_days = _Sums(np.unique(rows.day, return_inverse=True)[1])
    return EqualMixRate(
        rate=rate,
        cases=np.nan_to_num(ratio(1.0, squared.sum(axis=1))),
        within=_within(in_segments.sums(hits), in_segments.sums(cases), squared),
        influence=in_days.sums(by_row * (hits - of_segment[:, rows.segment] * cases)),
        days=int((in_days.sums(cases) > 0).all(axis=0).sum()),
        left_out=strata.left_out(cases),
        block_days=strata.days,
        block_hours=strata.hours,
    )


class _Sums:
    """Sums of rows by a number that each row has, from 0."""

    def __init__(self, of_row: Int64Array) -> None:
        self.of_row = of_row
        self._count = int(of_row.max(initial=-1)) + 1

    def sums(self, of_rows: FloatArray) -> FloatArray:
        """Return the sums of (versions, rows) as (versions, numbers)."""
        return np.array([np.bincount(self.of_row, one, self._count) for one in of_rows])


class _Strata(_Sums):
    """Rows by segment, block of days and block of hours of the day."""

    def __init__(self, rows: VersionOutcomes, days: int, hours: int) -> None:
        self.days, self.hours = days, hours
        block = (rows.day - rows.day.min(initial=rows.day.max(initial=0))) // days
        block = block * HOURS_A_DAY + rows.hour % HOURS_A_DAY // hours
        number = block * (int(rows.segment.max(initial=0)) + 1) + rows.segment
        super().__init__(np.unique(number, return_inverse=True)[1])

    def left_out(self, cases: FloatArray) -> float:
        """Return the share of the cases that lie in strata which lack a version."""
        inside = self.sums(cases)
        return float(1 - ratio(inside[:, (inside > 0).all(axis=0)].sum(), inside.sum()))

    def cases_a_stratum(self, cases: FloatArray) -> float:
        """Return the average number of cases of the strata that have any."""
        inside = self.sums(cases).sum(axis=0)
        return float(ratio(inside.sum(), np.count_nonzero(inside)))


def _finest(cases: FloatArray, rows: VersionOutcomes) -> _Strata:
    """Return the shortest blocks that leave out little and have cases enough."""
    lengths = list(_lengths(int(np.ptp(rows.day)) + 1 if len(rows.day) else 1))
    widest = _Strata(rows, lengths[-1], _HOURS[-1])
    candidates = [(days, hours) for hours in _HOURS for days in lengths]
    if widest.left_out(cases) == 1:
        widest = _Strata(rows, lengths[-1], HOURS_A_DAY)
        candidates = [(days, HOURS_A_DAY) for days in lengths]
    most = widest.left_out(cases) + _MOST_LEFT_OUT
    hours_needed = _CASES_A_STRATUM / _Strata(rows, 1, 1).cases_a_stratum(cases)  # at least
    for days, hours in sorted(candidates, key=lambda one: (one[0] * one[1], one[0])):
        if days * hours < hours_needed:
            continue
        strata = _Strata(rows, days, hours)
        if strata.cases_a_stratum(cases) >= _CASES_A_STRATUM and strata.left_out(cases) <= most:
            return strata
    return widest


def _lengths(days: int) -> Iterator[int]:
    """1, 2, 4, … and the first that is all days."""
    yield from takewhile(lambda length: length < days, (1 << n for n in range(64)))
    yield 1 << (days - 1).bit_length()


def _within(hits: FloatArray, cases: FloatArray, squared: FloatArray) -> FloatArray:
    """Share of the variance that is left within segments, each at its own rate.

    A segment gets one more case at the version's rate, so that few cases do not look certain.
    """
    whole = (hits.sum(axis=1) + _SMOOTHING) / (cases.sum(axis=1) + 2 * _SMOOTHING)
    rates = (hits + whole[:, None]) / (cases + 1)
    weights = np.nan_to_num(ratio(squared, squared.sum(axis=1, keepdims=True)))
    mean = (weights * rates).sum(axis=1)
    left = ratio((weights * rates * (1 - rates)).sum(axis=1), mean * (1 - mean))
    return np.where(np.isfinite(left), left, 1.0)
