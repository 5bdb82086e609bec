import socket

import pytest
from cli.commands import ran

from monitor.web.server import BackgroundServer


def answering(status):
    async def app(scope, _receive, send):
        found = status if scope["path"] == "/readyz" else 404
        await send({"type": "http.response.start", "status": found, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_answer_decides(capsys, status, code):
    with BackgroundServer(answering(status)) as server:
        asked = ran(capsys, "healthcheck", "--url", f"{server.url}/readyz")
    assert asked.code == code
    assert asked.out == ("ok\n" if code == 0 else "")
    assert (f"answered {status}" in asked.err) == bool(code)


def test_a_monitor_that_does_not_answer_is_a_finding(capsys):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    asked = ran(capsys, "healthcheck", "--url", f"http://127.0.0.1:{port}/healthz")
    assert asked == (1, "", f"http://127.0.0.1:{port}/healthz: Connection refused\n")


@pytest.mark.parametrize(
    "url", ["localhost:9108", "ftp://x/", "http://", "http://x:y", "http://a b"]
)
def test_what_is_no_address_is_wrong_usage(capsys, url):
    asked = ran(capsys, "healthcheck", "--url", url)
    assert (asked.code, asked.out) == (2, "")
    assert "must be an address" in asked.err
