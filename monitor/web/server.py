"""Runs an ASGI app with granian, in a background thread with its own event loop.

granian closes connections that are idle or slow to send headers or to shake hands. This
module adds four things that embedding it needs: it binds the socket (granian's own
socket would silently share the port with another process), bounds the wait for stuck
clients at shutdown, waits for granian's threads to end, and leaves the program's logging
alone. Clients that do not read are dropped by the kernel, and addresses with many
connections by `ConnectionShares`.
"""

import asyncio
import contextlib
import socket
import ssl
import threading
from types import TracebackType
from typing import Any, Self

from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.net import SocketHolder  # type: ignore[attr-defined]  # not listed as exported
from granian.server.embed import Server
from starlette.types import ASGIApp

from monitor.errors import MonitorError
from monitor.web.connection_shares import ConnectionShares
from monitor.web.listener_telemetry import Listener, RequestCounter
from monitor.web.native_threads import name_this_thread, wait_for_threads
from monitor.web.web_config import Tls

MAX_CONNECTIONS = 1024
"""Connections served at a time; others wait in the kernel."""
_BACKLOG = 4096
"""Connections that may wait in the kernel; Linux lowers it to net.core.somaxconn."""

_WRITE_SECONDS = 10
"""Seconds after which a connection is dropped whose client reads nothing of an answer."""

_SEND_BYTES = 128 * 1024
"""Bytes of answers that the kernel holds for a client that does not read."""

_REST = 2
"""Seconds that closing the remaining connections after the grace period may take."""

_NO_REQUEST = b"?\r\n\r\n"
_TURN, _TURNS = 0.1, 100
"""Interval in seconds, and number, of checks whether a silent server still runs."""

_QUIET: dict[str, Any] = {"incremental": True, "handlers": {}, "loggers": {"_granian": {}}}
"""Logging configuration that leaves the handlers of the program in place."""


class BackgroundServer:
    """Serves an app over HTTP/1.1 in a background thread.

    Args:
        app: the app to serve; gets no lifespan events.
        host: address to listen on.
        port: port to listen on; 0 for any free one.
        header_timeout: seconds after which a connection is closed that sends no complete
            headers or is idle.
        grace: seconds that `stop` lets running requests finish.
        max_connections: connections served at a time.
        tls: TLS settings; None for plain HTTP.

    >>> async def app(scope, receive, send): ...
    >>> server = BackgroundServer(app)
    >>> server.start()
    >>> server.port > 0
    True
    >>> server.stop()
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        header_timeout: float = 5.0,
        grace: int = 5,
        max_connections: int = MAX_CONNECTIONS,
        tls: Tls | None = None,
    ) -> None:
        self._requests = RequestCounter(app)
        self._host = host
        self._port = port
        self._header_timeout = header_timeout
        self._grace = grace
        self._max_connections = max_connections
        self._tls = tls
        self._begun = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._shares: ConnectionShares | None = None
        self._server: _Embedded | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def port(self) -> int:
        """Port that the server listens on; after `start` never 0."""
        return self._port

    @property
    def url(self) -> str:
        """Base URL of the server."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}"

    @property
    def listener(self) -> Listener:
        """The listener for telemetry; valid after `start`."""
        return Listener(self.url.partition("://")[2], self._requests)

    def start(self) -> None:
        """Start the server; requests made after this returns are answered.

        Raises:
            MonitorError: the address is in use or not local, or the server cannot run.
        """
        listener = self._bind()
        self._port = listener.getsockname()[1]
        self._shares = ConnectionShares(listener, self._max_connections)
        name = f"http-{self._port}"
        self._thread = threading.Thread(target=self._run, args=(listener,), name=name, daemon=True)
        self._thread.start()
        self._begun.wait()
        if not self._answers(self._thread):
            self._shares.stop()
            raise MonitorError(f"{self.url}: the server did not start") from self._failure
        self._shares.start()

    def stop(self) -> None:
        """Stop listening, and close connections whose requests outlast the grace period."""
        thread, loop, server = self._thread, self._loop, self._server
        if thread is None or loop is None or server is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(server.stop)
        thread.join(self._grace + _REST)
        wait_for_threads(thread.name, _REST)
        if self._shares is not None:
            self._shares.stop()
            self._shares = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _bind(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            listener = socket.create_server(
                (self._host, self._port), family=family, backlog=_BACKLOG
            )
            # Connections inherit both.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                milliseconds = _WRITE_SECONDS * 1000
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
        except OSError as error:
            raise MonitorError(
                f"{self._host}:{self._port}: cannot listen, got {error.strerror!r}; "
                "stop the program that listens there, or choose another address"
            ) from error
        return listener

    def _answers(self, thread: threading.Thread) -> bool:
        """Return whether the server answers to a malformed request, which never reaches the app."""
        try:
            with socket.create_connection((self._host, self._port), timeout=_TURN) as probe:
                if self._tls is not None:
                    return _shakes_hands(probe)
                probe.sendall(_NO_REQUEST)
                for _ in range(_TURNS):
                    with contextlib.suppress(TimeoutError):
                        return probe.recv(1) != b""
                    if not thread.is_alive():
                        break
        except OSError:
            pass
        return False

    def _run(self, listener: socket.socket) -> None:
        name_this_thread(threading.current_thread().name)
        try:
            with listener:
                asyncio.run(self._serve(listener))
        except TimeoutError:
            pass  # clients outlasted the grace period; their connections are closed
        except BaseException as error:  # noqa: BLE001  # `start` raises from it
            self._failure = error
        finally:
            self._server = None
            self._begun.set()

    async def _serve(self, listener: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_ignore_dropped_requests)
        self._server = _Embedded(
            listener,
            self._requests,
            address=self._host,
            port=self._port,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(header_read_timeout=int(self._header_timeout * 1000)),
            websockets=False,
            backlog=_BACKLOG,
            backpressure=self._max_connections,
            **_tls_settings(self._tls),
            log_level=LogLevels.error,
            log_dictconfig=_QUIET,
        )
        self._server.workers_kill_timeout = self._grace
        self._server.on_startup(self._begun.set)
        await self._server.serve()


def _tls_settings(tls: Tls | None) -> dict[str, Any]:
    if tls is None:
        return {}
    return {
        "ssl_cert": tls.certificate,
        "ssl_key": tls.key,
        "ssl_ca": tls.client_ca,
        "ssl_client_verify": tls.client_ca is not None,
        "ssl_protocol_min": SSLProtocols(tls.oldest),
    }


def _shakes_hands(probe: socket.socket) -> bool:
    """Return whether a TLS handshake starts. The peer is this process, so it is not verified."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    probe.settimeout(_TURN * _TURNS)
    try:
        context.wrap_socket(probe).close()
    except ssl.SSLError as error:
        return error.reason is not None  # the server refused us for want of a certificate
    return True


class _Embedded(Server):
    """A granian server on a socket that is already bound."""

    def __init__(self, listener: socket.socket, app: ASGIApp, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._listener = listener

    def _init_shared_socket(self) -> None:
        holder = SocketHolder(self._listener.detach(), False, self.backlog)  # type: ignore[call-arg]  # stubs lag
        self._shd: Any = holder
        self._ssp = None


def _ignore_dropped_requests(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore requests dropped after the grace period, which report to a finished future."""
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)
