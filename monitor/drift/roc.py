"""Did a threshold slide along the old ROC curve, or is the new point below it?

Where scores come, the reference's own curve settles what two rates alone leave
open: recall and false positives that both fell are a slide if the new point lies
on the curve, and a worse model if it lies below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from monitor.drift.components import Rates, as_blocks, jackknife_variance, leave_one_out
from monitor.drift.dispersion import Dispersion
from monitor.drift.skill import Z_ONE_SIDED
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts


def below_reference_curve(
    reference: ScoreHistogram, after: ConfusionCounts, dispersion: Dispersion | ArrayLike = 1.0
) -> bool:
    """Whether recall is significantly below the reference's ROC curve at today's FPR.

    Args:
        reference: labelled cases of the reference by score, of shape (bins,), or
            (blocks of time, bins).
        after: outcomes of the window to judge, a scalar or blocks of time.
        dispersion: variance over that of independent rows, where there are no blocks.

    Returns:
        True where TPR lies below the curve by more than chance makes it once in
        a hundred times (the larger of the independent error and the one between
        blocks, on either side); False where a class is missing. Between its
        points the curve is taken as straight, which lies below a concave one and
        so never blames the model for a coarse histogram.

    Source:
        Fawcett 2006 (ROC curves); Pepe 2003, §5.2 (variance of TPR at a given FPR).

    >>> from monitor.counts import ConfusionCounts
    >>> reference = ScoreHistogram(
    ...     positive=np.array([500, 1500, 8000]), negative=np.array([80_000, 15_000, 5_000]),
    ...     unlabelled=np.zeros(3))
    >>> below_reference_curve(reference, ConfusionCounts(tp=700, fn=300, fp=500, tn=9_500))
    True
    >>> below_reference_curve(reference, ConfusionCounts(tp=800, fn=200, fp=500, tn=9_500))
    False
    """
    whole = reference if reference.positive.ndim == 1 else reference.sum(axis=0)
    blocks = as_blocks(after)
    total = blocks.sum(axis=-1)
    if min(whole.positive.sum(), whole.negative.sum()) == 0:
        return False
    if min(total.actual_positive, total.actual_negative) == 0:
        return False
    curve, now, factors = _Curve.of(whole), Rates.of(total), Dispersion.of(dispersion)
    reference_variance, variance = _independent(curve, now, factors)
    if blocks.shape[-1] > 1:
        left_out = curve.deficit(Rates.of(leave_one_out(blocks)))
        variance = np.fmax(variance, jackknife_variance(left_out, blocks.total > 0))
    if reference.positive.ndim > 1:
        between = _between_blocks(reference, whole, now)
        reference_variance = np.fmax(reference_variance, between)
    error = np.sqrt(variance + reference_variance)
    return bool(curve.deficit(now) < -Z_ONE_SIDED * error)


@dataclass(frozen=True, slots=True)
class _Curve:
    """A ROC curve from (0, 0) to (1, 1), and the cases that it rests on."""

    false_positive_rate: FloatArray
    recall: FloatArray
    positives: float
    negatives: float

    @classmethod
    def of(cls, histogram: ScoreHistogram) -> Self:
        counts = histogram.counts
        positives, negatives = float(counts.tp[0]), float(counts.fp[0])
        return cls(
            np.asarray(counts.fp[::-1] / max(negatives, 1.0)),
            np.asarray(counts.tp[::-1] / max(positives, 1.0)),
            positives,
            negatives,
        )

    def at(self, rate: FloatArray) -> FloatArray:
        """Recall of the curve at this false positive rate, any shape."""
        return np.asarray(np.interp(rate, self.false_positive_rate, self.recall))

    def deficit(self, rates: Rates) -> FloatArray:
        """How far above the curve a point lies; below 0 where it lies below."""
        return np.asarray(rates.recall - self.at(rates.false_positive_rate))


def _independent(
    curve: _Curve, now: Rates, dispersion: Dispersion
) -> tuple[FloatArray, FloatArray]:
    """Variances of the deficit by the reference and by today's point, of independent rows."""
    false = now.false_positive_rate
    own, theirs = false * (1 - false) / curve.negatives, now.false_positive_rate_variance
    reach = 2 * np.sqrt(own + theirs)
    low, high = np.maximum(false - reach, 0.0), np.minimum(false + reach, 1.0)
    slope = (curve.at(high) - curve.at(low)) / (high - low)
    expected = curve.at(false)
    along = slope**2 * dispersion.false_positive_rate
    across = expected * (1 - expected) / curve.positives
    return (
        np.asarray(across * dispersion.recall + along * own),
        np.asarray(now.recall_variance * dispersion.recall + along * theirs),
    )


def _between_blocks(reference: ScoreHistogram, whole: ScoreHistogram, now: Rates) -> FloatArray:
    positive = whole.positive - reference.positive
    negative = whole.negative - reference.negative
    left_out = [
        _Curve.of(ScoreHistogram(positive=p, negative=n, unlabelled=p)).deficit(now)
        for p, n in zip(positive, negative, strict=True)
    ]
    held = (reference.positive + reference.negative).sum(axis=-1) > 0
    return jackknife_variance(np.array(left_out), held)
