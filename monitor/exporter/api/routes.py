"""The API over HTTP: parameters in, JSON out; every fault says what would be right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.config.quantities import format_duration, parse_duration
from monitor.errors import MonitorError, UsageError
from monitor.exporter.api.answers import Answers, UnknownModelError
from monitor.exporter.api.asking import UnansweredError
from monitor.exporter.api.openapi import DOCUMENT
from monitor.exporter.api.series import STEPS_MS
from monitor.report.diagnosis_text import diagnosis_text

MOST_MODELS = 1_000
"""Models in one answer."""
_MODELS = 100
_RETRY_SECONDS = 2

Handler = Callable[[Request], Awaitable[Response]]


def api_routes(answers: Answers) -> list[Route]:
    """The routes below /api/v1, and the document that describes them."""

    def status(request: Request) -> Response:
        return _json(
            answers.status(
                matching=request.query_params.get("q", ""),
                names=tuple(request.query_params.getlist("model")),
                offset=whole(request, "offset", 0, most=10**9),
                limit=whole(request, "limit", _MODELS, most=MOST_MODELS),
            )
        )

    def series(request: Request) -> Response:
        step = request.query_params.get("step")
        found = answers.series(request.query_params.get("model"), step=_step(step))
        return _json(found)

    def diagnosis(request: Request) -> Response:
        found = _explained(answers, request)
        if "text/plain" in request.headers.get("accept", ""):
            return PlainTextResponse(f"{diagnosis_text(found.diagnosis)}\n")
        return _json(found.as_json)

    def curve(request: Request) -> Response:
        return _json(_explained(answers, request).curve)

    def document(_: Request) -> Response:
        return _json(DOCUMENT)

    return [
        Route("/api/v1/status", in_thread(status)),
        Route("/api/v1/series", in_thread(series)),
        Route("/api/v1/diagnosis", in_thread(diagnosis)),
        Route("/api/v1/curve", in_thread(curve)),
        Route("/openapi.json", in_thread(document)),
    ]


def in_thread(answer: Callable[[Request], Response]) -> Handler:
    """A handler that answers in a thread, so that the loop is free, and faults as JSON."""

    def guarded(request: Request) -> Response:
        try:
            return answer(request)
        except MonitorError as error:
            return _json({"error": str(error)}, status=status_of(error), headers=retry(error))

    async def handler(request: Request) -> Response:
        return await asyncio.to_thread(guarded, request)

    return handler


def status_of(error: MonitorError) -> int:
    """The status code of a fault."""
    if isinstance(error, UnansweredError):
        return 503
    return 404 if isinstance(error, UnknownModelError) else 400


def retry(error: MonitorError) -> dict[str, str]:
    """When to come again, where that helps."""
    return {"Retry-After": str(_RETRY_SECONDS)} if isinstance(error, UnansweredError) else {}


def whole(request: Request, name: str, default: int, *, most: int) -> int:
    """A whole number from 0 on.

    Raises:
        UsageError: it is none.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):  # noqa: PLR2004  # more digits are beyond any bound
        raise UsageError(f"{name}: must be a whole number up to {most}, got {text!r}")
    return int(text)


def _explained(answers: Answers, request: Request) -> Any:
    query = request.query_params
    return answers.explained(query.get("model"), query.get("before"), query.get("after"))


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


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """ASCII only, so that any name survives."""
    body = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(body, status, headers, media_type="application/json")
