"""Rates of two versions at the same mix of cases.

Two versions rarely get the same traffic: a canary may get one region, the nights, or most of its
cases on a Monday. A rate is therefore compared within strata, each a combination of segment
values in a block of hours of the day in a block of days, and averaged with the same weights for
both versions. A stratum with n cases of one version and m of the other has the weight nm/(n + m),
under which the difference of the rates scatters least (Mantel and Haenszel 1959). Where both
versions have the same share of each stratum, that is the mix of all cases.

Single hours of single days need many cases. Where there are fewer, long blocks of days with short
blocks of hours leave days mixed, and the other way round; `blocks` names both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from monitor.drift.version_outcomes import HOURS_A_DAY, VersionOutcomes
from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray, ratio

_CASES_A_STRATUM = 10
"""On average; a stratum of k cases loses the information of one: its own rate is not known."""
_ALL_DAYS = 1 << 32
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
        left_out: share of all cases in segments and quarters of the day that lack one version
            on all days, in [0, 1]; NaN where there is no case.
    """

    rate: FloatArray
    cases: FloatArray
    within: FloatArray
    influence: FloatArray
    days: int
    left_out: float

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


class Blocks(NamedTuple):
    """Lengths of the blocks of time that strata are made of.

    Attributes:
        days: of days.
        hours: of hours of the day.
    """

    days: int
    hours: int


def blocks(cases: FloatArray, rows: VersionOutcomes) -> list[Blocks]:
    """Return the blocks to compare a rate in, one for each length of hours, the shortest first.

    Hours have blocks of 1, 2, 3 and 6, which divide nights from days; days have the shortest of 1,
    2, 4, … or all in which strata have ten cases on average. Hours for which all days are too short
    are left out, but for 6.

    Args:
        cases: (2, rows), a row for each version.
        rows: hour and segment of each row.

    >>> rows = VersionOutcomes(np.arange(48), np.zeros(48, dtype=np.int64), np.zeros((2, 48, 4)))
    >>> [tuple(one) for one in blocks(np.full((2, 48), 3.0), rows)]
    [(2, 1), (1, 2), (1, 3), (1, 6)]
    """
    found = []
    lengths = list(_lengths(int(np.ptp(rows.day)) + 1 if len(rows.day) else 1))
    for hours in _HOURS:
        shortest = (
            days
            for days in lengths
            if _Strata(rows, Blocks(days, hours)).cases_a_stratum(cases) >= _CASES_A_STRATUM
        )
        days = next(shortest, None)
        if days is not None or hours == _HOURS[-1]:
            found.append(Blocks(days or lengths[-1], hours))
    return found


def equal_mix_rate(
    hits: FloatArray, cases: FloatArray, rows: VersionOutcomes, blocks: Blocks
) -> EqualMixRate:
    """Return a rate of two versions at the same mix of cases.

    Args:
        hits: (2, rows), a row for each version.
        cases: the same shape, at least the hits.
        rows: hour and segment of each row.
        blocks: of time.

    >>> hits, cases = np.array([[90, 10], [9, 10]]), np.array([[100, 20], [10, 20]])
    >>> rows = VersionOutcomes(np.array([0, 0]), np.array([0, 1]), cases)
    >>> found = equal_mix_rate(hits, cases, rows, Blocks(1, 1))
    >>> found.rate.round(3).tolist(), hits.sum(1) / cases.sum(1)
    ([0.69, 0.69], array([0.83333333, 0.63333333]))
    """
    hits, cases = np.asarray(hits, dtype=np.float64), np.asarray(cases, dtype=np.float64)
    strata = _Strata(rows, blocks)
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
        left_out=_Strata(rows, Blocks(_ALL_DAYS, _HOURS[-1])).left_out(cases),
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

    def __init__(self, rows: VersionOutcomes, blocks: Blocks) -> None:
        days, hours = blocks
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
