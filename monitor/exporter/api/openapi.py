"""The exporter's routes as an OpenAPI document, its schemas made from the answers' Structs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Any, get_args

import msgspec

from monitor.config.quantities import format_duration
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.handlers import ErrorAnswer
from monitor.exporter.api.scores_answer import ScoresAnswer
from monitor.exporter.api.segments_answer import SegmentsAnswer
from monitor.exporter.api.selection import SORTS
from monitor.exporter.api.series import STEPS_MS
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.api.status_answer import StatusAnswer
from monitor.report.class_comparison_json import ClassDiagnosis
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.model_kinds import KINDS
from monitor.report.versions_now import LiveVersionsAnswer
from monitor.version import __version__

MOST_MODELS = 1_000
"""Models in one answer."""
MOST_OFFSET = 10**9

_ANSWERS = (
    StatusAnswer,
    SeriesAnswer,
    DiagnosisAnswer,
    ClassDiagnosis,
    CurveAnswer,
    ScoresAnswer,
    SegmentsAnswer,
    LiveVersionsAnswer,
    ErrorAnswer,
)
_REF = "#/components/schemas/{name}"
_TEXT = {"type": "string"}
_PLAIN = {"200": {"description": "Text."}}
_FAULTS = {
    "400": "A parameter is invalid, or `model` is missing and there are several.",
    "404": "There is no such model.",
    "503": "The history cannot be read just now.",
}
_ATTRIBUTE = re.compile(r"^(\w+): (.*)$")


@cache
def document() -> dict[str, Any]:
    """Return the document, OpenAPI 3.1."""
    model = _parameter("model", "Name of the model; may be left out where there is one.")
    before = _parameter(
        "before",
        "What to compare with: A..B, [A, B) in UTC, whole hours; the reference if left out.",
    )
    after = _parameter(
        "after", "What to judge, likewise; the window that gives the verdict if left out."
    )
    steps = {"enum": [format_duration(step) for step in STEPS_MS]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Precision monitor: results", "version": __version__},
        "paths": {
            "/api/v1/status": _get(
                "Every model now, those first that need a look.",
                StatusAnswer,
                _parameter("model", "Only these models; may be given several times."),
                _parameter("q", "Only models whose name contains this text."),
                _parameter(
                    "verdict",
                    "Only models that count as this, see `tally`.",
                    {"enum": [*KINDS]},
                ),
                _parameter("paging", "`true`: only models that page.", {"enum": ["true", "false"]}),
                _parameter(
                    "sort",
                    "Order of the models, by the metrics of the longest window; `-` for the "
                    "largest first.",
                    {"enum": [*SORTS]},
                ),
                _parameter("offset", "Leave out this many models.", _whole(MOST_OFFSET)),
                _parameter("limit", "Return at most this many models.", _whole(MOST_MODELS)),
            ),
            "/api/v1/series": _get(
                "One model over time.",
                SeriesAnswer,
                model,
                _parameter("step", "The finest that is readable if left out.", steps),
            ),
            "/api/v1/diagnosis": _get(
                "Why precision moved between two periods; for a model of more than two classes, of "
                "each class between whole days.",
                DiagnosisAnswer | ClassDiagnosis,
                model,
                before,
                after,
                text=True,
            ),
            "/api/v1/curve": _get(
                "Precision against recall at every threshold, in `after`.",
                CurveAnswer,
                model,
                before,
                after,
            ),
            "/api/v1/scores": _get(
                "The distribution of the scores now, beside an earlier one; needs no labels.",
                ScoresAnswer,
                model,
            ),
            "/api/v1/segments": _get(
                "Every segment value in one window, without a comparison.",
                SegmentsAnswer,
                model,
                _parameter("window", "Its name; the one that gives the verdict if left out."),
            ),
            "/api/v1/versions": _get(
                "The versions of a model, and two of them compared over the same time.",
                LiveVersionsAnswer,
                model,
                _parameter(
                    "versions",
                    "A,B: the version to compare with and the one to judge, with \\, for a comma "
                    "of a name; if left out, the one that began last is judged against the one "
                    "that predicted most since.",
                ),
                _parameter("last", "Compare only so much time before the end, such as 7d."),
                text=True,
            ),
            "/metrics": {"get": {"summary": "Series for Prometheus.", "responses": _PLAIN}},
            "/healthz": {"get": {"summary": "Alive.", "responses": _PLAIN}},
            "/readyz": {"get": {"summary": "State restored, feeds attached.", "responses": _PLAIN}},
            "/": {"get": {"summary": "The page for people.", "responses": _PLAIN}},
        },
        "components": {"schemas": _schemas()},
    }


def _parameter(name: str, meaning: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": meaning, "schema": schema or _TEXT}


def _whole(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": most}


def _get(
    summary: str,
    answer: type[msgspec.Struct] | UnionType,
    *parameters: dict[str, Any],
    text: bool = False,
) -> dict[str, Any]:
    content: dict[str, Any] = _json(answer)
    if text:
        content["text/plain"] = {"schema": _TEXT}
    faults = {
        code: {"description": meaning, "content": _json(ErrorAnswer)}
        for code, meaning in _FAULTS.items()
    }
    return {
        "get": {
            "summary": summary,
            "parameters": list(parameters),
            "responses": {"200": {"description": "The answer.", "content": content}, **faults},
        }
    }


def _json(answer: type[msgspec.Struct] | UnionType) -> dict[str, Any]:
    names = [one.__name__ for one in get_args(answer) or (answer,)]
    schemas = [{"$ref": _REF.format(name=name)} for name in names]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"application/json": {"schema": schema}}


def _schemas() -> dict[str, Any]:
    """Return the schema of every Struct by its name, with the words of its docstring."""
    _, schemas = msgspec.json.schema_components(_ANSWERS, ref_template=_REF)
    for struct in _structs():
        schema = schemas[struct.__name__]
        summary, attributes = _described(struct)
        schema["description"] = summary
        written = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
        for name, meaning in attributes.items():
            schema["properties"][written[name]]["description"] = meaning
    return schemas


def _structs() -> Iterator[type[msgspec.Struct]]:
    """Yield the answers and every Struct inside them."""
    waiting: list[Any] = [*msgspec.inspect.multi_type_info(_ANSWERS)]
    seen: set[type] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, msgspec.inspect.StructType):
            if node.cls in seen:
                continue
            seen.add(node.cls)
            yield node.cls
            waiting += [field.type for field in node.fields]
        for inner in ("item_type", "value_type"):
            waiting += [getattr(node, inner)] if hasattr(node, inner) else []
        waiting += getattr(node, "types", ())


def _described(struct: type[msgspec.Struct]) -> tuple[str, dict[str, str]]:
    """Return the summary of a Struct, and the meaning of each attribute, inherited ones too."""
    attributes: dict[str, str] = {}
    bases = [b for b in struct.__mro__ if issubclass(b, msgspec.Struct) and b is not msgspec.Struct]
    for base in reversed(bases):
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")
        name = ""
        for line in inspect.cleandoc(section).splitlines():
            found = _ATTRIBUTE.match(line)
            name = found[1] if found else name
            attributes[name] = found[2] if found else f"{attributes[name]} {line.strip()}"
    return inspect.cleandoc(struct.__doc__ or "").partition("\n")[0], attributes
