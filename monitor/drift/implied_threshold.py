"""The threshold that shares of flagged cases and the scores of all imply, before and after.

A point that moves along the ROC curve does so because the threshold moved, or because all scores
did. Rates do not tell the two apart. Where cases are flagged by one threshold, as many have a
score above it as are flagged, so that both numbers together give it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from monitor.counts import CountArray
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray
from monitor.metrics.score_intervals import Interval

_FEWEST_DAYS = 5
_FEW_UNSCORED = 0.005
"""Cases without a score, as a share of the flagged ones, that leave the threshold known: it is off
by at most as many cases."""
_UNLIKE = 0.1
"""Share of the flagged cases by which their positives differ from those above the threshold, where
flags do not follow the scores."""


class FlaggedScores(NamedTuple):
    """Flagged cases, and the scores of all, by day.

    Attributes:
        flagged: cases predicted positive, (days,).
        scores: all that have a score, by it and by actual class, (days, bins).
        unscored: cases without a score over all days, flagged or not.
    """

    flagged: CountArray
    scores: ScoreHistogram
    unscored: int = 0

    @property
    def cases(self) -> CountArray:
        """All by score, (days, bins)."""
        return self.scores.positive + self.scores.negative

    def follow_scores(self, true_positives: int) -> bool:
        """Return whether cases are flagged by their scores, and hardly any of them has none.

        Args:
            true_positives: flagged cases that are positive, over all days.

        >>> one = np.array([[90, 0, 10]])
        >>> scores = ScoreHistogram(
        ...     positive=one // 10, negative=one - one // 10, unlabelled=0 * one)
        >>> period = FlaggedScores(np.array([10]), scores)
        >>> period.follow_scores(1), period.follow_scores(8)
        (True, False)
        """
        flagged, positive = int(self.flagged.sum()), self.scores.positive.sum(axis=0)
        if self.unscored > _FEW_UNSCORED * flagged:
            return False
        threshold = _threshold(flagged, self.cases.sum(axis=0), self.unscored)
        above = np.append(np.cumsum(positive[::-1])[::-1], 0)
        expected = np.interp(threshold, np.linspace(0, 1, len(above)), above)
        return not abs(expected - true_positives) > _UNLIKE * flagged


class ImpliedThresholds(NamedTuple):
    """The thresholds of two periods, and what the later scores would do at the earlier one.

    Intervals are at 95 %, of the scatter between days (delete-one-day jackknife), by Student's t.

    Attributes:
        before: in units of the score.
        after: likewise.
        moved: after minus before.
        at_before: share of the later cases that has a score above the earlier threshold, with
            both classes as frequent as before, minus the share that was flagged before: what the
            scores alone did.
    """

    before: Interval
    after: Interval
    moved: Interval
    at_before: Interval

    @property
    def is_raised(self) -> bool | None:
        """Whether the threshold was raised, or lowered; None where that is not certain."""
        return self.moved.estimate > 0 if _is_certain(self.moved) else None

    @property
    def is_raised_alone(self) -> bool | None:
        """The same where the scores did not certainly shift; None where they did, too."""
        return None if _is_certain(self.at_before) else self.is_raised

    @property
    def scores_shifted(self) -> bool:
        """Whether the scores certainly shifted, at a threshold that did not certainly move."""
        return _is_certain(self.at_before) and not _is_certain(self.moved)


def implied_thresholds(before: FlaggedScores, after: FlaggedScores) -> ImpliedThresholds | None:
    """Return the thresholds of two periods; None with under five days, or where none is implied.

    None is where a period lacks a class, or where nothing, or everything, is flagged in it.

    Args:
        before: the earlier period.
        after: the later one.

    >>> rng = np.random.default_rng(0)
    >>> cases = rng.multinomial(1000, np.full(100, .01), size=20)
    >>> none = np.zeros_like(cases)
    >>> scores = ScoreHistogram(positive=cases // 4, negative=cases - cases // 4, unlabelled=none)
    >>> low, high = (FlaggedScores(cases[:, at:].sum(axis=1), scores) for at in (30, 60))
    >>> found = implied_thresholds(low, high)
    >>> round(found.before.estimate, 2), round(found.after.estimate, 2), found.is_raised
    (0.3, 0.6, True)
    """
    if min(len(before.flagged), len(after.flagged)) < _FEWEST_DAYS:
        return None
    old, new = _by_left_out(before), _by_left_out(after)
    mix = float(before.scores.positive.sum() / max(1, before.cases.sum()))
    positive, negative = map(_left_out, (after.scores.positive, after.scores.negative))
    known = np.isfinite(old).all() and np.isfinite(new).all()
    if not known or not positive.any(axis=1).all() or not negative.any(axis=1).all():
        return None
    cases = _left_out(before.cases.sum(axis=1)) + before.unscored
    share = _left_out(before.flagged) / cases
    # The days of before move its threshold and its share together.
    old_days = np.array([_share_above(at, positive[0], negative[0], mix) for at in old]) - share
    pairs = zip(positive, negative, strict=True)
    new_days = np.array([_share_above(old[0], *classes, mix) for classes in pairs])
    bin_width = 1 / before.cases.shape[1]
    days = len(old) - 1, len(new) - 1
    return ImpliedThresholds(
        before=_interval(old[0], _variance(old), days[0]),
        after=_interval(new[0], _variance(new), days[1]),
        moved=_interval(new[0] - old[0], _variance(old) + _variance(new), min(days), bin_width),
        at_before=_interval(old_days[0], _variance(old_days) + _variance(new_days), min(days)),
    )


def _left_out(by_day: CountArray) -> CountArray:
    """Return the sum of all days, and then that without each one."""
    total = by_day.sum(axis=0)
    return np.concatenate([total[None], total - by_day])


def _by_left_out(period: FlaggedScores) -> FloatArray:
    """Return the threshold by all days, and then by all without each one."""
    pairs = zip(_left_out(period.flagged), _left_out(period.cases), strict=True)
    unscored = period.unscored
    return np.array([_threshold(int(flagged), cases, unscored) for flagged, cases in pairs])


def _threshold(flagged: int, cases: CountArray, unscored: int) -> float:
    """Return the score above which so many cases lie; NaN for none or all of them.

    Args:
        flagged: number of cases, some of which may have no score.
        cases: by score, (bins,).
        unscored: cases without a score.
    """
    above = np.append(np.cumsum(cases[::-1])[::-1], 0)
    if not 0 < flagged < above[0]:
        return float("nan")
    edges = np.linspace(0, 1, len(above))
    same = np.flatnonzero((above <= flagged) & (above >= flagged - unscored))
    if len(same):
        return float(edges[same[[0, -1]]].mean())  # anywhere between two scores
    return float(np.interp(flagged, above[::-1], edges[::-1]))


def _share_above(threshold: float, positive: CountArray, negative: CountArray, mix: float) -> float:
    """Return the share of scores above a threshold, were positives a share `mix` of all."""
    edges = np.linspace(0, 1, len(positive) + 1)
    shares = []
    for cases in (positive, negative):
        above = np.append(np.cumsum(cases[::-1])[::-1], 0)
        shares.append(float(np.interp(threshold, edges, above) / above[0]))
    return mix * shares[0] + (1 - mix) * shares[1]


def _variance(values: FloatArray) -> float:
    """Return the jackknife's variance of the first value by the others."""
    left_out = values[1:]
    days = len(left_out)
    return float((days - 1) / days * ((left_out - left_out.mean()) ** 2).sum())


def _interval(estimate: float, variance: float, days: int, coarseness: float = 0.0) -> Interval:
    half = float(stdtrit(days - 1, 0.975)) * variance**0.5 + coarseness
    return Interval(float(estimate), float(estimate) - half, float(estimate) + half)


def _is_certain(change: Interval) -> bool:
    return change.lower > 0 or change.upper < 0
