"""Counts the requests to a listener, and the connections that are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CODES = (200, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503)
"""Answers that have a series from the start."""
_TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED = b"01"


class Requests:
    """Counts the requests to an app, by the code of the answer.

    Args:
        app: what answers.

    Attributes:
        answered: requests by code.
        in_progress: how many are being answered now.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.answered: Counter[int] = Counter(dict.fromkeys(CODES, 0))
        self.in_progress = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as ASGI has it."""

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.answered[message["status"]] += 1
            await send(message)

        self.in_progress += 1
        try:
            await self._app(scope, receive, counted)
        finally:
            self.in_progress -= 1


class Listener:
    """One listener of the process: its address, and the requests to it.

    Args:
        address: HOST:PORT.
        requests: to it.
    """

    def __init__(self, address: str, requests: Requests) -> None:
        self.address = address
        self.requests = requests

    @property
    def port(self) -> int:
        """Its port."""
        return int(self.address.rpartition(":")[2])


def open_connections(ports: Collection[int]) -> dict[int, int] | None:
    """Connections to each of these ports of this machine; None where that cannot be known.

    The kernel counts them, those included that wait for the server: no client that
    it holds on to is overlooked.
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
