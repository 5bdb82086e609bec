"""Rates of two versions at the same mix of cases.

Two versions rarely get the same traffic: a canary may get one region, or most of its cases on
a Monday. A rate is therefore compared within strata, each a combination of segment values in
a block of days, and averaged with the same weights for both versions. A stratum with n cases
of one version and m of the other has the weight nm/(n + m), under which the difference of the
rates scatters least (Mantel and Haenszel 1959). Where both versions have the same share of
each stratum, that is the mix of all cases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.metrics.ratio import FloatArray, ratio

_MOST_LEFT_OUT = 0.1
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
        block_days: length of the blocks of days that are strata.
    """

    rate: FloatArray
    cases: FloatArray
    within: FloatArray
    influence: FloatArray
    days: int
    left_out: float
    block_days: int

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


def equal_mix_rate(hits: FloatArray, cases: FloatArray) -> EqualMixRate:
    """Return a rate of two versions at the same mix of cases.

    The blocks of days are single days where at most a tenth of the cases then lies in strata
    that lack one version; else 2, 4, 8, … days, at most all.

    Args:
        hits: (2, days, segments), one row for each version.
        cases: the same shape, at least the hits.

    >>> hits, cases = np.array([[[90, 10]], [[9, 10]]]), np.array([[[100, 20]], [[10, 20]]])
    >>> equal_mix_rate(hits, cases).rate.round(3).tolist(), (hits.sum(2) / cases.sum(2)).ravel()
    ([0.69, 0.69], array([0.83333333, 0.63333333]))
    """
    hits, cases = np.asarray(hits, dtype=np.float64), np.asarray(cases, dtype=np.float64)
    days = hits.shape[1]
    width = _block_days(cases)
    starts = np.arange(0, max(days, 1), width)
    block_hits, block_cases = (np.add.reduceat(one, starts, axis=1) for one in (hits, cases))
    weight = np.nan_to_num(ratio(block_cases.prod(axis=0), block_cases.sum(axis=0)))
    if weight.any():
        weight = weight / weight.sum()
    share = np.nan_to_num(ratio(weight, block_cases))  # of one case, (2, blocks, segments)
    rate = (share * block_hits).sum(axis=(1, 2)) if weight.any() else np.full(2, np.nan)
    by_day = np.repeat(share, width, axis=1)[:, :days]
    of_segment = ratio((share * block_hits).sum(axis=1), weight.sum(axis=0))[:, None]
    squared = (weight * share).sum(axis=1)
    return EqualMixRate(
        rate=rate,
        cases=np.nan_to_num(ratio(1.0, squared.sum(axis=1))),
        within=_within(hits.sum(axis=1), cases.sum(axis=1), squared),
        influence=(by_day * (hits - np.nan_to_num(of_segment) * cases)).sum(axis=2),
        days=int((cases.sum(axis=2) > 0).all(axis=0).sum()),
        left_out=_left_out(block_cases),
        block_days=width,
    )


def _block_days(cases: FloatArray) -> int:
    days, width = cases.shape[1], 1
    while width < days:
        merged = np.add.reduceat(cases, np.arange(0, days, width), axis=1)
        if _left_out(merged) <= _MOST_LEFT_OUT:
            return width
        width *= 2
    return max(width, 1)


def _left_out(cases: FloatArray) -> float:
    in_both = np.asarray((cases > 0).all(axis=0))
    return float(1 - ratio(cases[:, in_both].sum(), cases.sum()))


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
