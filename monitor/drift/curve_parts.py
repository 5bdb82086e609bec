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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import as_blocks, jackknife_variance, leave_one_out
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray
from monitor.metrics.roc_region import recall_at

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
        reference's scores and of after (delete-one-block jackknife, Student's t). None where a
        rate is 0 or undefined on a side, the curve has no recall at today's FPR, or a side has
        fewer than 200 actual positives: the curve is then too coarse for its intervals to hold.

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
    old, blocks = as_blocks(before).sum(axis=-1), as_blocks(after)
    whole, total = reference.sum(), blocks.sum(axis=-1)
    parts = _parts(whole, old, total)
    fewest = min(whole.positive.sum(), old.actual_positive, total.actual_positive)
    if fewest < FEWEST_POSITIVES or not np.isfinite(parts).all():
        return None
    others = [
        ScoreHistogram(
            positive=whole.positive - positive,
            negative=whole.negative - negative,
            unlabelled=np.zeros_like(positive),
        )
        for positive, negative in zip(reference.positive, reference.negative, strict=True)
    ]
    by_day = [_parts(whole, old, one) for one in _each(leave_one_out(blocks))]
    by_block = [_parts(one, old, total) for one in others]
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
    threshold, curve = (
        CurvePart(
            float(parts[i]),
            float(parts[i + 1]),
            max(float(parts[i + 1] - half[i + 1]), -1.0) if np.isfinite(half[i + 1]) else math.nan,
            min(float(parts[i + 1] + half[i + 1]), 1.0) if np.isfinite(half[i + 1]) else math.nan,
        )
        for i in (0, 2)
    )
    return CurveParts(threshold=threshold, curve=curve)


def _each(blocks: ConfusionCounts) -> list[ConfusionCounts]:
    return [blocks[i] for i in range(blocks.shape[-1])]


def _between(estimates: FloatArray, held: NDArray[np.bool_]) -> FloatArray:
    """Variance of each of the four numbers between blocks; NaN with fewer than two."""
    if held.sum() < _FEWEST_BLOCKS:
        return np.full(4, np.nan)
    return jackknife_variance(estimates.T, held)


def _parts(curve: ScoreHistogram, before: ConfusionCounts, after: ConfusionCounts) -> FloatArray:
    """Log-odds and points of the threshold, then of the curve; NaN where undefined."""
    old, new = _point(before), _point(after)
    at_old, at_new = (float(recall_at(curve, false_positive_rate=false)) for _, false in (old, new))
    reached = at_new + old[0] - at_old
    found = np.array([*old, *new, reached])
    if not (np.isfinite(found).all() and (found > 0).all()):
        return np.full(4, np.nan)
    slid = reached, new[1]
    ratios = [_class_ratio(before), _class_ratio(after)]
    points = [
        float(np.mean([_precision(r, *end) - _precision(r, *start) for r in ratios]))
        for start, end in ((old, slid), (slid, new))
    ]
    logits = [_log_ratio(*slid) - _log_ratio(*old), _log_ratio(*new) - _log_ratio(*slid)]
    return np.array([logits[0], points[0], logits[1], points[1]])


def _point(counts: ConfusionCounts) -> tuple[float, float]:
    """Recall and false-positive rate of raw counts; NaN without a class."""
    positive, negative = float(counts.actual_positive), float(counts.actual_negative)
    recall = float(counts.tp) / positive if positive else math.nan
    return recall, float(counts.fp) / negative if negative else math.nan


def _class_ratio(counts: ConfusionCounts) -> float:
    return float(counts.actual_positive) / float(counts.actual_negative)


def _log_ratio(recall: float, false: float) -> float:
    return math.log(recall / false)


def _precision(ratio: float, recall: float, false: float) -> float:
    return ratio * recall / (ratio * recall + false)
