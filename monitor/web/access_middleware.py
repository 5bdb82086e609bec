"""An app behind its access: who is not let in gets 401, and every answer its headers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.web.access import Access

SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; style-src 'unsafe-inline'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""They keep a browser from running or embedding an answer."""


class Guard:
    """Stands before an app.

    Args:
        app: what is guarded.
        access: who is let in.
        open_paths: which anybody may ask for: they tell nothing, as probes do.

    Attributes:
        access: likewise; may be replaced while it serves.
    """

    def __init__(self, app: ASGIApp, access: Access, open_paths: Collection[str]) -> None:
        self.access = access
        self._app = app
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as ASGI has it."""
        headers = {**SECURITY_HEADERS, **self.access.web.headers}
        sending = _with_headers(send, headers)
        if scope["type"] == "http" and scope["path"] not in self._open:
            given = Headers(scope=scope).get("authorization")
            if await self.access.client(given) is None:
                challenge = {"WWW-Authenticate": self.access.challenges}
                refusal = PlainTextResponse("sign in\n", status_code=401, headers=challenge)
                await refusal(scope, receive, sending)
                return
        await self._app(scope, receive, sending)


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = MutableHeaders(scope=message)
            for name, value in headers.items():
                given.setdefault(name, value)
        await send(message)

    return send_with_headers
