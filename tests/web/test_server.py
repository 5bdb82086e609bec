import asyncio
import logging
import socket
import threading
import time
from collections.abc import Iterable

import httpx
import pytest
from prometheus.snapshots import snapshot
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from monitor.errors import MonitorError
from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer

BODY = b"x" * 20_000_000


async def big(_: Request) -> PlainTextResponse:
    return PlainTextResponse(BODY)


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def app() -> ASGIApp:
    state = snapshot()
    return create_app(lambda: state, ready=lambda: True)


@pytest.fixture
def stuck_app() -> ASGIApp:
    return Starlette(routes=[Route("/big", big), Route("/echo", echo, methods=["POST"])])


def connections(server: BackgroundServer, count: int, request: bytes) -> list[socket.socket]:
    opened = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
    for connection in opened:
        connection.sendall(request)
    return opened


def is_open(connection: socket.socket) -> bool:
    connection.settimeout(0)
    try:
        return connection.recv(1 << 20) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def close(opened: Iterable[socket.socket]) -> None:
    for connection in opened:
        connection.close()


def test_requests_are_answered_as_soon_as_start_returns(app: ASGIApp) -> None:
    for _ in range(5):
        with BackgroundServer(app) as server:
            assert server.port > 0
            assert httpx.get(f"{server.url}/healthz").status_code == 200


def test_the_server_listens_on_loopback_and_on_ipv6(app: ASGIApp) -> None:
    with BackgroundServer(app) as server:
        assert server.url.startswith("http://127.0.0.1:")
    if socket.has_ipv6:
        with BackgroundServer(app, host="::1") as server:
            assert httpx.get(f"{server.url}/healthz").status_code == 200


def test_after_stop_the_port_is_free(app: ASGIApp) -> None:
    server = BackgroundServer(app)
    server.start()
    server.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/healthz")
    with BackgroundServer(app, port=server.port) as again:
        assert again.port == server.port


def test_a_port_in_use_is_refused_with_the_address(app: ASGIApp) -> None:
    with (
        BackgroundServer(app) as server,
        pytest.raises(MonitorError, match=rf"127.0.0.1:{server.port}: cannot listen"),
    ):
        BackgroundServer(app, port=server.port).start()


def test_a_server_that_cannot_run_fails_at_start(app: ASGIApp) -> None:
    server = BackgroundServer(app, header_timeout=-1.0)
    with pytest.raises(MonitorError, match="did not start"):
        server.start()
    server.stop()


def test_a_request_that_outlasts_the_end_is_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    begun = threading.Event()

    async def endless(_: Request) -> PlainTextResponse:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    server = BackgroundServer(Starlette(routes=[Route("/", endless)]), grace=1)
    server.start()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert begun.wait(60)
        server.stop()
    assert capfd.readouterr() == ("", "")


def test_stopping_a_server_that_never_started_does_nothing(app: ASGIApp) -> None:
    BackgroundServer(app).stop()


def test_the_program_keeps_its_logging(app: ASGIApp) -> None:
    handlers = list(logging.getLogger().handlers)
    granian = logging.getLogger("_granian")
    with BackgroundServer(app):
        assert logging.getLogger().handlers == handlers
        assert not granian.handlers


@pytest.mark.parametrize("request_", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_slow_clients_are_dropped_and_do_not_delay_others(app: ASGIApp, request_: bytes) -> None:
    with BackgroundServer(app, header_timeout=1.0) as server:
        opened = connections(server, 500, request_)
        began = time.monotonic()
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        while any(map(is_open, opened)) and time.monotonic() - began < 60:
            time.sleep(0.05)
        assert not any(map(is_open, opened))
        close(opened)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc",
        b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /nothing HTTP/1.1\r\n",
    ],
    ids=["reads nothing", "sends half a body", "keeps alive", "sends half a header"],
)
def test_stop_is_bounded_whatever_clients_do(stuck_app: ASGIApp, request_: bytes) -> None:
    server = BackgroundServer(stuck_app, grace=1)
    server.start()
    opened = connections(server, 10, request_)
    began = time.monotonic()
    while request_.startswith(b"POST") and time.monotonic() - began < 0.2:
        time.sleep(0.05)  # until the server has begun to read the bodies
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 30
    close(opened)
