"""Test of TPR against the ROC curve of the reference.

With scores, the curve decides what the two rates alone leave open: where recall and
false positives both fell, the threshold slid if the new point lies on the curve, and the
model got worse if the point lies below. It also decides where the odds ratio changed along
the curve, as it does where positives and negatives scatter differently.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import as_blocks, jackknife_variance, leave_one_out
from monitor.drift.components import SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.interpolated_roc import InterpolatedRoc
from monitor.drift.skill import EQUIVALENCE, Z_ONE_SIDED, Z_TWO_SIDED
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray, ratio

_EXPLAINED = 0.5
"""Share of the TPR - FPR of the reference's own point that its ROC curve has at least."""


class CurvePosition(StrEnum):
    """Position of an operating point relative to the reference's ROC curve."""

    BELOW = "below"
    ON = "on"
    OPEN = "open"


class CurvePlace(NamedTuple):
    """Where an operating point lies relative to the reference's ROC curve.

    Attributes:
        position: below the curve, on it, or open.
        z: recall minus that of the curve, in standard errors; NaN where a class is missing.
    """

    position: CurvePosition
    z: float


def below_reference_curve(
    reference: ScoreHistogram,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    before: ConfusionCounts | None = None,
) -> bool:
    """Test for recall significantly below the reference's ROC curve at today's FPR.

    Args:
        reference: as for `place_on_curve`.
        after: likewise.
        dispersion: likewise.
        before: likewise.

    Source:
        Fawcett 2006 (ROC curves); Pepe 2003, §5.2 (variance of TPR at a given FPR).

    >>> reference = ScoreHistogram(
    ...     positive=np.array([500, 1500, 8000]), negative=np.array([80_000, 15_000, 5_000]),
    ...     unlabelled=np.zeros(3))
    >>> below_reference_curve(reference, ConfusionCounts(tp=700, fn=300, fp=500, tn=9_500))
    True
    >>> below_reference_curve(reference, ConfusionCounts(tp=800, fn=200, fp=500, tn=9_500))
    False
    """
    found = place_on_curve(reference, after, dispersion, before=before)
    return found.position is CurvePosition.BELOW


def place_on_curve(
    reference: ScoreHistogram,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    before: ConfusionCounts | None = None,
    mixed: float = 0.0,
) -> CurvePlace:
    """Compare recall with the reference's ROC curve at today's FPR.

    Args:
        reference: labelled cases of the reference by score, of shape (bins,), or
            (blocks of time, bins).
        after: outcomes of the window to judge, a scalar or blocks of time.
        dispersion: variance over that of independent rows, at least 1.
        before: outcomes of the reference, a scalar or blocks of time. Where predictions
            are not the scores cut at one threshold (a threshold by country, a rule on
            top of it), the reference's own point lies below its curve, and today's point
            is compared with that deficit. None to compare with the curve itself.
        mixed: recall by which `after` lies below the curve since it sums days at different
            thresholds (see `mixing_loss`), at least 0.

    Returns:
        The position and its distance.
        Below where TPR is below the curve at p < .01, two-sided as for every component.
        On the curve where TPR is neither below nor above it at p < .01, and its log-odds differ
        from those of the curve by less than τ = .2 and certainly (p < .01) by less than 2 τ. A
        quarter and a half of the change of recall along the curve may take the place of τ and
        2 τ. Open otherwise, with z undefined where a class is missing and where `decides_flags` is
        False. The variances of the reference and of the window are each the larger of that of
        independent rows and that between blocks. The curve is interpolated linearly, which lies
        below a concave curve, so that a coarse histogram never makes the model look worse.

    >>> reference = ScoreHistogram(
    ...     positive=np.array([500, 1500, 8000]), negative=np.array([80_000, 15_000, 5_000]),
    ...     unlabelled=np.zeros(3))
    >>> slid = ConfusionCounts(tp=7_980, fn=2_020, fp=5_000, tn=95_000)
    >>> str(place_on_curve(reference, slid).position)
    'on'
    """
    whole = reference if reference.positive.ndim == 1 else reference.sum(axis=0)
    blocks = as_blocks(after)
    total = blocks.sum(axis=-1)
    if min(whole.positive.sum(), whole.negative.sum()) <= 0:
        return CurvePlace(CurvePosition.OPEN, float("nan"))
    if min(total.actual_positive, total.actual_negative) == 0:
        return CurvePlace(CurvePosition.OPEN, float("nan"))
    curve, now, factors = (
        InterpolatedRoc.of(whole),
        SmoothedRates.of(total),
        Dispersion.of(dispersion),
    )
    if before is not None and not _decides_flags(curve, before):
        return CurvePlace(CurvePosition.OPEN, float("nan"))
    reference_variance, variance = _independent(curve, now, factors)
    if blocks.shape[-1] > 1:
        left_out = _deficit(curve, SmoothedRates.of(leave_one_out(blocks)))
        variance = np.fmax(variance, jackknife_variance(left_out, blocks.total > 0))
    if reference.positive.ndim > 1:
        between = _between_blocks(reference, now)
        reference_variance = np.fmax(reference_variance, between)
    error = float(np.sqrt(variance + reference_variance))
    off = float(_deficit(curve, now)) - _usual_deficit(curve, before)
    off = min(off + mixed, 0.0) if off < 0 else off
    if off < -Z_TWO_SIDED * error:
        return CurvePlace(CurvePosition.BELOW, off / error)
    expected = float(curve.at(now.false_positive_rate))
    tolerable = 2 * EQUIVALENCE * expected * (1 - expected)
    if before is not None:
        own = SmoothedRates.of(as_blocks(before).sum(axis=-1))
        tolerable = max(tolerable, abs(expected - float(own.recall)) / 2)
    same = abs(off) < min(tolerable / 2, Z_TWO_SIDED * error)
    bounded = abs(off) + Z_ONE_SIDED * error < tolerable
    position = CurvePosition.ON if same and bounded else CurvePosition.OPEN
    return CurvePlace(position, off / error)


def decides_flags(scores: ScoreHistogram, counts: ConfusionCounts) -> bool:
    """Return whether cases may be flagged by their scores, as far as rates show it.

    Scores of the other class, or of no class, lie on a curve that says nothing of the model's
    point: a worse model still lies above it.

    Args:
        scores: labelled cases by score, (bins,), or (blocks of time, bins).
        counts: outcomes of the same time, a scalar or blocks of time.

    Returns:
        False where at the false-positive rate of the point its ROC curve has less than half of the
        point's TPR - FPR. A rule on top of the scores may make a point a little better than the
        curve, and bins hide a part of it. True where a class is missing.

    >>> scores = ScoreHistogram(
    ...     positive=np.array([500, 1500, 8000]), negative=np.array([80_000, 15_000, 5_000]),
    ...     unlabelled=np.zeros(3))
    >>> counts = ConfusionCounts(tp=8_000, fp=5_000, fn=2_000, tn=95_000)
    >>> other_class = ScoreHistogram(
    ...     positive=scores.positive[::-1], negative=scores.negative[::-1], unlabelled=np.zeros(3))
    >>> decides_flags(scores, counts), decides_flags(other_class, counts)
    (True, False)
    """
    whole = scores if scores.positive.ndim == 1 else scores.sum(axis=0)
    if min(whole.positive.sum(), whole.negative.sum()) <= 0:
        return True
    return _decides_flags(InterpolatedRoc.of(whole), counts)


def _decides_flags(curve: InterpolatedRoc, before: ConfusionCounts) -> bool:
    own = SmoothedRates.of(as_blocks(before).sum(axis=-1))
    skill, above = own.recall - own.false_positive_rate, _deficit(curve, own)
    return not above > (1 - _EXPLAINED) * skill


def mixing_loss(reference: ScoreHistogram, days: ConfusionCounts) -> float:
    """Return by how much the sum of days lies below the ROC curve that each of them lies on.

    Args:
        reference: labelled cases by score, (bins,), or (blocks of time, bins).
        days: outcomes by day along one axis.

    Returns:
        Recall of the curve at the false-positive rate of all days, minus the mean of that at the
        rates of the days, each drawn to the common one by its share of binomial noise; at least
        0. 0 where a class is missing.
    """
    whole = reference if reference.positive.ndim == 1 else reference.sum(axis=0)
    by_day, total = as_blocks(days), as_blocks(days).sum(axis=-1)
    if min(whole.positive.sum(), whole.negative.sum()) <= 0:
        return 0.0
    if min(total.actual_positive, total.actual_negative) == 0:
        return 0.0
    common, negatives = float(ratio(total.fp, total.actual_negative)), by_day.actual_negative
    own = np.where(negatives > 0, ratio(by_day.fp, negatives), common)
    noise = common * (1 - common) / np.maximum(negatives, 1)
    positives = by_day.actual_positive
    spread = np.average((own - common) ** 2, weights=positives)
    true = max(0.0, 1 - float(np.average(noise, weights=positives)) / spread) if spread else 0.0
    curve = InterpolatedRoc.of(whole)
    each = curve.at(np.clip(common + np.sqrt(true) * (own - common), 0, 1))
    return max(0.0, float(curve.at(np.asarray(common)) - np.average(each, weights=positives)))


def _usual_deficit(curve: InterpolatedRoc, before: ConfusionCounts | None) -> float:
    """Deficit of the reference's own point, at most 0; 0 where it is not given."""
    if before is None:
        return 0.0
    own = SmoothedRates.of(as_blocks(before).sum(axis=-1))
    return min(float(_deficit(curve, own)), 0.0)


def _deficit(curve: InterpolatedRoc, rates: SmoothedRates) -> FloatArray:
    """TPR of a point minus that of the curve at its FPR; negative below the curve."""
    return np.asarray(rates.recall - curve.at(rates.false_positive_rate))


def standardised_to(before: ConfusionCounts, after: ConfusionCounts) -> ConfusionCounts:
    """Return the outcomes of a window, weighted to the reference's mix of segments.

    Within each class, each segment gets the share that it had before. A change of the mix
    moves a point off the reference's curve; without that change, a slide of one threshold
    leaves the point on the curve.

    Args:
        before: outcomes of the reference, (segments, blocks of time).
        after: outcomes of the window, the same segments in the same order.

    Returns:
        Fractional outcomes by blocks of time; segments without cases of the class on one
        side are left out of it.

    Source:
        Kitagawa 1955 (direct standardisation).

    >>> mixed = standardised_to(
    ...     ConfusionCounts(tp=[[90], [60]], fn=[[10], [40]], fp=[[5], [5]], tn=[[95], [95]]),
    ...     ConfusionCounts(tp=[[90], [180]], fn=[[10], [120]], fp=[[5], [5]], tn=[[95], [95]]))
    >>> float(mixed.tp[0] / mixed.actual_positive[0])
    0.75
    """
    old, new = before.sum(axis=-1), after.sum(axis=-1)
    positive = _weights(old.actual_positive, new.actual_positive)
    negative = _weights(old.actual_negative, new.actual_negative)
    return ConfusionCounts(
        tp=(after.tp * positive).sum(axis=0),
        fn=(after.fn * positive).sum(axis=0),
        fp=(after.fp * negative).sum(axis=0),
        tn=(after.tn * negative).sum(axis=0),
    )


def _weights(old: CountArray, new: CountArray) -> FloatArray:
    """Weight of a case of each segment, (segments, 1); the weights sum to the cases."""
    both = (old > 0) & (new > 0)
    shares = np.where(both, old, 0) / max(float(old[both].sum()), 1.0)
    whole = float(new[both].sum())
    return np.where(both, shares * whole / np.maximum(new, 1), 0.0)[:, None]


def _independent(
    curve: InterpolatedRoc, now: SmoothedRates, dispersion: Dispersion
) -> tuple[FloatArray, FloatArray]:
    """Variances of the deficit due to the reference and to today's point, independent rows."""
    false = now.false_positive_rate
    own, theirs = false * (1 - false) / curve.negatives, now.false_positive_rate_variance
    slope = curve.slope(false, 2 * np.sqrt(own + theirs))
    expected = curve.at(false)
    along = slope**2 * dispersion.false_positive_rate
    across = expected * (1 - expected) / curve.positives
    return (
        np.asarray(across * dispersion.recall + along * own),
        np.asarray(now.recall_variance * dispersion.recall + along * theirs),
    )


def _between_blocks(reference: ScoreHistogram, now: SmoothedRates) -> FloatArray:
    left_out = [_deficit(curve, now) for curve in InterpolatedRoc.leaving_out(reference)]
    occupied = (reference.positive + reference.negative).sum(axis=-1) > 0
    return jackknife_variance(np.array(left_out), occupied)
