"""The usual predictions of a model, from its past: how often it flags, and how that scatters.

A model that has died flags nothing, flags everything, or gives every case the same score. Its
predictions show this before any label comes. This module learns from the hours of the past how
far predictions go while nothing is wrong; `monitor.drift.degenerate` compares the present with it.

A case is *flagged* where it is predicted positive. Each of two sides is watched: side 0 counts
flagged cases, whose absence is `always_negative`, side 1 the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, gammaincinv, logit

from monitor.clock import DAY_MS, HOUR_MS
from monitor.events.columns import FloatArray, Int64Array
from monitor.metrics.ratio import ratio

HOURS_A_DAY = 24
LENGTHS = (1, 6, 24)
"""Lengths of the stretches whose rates of flagged cases are compared with the past, hours."""
FEWEST_DAYS = 7
"""Days with predictions from which on the past is long enough to know what is usual."""

_SAVED_AS = "crowd"
"""The name of `modal_share` in saved states."""
_FEWEST_CASES = 20
_FALSE_ALARMS_A_YEAR = 0.02
_PRIOR_DAYS, _PRIOR_SCATTER = 4, 0.3
_CAUTION = 0.1
_TWICE = 2.0
_RETURNED = 2.0
_SHRINK = 20
FEWEST_EXPECTED = 5
"""Least expected flagged cases of a stretch whose rate is compared with the past."""
_FEWEST_STRETCHES = 100
_SILENCES = np.geomspace(6, 6_000, 100)
_DEVIATIONS = np.linspace(-6, 6, 49)
_WEIGHTS = np.exp(-(_DEVIATIONS**2) / 2) / np.exp(-(_DEVIATIONS**2) / 2).sum()


class Hours(NamedTuple):
    """Numbers of predictions by stretches of event time, in order of time, without overlap.

    Attributes:
        opens: first moment of each stretch, epoch milliseconds.
        positive: cases predicted positive in each.
        total: all cases in each.
    """

    opens: Int64Array
    positive: Int64Array
    total: Int64Array

    def take(self, chosen: Any) -> Hours:
        """Return some of the stretches, by a mask, a slice or numbers."""
        return Hours(*(column[chosen] for column in self))

    @property
    def of_sides(self) -> Int64Array:
        """Flagged cases and the others, (2, stretches)."""
        return np.stack([self.positive, self.total - self.positive])


class KnownPredictions(NamedTuple):
    """The usual predictions of one model, from its past.

    Attributes:
        profile: share of flagged cases at each hour of the day (UTC), (24,), in (0, 1).
        silence: for each side, how many of its cases must be expected in a stretch without
            any before the stretch is out of the usual, (2,); infinite where the past has too
            few of them.
        least: for each side, the number of cases over the expected one on a poor day, (2,).
        lowest: lowest number of flagged cases over the expected one that a stretch of each
            of `LENGTHS` had, (3,); NaN where none of them expects enough.
        highest: the same for the highest.
        modal_share: largest share of the scored cases of a day that had one score; NaN without
            a day of scores.
    """

    profile: FloatArray
    silence: FloatArray
    least: FloatArray
    lowest: FloatArray
    highest: FloatArray
    modal_share: float

    def state(self) -> dict[str, Any]:
        """Serializable state."""
        known = self._asdict()
        known[_SAVED_AS] = known.pop("modal_share")
        return known

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> KnownPredictions:
        """Return what `state` returned."""
        known = dict(state)
        return cls(modal_share=known.pop(_SAVED_AS), **known)

    def expected(self, hours: Hours) -> FloatArray:
        """Return how many flagged cases and others are expected, (2, stretches)."""
        share = self.profile[hours.opens // HOUR_MS % HOURS_A_DAY]
        return np.stack([hours.total * share, hours.total * (1 - share)])

    @classmethod
    def learn(cls, past: Hours, modal_share: float) -> KnownPredictions | None:
        """Learn from whole hours.

        The number of cases that a silence must leave unseen follows from the scatter of days:
        the rate of a day deviates on the logit scale with the standard deviation that the past
        shows, raised for what few days do not show. A model that is as ever has a silence of
        that length .02 times a year on each side. It is also at least twice the longest silence
        that the past has.

        Args:
            past: hours in which nothing was wrong, those without predictions included or not.
            modal_share: largest share of a day's scored cases that had one score; NaN without any.

        Returns:
            None while the past has under seven days with predictions, or too few cases.
        """
        past = past.take(past.total > 0)
        days, day = np.unique(past.opens // DAY_MS, return_inverse=True)
        cases, enough = past.of_sides, len(days) >= FEWEST_DAYS
        if not enough or cases.sum(axis=1).max() < _FEWEST_CASES:
            return None
        profile = _profile(past)
        of_sides, of_lengths = np.full(2, np.nan), np.full(len(LENGTHS), np.nan)
        found = cls(profile, of_sides, of_sides, of_lengths, of_lengths, modal_share)
        expected = found.expected(past)
        by_day = np.stack([np.bincount(day, row) for row in (*cases, *expected)]).astype(np.float64)
        scatter = _scatter(by_day[:2], by_day[2:])
        rare = cases.sum(axis=1) < _FEWEST_CASES
        shares = np.clip(ratio(cases.sum(axis=1), cases.sum()), 1e-9, 1 - 1e-9)
        relative = [_relative(float(share), scatter) for share in shares]
        longest = running_silences(cases, expected).max(axis=1)
        silence = [
            _silence(*of_side)
            for of_side in zip(relative, by_day[:2].mean(axis=1), longest, strict=True)
        ]
        poor = np.array([np.interp(-_RETURNED, _DEVIATIONS, one) for one in relative])
        lowest, highest = _extremes(past, expected[0])
        return found._replace(
            silence=np.where(rare, np.inf, silence), least=poor, lowest=lowest, highest=highest
        )


def running_silences(cases: Int64Array, expected: FloatArray) -> FloatArray:
    """Return how many cases the stretch without any that ends at each column expects.

    Args:
        cases: counts by side and time, (2, stretches).
        expected: expected ones, same shape.

    >>> running_silences(np.array([[1, 0, 0, 2, 0]]), np.full((1, 5), 1.5))
    array([[0. , 1.5, 3. , 0. , 1.5]])
    """
    unseen = np.cumsum(expected, axis=1)
    at_the_last = np.where(cases > 0, unseen, 0.0)
    return unseen - np.maximum.accumulate(at_the_last, axis=1)


def trailing(
    values: FloatArray | Int64Array,
    opens: Int64Array,
    ends: Int64Array,
    lengths: Iterable[int] = LENGTHS,
) -> Iterator[FloatArray]:
    """Sum stretches over the hours up to the end of each.

    Args:
        values: of each stretch along the last axis.
        opens: first moment of each stretch, epoch milliseconds, rising.
        ends: first moment after each.
        lengths: of the sums, hours.

    Yields:
        For each length, sums in the shape of `values`; stretches that open before it count not at
        all.
    """
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=values.dtype)
    values.cumsum(axis=-1, out=sums[..., 1:])
    for hours in lengths:
        first = opens.searchsorted(ends - hours * HOUR_MS)
        yield sums[..., 1:] - sums[..., first]


def _profile(past: Hours) -> FloatArray:
    """Share of flagged cases by hour of the day, drawn toward that of all where cases are few."""
    hour = past.opens // HOUR_MS % HOURS_A_DAY
    positive, total = (
        np.bincount(hour, column, HOURS_A_DAY) for column in (past.positive, past.total)
    )
    whole = (positive.sum() + 0.5) / (total.sum() + 1)
    return np.asarray((positive + _SHRINK * whole) / (total + _SHRINK))


def _scatter(cases: FloatArray, expected: FloatArray) -> float:
    """Standard deviation of a day's logit of the flagged share, raised for few days.

    Counts' own scatter is taken out. Four days of .3, a usual scatter, are added.
    """
    odds = np.log((cases[0] + 0.5) / (cases[1] + 0.5)) - np.log(expected[0] / expected[1])
    own = (1 / (cases + 0.5)).sum(axis=0)
    weights = 1 / (own + _PRIOR_SCATTER**2)
    centre = np.average(odds, weights=weights)
    seen = max(0.0, float(np.average((odds - centre) ** 2 - own, weights=weights)))
    known = len(odds) - 1
    variance = (known * seen + _PRIOR_DAYS * _PRIOR_SCATTER**2) / (known + _PRIOR_DAYS)
    behind = known + _PRIOR_DAYS
    return float(np.sqrt(variance * behind / (2 * gammaincinv(behind / 2, _CAUTION))))


def _relative(share: float, scatter: float) -> FloatArray:
    """Rates of days by their deviation, over the mean rate."""
    rates = expit(logit(share) + scatter * _DEVIATIONS)
    return np.asarray(rates / (_WEIGHTS @ rates))


def _silence(relative: FloatArray, a_day: float, longest: float) -> float:
    """Expected cases of a silence that a year holds .02 times, at least twice the longest."""
    starts = 365 * a_day * _WEIGHTS * relative
    a_year = np.exp(-np.outer(_SILENCES, relative)) @ starts
    rare = np.flatnonzero(a_year <= _FALSE_ALARMS_A_YEAR)
    return max(_TWICE * longest, float(_SILENCES[rare[0]]) if len(rare) else np.inf)


def _extremes(past: Hours, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest flagged cases over expected ones, by `LENGTHS`."""
    lowest, highest = np.full((2, len(LENGTHS)), np.nan)
    both = np.stack([past.positive, expected])
    for i, (seen, due) in enumerate(trailing(both, past.opens, past.opens + HOUR_MS)):
        relative = ratio(seen, due)[due >= FEWEST_EXPECTED]
        if len(relative) >= _FEWEST_STRETCHES:
            lowest[i], highest[i] = relative.min(), relative.max()
    return lowest, highest
