"""Estimates metrics from the counts of a window, under each labelling regime.

The method depends on how labels come. These functions turn counts (labelled outcomes, and
all predictions by predicted class) into estimates with intervals, or refuse to.

    plain      labels are complete, or a missing label is a negative: the counts themselves
    sampled    labels are a sample of each predicted class: Begg-Greenes
    weighted   as sampled, each label with the inverse of its sampling probability
    flagged    only predicted positives are labelled: precision, nothing else
    corrected  some labels are still to come: counts divided by the share that has come;
               by predicted class if labels are a sample or only of predicted positives
    immature   under half of the labels of a class have come: nothing
    untrusted  the labels have a fault (see `faults`): nothing; if only predicted positives
               are labelled, precision

Where labels have errors at known rates, all methods correct the share of positives in each
predicted class (Rogan and Gladen), with the intervals of `monitor.metrics.sampled`.

Pure functions; the counts come from `monitor.windows`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import FloatArray
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.corrected import corrected, corrected_labels
from monitor.labels.evidence import Evidence, Kind
from monitor.labels.sampled_labels import effective_labels
from monitor.metrics import sampled
from monitor.metrics.intervals import METRICS, intervals
from monitor.snapshot import Estimate

LEAST_COVERAGE = 0.5
"""A window is not published if less than this share of the labels of a class has come."""

_CELLS = len(Outcome)

_CORRECTED_LABELS = (
    Kind.CORRECTED_SAMPLED,
    Kind.CORRECTED_FLAGGED,
    Kind.CORRECTED_ONE_SIDED,
)
_ALL_LABELLED = (Kind.PLAIN, Kind.ONE_SIDED)


def measure(evidence: Evidence, metric: str, class_ratio: float | None = None) -> FloatArray:
    """Estimate a metric of each row by the method that its labels allow.

    Args:
        evidence: counts of the rows, and the state of their labels.
        metric: one of `monitor.snapshot.METRIC_NAMES`, or `precision_at`.
        class_ratio: actual positives per actual negative, for `precision_at`; else None.

    Returns:
        Estimate, lower and upper limit, (3, rows); NaN where undefined or refused.
    """
    values = np.full((3, len(evidence)), np.nan)
    wrong = evidence.errors.any(axis=1)
    undefined = np.isnan(evidence.errors).any(axis=1)
    for methods, chosen in ((_METHODS, ~wrong), (_METHODS | _WITH_ERRORS, wrong & ~undefined)):
        for kind in np.unique(evidence.kind[chosen]):
            rows = np.flatnonzero((evidence.kind == kind) & chosen)
            some = evidence if len(rows) == len(evidence) else evidence.take(rows)
            values[:, rows] = methods[int(kind)](some, metric, class_ratio)
    return values


def _plain(evidence: Evidence, metric: str, class_ratio: float | None) -> Estimate:
    counts = ConfusionCounts.from_cells(evidence.cells[:, :_CELLS])
    given = {} if class_ratio is None else {"class_ratio": class_ratio}
    return Estimate(METRICS[metric].value(counts, **given), *intervals(counts, metric, **given))


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


_Method = Callable[[Evidence, str, float | None], Estimate]

_METHODS: dict[int, _Method] = {
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

_WITH_ERRORS: dict[int, _Method] = {
    Kind.PLAIN: _sampled,
    Kind.CORRECTED: _sampled,
    Kind.FLAGGED: _corrected_flagged,
    Kind.ONE_SIDED: _corrected_flagged,
}
"""Methods that differ where labels have errors."""


def sampled_counts(evidence: Evidence) -> sampled.SampledCounts:
    """Return labelled outcomes and all predictions of sampled or weighted rows.

    Where labels are complete, the labelled cases are the predictions. Of weighted rows, the
    outcomes of each predicted class are the weighted shares times the effective number of
    labels: that of equally weighted labels with the same precision. Of rows with labels still
    to come, they are the corrected shares times such a number.
    """
    cells, kind = evidence.cells, evidence.kind[:, None]
    labelled = cells[:, :_CELLS].astype(np.float64)
    if (kind == Kind.WEIGHTED).any():
        labelled = np.where(kind == Kind.WEIGHTED, effective_labels(evidence.weights), labelled)
    corrected_too = np.isin(kind, (*_CORRECTED_LABELS, Kind.CORRECTED))
    if corrected_too.any():
        young = corrected_labels(cells[:, :_CELLS], evidence.coverage)
        labelled = np.where(corrected_too, young, labelled)
    called = ConfusionCounts.from_cells(labelled)
    made = cells[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]]
    made = np.where(np.isin(kind, _ALL_LABELLED), 0, made)
    return sampled.SampledCounts(
        labelled=called,
        predicted_positive=np.maximum(made[:, 0], called.predicted_positive),
        predicted_negative=np.maximum(made[:, 1], called.predicted_negative),
        false_positive=evidence.errors[:, 0],
        false_negative=evidence.errors[:, 1],
        false_positive_below=evidence.errors[:, 2],
        false_positive_above=evidence.errors[:, 3],
        false_negative_below=evidence.errors[:, 4],
        false_negative_above=evidence.errors[:, 5],
    )
