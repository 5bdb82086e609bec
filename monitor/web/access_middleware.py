"""ASGI middleware that authenticates requests and sets security headers."""

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
"""Default headers, which keep browsers from running or embedding a response."""


class AccessMiddleware:
    """Passes authenticated requests to an app; answers the others with 401.

    Args:
        app: handles the requests.
        access: authenticates them.
        open_paths: paths that need no authentication, such as those of health probes.

    Attributes:
        access: authenticates requests; may be replaced while the app is served.
    """

    def __init__(self, app: ASGIApp, access: Access, open_paths: Collection[str]) -> None:
        self.access = access
        self._app = app
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; arguments as in ASGI.

        Args:
            scope: of the connection.
            receive: returns the next message from the client.
            send: sends a message to the client.
        """
        headers = {**SECURITY_HEADERS, **self.access.web.headers}
        send_with_headers = _with_headers(send, headers)
        if scope["type"] == "http" and scope["path"] not in self._open:
            given = Headers(scope=scope).get("authorization")
            if await self.access.client(given) is None:
                challenge = {"WWW-Authenticate": self.access.challenges}
                refusal = PlainTextResponse(
                    "authentication required\n", status_code=401, headers=challenge
                )
                await refusal(scope, receive, send_with_headers)
                return
        await self._app(scope, receive, send_with_headers)


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = MutableHeaders(scope=message)
            for name, value in headers.items():
                given.setdefault(name, value)
        await send(message)

    return send_with_headers
