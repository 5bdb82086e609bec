"""The families about sources of labels: how many cases each labels, and how often it is wrong."""

from collections.abc import Iterator

import numpy as np

from monitor.metrics.source_errors import SourceErrors
from monitor.metrics.source_findings import SourceFindings
from monitor.prometheus.family import BOUNDS, MOST_LABEL_SOURCES, Bound, Family, Line, Shape, line
from monitor.snapshot import Snapshot

_RATES = ("false_positive", "false_negative")


def label_source_families() -> Iterator[Family]:
    """Yield the families about sources of labels, in the order of the exposition."""
    yield Family(
        name="classifier_label_source_cases",
        kind="gauge",
        meaning="Cases that the source of labels labels, predicted within a year; of each model "
        f"the first {MOST_LABEL_SOURCES} sources.",
        labels=("model", "source"),
        lines=lambda shape: [
            line(model=m.name, source=name) for m in shape.models for name in m.label_sources
        ],
        values=lambda snapshot: np.array(
            [n for found in _found(snapshot) for n in found.labelled[:MOST_LABEL_SOURCES]],
            dtype=np.float64,
        ),
    )
    yield from map(_error_ratio, BOUNDS)
    yield Family(
        name="classifier_label_source_alpha_ratio",
        kind="gauge",
        meaning="Agreement of all sources of labels beyond chance: Krippendorff's alpha.",
        labels=("model",),
        lines=_of_models,
        values=lambda snapshot: np.array([one.alpha for one in _found(snapshot)]),
    )
    yield Family(
        name="classifier_label_source_outranked_total",
        kind="counter",
        meaning="Labels that came when one of a source of a higher rank was in force.",
        labels=("model",),
        lines=_of_models,
        values=lambda snapshot: np.array(
            [one.outranked for one in _found(snapshot)], dtype=np.float64
        ),
    )


def _error_ratio(bound: Bound) -> Family:
    infix = f"_{bound.infix}" if bound.infix else ""
    return Family(
        name=f"classifier_label_source_error{infix}_ratio",
        kind="gauge",
        meaning="Share of actual negatives that the source labels 1 (false_positive), of actual "
        f"positives that it labels 0 (false_negative), by Dawid and Skene.{bound.remark}",
        labels=("model", "source", "rate"),
        lines=lambda shape: [
            line(model=m.name, source=name, rate=rate)
            for m in shape.models
            for name in m.label_sources
            for rate in _RATES
        ],
        values=lambda snapshot: np.array(
            [
                end
                for found in _found(snapshot)
                for errors in found.errors[:MOST_LABEL_SOURCES]
                for end in _ends(errors, bound)
            ],
            dtype=np.float64,
        ),
    )


def _ends(errors: SourceErrors, bound: Bound) -> list[float]:
    field = "rate" if bound.field == "estimate" else bound.field
    return [getattr(getattr(errors, rate), field) for rate in _RATES]


def _found(snapshot: Snapshot) -> Iterator[SourceFindings]:
    for model in snapshot.models:
        if model.label_sources is not None:
            yield model.label_sources


def _of_models(shape: Shape) -> list[Line]:
    return [line(model=m.name) for m in shape.models if m.label_sources]
