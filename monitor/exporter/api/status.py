"""Every model as it stands: what a first look needs, from one snapshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from monitor.config import Labelling
from monitor.config.quantities import format_time, parse_duration
from monitor.drift import CAUSES, Attribution, Judgement, Verdict
from monitor.drift.label_free import ASSUMPTION, Nowcast
from monitor.labels.refusals import NEVER_TOLD
from monitor.metrics.precision import precision
from monitor.metrics.rates import false_positive_rate, recall
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.headline import moved, reason
from monitor.report.missing_evidence import missing_evidence
from monitor.report.reference_text import warming_up_text
from monitor.report.replay_json import (
    bounds,
    counted,
    defined,
    reference_object,
    refusal_object,
    window_object,
)
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.version import __version__

SEVERITY = (
    Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
    Verdict.MODEL_DEGRADED,
    Verdict.LABELS_NOT_TRUSTWORTHY,
    Verdict.OPERATING_POINT_MOVED,
    Verdict.PREVALENCE_SHIFT,
    Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED,
    Verdict.MODEL_IMPROVED,
    Verdict.INSUFFICIENT_EVIDENCE,
    Verdict.NO_CHANGE,
)
"""The order in which models are listed: what a person must look at comes first."""


def longest_window(snapshot: Snapshot) -> str:
    """Name of the longest window; see `deciding_window` for the one whose verdict counts."""
    return max((window.name for window in snapshot.windows), key=parse_duration)


def status_object(
    snapshot: Snapshot,
    *,
    matching: str = "",
    names: Sequence[str] = (),
    offset: int = 0,
    limit: int,
) -> dict[str, Any]:
    """The monitor, and some of its models with all their windows.

    Args:
        snapshot: the state.
        matching: only models whose name holds this text, in any case.
        names: only these models; all if empty.
        offset: leave out the first so many.
        limit: so many at most.
    """
    names_of_windows = [window.name for window in snapshot.windows]
    speaks = {model.name: deciding_window(model, names_of_windows) for model in snapshot.models}
    verdicts = {
        model.name: verdict_on(model, speaks[model.name]).verdict for model in snapshot.models
    }
    wanted = [
        model
        for model in snapshot.models
        if matching.casefold() in model.name.casefold() and (not names or model.name in names)
    ]
    wanted.sort(key=lambda model: (SEVERITY.index(verdicts[model.name]), model.name))
    return {
        "version": __version__,
        "now": _time(snapshot.now_ms),
        "watermark": _time(snapshot.watermark_ms),
        "records": snapshot.records,
        "rejected": {str(reason): n for reason, n in snapshot.rejected.items() if n},
        "windows": names_of_windows,
        "verdict_window": longest_window(snapshot),
        "verdicts": _tally([*verdicts.values()]),
        "total": len(wanted),
        "offset": offset,
        "models": [
            _model(snapshot, model, speaks[model.name]) for model in wanted[offset : offset + limit]
        ],
    }


def _tally(found: list[Verdict]) -> dict[str, int]:
    """How many models there are of each verdict, the worst first."""
    return {str(verdict): found.count(verdict) for verdict in SEVERITY if verdict in found}


def _model(snapshot: Snapshot, model: ModelState, window: str) -> dict[str, Any]:
    watched = model.watched
    return {
        "name": model.name,
        "version": model.version or None,
        "verdict": str(verdict_on(model, window).verdict),
        "verdict_window": window,
        "label_fault": verdict_on(model, window).label_fault or None,
        "verdict_because": _because(snapshot, model, window),
        "headline": _headline(snapshot, model, window),
        "labelling": model.labelling,
        "refused": dict(model.refused),
        "refused_because": model.refused_because,
        "objective": dict(model.objective),
        "segments": list(model.segments),
        "predictions": model.predictions_positive + model.predictions_negative,
        "last_prediction": _time(model.last_prediction_ms),
        "last_prediction_age_seconds": _age(snapshot, model.last_prediction_ms),
        "last_label": _time(model.last_label_ms),
        "last_label_age_seconds": _age(snapshot, model.last_label_ms),
        "labelled": model.labelled,
        "pending": model.pending,
        "expired": model.expired,
        "maturity_seconds": _seconds(model.maturity_ms),
        "maturity_settled": model.maturity_settled,
        "judged_age_seconds": _seconds(watched.judged_age_ms),
        "reference": reference_object(watched.reference),
        "detectors": {
            "off": watched.detectors_off or None,
            "warming_up": watched.warming_up,
            "warming_up_because": warming_up_text(watched),
            "evidence": defined(watched.evidence),
            "degradation_detected": watched.degradation_detected,
            "prevalence_shift_detected": watched.prevalence_shift_detected,
        },
        "detections": [{"at": format_time(d.at), "kind": d.kind} for d in watched.detections],
        "labels_missing_in": [missing._asdict() for missing in watched.missing_labels],
        "windows": {w.name: _window(snapshot, model, w) for w in snapshot.windows},
        "lifetime": counted(snapshot.lifetime, model.row),
    }


def _headline(snapshot: Snapshot, model: ModelState, window: str) -> str:
    """What happened since the reference, in a line."""
    found, reference = verdict_on(model, window), model.watched.reference
    if model.labelling == Labelling.FLAGGED_ONLY:
        return NEVER_TOLD
    if found.label_fault:
        fault = found.label_fault.replace("_", " ")
        return f"Labels cannot be trusted ({fault}): wait for them, or look at how they come."
    if found.judgement is None:
        return f"Nothing is compared yet: {_because(snapshot, model, window)}."
    after = next(w for w in snapshot.windows if w.name == window)
    now = float(after.metrics["precision"].estimate[model.row])
    then = math.nan if reference is None else float(precision(reference.counts))
    rates = {
        name: (math.nan if reference is None else float(rate(reference.counts)), estimate)
        for name, rate in (("recall", recall), ("false_positive_rate", false_positive_rate))
        for estimate in [float(after.metrics[name].estimate[model.row])]
    }
    return f"{moved(then, now)}: {reason(found.verdict, found.judgement, rates)}"


def _because(snapshot: Snapshot, model: ModelState, window: str) -> str | None:
    of = next(one for one in snapshot.windows if one.name == window)
    return missing_evidence(model, of, verdict_on(model, window))


def _age(snapshot: Snapshot, moment: int | None) -> float | None:
    """Seconds of event time since a moment, at least 0."""
    if snapshot.now_ms is None or moment is None:
        return None
    return max(0, snapshot.now_ms - moment) / 1000


def _window(snapshot: Snapshot, model: ModelState, window: Window) -> dict[str, Any]:
    row, found = model.row, verdict_on(model, window.name)
    negative, positive = window.label_coverage()
    return {
        **window_object(window, row, known=snapshot.now_ms is not None),
        "status": str(window.status[row]) if len(window.status) else None,
        "predictions": int(window.predicted_positive[row] + window.predicted_negative[row]),
        "label_coverage": {
            "predicted_positive": defined(float(positive[row])),
            "predicted_negative": defined(float(negative[row])),
        },
        "precision_at": [
            {"class_ratio": ratio, **bounds(estimate, row)}
            for ratio, estimate in window.precision_at.items()
        ],
        "precision_at_reference": bounds(
            snapshot.precision_of_model_at_reference(model, window), 0
        ),
        "far_from_reference": found.far_from_reference,
        "verdict": str(found.verdict),
        "label_fault": found.label_fault or None,
        **refusal_object(window, row),
        "judgement": None if found.judgement is None else _judgement(found.judgement),
        "attribution": None if found.attribution is None else _attribution(found.attribution),
        "nowcast": None if found.nowcast is None else _nowcast(found.nowcast),
    }


def _judgement(found: Judgement) -> dict[str, Any]:
    driver = found.main_driver
    return {
        "operating_point_moved": found.operating_point_moved,
        "fell": list(found.fell),
        "rose": list(found.rose),
        "unknown": list(found.unknown),
        "main_driver": {
            "cause": driver.cause,
            "share": defined(driver.share),
            "certain": driver.certain,
        },
    }


def _attribution(found: Attribution) -> dict[str, Any]:
    return {
        "change": {"points": defined(found.change_points), "logit": defined(found.change_logit)},
        "causes": {
            cause: {
                "logit": defined(found.logit[cause]),
                "points": defined(found.points[cause]),
                "lower_points": defined(found.lower_points[cause]),
                "upper_points": defined(found.upper_points[cause]),
            }
            for cause in CAUSES
        },
        "precision_had_prevalence_stayed": defined(found.precision_had_prevalence_stayed),
    }


def _nowcast(found: Nowcast) -> Mapping[str, Any]:
    return {
        "assumption": ASSUMPTION,
        "method": found.method,
        "prevalence": _three(found, "prevalence"),
        "precision": _three(found, "precision"),
        "withheld": list(found.withheld),
    }


def _three(found: Nowcast, name: str) -> dict[str, float | None]:
    ends = {"estimate": name, "lower": f"{name}_lower", "upper": f"{name}_upper"}
    return {end: defined(getattr(found, attribute)) for end, attribute in ends.items()}


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else format_time(milliseconds)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
