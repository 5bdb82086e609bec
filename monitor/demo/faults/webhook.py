"""What receives the alerts, in the place of a pager and of a ticket queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp


class Told(NamedTuple):
    """One alert as it arrived.

    Attributes:
        name: of the alert.
        severity: its label: page or ticket.
        summary: its text with the numbers.
    """

    name: str
    severity: str
    summary: str


class Webhook:
    """Takes what Alertmanager posts; safe to read from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: list[Told] = []
        self._known: set[str] = set()

    @property
    def app(self) -> ASGIApp:
        """The routes."""
        return Starlette(routes=[Route("/alerts", self._receive, methods=["POST"])])

    def new(self) -> list[Told]:
        """What has arrived since the last call."""
        with self._lock:
            told, self._told = self._told, []
        return told

    async def _receive(self, request: Request) -> Response:
        message = await request.json()
        with self._lock:
            self._told += self._first_time(message["alerts"])
        return PlainTextResponse("taken\n")

    def _first_time(self, alerts: list[dict[str, dict[str, str]]]) -> Iterator[Told]:
        for alert in alerts:
            name = alert["labels"]["alertname"]
            if name not in self._known:
                self._known.add(name)
                severity = alert["labels"]["severity"]
                yield Told(name, severity, alert["annotations"]["summary"])
