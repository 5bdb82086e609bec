"""Prevalence and precision ahead of the labels, if the model is unchanged.

Label shift uses predictions alone and assumes the reference's TPR, FPR and score
distributions. So it cannot show a loss of skill, and no verdict depends on it. A nowcast is
withheld where the scores do not fit any mixture of the reference's two classes; that they
fit does not show that the model is unchanged. Only its past errors show how good label shift
is on a stream: `estimate_record` holds them, and publishes what they support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from monitor.counts import ConfusionCounts
from monitor.drift.prevalence import (
    Prevalence,
    ReferenceRates,
    adjusted_count,
    expectation_maximisation,
    goodness_of_fit,
    groups_of_equal_mass,
)
from monitor.events.columns import Int64Array
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import ratio

ASSUMPTION = "if the model is unchanged"

_MISFIT = 0.001
_LEAST_SEPARATION = 0.2
_FEWEST_POSITIVES = 50.0


@dataclass(frozen=True, slots=True)
class Nowcast:
    """Prevalence and precision now, if the model is unchanged.

    Attributes:
        method: `em` (score histograms) or `adjusted_count` (predicted-positive rate).
        prevalence: estimate in [0, 1]; NaN where withheld.
        prevalence_lower: lower limit; NaN where withheld.
        prevalence_upper: upper limit; NaN where withheld.
        precision: estimate in [0, 1]; NaN where withheld, and where nothing is predicted
            positive.
        precision_lower: lower limit; NaN where `precision` is.
        precision_upper: upper limit; NaN where `precision` is.
        fit: p-value of the goodness of fit of the scores; NaN without scores.
        withheld: reasons for which the numbers are withheld: `no_reference`,
            `no_predictions`, `classes_not_separated` (TPR - FPR below .2),
            `too_few_positives` (fewer than 50 expected), `scores_do_not_fit` (p below
            .001). Empty where they are published.
    """

    method: str
    prevalence: float
    prevalence_lower: float
    prevalence_upper: float
    precision: float
    precision_lower: float
    precision_upper: float
    fit: float
    withheld: tuple[str, ...]


class ShiftEstimate(NamedTuple):
    """Prevalence and precision of some predictions if a shift is all that happened.

    Attributes:
        prevalence: in [0, 1]; NaN where undefined.
        precision: in [0, 1]; NaN where `prevalence` is, and where nothing is predicted positive.
        fits: False where the scores fit no mixture of the reference's two classes.
    """

    prevalence: float
    precision: float
    fits: bool = True


def label_shift(
    *,
    predicted_positive: float,
    total: float,
    reference: ConfusionCounts,
    scores: ArrayLike | None = None,
    reference_scores: ScoreHistogram | None = None,
) -> ShiftEstimate:
    """Estimate prevalence and precision as `nowcast` does, but withhold nothing.

    Args:
        predicted_positive: number of predictions called positive.
        total: number of all predictions.
        reference: labelled outcomes of the reference, a scalar.
        scores: predictions by score, in the reference's bins; None without scores.
        reference_scores: labelled cases of the reference by score; None without scores.

    Raises:
        ValueError: the bins of the two score histograms do not match.

    >>> reference = ConfusionCounts(tp=8_000, fn=2_000, fp=500, tn=9_500)
    >>> found = label_shift(predicted_positive=5, total=40, reference=reference)
    >>> round(found.prevalence, 3), round(found.precision, 3)
    (0.1, 0.64)
    """
    fit = float("nan")
    if scores is not None and reference_scores is not None:
        found = expectation_maximisation(scores, reference_scores)
        fit = goodness_of_fit(scores, reference_scores, found.estimate)
    else:
        found = adjusted_count(predicted_positive, total, reference)
    rates = ReferenceRates.of(reference)
    precision = _precision(found, rates, predicted_positive, total, 0.95)[0]
    return ShiftEstimate(found.estimate, precision, not fit < _MISFIT)


def label_shift_by_segment(
    predicted: Int64Array, reference: ConfusionCounts, otherwise: float
) -> ShiftEstimate:
    """Estimate prevalence by the adjusted count within each segment value, and sum.

    Label shift within the values allows for a change of their mix.

    Args:
        predicted: positive and negative predictions of each value, (values, 2).
        reference: outcomes of each value in the reference, (values,).
        otherwise: prevalence of the values for which it is undefined, in [0, 1]. Recall
            of values without positives in the reference is that of all values.

    Returns:
        NaN where there are no predictions.

    >>> reference = ConfusionCounts(
    ...     tp=np.array([80, 60]), fn=np.array([20, 40]), fp=np.array([50, 10]),
    ...     tn=np.array([950, 990]))
    >>> found = label_shift_by_segment(np.array([[125, 875], [69, 931]]), reference, 0.1)
    >>> round(found.prevalence, 2), round(found.precision, 2)
    (0.1, 0.72)
    """
    own, pooled = (ratio(part.tp, part.actual_positive) for part in (reference, reference.sum()))
    recall = np.where(np.isnan(own), pooled, own)
    false = ratio(reference.fp, reference.actual_negative)
    total = predicted.sum(axis=1)
    with np.errstate(all="ignore"):
        raw = (ratio(predicted[:, 0], total) - false) / (recall - false)
    share = np.where(recall > false, np.clip(raw, 0.0, 1.0), otherwise)
    positive = np.where(total > 0, share * total, 0.0)
    hits = np.minimum(positive * recall, predicted[:, 0])
    whole = predicted.sum(axis=0)
    return ShiftEstimate(
        float(ratio(positive.sum(), whole.sum())), float(ratio(hits.sum(), whole[0]))
    )


def covariate_shift(
    *, predicted_positive: float, scores: ArrayLike, reference_scores: ScoreHistogram
) -> ShiftEstimate:
    """Estimate prevalence and precision from the share of positives at each score.

    That share is the reference's, in at most 20 groups of scores. The predictions with the
    highest scores are taken for those that are called positive.

    Args:
        predicted_positive: number of predictions called positive.
        scores: predictions by score, in the reference's bins, one axis.
        reference_scores: labelled cases of the reference by score, one axis.

    Returns:
        NaN where the reference has no labelled scores, or where there are no predictions.

    Source:
        Shimodaira 2000 (covariate shift); NannyML's CBPE, with the scores calibrated on
        the reference.

    >>> reference = ScoreHistogram(
    ...     positive=np.array([0, 20, 80]), negative=np.array([100, 80, 20]),
    ...     unlabelled=np.zeros(3))
    >>> covariate_shift(
    ...     predicted_positive=50, scores=[50, 0, 100], reference_scores=reference)[:2]
    (0.5333333333333333, 0.8)
    """
    live = np.asarray(scores, dtype=np.float64)
    labelled = reference_scores.positive + reference_scores.negative
    if not (labelled.any() and live.any()):
        return ShiftEstimate(float("nan"), float("nan"))
    group = groups_of_equal_mass(labelled.astype(np.float64))
    share = ratio(np.bincount(group, reference_scores.positive), np.bincount(group, labelled))[
        group
    ]
    above = np.cumsum(live[::-1])[::-1] - live
    called = np.clip(predicted_positive - above, 0.0, live)
    return ShiftEstimate(
        float((share * live).sum() / live.sum()),
        float(ratio((share * called).sum(), called.sum())),
    )


def nowcast(
    *,
    predicted_positive: float,
    total: float,
    reference: ConfusionCounts,
    scores: ArrayLike | None = None,
    reference_scores: ScoreHistogram | None = None,
    level: float = 0.95,
) -> Nowcast:
    """Estimate prevalence and precision ahead of the labels, or withhold them with reasons.

    precision = π · TPR / q, with the reference's TPR and the predicted-positive rate q.

    Args:
        predicted_positive: number of live predictions called positive.
        total: number of all live predictions.
        reference: labelled outcomes of the reference, a scalar.
        scores: live predictions by score, in the reference's bins; None without scores.
            Prevalence comes from EM where both these and the reference's scores are
            given, else from the adjusted count.
        reference_scores: labelled cases of the reference by score; None without scores.
        level: coverage of the intervals, in (0, 1).

    Returns:
        The nowcast. It holds only under `ASSUMPTION`, which must be shown with it.

    Raises:
        ValueError: the bins of the two score histograms do not match.

    >>> reference = ConfusionCounts(tp=8_000, fn=2_000, fp=500, tn=9_500)
    >>> found = nowcast(predicted_positive=1_250, total=10_000, reference=reference)
    >>> found.method, round(found.prevalence, 3), round(found.precision, 3)
    ('adjusted_count', 0.1, 0.64)
    >>> nowcast(predicted_positive=5, total=10, reference=reference).withheld
    ('too_few_positives',)
    """
    with_scores = scores is not None and reference_scores is not None
    fit = float("nan")
    if scores is not None and reference_scores is not None:
        found = expectation_maximisation(scores, reference_scores, level=level)
        fit = goodness_of_fit(scores, reference_scores, found.estimate)
    else:
        found = adjusted_count(predicted_positive, total, reference, level=level)
    rates = ReferenceRates.of(reference)
    withheld = _reasons(found, rates, total, fit)
    precision = _precision(found, rates, predicted_positive, total, level)
    numbers = [found.estimate, found.lower, found.upper, *precision]
    if withheld:
        numbers = [float("nan")] * len(numbers)
    return Nowcast(
        method="em" if with_scores else "adjusted_count",
        prevalence=numbers[0],
        prevalence_lower=numbers[1],
        prevalence_upper=numbers[2],
        precision=numbers[3],
        precision_lower=numbers[4],
        precision_upper=numbers[5],
        fit=fit,
        withheld=withheld,
    )


def _reasons(found: Prevalence, rates: ReferenceRates, total: float, fit: float) -> tuple[str, ...]:
    if not total > 0:
        return ("no_predictions",)
    if np.isnan(rates.recall) or np.isnan(rates.false):
        return ("no_reference",)
    reasons = {
        "classes_not_separated": not rates.recall - rates.false >= _LEAST_SEPARATION,
        "too_few_positives": not total * found.estimate >= _FEWEST_POSITIVES,
        "scores_do_not_fit": fit < _MISFIT,
    }
    return tuple(reason for reason, holds in reasons.items() if holds)


def _precision(
    found: Prevalence, rates: ReferenceRates, predicted_positive: float, total: float, level: float
) -> tuple[float, float, float]:
    """π · TPR / q and its limits; π and q come from the same predictions."""
    if not (total > 0 and predicted_positive > 0 and rates.recall > 0 and found.estimate > 0):
        return (float("nan"),) * 3
    share = predicted_positive / total
    precision = min(found.estimate * rates.recall / share, 1.0)
    separation = rates.recall - rates.false
    # Relative variances of π and q, their covariance (TPR - FPR) var(π) taken off twice.
    relative = found.sampling_variance / found.estimate**2
    relative += (1 - share) / predicted_positive
    relative -= 2 * separation * found.sampling_variance / (found.estimate * share)
    relative += found.reference_variance / found.estimate**2
    relative += rates.recall_variance / rates.recall**2
    half_width = float(ndtri((1 + level) / 2)) * precision * np.sqrt(max(relative, 0.0))
    return precision, max(precision - half_width, 0.0), min(precision + half_width, 1.0)
