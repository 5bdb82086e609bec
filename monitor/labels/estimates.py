"""From the cells of a window to what may be published of it, under each labelling regime.

Which numbers can be trusted depends on how labels come. Here the cells that were
counted (labelled outcomes, and all predictions by what was predicted) become
estimates with intervals, by the method that the regime allows, or are refused.

    plain      labels are complete, or silence was a negative: the counts themselves
    sampled    labels are a sample of either stratum: Begg-Greenes
    weighted   the same, each label with the inverse of its sampling probability
    flagged    predicted positives alone are labelled: precision, nothing else
    corrected  younger than the labels need: counts over the share that has come; where
               labels are a sample, or of the flagged alone, within either stratum
    immature   so young that under half of a class has come: nothing
    untrusted  labels went astray (`faults`): nothing, but for precision where predicted
               positives alone are labelled

Pure functions; the counts come from `monitor.windows`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from monitor import metrics
from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import FloatArray
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.corrected import corrected, corrected_labels
from monitor.labels.evidence import CORRECTED_KIND_OF, KIND_OF, STATUS, Evidence, Kind
from monitor.labels.refusals import (
    KEEPS_PRECISION,
    NEVER_TOLD,
    REASONS,
    REFUSED,
    WITHOUT_DETECTORS,
    because,
    refused,
)
from monitor.labels.sampled_labels import (
    SAMPLES,
    effective_labels,
    expected,
    labels_by_stratum,
    sampling_dispersion,
)
from monitor.metrics import sampled
from monitor.snapshot import Estimate

LEAST_COVERAGE = 0.5
"""Windows in which under this share of a class is labelled are not published."""

_CELLS = len(Outcome)

__all__ = [
    "CORRECTED_KIND_OF",
    "KEEPS_PRECISION",
    "KIND_OF",
    "LEAST_COVERAGE",
    "NEVER_TOLD",
    "REASONS",
    "REFUSED",
    "SAMPLES",
    "STATUS",
    "WITHOUT_DETECTORS",
    "Evidence",
    "Kind",
    "because",
    "corrected",
    "corrected_labels",
    "effective_labels",
    "expected",
    "labels_by_stratum",
    "measure",
    "refused",
    "sampled_counts",
    "sampling_dispersion",
]


_CORRECTED_LABELS = (
    Kind.CORRECTED_SAMPLED,
    Kind.CORRECTED_FLAGGED,
    Kind.CORRECTED_ONE_SIDED,
)


def measure(evidence: Evidence, metric: str, class_ratio: float | None = None) -> FloatArray:
    """Estimate a metric of each row by what its labels allow.

    Args:
        evidence: of the rows.
        metric: one of `monitor.snapshot.METRICS`, or `precision_at`.
        class_ratio: for `precision_at`.

    Returns:
        Estimate, lower and upper limit, (3, rows); NaN where undefined or refused.
    """
    values = np.full((3, len(evidence)), np.nan)
    for kind, method in _METHODS.items():
        rows = np.flatnonzero(evidence.kind == kind)
        if len(rows):
            some = evidence if len(rows) == len(evidence) else evidence.take(rows)
            values[:, rows] = method(some, metric, class_ratio)
    return values


def _plain(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    counts = ConfusionCounts.from_cells(evidence.cells[:, :_CELLS])
    if class_ratio is not None:
        point = metrics.precision_at(counts, class_ratio=class_ratio)
        limits = metrics.intervals(counts, metric, class_ratio=class_ratio)
        return Estimate(point, *limits)
    return Estimate(getattr(metrics, metric)(counts), *metrics.intervals(counts, metric))


def _sampled(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    counts = sampled_counts(evidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Estimate(
            sampled.estimate(counts, metric, class_ratio=class_ratio),
            *sampled.intervals(counts, metric, class_ratio=class_ratio),
        )


def _flagged(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    if metric == "precision":
        return _plain(evidence, metric, class_ratio)
    return _immature(evidence, metric, class_ratio)


def _corrected_flagged(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    if metric == "precision":
        return _sampled(evidence, metric, class_ratio)
    return _immature(evidence, metric, class_ratio)


def _corrected(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    return corrected(evidence.cells[:, :_CELLS], evidence.coverage, metric, class_ratio)


def _immature(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    del metric, class_ratio
    nothing = np.full(len(evidence), np.nan)
    return Estimate(nothing, nothing, nothing)


_METHODS: Mapping[Kind, Callable[[Evidence, str, float | None], Estimate]] = {
    Kind.PLAIN: _plain,
    Kind.SAMPLED: _sampled,
    Kind.WEIGHTED: _sampled,
    Kind.FLAGGED: _flagged,
    Kind.CORRECTED: _corrected,
    Kind.IMMATURE: _immature,
    Kind.CORRECTED_SAMPLED: _sampled,
    Kind.CORRECTED_FLAGGED: _corrected_flagged,
    Kind.ONE_SIDED: _flagged,
    Kind.CORRECTED_ONE_SIDED: _corrected_flagged,
    Kind.FAULTY: _immature,
}


def sampled_counts(evidence: Evidence) -> sampled.SampledCounts:
    """Labelled outcomes and the predictions they stand for, of sampled or weighted rows.

    Weighted rows get, in either stratum, the weighted shares times the number of
    equally weighted labels that would know them as well; rows whose labels have come
    in part, the corrected shares times such a number.
    """
    cells, kind = evidence.cells, evidence.kind[:, None]
    labelled = cells[:, :_CELLS].astype(np.float64)
    if (kind == Kind.WEIGHTED).any():
        labelled = np.where(kind == Kind.WEIGHTED, effective_labels(evidence.weights), labelled)
    corrected_too = np.isin(kind, _CORRECTED_LABELS)
    if corrected_too.any():
        young = corrected_labels(cells[:, :_CELLS], evidence.coverage)
        labelled = np.where(corrected_too, young, labelled)
    called = ConfusionCounts.from_cells(labelled)
    return sampled.SampledCounts(
        labelled=called,
        predicted_positive=np.maximum(cells[:, PREDICTED_POSITIVE], called.predicted_positive),
        predicted_negative=np.maximum(cells[:, PREDICTED_NEGATIVE], called.predicted_negative),
    )
