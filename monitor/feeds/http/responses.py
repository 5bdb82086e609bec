"""What clients are told: JSON, each refusal with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from monitor.events.columns import EventBatch

MAX_FAULTS = 10
"""Faults that one answer shows at most."""
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class RefusedError(Exception):
    """A request that is answered with an error.

    Args:
        status: of HTTP.
        text: what is wrong and what to do, for a person.
        headers: of the answer.
    """

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers or {}


def later(status: int, text: str, *, seconds: int) -> RefusedError:
    """A refusal of what may be sent again, after some time."""
    return RefusedError(status, text, {"Retry-After": str(seconds)})


def accepted(batch: EventBatch) -> Response:
    """The answer to events that are on disk now."""
    reasons = Counter(str(rejection.reason) for rejection in batch.rejected)
    faults = [
        {
            "line": int(rejection.position.rpartition(":")[2]),
            "reason": str(rejection.reason),
            "detail": rejection.detail,
        }
        for rejection in batch.rejected[:MAX_FAULTS]
    ]
    used = batch.records - len(batch.rejected)
    return answer({"accepted": used, "rejected": dict(reasons), "faults": faults})


def refused(error: RefusedError) -> Response:
    """The answer to a request that is not taken."""
    return answer({"error": error.text}, status=error.status, headers=error.headers)


def answer(
    content: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """JSON, which nobody keeps or takes for anything else."""
    return Response(
        msgspec.json.encode(content),
        status_code=status,
        media_type="application/json",
        headers={**_HEADERS, **(headers or {})},
    )
