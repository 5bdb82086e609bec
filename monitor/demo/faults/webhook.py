"""Receives the alerts, in place of a pager and a ticket queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp


class ReceivedAlert(NamedTuple):
    """An alert as received.

    Attributes:
        name: name of the alert.
        severity: page or ticket.
        summary: its text, with the figures.
    """

    name: str
    severity: str
    summary: str


class Webhook:
    """Receives what Alertmanager posts; safe to read from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._received: list[ReceivedAlert] = []
        self._known: set[str] = set()

    @property
    def app(self) -> ASGIApp:
        """The ASGI application."""
        return Starlette(routes=[Route("/alerts", self._receive, methods=["POST"])])

    def new(self) -> list[ReceivedAlert]:
        """Return the alerts received since the last call."""
        with self._lock:
            received, self._received = self._received, []
        return received

    async def _receive(self, request: Request) -> Response:
        message = await request.json()
        with self._lock:
            self._received += self._first_time(message["alerts"])
        return PlainTextResponse("accepted\n")

    def _first_time(self, alerts: list[dict[str, dict[str, str]]]) -> Iterator[ReceivedAlert]:
        for alert in alerts:
            name = alert["labels"]["alertname"]
            if name not in self._known:
                self._known.add(name)
                severity = alert["labels"]["severity"]
                yield ReceivedAlert(name, severity, alert["annotations"]["summary"])
