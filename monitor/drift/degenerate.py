"""Predictions that have left all that the past of their model knows, found without labels.

    always_negative   no case is flagged any more
    always_positive   every case is flagged
    constant_score    every case gets the same score, to a thousandth
    narrow_scores     scores lie closer together than those of as many cases of any day
    rate_far_below    under a third of the lowest rate of flagged cases that the past had
    rate_far_above    over three times the highest one

The first two rest on silence: a stretch without any flagged case (or any other) that lasts
until the past excludes it, see `monitor.drift.known_predictions`. At few flagged cases an hour
that takes longer. The third rests on a run of cases that share one score, from 40 cases on, more
where a model gives many cases the same score anyway. The fourth is that of
`monitor.drift.score_spread`, over the last 1, 6 and 24 hours of a day (UTC). The last two
compare the last 1, 6 and 24 hours with the stretches of that length in the past, and need a
chance (Poisson) below 1e-7 at the extreme of the past.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr, pdtrc

from monitor.clock import HOUR_MS
from monitor.drift.known_predictions import (
    FEWEST_EXPECTED,
    LENGTHS,
    Hours,
    KnownPredictions,
    running_silences,
    trailing,
)
from monitor.events.columns import Int64Array

BoolArray = NDArray[np.bool_]

_TIMES = 3.0
_CHANCE = 1e-7
_OTHERS_EXPECTED = 20
_TWICE = 2
_BACK_TIMES = 1.5
_BACK_EXPECTED, _BACK_CASES, _BACK_SHARE = 3, 3, 0.5


class Degeneracy(StrEnum):
    """Fault of predictions that are unlike any of the model's past."""

    CONSTANT_SCORE = "constant_score"
    ALWAYS_NEGATIVE = "always_negative"
    ALWAYS_POSITIVE = "always_positive"
    NARROW_SCORES = "narrow_scores"
    RATE_FAR_BELOW = "rate_far_below"
    RATE_FAR_ABOVE = "rate_far_above"


DEAD = (Degeneracy.CONSTANT_SCORE, Degeneracy.ALWAYS_NEGATIVE, Degeneracy.ALWAYS_POSITIVE)
"""Kinds that no working model shows; the others may be meant."""
SIDES = (Degeneracy.ALWAYS_NEGATIVE, Degeneracy.ALWAYS_POSITIVE)
"""In the order of the sides, by the cases that are missing."""


class Found(NamedTuple):
    """Predictions that have left all that the past knows, at one moment.

    Attributes:
        kind: what is wrong.
        began: first moment of the stretch that shows it, epoch milliseconds.
        times: rate of flagged cases over the extreme one of the past; NaN for other kinds.
        length: place in `LENGTHS` of the stretch whose rate that is; 0 for other kinds.
    """

    kind: Degeneracy
    began: int
    times: float = float("nan")
    length: int = 0


class SameScores(NamedTuple):
    """Runs of cases that share one score, as of the end of each of some stretches.

    Attributes:
        began: first moment of the run that has not ended, epoch milliseconds.
        cases: number of its cases; 0 where the last cases differ.
    """

    began: Int64Array
    cases: Int64Array


def same_scores(opens: Int64Array, scores: Int64Array) -> SameScores:
    """Return the runs of stretches in which all scored cases have one score.

    Stretches without scored cases neither end a run nor add to it.

    Args:
        opens: first moment of each stretch, epoch milliseconds, rising.
        scores: scored cases by bin, (stretches, bins).

    >>> cases = np.array([[3, 1], [5, 0], [0, 0], [2, 0], [0, 4]])
    >>> same_scores(np.arange(5), cases).cases.tolist()
    [0, 5, 5, 7, 4]
    """
    total = scores.sum(axis=1)
    scored = np.flatnonzero(total > 0)
    bins, most = np.zeros_like(total), np.zeros_like(total)
    bins[scored] = scores[scored].argmax(axis=1)  # of these alone: most of a night has none
    most[scored] = scores[scored, bins[scored]]
    runs, began, cases, score = [], 0, 0, -1
    columns = (one.tolist() for one in (opens, total, bins, most))
    for opened, here, at, largest in zip(*columns, strict=True):
        if here > 0:
            if largest < here:
                cases, score = 0, -1
            elif cases == 0 or score != at:
                began, cases, score = opened, here, at
            else:
                cases += here
        runs.append((began, cases))
    return SameScores(*np.array(runs, dtype=np.int64).reshape(-1, 2).T)


def fewest_same(known: KnownPredictions, longest: int) -> float:
    """Return how many successive cases of one score are out of the usual.

    So many that 20 others are expected on a day with half as many others as the day that had
    fewest, and twice the longest run of the past.

    Args:
        known: what is usual.
        longest: number of cases of the longest run of the past.

    Returns:
        Infinite where the past has no scores, or only one.
    """
    if not known.modal_share < 1:
        return float("inf")
    return max(_OTHERS_EXPECTED * 2 / (1 - known.modal_share), float(_TWICE * longest))


class Present:
    """Stretches of event time up to the present, beside what is usual.

    Args:
        known: what is usual.
        hours: the stretches.
        ends: first moment after each, epoch milliseconds.

    Attributes:
        known, ends: as given.
    """

    def __init__(self, known: KnownPredictions, hours: Hours, ends: Int64Array) -> None:
        self.known = known
        self._opens, self.ends = hours.opens, ends
        self._cases = hours.of_sides
        self._expected = known.expected(hours)
        self._silences = running_silences(self._cases, self._expected)
        both = np.stack([self._cases[0], self._expected[0]])
        self._seen, self._due = np.stack(list(trailing(both, self._opens, ends)), axis=1)
        self._far = self._far_from_known()

    def _far_from_known(self) -> BoolArray:
        """Test each length for a rate far below or far above the past, (2, lengths, stretches)."""
        lowest, highest = self.known.lowest[:, None], self.known.highest[:, None]
        enough = self._due >= FEWEST_EXPECTED
        below = enough & (self._seen * _TIMES < self._due * lowest)
        above = enough & (self._seen > self._due * highest * _TIMES)
        below[below] = pdtr(self._seen[below], (self._due * lowest)[below]) < _CHANCE
        above[above] = pdtrc(self._seen[above] - 1, (self._due * highest)[above]) < _CHANCE
        return np.stack([below, above])

    @property
    def suspicious(self) -> BoolArray:
        """Test the flagged cases at the end of each stretch."""
        silent = (self._silences >= self.known.silence[:, None]).any(axis=0)
        return np.asarray(silent | self._far.any(axis=(0, 1)))

    def found(self, at: int) -> Found | None:
        """Return what is wrong at the end of a stretch; None where nothing is.

        Args:
            at: number of the stretch.
        """
        for side, kind in enumerate(SIDES):
            if self._silences[side, at] >= self.known.silence[side]:
                seen = np.flatnonzero(self._cases[side, : at + 1] > 0)
                began = self._opens[0] if not len(seen) else self.ends[seen[-1]]
                return Found(kind, int(began))
        extremes = self.known.lowest, self.known.highest
        for kind, far, extreme in zip(
            (Degeneracy.RATE_FAR_BELOW, Degeneracy.RATE_FAR_ABOVE), self._far, extremes, strict=True
        ):
            for i in np.flatnonzero(far[:, at])[-1:]:
                times = self._seen[i, at] / (self._due[i, at] * extreme[i])
                began = int(self.ends[at]) - LENGTHS[i] * HOUR_MS
                return Found(kind, began, float(times), int(i))
        return None

    def is_back(self, wrong: Found, at: int, since: int) -> bool:
        """Return whether flagged cases are certainly as usual again.

        Cases of a side that was silent are back where the last 1, 6 or 24 hours have three of
        them, and half of what a poor day has. A rate is back where a whole stretch of the
        length that showed the fault lies within 1.5 times the extreme of the past.

        Args:
            wrong: what was wrong; neither `constant_score` nor `narrow_scores`.
            at: number of the stretch at whose end it is asked.
            since: the moment of the alarm, epoch milliseconds; earlier cases do not count.
        """
        if wrong.kind in SIDES:
            return any(self._side_is_back(SIDES.index(wrong.kind), at, since, n) for n in LENGTHS)
        if self.ends[at] - LENGTHS[wrong.length] * HOUR_MS < since:
            return False
        seen, due = self._seen[wrong.length, at], self._due[wrong.length, at]
        if due < FEWEST_EXPECTED:
            return False
        if wrong.kind is Degeneracy.RATE_FAR_BELOW:
            return bool(seen * _BACK_TIMES > due * self.known.lowest[wrong.length])
        return bool(seen < due * self.known.highest[wrong.length] * _BACK_TIMES)

    def _side_is_back(self, side: int, at: int, since: int, hours: int) -> bool:
        first = np.searchsorted(self._opens, max(since, self.ends[at] - hours * HOUR_MS))
        seen, due = (
            float(table[side, first : at + 1].sum()) for table in (self._cases, self._expected)
        )
        enough = due >= _BACK_EXPECTED and seen >= _BACK_CASES
        return enough and seen >= _BACK_SHARE * float(self.known.least[side]) * due
