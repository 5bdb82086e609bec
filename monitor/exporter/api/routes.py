"""The API over HTTP: parameters in, JSON out; every error says what is allowed."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.config.quantities import format_duration, parse_duration
from monitor.config.versions_asked import parse_last, parse_versions
from monitor.errors import UsageError
from monitor.exporter.api.handlers import (
    in_thread,
    is_true,
    json_response,
    one_of,
    whole_number,
)
from monitor.exporter.api.openapi import MOST_MODELS, MOST_OFFSET, document
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.selection import SORTS, URGENCY, Selection
from monitor.exporter.api.series import STEPS_MS
from monitor.report.class_comparison_json import class_diagnosis
from monitor.report.class_comparison_text import class_comparison_text
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.model_kinds import KINDS

_DEFAULT_MODELS = 100


def api_routes(queries: Queries) -> list[Route]:
    """Return the routes below /api/v1, and the document that describes them."""

    def status(request: Request) -> Response:
        query = request.query_params
        asked = Selection(
            matching=query.get("q", ""),
            kind=one_of(query, "verdict", KINDS),
            paging=is_true(query, "paging"),
            names=tuple(query.getlist("model")),
            sort=one_of(query, "sort", SORTS) or URGENCY,
            offset=whole_number(query, "offset", 0, most=MOST_OFFSET),
        )
        limit = whole_number(query, "limit", _DEFAULT_MODELS, most=MOST_MODELS)
        return json_response(queries.status(asked, limit))

    def series(request: Request) -> Response:
        query = request.query_params
        return json_response(queries.series(query.get("model"), step=_step(query.get("step"))))

    def diagnosis(request: Request) -> Response:
        query = request.query_params
        classes = queries.class_comparison(*_asked(query))
        if classes is not None:
            answer = class_diagnosis(classes)
            return _text_or_json(request, lambda: class_comparison_text(classes), answer)
        found = queries.explanation(*_asked(query))
        return _text_or_json(request, lambda: diagnosis_text(found.diagnosis), found.answer)

    def curve(request: Request) -> Response:
        return json_response(queries.explanation(*_asked(request.query_params)).curve)

    def scores(request: Request) -> Response:
        return json_response(queries.scores(request.query_params.get("model")))

    def segments(request: Request) -> Response:
        query = request.query_params
        return json_response(queries.segments(query.get("model"), query.get("window")))

    def versions(request: Request) -> Response:
        query = request.query_params
        asked = parse_versions("versions", query.get("versions"))
        last = parse_last("last", query.get("last"))
        found = queries.versions(query.get("model"), asked, last)
        return _text_or_json(request, lambda: found.text, found.answer)

    def openapi(_: Request) -> Response:
        return json_response(document())

    return [
        Route("/api/v1/status", in_thread(status)),
        Route("/api/v1/series", in_thread(series)),
        Route("/api/v1/diagnosis", in_thread(diagnosis)),
        Route("/api/v1/curve", in_thread(curve)),
        Route("/api/v1/scores", in_thread(scores)),
        Route("/api/v1/segments", in_thread(segments)),
        Route("/api/v1/versions", in_thread(versions)),
        Route("/openapi.json", in_thread(openapi)),
    ]


def _asked(query: QueryParams) -> tuple[str | None, str | None, str | None]:
    """Return the model and both periods."""
    return query.get("model"), query.get("before"), query.get("after")


def _text_or_json(request: Request, text: Callable[[], str], answer: Struct) -> Response:
    if "text/plain" in request.headers.get("accept", ""):
        return PlainTextResponse(f"{text()}\n")
    return json_response(answer)


def _step(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        step = parse_duration(text)
    except ValueError:
        step = 0
    if step not in STEPS_MS:
        allowed = ", ".join(format_duration(step) for step in STEPS_MS)
        raise UsageError(f"step: must be one of {allowed}, got {text!r}")
    return step
