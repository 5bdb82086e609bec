"""ASGI middleware that authenticates requests and sets security headers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.clock import SystemClock
from monitor.web.access import Access
from monitor.web.connection_shares import network
from monitor.web.guesses import TooManyGuessesError
from monitor.web.hosts import AllowedHosts
from monitor.web.request_pace import RequestPace

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


_OTHER_HOST = (
    "requests for this host name are refused, as a web page could send them by DNS rebinding; use "
    "an address or localhost, or add the name to exporter.hosts\n"
)


class AccessMiddleware:
    """Passes authenticated requests to an app; the others get 401, or 429 if too many.

    Args:
        app: handles the requests.
        access: authenticates them.
        open_paths: paths that need no authentication, such as those of health probes.
        hosts: names that requests may carry where no authentication is required; any if None.

    Attributes:
        access: authenticates requests; may be replaced while the app is served.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        open_paths: Collection[str],
        hosts: AllowedHosts | None = None,
    ) -> None:
        self.access = access
        self._hosts = hosts
        self._app = app
        self._open = frozenset(open_paths)
        self._pace = RequestPace(SystemClock())

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
            headers_given = Headers(scope=scope)
            given, host = headers_given.get("authorization"), headers_given.get("host")
            if self._hosts and not self.access.restricted and not self._hosts.allow(host):
                refusal = PlainTextResponse(_OTHER_HOST, status_code=403)
                await refusal(scope, receive, send_with_headers)
                return
            address = client_address(scope)
            wait = self._pace.wait(network(address))
            if wait:
                refusal = _too_many("too many requests", wait)
                await refusal(scope, receive, send_with_headers)
                return
            try:
                client = await self.access.client(given, address)
            except TooManyGuessesError as error:
                refusal = _too_many("too many wrong passwords", error.seconds)
                await refusal(scope, receive, send_with_headers)
                return
            if client is None:
                challenge = {"WWW-Authenticate": self.access.challenges}
                refusal = PlainTextResponse(
                    "authentication required\n", status_code=401, headers=challenge
                )
                await refusal(scope, receive, send_with_headers)
                return
        await self._app(scope, receive, send_with_headers)


def _too_many(what: str, seconds: int) -> PlainTextResponse:
    headers = {"Retry-After": str(seconds), "Connection": "close"}
    text = f"{what} from your address; try again in {seconds} s\n"
    return PlainTextResponse(text, status_code=429, headers=headers)


def client_address(scope: Scope) -> str:
    """Return the address of the client of a connection; "" if it is unknown."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = MutableHeaders(scope=message)
            for name, value in headers.items():
                given.setdefault(name, value)
        await send(message)

    return send_with_headers
