"""Counts the requests to a listener and its open connections."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CODES = (200, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503)
"""Status codes that have a series from the start."""
_STOPPING = PlainTextResponse(
    "the monitor is shutting down; try again\n", status_code=503, headers={"Retry-After": "1"}
)
_TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED = b"01"


class RequestCounter:
    """ASGI middleware that counts requests by the status code of the response.

    Args:
        app: handles the requests.

    Attributes:
        answered: number of requests by status code.
        in_progress: number of requests that are being handled.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.answered: Counter[int] = Counter(dict.fromkeys(CODES, 0))
        self.in_progress = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; arguments as in ASGI.

        Args:
            scope: of the connection.
            receive: returns the next message from the client.
            send: sends a message to the client.
        """
        begun = False

        async def counted(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self.answered[message["status"]] += 1
            await send(message)

        self.in_progress += 1
        try:
            await self._app(scope, receive, counted)
        except asyncio.CancelledError:  # only the end of the server cancels a request
            if not begun:
                await _STOPPING(scope, receive, counted)
        finally:
            self.in_progress -= 1


class Listener:
    """A listener of this process, as its telemetry sees it.

    Args:
        address: HOST:PORT.
        requests: counts the requests to the listener.

    Attributes:
        address: HOST:PORT.
        requests: counts the requests to the listener.
    """

    def __init__(self, address: str, requests: RequestCounter) -> None:
        self.address = address
        self.requests = requests

    @property
    def port(self) -> int:
        """Port of the address."""
        return int(self.address.rpartition(":")[2])


def open_connections(ports: Collection[int]) -> dict[int, int] | None:
    """Count the established connections to ports of this machine.

    Reads the kernel's tables, which include connections that wait to be accepted.

    Returns:
        Number of connections by port; None where the kernel has no such tables.
    """
    counts = dict.fromkeys(ports, 0)
    wanted = {b"%04X" % port: port for port in ports}
    try:
        tables = [table.read_bytes() for table in _TABLES if table.exists()]
    except OSError:
        return None
    for line in (line for table in tables for line in table.splitlines()[1:]):
        local, state = line.split(None, 4)[1:4:2]
        port = wanted.get(local.rpartition(b":")[2])
        if port is not None and state == _ESTABLISHED:
            counts[port] += 1
    return counts if tables else None
