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

Pure functions; the counts come from `monitor.windows`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from monitor import metrics
from monitor.config import Labelling
from monitor.counts import ConfusionCounts, Outcome
from monitor.events import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.metrics import sampled
from monitor.regimes.corrected import corrected, corrected_labels
from monitor.regimes.samples import (
    SAMPLES,
    effective_labels,
    expected,
    labels_by_stratum,
    sampling_dispersion,
)
from monitor.snapshot import METRICS, Estimate
from monitor.windows.cohorts import Coverage
from monitor.windows.weights import SUMS

LEAST_COVERAGE = 0.5
"""Windows in which under this share of a class is labelled are not published."""

_CELLS = len(Outcome)

__all__ = [
    "CORRECTED_KIND_OF",
    "KIND_OF",
    "LEAST_COVERAGE",
    "REASONS",
    "REFUSED",
    "SAMPLES",
    "STATUS",
    "WITHOUT_DETECTORS",
    "Evidence",
    "Kind",
    "corrected",
    "corrected_labels",
    "effective_labels",
    "expected",
    "labels_by_stratum",
    "measure",
    "sampled_counts",
    "sampling_dispersion",
]


class Kind(IntEnum):
    """By which method a row is estimated."""

    PLAIN = 0
    SAMPLED = 1
    WEIGHTED = 2
    FLAGGED = 3
    CORRECTED = 4
    IMMATURE = 5
    CORRECTED_SAMPLED = 6
    CORRECTED_FLAGGED = 7


STATUS = (*("mature",) * 4, "corrected", "immature", "corrected", "corrected")
"""What is said of a window's age, by `Kind`."""

KIND_OF = {
    Labelling.COMPLETE: Kind.PLAIN,
    Labelling.NEGATIVES_BY_TIMEOUT: Kind.PLAIN,
    Labelling.SAMPLED: Kind.SAMPLED,
    Labelling.WEIGHTED: Kind.WEIGHTED,
    Labelling.FLAGGED_ONLY: Kind.FLAGGED,
}
"""How rows are estimated where the labels that were to come have come."""

CORRECTED_KIND_OF = {
    Labelling.COMPLETE: Kind.CORRECTED,
    Labelling.SAMPLED: Kind.CORRECTED_SAMPLED,
    Labelling.FLAGGED_ONLY: Kind.CORRECTED_FLAGGED,
}
"""How rows are estimated where half or more have come. Not where labels are weighted:
delays then differ by how a label was sampled, which the distribution by outcome does
not hold; nor where silence is a negative, which it is only once the timeout has passed."""

_REFUSED_NAMES = (*(name for name in METRICS if name != "precision"), "precision_at")

REFUSED: Mapping[Labelling, Mapping[str, str]] = {
    Labelling.FLAGGED_ONLY: dict.fromkeys(_REFUSED_NAMES, "flagged_only"),
}
"""Metrics that cannot be known under a regime, each with its reason for a machine."""

WITHOUT_DETECTORS: Mapping[Labelling, str] = {
    Labelling.FLAGGED_ONLY: "flagged_only",
    Labelling.SAMPLED: "sampled",
    Labelling.WEIGHTED: "weighted",
}
"""Regimes under which no detector runs, each with its reason for a machine."""

REASONS: Mapping[str, str] = {
    "flagged_only": "only predicted positives are ever labelled, so precision alone can be known: "
    "recall, false-positive rate, prevalence and balanced precision are refused, not guessed",
    "sampled": "labels are a sample of the predictions, at rates that may change: detectors would "
    "take a change of the rates for one of the model, so verdicts rest on whole windows alone",
    "weighted": "labels are weighted by how they were sampled: detectors, which step with every "
    "pane, would rest on few labels of great weight, so verdicts rest on whole windows alone",
}
"""What each reason means, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the estimates of some rows rest on.

    Attributes:
        kind: (rows,), see `Kind`.
        cells: int64 (rows, 6), see `monitor.join.deltas`; silence already counted in.
        weights: int64 (rows, 8), see `monitor.windows.weights`; zeros where not weighted.
        coverage: share of the labels to come that have come, (rows, 4) by `Outcome`,
            and the variance of its log; 1 and 0 where the labels have come.
    """

    kind: Int64Array
    cells: Int64Array
    weights: Int64Array
    coverage: Coverage

    @classmethod
    def complete(cls, cells: Int64Array) -> Evidence:
        """Of rows whose labels are complete."""
        return cls.of(np.zeros(len(cells), dtype=np.int64), cells)

    @classmethod
    def of(cls, kind: Int64Array, cells: Int64Array) -> Evidence:
        """Of rows whose labels have come."""
        rows = len(cells)
        return cls(
            kind=kind,
            cells=cells,
            weights=np.zeros((rows, SUMS), dtype=np.int64),
            coverage=Coverage(np.ones((rows, _CELLS)), np.zeros((rows, _CELLS))),
        )

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: Int64Array) -> Evidence:
        """Some of the rows."""
        return Evidence(
            kind=self.kind[rows],
            cells=self.cells[rows],
            weights=self.weights[rows],
            coverage=Coverage(self.coverage.share[rows], self.coverage.variance[rows]),
        )

    def differs(self, other: Evidence) -> Int64Array:
        """Rows that are not as in other evidence, which may be of fewer rows."""
        known = len(other)
        same = np.zeros(len(self), dtype=np.bool_)
        columns = [
            (self.kind[:, None], other.kind[:, None]),
            (self.cells, other.cells),
            (self.weights, other.weights),
            (self.coverage.share, other.coverage.share),
            (self.coverage.variance, other.coverage.variance),
        ]
        same[:known] = np.all(
            [(mine[:known] == theirs).all(axis=1) for mine, theirs in columns], axis=0
        )
        return np.flatnonzero(~same)


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
    if (kind >= Kind.CORRECTED_SAMPLED).any():
        young = corrected_labels(cells[:, :_CELLS], evidence.coverage)
        labelled = np.where(kind >= Kind.CORRECTED_SAMPLED, young, labelled)
    called = ConfusionCounts.from_cells(labelled)
    return sampled.SampledCounts(
        labelled=called,
        predicted_positive=np.maximum(cells[:, PREDICTED_POSITIVE], called.predicted_positive),
        predicted_negative=np.maximum(cells[:, PREDICTED_NEGATIVE], called.predicted_negative),
    )
