"""Splits the effect of the operating point on precision into the threshold and the curve.

Where scores come, the part of skill in a change of precision has two causes: the point moved
along the reference's ROC curve, and the curve changed. With c the recall of the reference's
curve at today's FPR,

    threshold   from (TPR, FPR) before to (c, FPR now)
    curve       from (c, FPR now) to (TPR, FPR) now

Both add up without remainder to the part of skill of `attribution`, in log-odds and in points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import as_blocks, jackknife_variance, leave_one_out
from monitor.drift.interpolated_roc import InterpolatedRoc
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray, ratio

_UPPER = 0.975
FEWEST_POSITIVES = 200
"""Actual positives of a side below which the curve is too coarse for its parts."""
_FEWEST_BLOCKS = 2


class CurvePart(NamedTuple):
    """A part of the effect of the operating point.

    Attributes:
        logit: of the change of logit(precision), exact, from raw counts.
        points: of the change of precision, as a fraction.
        lower_points: lower limit of `points`; NaN with fewer than two blocks of time.
        upper_points: upper limit, likewise.
    """

    logit: float
    points: float
    lower_points: float
    upper_points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveParts:
    """Both parts of the effect of the operating point.

    Attributes:
        threshold: movement along the reference's ROC curve.
        curve: movement off it.
    """

    threshold: CurvePart
    curve: CurvePart


def curve_parts(
    reference: ScoreHistogram, before: ConfusionCounts, after: ConfusionCounts
) -> CurveParts | None:
    """Split the part of skill in a change of precision.

    Args:
        reference: labelled scores of before, (blocks of time, bins).
        before: outcomes of before, a scalar or blocks of time. Where its point is not on
            the curve, as with a threshold by country, the curve is raised or lowered by
            as much as its recall differs.
        after: outcomes to judge, in the same form.

    Returns:
        The parts; their 95 % intervals are of the scatter between the blocks of the
        reference's scores, with which its point moves, and of after (delete-one-block jackknife,
        Student's t). None where a rate is 0 or undefined on a side, no negative of the reference
        has a score, or a side has fewer than 200 actual positives: the curve is then too coarse
        for its intervals to hold.

    Source:
        Owen 1977, as for `attribution.attribute`; Efron 1982 (jackknife).

    >>> reference = ScoreHistogram(
    ...     positive=np.array([[500, 1500, 8000]]), unlabelled=np.zeros((1, 3)),
    ...     negative=np.array([[80_000, 15_000, 5_000]]))
    >>> before = ConfusionCounts(tp=8_000, fn=2_000, fp=5_000, tn=95_000)
    >>> found = curve_parts(reference, before, ConfusionCounts(tp=950, fn=50, fp=2_000, tn=8_000))
    >>> round(found.threshold.points, 3), abs(round(found.curve.points, 3))
    (-0.293, 0.0)
    """
    blocks, curve = as_blocks(after), InterpolatedRoc.of(reference.sum())
    total, given = blocks.sum(axis=-1), as_blocks(before).sum(axis=-1)
    old, new = _Point.of(given), _Point.of(total)
    parts = _parts(curve, old, new)
    positives = (reference.positive.sum(), given.actual_positive, total.actual_positive)
    if min(positives) < FEWEST_POSITIVES or reference.negative.sum() <= 0:
        return None
    if not np.isfinite(parts).all():
        return None
    by_day = [_parts(curve, old, _Point.of(one)) for one in _each(leave_one_out(blocks))]
    others = InterpolatedRoc.leaving_out(reference)
    by_block = [_parts(one, old.moved_with(curve, one), new) for one in others]
    held = np.asarray((reference.positive + reference.negative).any(axis=-1))
    variance = np.sum(
        [
            _between(np.array(by_day), np.asarray(blocks.total > 0)),
            _between(np.array(by_block), held),
        ],
        axis=0,
    )
    days = min(int((blocks.total > 0).sum()), int(held.sum()))
    half = float(stdtrit(max(days - 1, 1), _UPPER)) * np.sqrt(variance)
    slid, moved = (
        CurvePart(
            float(parts[i]),
            float(parts[i + 1]),
            max(float(parts[i + 1] - half[i + 1]), -1.0) if np.isfinite(half[i + 1]) else math.nan,
            min(float(parts[i + 1] + half[i + 1]), 1.0) if np.isfinite(half[i + 1]) else math.nan,
        )
        for i in (0, 2)
    )
    return CurveParts(threshold=slid, curve=moved)


def curve_parts_at_all(found: Sequence[CurveParts | None]) -> CurveParts | None:
    """Return parts whose intervals hold at all possible rates of wrong labels.

    Args:
        found: the parts in the middle of the ranges, then those at their ends.

    Returns:
        None where one of them is undefined.
    """
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    return CurveParts(
        threshold=_at_all([one.threshold for one in known]),
        curve=_at_all([one.curve for one in known]),
    )


def _at_all(parts: Sequence[CurvePart]) -> CurvePart:
    return parts[0]._replace(
        lower_points=float(np.min([one.lower_points for one in parts])),
        upper_points=float(np.max([one.upper_points for one in parts])),
    )


def _each(blocks: ConfusionCounts) -> list[ConfusionCounts]:
    return [blocks[i] for i in range(blocks.shape[-1])]


def _between(estimates: FloatArray, held: NDArray[np.bool_]) -> FloatArray:
    """Variance of each of the four numbers between blocks; NaN with fewer than two."""
    if held.sum() < _FEWEST_BLOCKS:
        return np.full(4, np.nan)
    return jackknife_variance(estimates.T, held)


class _Point(NamedTuple):
    """An operating point, and the class ratio of its cases.

    Attributes:
        recall: NaN without actual positives.
        false: false-positive rate; NaN without actual negatives.
        ratio: actual positives per actual negative; NaN likewise.
    """

    recall: float
    false: float
    ratio: float

    @classmethod
    def of(cls, counts: ConfusionCounts) -> Self:
        """Return the point of raw counts, a scalar."""
        positive, negative = counts.actual_positive, counts.actual_negative
        return cls(
            float(ratio(counts.tp, positive)),
            float(ratio(counts.fp, negative)),
            float(ratio(positive, negative)),
        )

    def moved_with(self, curve: InterpolatedRoc, other: InterpolatedRoc) -> _Point:
        """Return the point as it is without some of its cases, by the scores of the others.

        Args:
            curve: of the scores of all its cases.
            other: of those that are left. The point moves as far as the point of the curve at its
                threshold.
        """
        bins = np.arange(len(curve.recall))
        threshold = np.interp(self.false, curve.false_positive_rate, bins)
        recall, false = (
            float(np.interp(threshold, bins, now) - np.interp(threshold, bins, then))
            for then, now in (
                (curve.recall, other.recall),
                (curve.false_positive_rate, other.false_positive_rate),
            )
        )
        left = other.positives / curve.positives * curve.negatives / other.negatives
        return _Point(self.recall + recall, self.false + false, self.ratio * left)


def _parts(curve: InterpolatedRoc, old: _Point, new: _Point) -> FloatArray:
    """Log-odds and points of the threshold, then of the curve; NaN where undefined."""
    at_old, at_new = (float(curve.at(np.asarray(one.false))) for one in (old, new))
    reached = at_new + old.recall - at_old
    found = np.array([*old, *new, reached])
    if not (np.isfinite(found).all() and (found > 0).all()):
        return np.full(4, np.nan)
    ends = [(old.recall, old.false), (reached, new.false), (new.recall, new.false)]
    ratios = old.ratio, new.ratio
    points = [
        float(np.mean([_precision(r, *end) - _precision(r, *start) for r in ratios]))
        for start, end in pairwise(ends)
    ]
    logits = [_log_ratio(*end) - _log_ratio(*start) for start, end in pairwise(ends)]
    return np.array([logits[0], points[0], logits[1], points[1]])


def _log_ratio(recall: float, false: float) -> float:
    return math.log(recall / false)


def _precision(ratio: float, recall: float, false: float) -> float:
    return ratio * recall / (ratio * recall + false)
