"""Precision against recall at every threshold, and the threshold that reaches an objective."""

from __future__ import annotations

import math

import numpy as np

from monitor.events.columns import FloatArray, Int64Array
from monitor.exporter.api.curve_answer import ChosenThreshold, CurveAnswer
from monitor.exporter.api.series import numbers
from monitor.exporter.api.series_answer import Numbers
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected_curve import curve_refused_because
from monitor.metrics.confusion_summary import ScalarEstimate
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.possible_rates import possible_at_thresholds
from monitor.metrics.precision import precision, precision_at
from monitor.metrics.rates import class_ratio, recall
from monitor.metrics.sampled import SampledCounts
from monitor.metrics.threshold import ThresholdChoice, best_threshold
from monitor.report.answer_parts import MetricInterval, defined

_POINTS = 150
"""Steps of recall that the curve is thinned to, for drawing."""


def curve_answer(
    histogram: ScoreHistogram,
    *,
    reference_ratio: float | None,
    objective: float | None,
    regime: LabelRegime,
) -> CurveAnswer:
    """Return the curve at the class ratio of these scores, and at another one.

    Args:
        histogram: labelled cases by score.
        reference_ratio: r0, the class ratio to carry the curve to; None for no other.
        objective: precision to reach; None for none.
        regime: how labels come, and how often they are wrong, the same for all these cases.

    Returns:
        Corrected for wrong labels of known rates, taken to be as frequent at every score; without
        a curve where one would be wrong (`curve_refused_because`).
    """
    labelled = histogram.counts[0]
    if (refused := curve_refused_because(regime, histogram.counts)) is not None:
        return CurveAnswer(
            labelled_scores=int(labelled.total),
            class_ratio=None,
            reference_class_ratio=reference_ratio,
            threshold=(),
            recall=(),
            precision=(),
            precision_at_reference=None,
            objective=objective,
            choice=None,
            refused_because=refused,
        )
    errors = possible_at_thresholds(regime.errors, histogram.counts)
    outcomes = SampledCounts.all_labelled(histogram.counts, errors).cases
    recalls = recall(outcomes)
    drawn = _thinned(recalls)
    own = float(class_ratio(outcomes[0]))
    at_reference: Numbers | None = None
    if reference_ratio is not None and reference_ratio > 0:
        carried = precision_at(outcomes, class_ratio=reference_ratio)
        at_reference = numbers(carried[drawn])
    possible = objective is not None and math.isfinite(own) and own > 0
    sought = f"precision>={objective}"
    choice = best_threshold(histogram, sought, errors=errors) if possible else None
    return CurveAnswer(
        labelled_scores=int(labelled.total),
        class_ratio=defined(own),
        reference_class_ratio=reference_ratio,
        threshold=numbers(histogram.thresholds[drawn]),
        recall=numbers(recalls[drawn]),
        precision=numbers(precision(outcomes)[drawn]),
        precision_at_reference=at_reference,
        objective=objective,
        choice=None if choice is None else _choice(choice),
        corrected=regime.has_errors,
    )


def _thinned(recall: FloatArray) -> Int64Array:
    """Return indices of the thresholds between which recall moves by a visible step."""
    if not np.isfinite(recall).all():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.diff(np.round(recall * _POINTS), prepend=math.inf))


def _choice(found: ThresholdChoice) -> ChosenThreshold:
    return ChosenThreshold(
        threshold=defined(found.threshold),
        precision=_interval(found.precision),
        recall=_interval(found.recall),
        certain=found.certain is True,
        labelled_scores=int(found.observed.predicted_positive),
    )


def _interval(estimate: ScalarEstimate) -> MetricInterval:
    return MetricInterval(
        estimate=defined(estimate.value),
        lower=defined(estimate.lower),
        upper=defined(estimate.upper),
    )
