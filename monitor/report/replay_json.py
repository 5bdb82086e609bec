"""What `replay --json` prints: a snapshot as one JSON object.

Every metric is an object with `estimate`, `lower` and `upper`; whatever is
undefined is null. Reasons for which nothing was rejected are left out. Times are
ISO 8601 in UTC. Keys may be added in later versions; none changes its meaning.
"""

from __future__ import annotations

import json
import math
from typing import Any

from monitor.config.quantities import format_time
from monitor.counts import Outcome
from monitor.labels.refusals import because, refused
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.snapshot import Estimate, ModelState, Snapshot, Window
from monitor.verdicts import ReferenceOutcomes

METRICS = (
    "precision",
    "balanced_precision",
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
)
"""The metrics of the object, by their names in `monitor.metrics`."""


def replay_json(snapshot: Snapshot) -> str:
    """The JSON text, one object over several lines, ASCII only."""
    return json.dumps(replay_object(snapshot), indent=2, allow_nan=False)


def replay_object(snapshot: Snapshot) -> dict[str, Any]:
    """The object as plain dictionaries, lists, numbers and texts."""
    return {
        "events": snapshot.records,
        "events_rejected": {str(reason): n for reason, n in snapshot.rejected.items() if n},
        "models": {model.name: _model(snapshot, model) for model in snapshot.models},
    }


def _model(snapshot: Snapshot, model: ModelState) -> dict[str, Any]:
    speaks = deciding_window(model, [window.name for window in snapshot.windows])
    return {
        "predictions": model.predictions_positive + model.predictions_negative,
        "labels": model.labelled,
        "pending": model.pending,
        "expired": model.expired,
        **counted(snapshot.lifetime, model.row),
        "reference": reference_object(model.watched.reference),
        "windows": {
            window.name: {
                **window_object(window, model.row, known=snapshot.now_ms is not None),
                "precision_at_reference": bounds(
                    snapshot.precision_of_model_at_reference(model, window), 0
                ),
                "status": str(window.status[model.row]) if len(window.status) else None,
                **refusal_object(window, model.row),
                "verdict": str(verdict_on(model, window.name).verdict),
                "label_fault": verdict_on(model, window.name).label_fault or None,
                "far_from_reference": verdict_on(model, window.name).far_from_reference,
            }
            for window in snapshot.windows
        },
        "detections": [
            {"at": format_time(found.at), "kind": found.kind, "series": model.name}
            for found in model.watched.detections
        ],
        "verdict": str(verdict_on(model, speaks).verdict),
        "verdict_window": speaks,
        "refused": dict(model.refused),
        "refused_because": model.refused_because,
        "labels_missing_in": [found._asdict() for found in model.watched.missing_labels],
    }


def window_object(window: Window, row: int, *, known: bool) -> dict[str, Any]:
    """A window's last state; without bounds before event time began."""
    return {
        "open": format_time(int(window.open[row])) if known else None,
        "close": format_time(int(window.close[row])) if known else None,
        **counted(window, row),
    }


def counted(window: Window, row: int) -> dict[str, Any]:
    """Outcomes and metrics of one series in a window."""
    cells = window.counts[row].cells.tolist()
    return {
        "outcomes": {cell.name.lower(): cells[cell] for cell in Outcome},
        "metrics": {name: _metric(window, name, row) for name in METRICS},
    }


def _metric(window: Window, name: str, row: int) -> dict[str, float | None]:
    return bounds(window.metrics[name], row)


def reference_object(before: ReferenceOutcomes | None) -> dict[str, Any] | None:
    """What the windows are compared with; null while it is not known."""
    if before is None:
        return None
    cells = before.counts.cells.tolist()
    return {
        "source": before.source,
        "version": before.version,
        "open": None if before.opens is None else format_time(before.opens),
        "close": None if before.closes is None else format_time(before.closes),
        "outcomes": {cell.name.lower(): cells[cell] for cell in Outcome},
        "class_ratio": defined(before.class_ratio),
    }


def refusal_object(window: Window, row: int) -> dict[str, Any]:
    """What is withheld of a window since its labels went astray, each with its reason."""
    fault = window.fault_of(row)
    return {"refused": refused(fault), "refused_because": because(fault)}


def bounds(estimate: Estimate, row: int) -> dict[str, float | None]:
    """A metric of one series with its interval."""
    return {bound: defined(getattr(estimate, bound)[row]) for bound in estimate._fields}


def defined(number: float) -> float | None:
    """The number; null where it is undefined."""
    return float(number) if math.isfinite(number) else None
