"""JSON responses: accepted events, and errors with their reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from monitor.events.columns import EventBatch
from monitor.feeds.acknowledgement import Acknowledgement, FeedFault

MAX_FAULTS = 10
"""Maximum number of faults in one response."""
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class RefusedError(Exception):
    """A request is refused.

    Args:
        status: HTTP status code of the response.
        text: what is wrong and what to do, for a person.
        headers: additional headers of the response.
        content: additional fields of its JSON.

    Attributes:
        status: HTTP status code of the response.
        text: what is wrong and what to do, for a person.
        headers: additional headers of the response.
        content: additional fields of its JSON.
    """

    def __init__(
        self,
        status: int,
        text: str,
        headers: Mapping[str, str] | None = None,
        content: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers or {}
        self.content = content or {}


def retry_later(status: int, text: str, *, seconds: int, close: bool = False) -> RefusedError:
    """Create the error for a request that the client may repeat later.

    Args:
        status: HTTP status code of the response.
        text: why it is refused now, for a person.
        seconds: value of the header Retry-After.
        close: close the connection.
    """
    headers = {"Connection": "close"} if close else {}
    return RefusedError(status, text, {"Retry-After": str(seconds), **headers})


def accepted_response(batch: EventBatch, headers: Mapping[str, str]) -> Response:
    """Create the response to events that are on disk.

    Args:
        batch: the events.
        headers: additional headers.
    """
    reasons = Counter(str(rejection.reason) for rejection in batch.rejected)
    faults = [
        FeedFault(
            line=int(rejection.position.rpartition(":")[2]),
            reason=str(rejection.reason),
            detail=rejection.detail,
        )
        for rejection in batch.rejected[:MAX_FAULTS]
    ]
    used = batch.records - len(batch.rejected)
    content = Acknowledgement(accepted=used, rejected=dict(reasons), faults=faults)
    return json_response(content, headers=headers)


def error_response(error: RefusedError) -> Response:
    """Create the response to a refused request."""
    content = {"error": error.text, **error.content}
    return json_response(content, status=error.status, headers=error.headers)


def json_response(
    content: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Create a JSON response that is never cached.

    Args:
        content: value that msgspec can encode.
        status: HTTP status code.
        headers: additional headers.
    """
    return Response(
        msgspec.json.encode(content),
        status_code=status,
        media_type="application/json",
        headers={**_HEADERS, **(headers or {})},
    )
