"""Estimators of prevalence without labels.

`adjusted_count` uses the predicted-positive rate, `expectation_maximisation` the scores.
Both assume the reference's rates and score distributions (see `label_free`).
`goodness_of_fit` tests whether the scores fit a mixture of the reference's two classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, ndtri

from monitor.counts import ConfusionCounts
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

_GROUPS = 20
_FEWEST_EXPECTED = 5.0
_HALVINGS = 60


_LEAST_INFORMATION = 1e-12
"""Fisher information of one prediction below which the classes have the same scores."""


@dataclass(frozen=True, slots=True)
class Prevalence:
    """Share of actual positives, estimated without labels; all NaN where undefined.

    Attributes:
        estimate: prevalence in [0, 1].
        lower: lower limit of the interval, in [0, 1].
        upper: upper limit of the interval, in [0, 1].
        raw: the estimate before it is clipped to [0, 1].
        sampling_variance: variance of `raw` due to the live predictions.
        reference_variance: variance of `raw` due to the reference.
    """

    estimate: float
    lower: float
    upper: float
    raw: float
    sampling_variance: float
    reference_variance: float


@dataclass(frozen=True, slots=True)
class ReferenceRates:
    """TPR and FPR of a reference, with their variances for independent rows.

    Attributes:
        recall: TPR in [0, 1]; NaN without actual positives.
        false: FPR in [0, 1]; NaN without actual negatives.
        recall_variance: variance of TPR; NaN where TPR is.
        false_variance: variance of FPR; NaN where FPR is.
    """

    recall: float
    false: float
    recall_variance: float
    false_variance: float

    @classmethod
    def of(cls, reference: ConfusionCounts) -> ReferenceRates:
        """Return the rates of these outcomes, a scalar."""
        positive, negative = float(reference.actual_positive), float(reference.actual_negative)
        recall = float(reference.tp) / positive if positive else float("nan")
        false = float(reference.fp) / negative if negative else float("nan")
        return cls(
            recall,
            false,
            recall * (1 - recall) / max(positive, 1.0),
            false * (1 - false) / max(negative, 1.0),
        )


def adjusted_count(
    predicted_positive: float, total: float, reference: ConfusionCounts, *, level: float = 0.95
) -> Prevalence:
    """Estimate prevalence from the predicted-positive rate q.

    π = (q - FPR) / (TPR - FPR), clipped to [0, 1].

    Args:
        predicted_positive: number of predictions called positive.
        total: number of all predictions.
        reference: labelled outcomes whose TPR and FPR are assumed, a scalar.
        level: coverage of the interval, in (0, 1). The interval is by the delta method and
            includes the noise of the reference.

    Returns:
        The estimate; NaN without predictions, where the reference lacks a class, or where
        TPR does not exceed FPR.

    Source:
        Gart and Buck 1966; Forman 2008 (adjusted count).

    >>> reference = ConfusionCounts(tp=8_000, fn=2_000, fp=500, tn=9_500)
    >>> round(adjusted_count(1_250, 10_000, reference).estimate, 12)
    0.1
    """
    rates = ReferenceRates.of(reference)
    separation = rates.recall - rates.false
    if not (total > 0 and separation > 0):
        return _undefined()
    share = predicted_positive / total
    raw = (share - rates.false) / separation
    sampling = share * (1 - share) / total / separation**2
    noise = ((1 - raw) ** 2 * rates.false_variance + raw**2 * rates.recall_variance) / separation**2
    return _clipped(raw, sampling, noise, level)


def expectation_maximisation(
    live: ArrayLike, reference: ScoreHistogram, *, level: float = 0.95
) -> Prevalence:
    """Estimate prevalence from the scores, as a mixture of the reference's two classes.

    The maximum-likelihood share, which is the fixed point of the EM iteration. The
    likelihood is concave in it, so that bisection finds it.

    Args:
        live: predictions by score, in the reference's bins, one axis.
        reference: labelled cases by score, one axis.
        level: coverage of the interval, in (0, 1). The interval is from the Fisher
            information and includes the noise of the reference.

    Returns:
        The estimate; NaN without predictions, where the reference lacks a class, or where
        both classes have the same scores.

    Raises:
        ValueError: the bins do not match.

    Source:
        Saerens, Latinne and Decaestecker 2002; Peters and Coberly 1976.

    >>> reference = ScoreHistogram(
    ...     positive=np.array([10, 30, 60]), negative=np.array([700, 200, 100]),
    ...     unlabelled=np.zeros(3))
    >>> round(expectation_maximisation([520, 220, 260], reference).estimate, 2)
    0.31
    """
    mixture = _ScoreMixture.of(live, reference)
    if mixture is None:
        return _undefined()
    raw = _likeliest(mixture)
    density = mixture.density(raw)
    information = float(
        (mixture.live * ((mixture.positive - mixture.negative) / density) ** 2).sum()
    )
    if not information > _LEAST_INFORMATION * mixture.live.sum():
        return _undefined()
    slope_positive = mixture.live * mixture.negative / density**2 / information
    slope_negative = mixture.live * mixture.positive / density**2 / information
    noise = _multinomial_variance(slope_positive, mixture.positive, mixture.positives)
    noise += _multinomial_variance(slope_negative, mixture.negative, mixture.negatives)
    return _clipped(raw, 1 / information, max(noise, 0.0), level)


def goodness_of_fit(live: ArrayLike, reference: ScoreHistogram, prevalence: float) -> float:
    """Test whether the scores fit a mixture of the reference's two classes.

    Args:
        live: predictions by score, in the reference's bins, one axis.
        reference: labelled cases by score, one axis.
        prevalence: prevalence estimated from the same scores.

    Returns:
        P-value in [0, 1] of a chi-square over at most 20 groups of bins, with the noise of
        the reference in the variance; NaN where fewer than three groups remain, where the
        reference lacks a class, or where prevalence is NaN.

    Raises:
        ValueError: the bins do not match.

    Source:
        Pearson 1900; groups of equal mass between the two classes.

    >>> reference = ScoreHistogram(
    ...     positive=np.array([10, 30, 60]), negative=np.array([700, 200, 100]),
    ...     unlabelled=np.zeros(3))
    >>> goodness_of_fit([520, 20, 460], reference, 0.3) < 1e-9
    True
    """
    mixture = _ScoreMixture.of(live, reference)
    if mixture is None or not 0 <= prevalence <= 1:
        return float("nan")
    total, share = mixture.live.sum(), mixture.density(prevalence)
    noise = prevalence**2 * mixture.positive * (1 - mixture.positive) / mixture.positives
    noise += (1 - prevalence) ** 2 * mixture.negative * (1 - mixture.negative) / mixture.negatives
    groups = _with_enough(total * share)
    merged = [np.bincount(groups, v) for v in (mixture.live, total * share, total**2 * noise)]
    observed, expected, reference_noise = merged
    freedom = observed.size - 2
    if freedom < 1:
        return float("nan")
    statistic = ((observed - expected) ** 2 / (expected + reference_noise)).sum()
    return float(gammaincc(freedom / 2, statistic / 2))


@dataclass(frozen=True, slots=True)
class _ScoreMixture:
    """Live counts and densities of the two classes, over at most 20 groups of bins."""

    live: FloatArray
    positive: FloatArray
    negative: FloatArray
    positives: float
    negatives: float

    @classmethod
    def of(cls, live: ArrayLike, reference: ScoreHistogram) -> _ScoreMixture | None:
        """Return the mixture; None without predictions, or where the reference lacks a class."""
        counts = np.asarray(live, dtype=np.float64)
        if counts.shape != reference.positive.shape or counts.ndim != 1:
            raise ValueError(
                f"label_free: live scores must have the reference's bins, "
                f"{reference.positive.shape}, got {counts.shape}"
            )
        positives, negatives = float(reference.positive.sum()), float(reference.negative.sum())
        if not (positives > 0 and negatives > 0 and counts.sum() > 0):
            return None
        both = reference.positive / positives + reference.negative / negatives
        group = groups_of_equal_mass(both)
        grouped = [
            np.bincount(group, values).astype(np.float64)
            for values in (counts, reference.positive, reference.negative)
        ]
        # One case is added to each class, distributed as both together: no density is 0.
        pooled = np.bincount(group, both) / 2
        return cls(
            grouped[0],
            (grouped[1] + pooled) / (positives + 1),
            (grouped[2] + pooled) / (negatives + 1),
            positives,
            negatives,
        )

    def density(self, prevalence: float) -> FloatArray:
        return np.asarray(prevalence * self.positive + (1 - prevalence) * self.negative)


def groups_of_equal_mass(mass: FloatArray) -> NDArray[np.int64]:
    """Return the group of each bin, of at most 20 groups that are consecutive from 0.

    Args:
        mass: of each bin, not all 0. Bins without mass join a neighbour with mass.
    """
    occupied = np.flatnonzero(mass)
    middle = (np.cumsum(mass) - mass / 2)[occupied] / mass.sum()
    _, group = np.unique((middle * _GROUPS).astype(np.int64), return_inverse=True)
    nearest = np.searchsorted(occupied, np.arange(mass.size), side="right") - 1
    return np.asarray(group[np.maximum(nearest, 0)], dtype=np.int64)


def _likeliest(mixture: _ScoreMixture) -> float:
    weight = mixture.live * (mixture.positive - mixture.negative)

    def score(prevalence: float) -> float:
        """Return the derivative of the log likelihood."""
        return float((weight / mixture.density(prevalence)).sum())

    low, high = 0.0, 1.0
    if score(low) <= 0:
        return low
    if score(high) >= 0:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) > 0 else (low, middle)
    return (low + high) / 2


def _multinomial_variance(slope: FloatArray, share: FloatArray, cases: float) -> float:
    return float(((slope**2 * share).sum() - (slope * share).sum() ** 2) / cases)


def _with_enough(expected: FloatArray) -> FloatArray:
    """Group of each bin such that every group expects at least five predictions."""
    groups, number, inside = [], 0, 0.0
    left = float(expected.sum())
    for value in expected:
        groups.append(number)
        inside, left = inside + value, left - value
        if inside >= _FEWEST_EXPECTED and left >= _FEWEST_EXPECTED:
            number, inside = number + 1, 0.0
    return np.array(groups)


def _clipped(raw: float, sampling: float, noise: float, level: float) -> Prevalence:
    half_width = float(ndtri((1 + level) / 2)) * np.sqrt(sampling + noise)
    estimate, lower, upper = np.clip([raw, raw - half_width, raw + half_width], 0.0, 1.0).tolist()
    return Prevalence(
        estimate=estimate,
        lower=lower,
        upper=upper,
        raw=raw,
        sampling_variance=sampling,
        reference_variance=noise,
    )


def _undefined() -> Prevalence:
    return Prevalence(*(float("nan"),) * 6)
