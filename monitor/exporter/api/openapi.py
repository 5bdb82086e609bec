"""The exporter's routes as an OpenAPI document."""

from __future__ import annotations

from typing import Any

from monitor.drift import CAUSES, Status, Verdict
from monitor.report.replay_json import METRICS
from monitor.version import __version__

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_NUMBER: dict[str, Any] = {"type": ["number", "null"], "description": "null where undefined."}
_SHARE: dict[str, Any] = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_TIME: dict[str, Any] = {"type": ["string", "null"], "description": "ISO 8601, UTC."}
_NUMBERS: dict[str, Any] = {"type": "array", "items": _NUMBER}
_COUNTS: dict[str, Any] = {"type": "array", "items": _COUNT}
_FLAG: dict[str, Any] = {"type": "boolean"}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Any) -> dict[str, Any]:
    """An object that has all of these, and may have more in later versions."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(schema: Any) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _map(of: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _query(name: str, meaning: str, schema: dict[str, Any] = _TEXT) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": meaning, "schema": schema}


def _get(
    summary: str, schema: str, *parameters: dict[str, Any], text: bool = False
) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": _ref(schema)}}
    if text:
        content["text/plain"] = {"schema": _TEXT}
    faults = {
        "400": "A parameter does not fit, or none names one of several models.",
        "404": "There is no such model.",
        "503": "The history cannot be read just now.",
    }
    return {
        "get": {
            "summary": summary,
            "parameters": list(parameters),
            "responses": {
                "200": {"description": "What was asked for.", "content": content},
                **{
                    code: {
                        "description": meaning,
                        "content": {"application/json": {"schema": _ref("Error")}},
                    }
                    for code, meaning in faults.items()
                },
            },
        }
    }


_MODEL = _query("model", "Name of the model; may be left out where there is one.")
_BEFORE = _query(
    "before", "What to compare with: A..B, [A, B) in UTC, whole hours; the reference if left out."
)
_AFTER = _query("after", "What to judge, likewise; the longest window if left out.")
_VERDICT = {"enum": [str(verdict) for verdict in Verdict]}
_STATUS = {"enum": [str(status) for status in Status]}
_PART = _object(logit=_NUMBER, points=_NUMBER, lower_points=_NUMBER, upper_points=_NUMBER)
_CELLS = _object(tp=_COUNT, fp=_COUNT, fn=_COUNT, tn=_COUNT)
_METRICS = _object(**{name: _ref("Estimate") for name in METRICS})
_PLAIN = {"200": {"description": "Text."}}

_SCHEMAS: dict[str, Any] = {
    "Estimate": {
        "description": "A metric with its 95 % interval; null where undefined or refused.",
        **_object(estimate=_NUMBER, lower=_NUMBER, upper=_NUMBER),
    },
    "Outcomes": _CELLS,
    "Window": _object(
        open=_TIME,
        close=_TIME,
        outcomes=_ref("Outcomes"),
        metrics=_METRICS,
        status={"enum": ["mature", "corrected", "immature", "untrusted", None]},
        predictions=_COUNT,
        label_coverage=_object(predicted_positive=_SHARE, predicted_negative=_SHARE),
        refused=_map(_TEXT),
        refused_because=_TEXT,
        verdict=_VERDICT,
    ),
    "Model": _object(
        name=_TEXT,
        verdict=_VERDICT,
        verdict_window=_TEXT,
        verdict_because={"type": ["string", "null"]},
        headline=_TEXT,
        labelling=_TEXT,
        refused=_map(_TEXT),
        predictions=_COUNT,
        last_prediction=_TIME,
        last_prediction_age_seconds=_NUMBER,
        last_label=_TIME,
        last_label_age_seconds=_NUMBER,
        labelled=_COUNT,
        pending=_COUNT,
        expired=_COUNT,
        maturity_seconds=_NUMBER,
        reference=_maybe(_object(source=_TEXT, open=_TIME, close=_TIME, outcomes=_ref("Outcomes"))),
        detections=_list(_object(at=_TIME, kind=_TEXT)),
        windows=_map(_ref("Window")),
    ),
    "Status": _object(
        version=_TEXT,
        now=_TIME,
        watermark=_TIME,
        records=_COUNT,
        rejected=_map(_COUNT),
        windows=_list(_TEXT),
        verdict_window=_TEXT,
        verdicts=_map(_COUNT),
        total=_COUNT,
        offset=_COUNT,
        models=_list(_ref("Model")),
    ),
    "Series": _object(
        model=_TEXT,
        step_seconds=_COUNT,
        mature_until=_TIME,
        open=_list(_TIME),
        predictions=_COUNTS,
        outcomes=_object(tp=_COUNTS, fp=_COUNTS, fn=_COUNTS, tn=_COUNTS),
        metrics=_object(
            **dict.fromkeys(METRICS, _object(estimate=_NUMBERS, lower=_NUMBERS, upper=_NUMBERS))
        ),
        class_ratio_from_predictions=_NUMBERS,
        detections=_list(_object(at=_TIME, kind=_TEXT)),
    ),
    "Side": _object(
        open=_TIME,
        close=_TIME,
        outcomes=_ref("Outcomes"),
        **{name: _ref("Estimate") for name in METRICS},
    ),
    "Diagnosis": {
        "description": "The same object as `diagnose --json` prints.",
        **_object(
            model=_TEXT,
            headline=_TEXT,
            plainly=_list(_TEXT),
            footnotes=_list(_TEXT),
            below_reference_curve={"type": ["boolean", "null"]},
            before=_ref("Side"),
            after=_ref("Side"),
            change=_object(points=_NUMBER, logit=_NUMBER),
            attribution=_object(
                **{
                    cause: {"allOf": [_PART, _object(status=_STATUS, said=_TEXT)]}
                    for cause in CAUSES
                }
            ),
            operating_point_moved=_FLAG,
            verdict=_VERDICT,
            main_driver=_object(cause={"enum": [*CAUSES, None]}, share=_NUMBER, certain=_FLAG),
            precision_had_prevalence_stayed=_ref("Estimate"),
            segments=_list(
                _object(
                    segment=_TEXT,
                    value=_TEXT,
                    before=_ref("Outcomes"),
                    after=_ref("Outcomes"),
                    points=_NUMBER,
                    small_sample=_FLAG,
                )
            ),
            notes=_list(_TEXT),
            advice=_list(_TEXT),
        ),
    },
    "Curve": _object(
        labelled_scores=_COUNT,
        class_ratio=_NUMBER,
        reference_class_ratio=_NUMBER,
        threshold=_NUMBERS,
        recall=_NUMBERS,
        precision=_NUMBERS,
        precision_at_reference=_maybe(_NUMBERS),
        objective=_NUMBER,
        choice=_maybe(
            _object(threshold=_NUMBER, precision=_ref("Estimate"), recall=_ref("Estimate"))
        ),
    ),
    "Error": _object(error=_TEXT),
}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Precision monitor: what it has found", "version": __version__},
    "paths": {
        "/api/v1/status": _get(
            "Every model now, what a person must look at first.",
            "Status",
            _query("model", "Only these models; may be given several times."),
            _query("q", "Only models whose name holds this text."),
            _query("offset", "Leave out the first so many.", _COUNT | {"maximum": 10**9}),
            _query("limit", "So many at most.", _COUNT | {"maximum": 1_000}),
        ),
        "/api/v1/series": _get(
            "One model over time.",
            "Series",
            _MODEL,
            _query(
                "step",
                "The finest that is readable if left out.",
                {"enum": ["1h", "6h", "1d", "7d", "28d", "364d"]},
            ),
        ),
        "/api/v1/diagnosis": _get(
            "Why precision moved between two stretches of time.",
            "Diagnosis",
            _MODEL,
            _BEFORE,
            _AFTER,
            text=True,
        ),
        "/api/v1/curve": _get(
            "Precision against recall at every threshold, in `after`.",
            "Curve",
            _MODEL,
            _BEFORE,
            _AFTER,
        ),
        "/metrics": {"get": {"summary": "Series for Prometheus.", "responses": _PLAIN}},
        "/healthz": {"get": {"summary": "Alive.", "responses": _PLAIN}},
        "/readyz": {"get": {"summary": "State restored, feeds attached.", "responses": _PLAIN}},
        "/": {"get": {"summary": "The page for people.", "responses": _PLAIN}},
    },
    "components": {"schemas": _SCHEMAS},
}
"""OpenAPI 3.1."""
