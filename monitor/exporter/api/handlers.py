"""Shared by the routes of the API and of the page: threads, parameters, errors as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from monitor.errors import MonitorError, UsageError
from monitor.exporter.api.engine_access import EngineUnavailableError
from monitor.exporter.api.find_model import UnknownModelError
from monitor.report.answer_parts import json_text

_RETRY_SECONDS = 2
_MOST_DIGITS = 11

Handler = Callable[[Request], Awaitable[Response]]


class ErrorAnswer(Struct, frozen=True, kw_only=True):
    """Why a request has no answer.

    Attributes:
        error: what is wrong, and what is allowed.
    """

    error: str


def in_thread(answer: Callable[[Request], Response]) -> Handler:
    """Return a handler that answers in a thread and turns errors of the monitor into JSON.

    Args:
        answer: called for each request; may block.
    """

    def guarded(request: Request) -> Response:
        try:
            return answer(request)
        except MonitorError as error:
            answered = ErrorAnswer(error=str(error))
            return json_response(answered, error_status(error), retry_headers(error))

    async def handler(request: Request) -> Response:
        return await asyncio.to_thread(guarded, request)

    return handler


def json_response(
    answer: Struct | Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer as JSON, in ASCII.

    Args:
        answer: the object.
        status: code of the response.
        headers: further headers.
    """
    return Response(json_text(answer), status, headers, media_type="application/json")


def error_status(error: MonitorError) -> int:
    """Return the status code of an error."""
    if isinstance(error, EngineUnavailableError):
        return 503
    return 404 if isinstance(error, UnknownModelError) else 400


def retry_headers(error: MonitorError) -> dict[str, str]:
    """Return the header that says when to try again, for an error that passes."""
    unavailable = isinstance(error, EngineUnavailableError)
    return {"Retry-After": str(_RETRY_SECONDS)} if unavailable else {}


def one_of(query: QueryParams, name: str, known: Collection[str]) -> str:
    """Return a parameter that is one of some words; "" where it is left out or empty.

    Args:
        query: parameters of the request.
        name: of the parameter.
        known: the words.

    Raises:
        UsageError: it is none of them.
    """
    text = query.get(name, "")
    if text and text not in known:
        raise UsageError(f"{name}: must be one of {', '.join(known)}, got {text!r}")
    return text


def is_true(query: QueryParams, name: str) -> bool:
    """Return a parameter that is `true` or `false`; False where it is left out or empty.

    Args:
        query: parameters of the request.
        name: of the parameter.

    Raises:
        UsageError: it is neither.
    """
    return one_of(query, name, ("true", "false")) == "true"


def whole_number(query: QueryParams, name: str, default: int, *, most: int) -> int:
    """Return a parameter that is a whole number from 0 on.

    Args:
        query: parameters of the request.
        name: of the parameter.
        default: its value where it is left out.
        most: largest value allowed.

    Raises:
        UsageError: it is not such a number.
    """
    text = query.get(name)
    if text is None:
        return default
    digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not digits or int(text) > most:
        raise UsageError(f"{name}: must be a whole number up to {most}, got {text!r}")
    return int(text)
