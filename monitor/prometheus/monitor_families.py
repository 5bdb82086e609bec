"""The families about the monitor as a whole: what it received, and its event time.

Every scrape can be checked by itself: the labels among
`precision_monitor_events_total` are the sum of `precision_monitor_labels`, the
predictions that of `precision_monitor_predictions` (see `model_families`) and of
`precision_monitor_forgotten_predictions_total`. The shadows are the sum of
`precision_monitor_shadow_predictions` and of
`precision_monitor_forgotten_shadow_predictions_total`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from monitor.events.label_totals import LabelTotals
from monitor.events.reject_reasons import RejectReason
from monitor.prometheus.family import Family, Labels, SeriesKind, line
from monitor.prometheus.process_series import build_labels
from monitor.snapshot import CELL_NAMES, Snapshot, SourceProgress

_EVENT_TYPES = ("prediction", "label", "outcome", "counts", "shadow")


def monitor_families() -> Iterator[Family]:
    """Yield the families about the monitor, in the order of the exposition."""
    yield _single(
        "precision_monitor_labels",
        "gauge",
        "Labels received, by state; the states add up to all of them.",
        lambda snapshot: snapshot.labels,
        [{"state": state} for state in LabelTotals._fields],
    )
    yield _single(
        "precision_monitor_audits_without_effect",
        "gauge",
        "Audits without effect: their prediction was forgotten, or has not come.",
        lambda snapshot: [0 if snapshot.lost_audits is None else snapshot.lost_audits.number],
    )
    yield _single(
        "precision_monitor_records_total",
        "counter",
        "Records read, used or not.",
        lambda snapshot: [snapshot.records],
    )
    yield _single(
        "precision_monitor_events_total",
        "counter",
        "Events taken, by type; an outcome with an id is a prediction and a label, a shadow the "
        "prediction of a shadow version.",
        lambda snapshot: [snapshot.events.get(kind, 0) for kind in _EVENT_TYPES],
        [{"type": kind} for kind in _EVENT_TYPES],
    )
    yield _single(
        "precision_monitor_events_rejected_total",
        "counter",
        "Records that could not be used, by reason.",
        lambda snapshot: [snapshot.rejected.get(reason, 0) for reason in RejectReason],
        [{"reason": reason.value} for reason in RejectReason],
    )
    yield _single(
        "precision_monitor_watermark_timestamp_seconds",
        "gauge",
        "Third-highest event time seen.",
        lambda snapshot: [_seconds(snapshot.watermark_ms)],
    )
    yield _single(
        "precision_monitor_now_timestamp_seconds",
        "gauge",
        "Current event time; windows end at this time less the maturity of labels.",
        lambda snapshot: [_seconds(snapshot.now_ms)],
    )
    yield _single(
        "precision_monitor_pending_bytes",
        "gauge",
        "Memory of the tables of predictions that wait for labels or for revisions.",
        lambda snapshot: [snapshot.pending_bytes],
    )
    yield _single(
        "precision_monitor_series",
        "gauge",
        "Models and segment values that are counted.",
        lambda snapshot: [len(snapshot.series) + snapshot.hidden_series],
    )
    yield _single(
        "precision_monitor_segment_values_overflowed_total",
        "counter",
        "Predictions counted under __other__, because their segment had too many values.",
        lambda snapshot: [snapshot.overflowed_values],
    )
    yield _single(
        "precision_monitor_models_forgotten_total",
        "counter",
        "Models that had been silent for longer than forget_after, and were forgotten.",
        lambda snapshot: [snapshot.forgotten.models],
    )
    yield _single(
        "precision_monitor_forgotten_predictions_total",
        "counter",
        "Predictions of forgotten models, repeated ones included.",
        lambda snapshot: [snapshot.forgotten.predictions],
    )
    yield _single(
        "precision_monitor_forgotten_shadow_predictions_total",
        "counter",
        "Predictions of shadow versions of forgotten models.",
        lambda snapshot: [snapshot.forgotten.shadows],
    )
    yield _single(
        "precision_monitor_forgotten_outcomes_total",
        "counter",
        "Outcomes of forgotten models, by cell of the confusion matrix.",
        lambda snapshot: [getattr(snapshot.forgotten, cell) for cell in CELL_NAMES[1:]],
        [{"outcome": cell} for cell in CELL_NAMES[1:]],
    )
    yield _of_sources(
        "precision_monitor_source_records_total",
        "counter",
        "Records of counts taken, by source; redelivered ones included.",
        lambda source: source.records,
    )
    yield _of_sources(
        "precision_monitor_source_watermark_timestamp_seconds",
        "gauge",
        "Event time that the source of counts reports to have reached.",
        lambda source: _seconds(source.watermark_ms),
    )
    yield _of_sources(
        "precision_monitor_source_late_labels_total",
        "counter",
        "Labels that came too late to the source of counts, and changed nothing.",
        lambda source: source.late,
    )
    yield _single(
        "precision_monitor_build_info",
        "info",
        "Versions of the monitor and of Python, and the kernel: c (compiled) or python.",
        lambda _: [1],
        [build_labels()],
    )


def _single(
    name: str,
    kind: SeriesKind,
    meaning: str,
    read: Callable[[Snapshot], Sequence[float]],
    labels: Sequence[Labels] = ({},),
) -> Family:
    """Numbers of the monitor as a whole, one for each label set."""
    return Family(
        name=name,
        kind=kind,
        meaning=meaning,
        labels=tuple(labels[0]),
        lines=lambda _: [line(**one) for one in labels],
        values=lambda snapshot: np.array(read(snapshot), dtype=np.float64),
    )


def _of_sources(
    name: str, kind: SeriesKind, meaning: str, read: Callable[[SourceProgress], float]
) -> Family:
    """A number for each source of counts."""
    return Family(
        name=name,
        kind=kind,
        meaning=meaning,
        labels=("source",),
        lines=lambda shape: [line(source=source) for source in shape.sources],
        values=lambda snapshot: np.array([read(s) for s in snapshot.sources], dtype=np.float64),
    )


def _seconds(moment_ms: int | None) -> float:
    return np.nan if moment_ms is None else moment_ms / 1000
