"""Precision against recall at every threshold, and the threshold that would keep an objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from monitor.events.columns import FloatArray, Int64Array
from monitor.metrics.confusion_summary import ScalarEstimate
from monitor.metrics.curves import precision_recall_curve
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.rates import class_ratio
from monitor.metrics.threshold import ThresholdChoice, best_threshold
from monitor.report.replay_json import defined

_POINTS = 150
"""So many points are enough for an eye."""


def curve_object(
    histogram: ScoreHistogram, *, reference_ratio: float | None, objective: float | None
) -> dict[str, Any]:
    """The curve at the class ratio of these scores and at another one.

    Args:
        histogram: labelled cases by score.
        reference_ratio: r0, the class ratio to carry the curve to; None for no other.
        objective: precision that is to be kept; None for none.

    Returns:
        Lists of equal length, by rising threshold; null where a precision is undefined.
        `choice` is the threshold that keeps the objective at the class ratio of these
        scores with the highest recall; null where none does.
    """
    labelled = histogram.counts[0]
    curve = precision_recall_curve(histogram)
    kept = _thinned(curve.recall)
    own = float(class_ratio(labelled))
    elsewhere: list[float | None] | None = None
    if reference_ratio is not None and reference_ratio > 0:
        at_reference = precision_recall_curve(histogram, class_ratio=reference_ratio)
        elsewhere = _numbers(at_reference.precision[kept])
    possible = objective is not None and math.isfinite(own) and own > 0
    choice = best_threshold(histogram, f"precision>={objective}") if possible else None
    return {
        "labelled_scores": int(labelled.total),
        "class_ratio": defined(own),
        "reference_class_ratio": reference_ratio,
        "threshold": _numbers(curve.threshold[kept]),
        "recall": _numbers(curve.recall[kept]),
        "precision": _numbers(curve.precision[kept]),
        "precision_at_reference": elsewhere,
        "objective": objective,
        "choice": None if choice is None else _choice(choice),
    }


def _thinned(recall: FloatArray) -> Int64Array:
    """Places of thresholds between which recall moves enough to be seen."""
    if not np.isfinite(recall).all():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.diff(np.round(recall * _POINTS), prepend=math.inf))


def _choice(found: ThresholdChoice) -> dict[str, Any]:
    return {
        "threshold": defined(found.threshold),
        "precision": _bounds(found.precision),
        "recall": _bounds(found.recall),
        "certain": found.certain,
        "labelled_scores": int(found.observed.predicted_positive),
    }


def _bounds(estimate: ScalarEstimate) -> dict[str, float | None]:
    return {
        "estimate": defined(estimate.value),
        "lower": defined(estimate.lower),
        "upper": defined(estimate.upper),
    }


def _numbers(values: FloatArray) -> list[float | None]:
    return [defined(number) for number in values.tolist()]
