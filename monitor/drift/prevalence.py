"""Prevalence without labels: what share of positives would give these predictions?

Owns the two estimators, from the predicted-positive rate (adjusted count) and
from the scores (EM), and the test of fit that says whether the scores look like
any mixture of the reference's two classes at all. Both hold the reference's
rates and score distributions fixed; `label_free` says what that means.
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
"""Of a prediction; less is rounding: the classes score alike, and no share of them shows."""


@dataclass(frozen=True, slots=True)
class Prevalence:
    """Share of actual positives, estimated without labels.

    Attributes:
        estimate: in [0, 1]; NaN where undefined.
        lower: lower limit of the interval, in [0, 1].
        upper: upper limit.
        raw: before it was held within [0, 1].
        sampling_variance: of the raw estimate, from the live predictions alone.
        reference_variance: of the raw estimate, from the reference alone.
    """

    estimate: float
    lower: float
    upper: float
    raw: float
    sampling_variance: float
    reference_variance: float


@dataclass(frozen=True, slots=True)
class ReferenceRates:
    """TPR and FPR of a reference, NaN where a class is missing, and their variances."""

    recall: float
    false: float
    recall_variance: float
    false_variance: float

    @classmethod
    def of(cls, reference: ConfusionCounts) -> ReferenceRates:
        """ReferenceRates of these outcomes, a scalar."""
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
    """Prevalence that would give this predicted-positive rate.

    π = (q - FPR) / (TPR - FPR), held within [0, 1].

    Args:
        predicted_positive: predictions that say positive.
        total: all predictions.
        reference: labelled outcomes whose TPR and FPR are taken to hold; a scalar.
        level: coverage of the interval (delta method, the reference's noise included).

    Returns:
        The estimate; NaN without predictions, without a class in the reference,
        or where TPR does not exceed FPR.

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
    return _held(raw, sampling, noise, level)


def expectation_maximisation(
    live: ArrayLike, reference: ScoreHistogram, *, level: float = 0.95
) -> Prevalence:
    """Prevalence under which these scores are likeliest as a mixture of the reference's classes.

    The fixed point of the EM iteration, found by halving since the likelihood
    is concave in the one unknown.

    Args:
        live: predictions by score, in the reference's bins, one axis.
        reference: labelled cases by score.
        level: coverage of the interval (Fisher information, and the
            reference's noise).

    Returns:
        The estimate; NaN without predictions or without a class in the reference.

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
    mixture = _Mixture.of(live, reference)
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
    return _held(raw, 1 / information, max(noise, 0.0), level)


def goodness_of_fit(live: ArrayLike, reference: ScoreHistogram, prevalence: float) -> float:
    """How likely scores so unlike the mixture are, if only prevalence had changed.

    Args:
        live: predictions by score, in the reference's bins.
        reference: labelled cases by score.
        prevalence: as estimated from the same scores.

    Returns:
        P-value of a chi-square over at most 20 groups of bins with the
        reference's noise in the variance; NaN where fewer than three groups
        are left, or prevalence is.

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
    mixture = _Mixture.of(live, reference)
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
class _Mixture:
    """Live counts and class densities over groups of bins, at most 20 of them."""

    live: FloatArray
    positive: FloatArray
    negative: FloatArray
    positives: float
    negatives: float

    @classmethod
    def of(cls, live: ArrayLike, reference: ScoreHistogram) -> _Mixture | None:
        """None where there are no predictions or a class is missing in the reference."""
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
        group = _groups_of_equal_mass(both)
        grouped = [
            np.bincount(group, values).astype(np.float64)
            for values in (counts, reference.positive, reference.negative)
        ]
        # One case a class, split as both classes together are, so that no density is 0.
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

    def score(self, prevalence: float) -> float:
        """Slope of the log likelihood."""
        return float((self.live * (self.positive - self.negative) / self.density(prevalence)).sum())


def _groups_of_equal_mass(mass: FloatArray) -> NDArray[np.int64]:
    """Group of each bin, consecutive from 0; bins without mass join a neighbour that has it."""
    held = np.flatnonzero(mass)
    middle = (np.cumsum(mass) - mass / 2)[held] / mass.sum()
    _, group = np.unique((middle * _GROUPS).astype(np.int64), return_inverse=True)
    nearest = np.searchsorted(held, np.arange(mass.size), side="right") - 1
    return np.asarray(group[np.maximum(nearest, 0)], dtype=np.int64)


def _likeliest(mixture: _Mixture) -> float:
    low, high = 0.0, 1.0
    if mixture.score(low) <= 0:
        return low
    if mixture.score(high) >= 0:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mixture.score(middle) > 0 else (low, middle)
    return (low + high) / 2


def _multinomial_variance(slope: FloatArray, share: FloatArray, cases: float) -> float:
    return float(((slope**2 * share).sum() - (slope * share).sum() ** 2) / cases)


def _with_enough(expected: FloatArray) -> FloatArray:
    """Group of each bin such that every group expects at least five predictions."""
    groups, number, held = [], 0, 0.0
    left = float(expected.sum())
    for value in expected:
        groups.append(number)
        held, left = held + value, left - value
        if held >= _FEWEST_EXPECTED and left >= _FEWEST_EXPECTED:
            number, held = number + 1, 0.0
    return np.array(groups)


def _held(raw: float, sampling: float, noise: float, level: float) -> Prevalence:
    half_width = float(ndtri((1 + level) / 2)) * np.sqrt(sampling + noise)
    held, lower, upper = np.clip([raw, raw - half_width, raw + half_width], 0.0, 1.0).tolist()
    return Prevalence(
        estimate=held,
        lower=lower,
        upper=upper,
        raw=raw,
        sampling_variance=sampling,
        reference_variance=noise,
    )


def _undefined() -> Prevalence:
    return Prevalence(*(float("nan"),) * 6)
