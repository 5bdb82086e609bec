"""Runs an ASGI app beside the rest of the process: granian, in a thread with a loop of its own.

granian drops clients that are slow to send their headers or to shake hands, and idle
ones, which is why it is here. Embedded, it still wants three things from us: a socket that
is bound before (its own would share the port with another process without a
word), a bound on how long it waits for stuck clients, and hands off the logging
of the program.
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
from monitor.web.listener_telemetry import Listener, Requests
from monitor.web.web_config import Tls

MAX_CONNECTIONS = 1024
"""Connections that are served at a time; as many again wait in the kernel."""
_LEAST_BACKLOG = 128
"""That granian takes."""

_REST = 2
"""Seconds that dropping what is left after the grace may take."""

_NO_REQUEST = b"?\r\n\r\n"
_TURN, _TURNS = 0.1, 100
"""Seconds between looks at whether a server that does not answer still runs; how many."""

_QUIET: dict[str, Any] = {"incremental": True, "handlers": {}, "loggers": {"_granian": {}}}
"""Logging configuration that leaves every handler of the program where it is."""


class BackgroundServer:
    """Serves an app over HTTP/1.1 until it is stopped.

    Args:
        app: what to serve; without lifespan events.
        host: address to listen on.
        port: 0 for any that is free.
        header_timeout: a client that takes longer to send its headers, or that leaves its
            connection idle for longer, is dropped; seconds.
        grace: how long `stop` lets requests finish, seconds.
        max_connections: that are served at a time.
        tls: how it speaks TLS; None for plain HTTP.

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
        self._requests = Requests(app)
        self._host = host
        self._port = port
        self._header_timeout = header_timeout
        self._grace = grace
        self._max_connections = max_connections
        self._tls = tls
        self._begun = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._server: _Embedded | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def port(self) -> int:
        """Where it listens; the real port once started."""
        return self._port

    @property
    def url(self) -> str:
        """Where it listens, as the start of a URL."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}"

    @property
    def listener(self) -> Listener:
        """As telemetry sees it, once started."""
        return Listener(self.url.partition("://")[2], self._requests)

    def start(self) -> None:
        """Listen; a request made after this returns is answered.

        Raises:
            MonitorError: the address is taken or not ours, or the server cannot run.
        """
        listener = self._bind()
        self._port = listener.getsockname()[1]
        name = f"http-{self._port}"
        self._thread = threading.Thread(target=self._run, args=(listener,), name=name, daemon=True)
        self._thread.start()
        self._begun.wait()
        if not self._answers(self._thread):
            raise MonitorError(f"{self.url}: the server did not start") from self._failure

    def stop(self) -> None:
        """Stop listening, let running requests finish within the grace, then drop them."""
        thread, loop, server = self._thread, self._loop, self._server
        if thread is None or loop is None or server is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended by itself
            loop.call_soon_threadsafe(server.stop)
        thread.join(self._grace + _REST)

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
            address, backlog = (self._host, self._port), self._backlog
            return socket.create_server(address, family=family, backlog=backlog)
        except OSError as error:
            raise MonitorError(
                f"{self._host}:{self._port}: cannot listen, got {error.strerror!r}; "
                "stop what listens there, or choose another address"
            ) from error

    @property
    def _backlog(self) -> int:
        return max(self._max_connections, _LEAST_BACKLOG)

    def _answers(self, thread: threading.Thread) -> bool:
        """Whether the server says anything, even to what is no request and reaches no app."""
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
        try:
            with listener:
                asyncio.run(self._serve(listener))
        except TimeoutError:
            pass  # clients were stuck past the grace, and are dropped
        except BaseException as error:  # noqa: BLE001  # whatever it is, `start` tells
            self._failure = error
        finally:
            self._server = None
            self._begun.set()

    async def _serve(self, listener: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_ignore_late_ends)
        self._server = _Embedded(
            listener,
            self._requests,
            address=self._host,
            port=self._port,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(header_read_timeout=int(self._header_timeout * 1000)),
            websockets=False,
            backlog=self._backlog,
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
    """Whether TLS begins; who it is does not matter, it is this process."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    probe.settimeout(_TURN * _TURNS)
    try:
        context.wrap_socket(probe).close()
    except ssl.SSLError as error:
        return error.reason is not None  # it wants a certificate of ours, so it is there
    return True


class _Embedded(Server):
    """granian on a socket that is bound already."""

    def __init__(self, listener: socket.socket, app: ASGIApp, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._listener = listener

    def _init_shared_socket(self) -> None:
        holder = SocketHolder(self._listener.detach(), False, self.backlog)  # type: ignore[call-arg]  # stubs lag
        self._shd: Any = holder
        self._ssp = None


def _ignore_late_ends(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A request that is dropped at the end of the grace reports to a future that is gone."""
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)
