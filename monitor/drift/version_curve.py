"""Distance of version B from the ROC curve of version A: the part no threshold explains.

Two rates cannot tell another threshold from another model where the classes do not scatter alike:
the odds ratio then changes along one curve. The scores of A give that curve. With c(f) its recall
at a false-positive rate f,

    distance = TPR of B - (TPR of A + c(FPR of B) - c(FPR of A))

is 0 for another threshold of A, whatever the shape of the curve. Of the curve the difference of two
points alone is used, so that it may come from fewer days than the rates, and the point of A may lie
beside it, as with a threshold by country.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import jackknife_variance
from monitor.drift.interpolated_roc import InterpolatedRoc
from monitor.drift.rates_of_two import RatesOfTwo
from monitor.drift.roc import mixing_loss
from monitor.drift.skill import EQUIVALENCE
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

_FAR = 3.0
"""Standard errors within which the point of a version counts as on its own curve."""
_REACH = 2.0
"""Standard errors of a false-positive rate over which the slope of the curve is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveDistance:
    """Recall of B less that of the ROC curve of A at the false-positive rate of B.

    Attributes:
        recall: the distance, a fraction; below 0 where B is worse. The distance of A from its own
            curve does not count.
        standard_error: of the distance.
        coarse: by how much of it the bins of the scores may be responsible: that much towards
            worse, and towards better, both at least 0.
        tolerable: distance within which B counts as on the curve: twice τ = .2 in log-odds of
            recall, or half of the change of recall along the curve, if that is more.
    """

    recall: float
    standard_error: float
    coarse: tuple[float, float]
    tolerable: float

    @classmethod
    def of(
        cls,
        rates: RatesOfTwo,
        scores: ScoreHistogram,
        parts: tuple[ConfusionCounts, ...] = (),
    ) -> Self | None:
        """Return the distance.

        What B, or A, loses as the sum of parts at different thresholds does not count.

        Args:
            rates: of A and of B.
            scores: labelled scores of A, (blocks of time, bins).
            parts: outcomes of A and of B by day and segment, along one axis; none where they are
                not known.

        Returns:
            None where a rate is undefined, or A has no scores of a class. The variance is that of
            the rates, and that of the scores between the two points: the larger of that of
            independent cases and that between blocks (delete-one-block jackknife).

        Source:
            Pepe 2003, §5.2 (variance of a ROC curve at a given FPR).
        """
        whole = scores.sum(axis=0)
        if not (rates.is_known and whole.positive.any() and whole.negative.any()):
            return None
        curve = InterpolatedRoc.of(whole)
        own, recall, own_false, false = np.clip(rates.rates, 0.0, 1.0).tolist()
        ends = np.array([own_false, false])
        error = rates.errors(np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
        high = np.minimum(ends + _REACH * error, 1.0)
        slopes = np.where(
            ends > error,
            curve.slope(ends, _REACH * float(np.hypot(*error))),
            curve.at(high) / high,  # from (0, 0), where the curve may rise at once
        )
        risen = float(np.diff(curve.at(ends)).item())
        expected = float(np.clip(own + risen, 0.0, 1.0))
        found = _Variance(rates, curve, slopes, np.array([own, expected]), ends)
        return cls(
            recall=_but_for_mixing(recall - own - risen, scores, parts),
            standard_error=math.sqrt(found.of_rows + found.beyond_rows(scores)),
            coarse=(curve.sag(own_false), curve.sag(false)),
            tolerable=max(2 * EQUIVALENCE * expected * (1 - expected), abs(risen) / 2),
        )


def lies_on_its_curve(scores: ScoreHistogram, parts: ConfusionCounts) -> bool:
    """Return whether the predictions of a version are its scores, cut at one threshold.

    Args:
        scores: labelled scores of the version, (blocks of time, bins).
        parts: its outcomes by day and segment, along one axis.

    Returns:
        True where recall lies within .2 in log-odds, and three standard errors, of the curve at its
        false-positive rate, but for what parts at different thresholds lose. False where scores
        come with some predictions alone, are those of the other class or of another model, lie in
        few bins, or are cut at a threshold by segment; and where a rate is undefined.
    """
    whole, counts = scores.sum(axis=0), parts.sum()
    positives, negatives = float(counts.actual_positive), float(counts.actual_negative)
    if not (whole.positive.any() and whole.negative.any() and positives and negatives):
        return False
    curve = InterpolatedRoc.of(whole)
    recall, false = float(counts.tp) / positives, float(counts.fp) / negatives
    error = _variance_of(recall, positives, curve.positives)
    reach = _REACH * math.sqrt((false * (1 - false) + 1 / negatives) / negatives)
    slope = float(curve.slope(np.asarray(false), reach))
    error += slope**2 * _variance_of(false, negatives, curve.negatives)
    off = abs(recall + mixing_loss(scores, parts) - float(curve.at(np.asarray(false))))
    return off < EQUIVALENCE * max(recall * (1 - recall), 1 / positives) + _FAR * math.sqrt(error)


def _variance_of(rate: float, cases: float, behind_curve: float) -> float:
    """Variance of the difference of a rate of some cases and that of all, or of some of them."""
    return rate * (1 - rate) * abs(1 / cases - 1 / behind_curve)


def _but_for_mixing(
    distance: float, scores: ScoreHistogram, parts: tuple[ConfusionCounts, ...]
) -> float:
    """Return a distance without what one version loses as a sum of parts, not beyond 0."""
    if not parts:
        return distance
    a, b = (mixing_loss(scores, one) for one in parts)
    corrected = distance + b - a
    return max(min(corrected, 0.0), distance) if distance < 0 else min(max(corrected, 0), distance)


@dataclass(frozen=True, slots=True)
class _Variance:
    """Variance of the distance; recall and false-positive rate are those on the curve of A.

    Attributes:
        rates: of A and of B.
        curve: of A.
        slopes: of the curve at the false-positive rates of A and of B, (2,).
        recall: at the two, (2,).
        false: the two, (2,).
    """

    rates: RatesOfTwo
    curve: InterpolatedRoc
    slopes: FloatArray
    recall: FloatArray
    false: FloatArray

    @property
    def of_rows(self) -> float:
        """Variance of independent cases, times the factor by which days raise that of the rates.

        The outcomes of A are among its scores, or the scores among the outcomes, so that its errors
        cancel in part: what remains is the error of the curve at the point of B. Where the cases of
        both versions are the same, the difference of their rates may be known better than that.
        Each way gives an upper limit, and the lower one counts.
        """
        gradient = np.array([[-1.0, 1.0, self.slopes[0], -self.slopes[1]]])
        of_rates = (gradient @ self.rates.covariance @ gradient.T).item()
        rise = self.curve.positives, self.curve.negatives
        apart = of_rates + _of_rise(np.ones(2), self.recall) / rise[0]
        apart += _of_rise(self.slopes, self.false) / rise[1]
        only_b = np.array([0.0, 1.0, 0.0, -self.slopes[1]])
        together = float(only_b @ self.rates.covariance @ only_b)
        for weights, at, cases, own in (
            (np.ones(2), self.recall, rise[0], self.rates.cases[0]),
            (self.slopes, self.false, rise[1], self.rates.cases[2]),
        ):
            each = weights**2 * at * (1 - at)
            together += float(each[0] * abs(1 / own - 1 / cases) + each[1] / cases)
        return float(min(apart, together) * self.rates.inflation(gradient)[0])

    def beyond_rows(self, scores: ScoreHistogram) -> float:
        """Variance of the rise of the curve between blocks beyond that of independent cases."""
        held = np.asarray((scores.positive + scores.negative).any(axis=-1))
        rises = [np.diff(one.at(self.false)).item() for one in InterpolatedRoc.leaving_out(scores)]
        between = float(jackknife_variance(np.array([rises]), held[None])[0])
        rows = _of_rise(np.ones(2), self.recall) / self.curve.positives
        rows += _of_rise(self.slopes, self.false) / self.curve.negatives
        return max(between - rows, 0.0) if math.isfinite(between) else 0.0


def _of_rise(weights: FloatArray, rates: FloatArray) -> float:
    """Variance of the weighted difference of two shares of the same cases, times their number.

    The smaller of the two shares is a part of the larger one.
    """
    own = weights**2 * rates * (1 - rates)
    common = float(rates.min()) * (1 - float(rates.max()))
    return float(own.sum() - 2 * weights.prod() * common)
