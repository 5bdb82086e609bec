"""Authentication of requests, over plain HTTP and over TLS."""

import asyncio
import base64
import socket
import ssl

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from web.certificates import write_certificates
from web.test_web_config import HASH

from monitor.web.access import Access
from monitor.web.access_middleware import AccessMiddleware
from monitor.web.passwords import MOST_WAITING, Users
from monitor.web.server import BackgroundServer
from monitor.web.web_config import Tls, WebConfig

TOKEN = "correct-horse-battery"  # noqa: S105  # of these tests alone
WEB = WebConfig(users={"ann": HASH}, headers={"X-Frame-Options": "SAMEORIGIN"})


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


RIGHT = basic("ann", "secret")
WRONG = [
    None,
    "",
    "Basic",
    "Basic !",
    "Basic " + base64.b64encode(b"ann").decode(),
    "Basic " + base64.b64encode(b"\xff:x").decode(),
    basic("ann", "Secret"),
    basic("ann", ""),
    basic("ann", "x" * 5000),
    basic("ann", "secret\0"),
    basic("bob", "secret"),
    basic("", "secret"),
    "Bearer " + RIGHT.partition(" ")[2],
    f"Bearer {TOKEN}x",
]


@pytest.mark.parametrize("given", WRONG)
def test_a_request_without_a_valid_token_or_password_is_refused(given):
    assert asyncio.run(Access([TOKEN], WEB).client(given)) is None


def test_a_token_or_a_password_authenticates():
    access = Access([TOKEN], WEB)

    async def ask():
        return [await access.client(given) for given in (f"Bearer {TOKEN}", RIGHT, RIGHT)]

    clients = asyncio.run(ask())
    assert clients[1:] == ["user ann"] * 2
    assert clients[0].startswith("token ")
    assert TOKEN not in clients[0]
    assert access.challenges == 'Bearer realm="precision-monitor", Basic realm="precision-monitor"'


def test_a_flood_of_guesses_does_not_delay_known_users():
    users = Users({"ann": HASH})

    async def flood():
        assert await users.authenticate(RIGHT) == "ann"
        guesses = [
            asyncio.create_task(users.authenticate(basic("ann", str(n)))) for n in range(200)
        ]
        await asyncio.sleep(0)
        assert users._waiting == MOST_WAITING
        assert await users.authenticate(RIGHT) == "ann", "cached, so that it does not wait"
        assert users._waiting > 0
        assert set(await asyncio.gather(*guesses)) == {None}

    asyncio.run(flood())


async def hello(_):
    return PlainTextResponse("hello")


def guarded(access):
    app = Starlette(routes=[Route("/", hello), Route("/healthz", hello)])
    return AccessMiddleware(app, access, ["/healthz"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tls")
    write_certificates(made)
    return made


def tls(folder, **settings):
    return Tls(certificate=folder / "server.pem", key=folder / "server.key", **settings)


def trusting(folder):
    return ssl.create_default_context(cafile=folder / "ca.pem")


def test_every_path_but_the_probes_needs_authentication_and_gets_headers():
    with BackgroundServer(guarded(Access(web=WEB))) as server, httpx.Client() as client:
        refused = client.get(server.url)
        assert (refused.status_code, refused.text) == (401, "authentication required\n")
        assert refused.headers["www-authenticate"] == 'Basic realm="precision-monitor"'
        assert client.get(f"{server.url}/nowhere").status_code == 401
        assert client.get(f"{server.url}/healthz").status_code == 200
        found = client.get(server.url, auth=("ann", "secret"))
        assert found.text == "hello"
        for answer in (refused, found):
            assert answer.headers["x-frame-options"] == "SAMEORIGIN"
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_tls_is_served_and_idle_clients_do_not_delay_others(folder):
    with BackgroundServer(guarded(Access()), tls=tls(folder)) as server:
        assert server.url.startswith("https://")
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
        assert httpx.get(server.url, verify=trusting(folder)).text == "hello"
        with pytest.raises(httpx.TransportError):
            httpx.get(server.url.replace("https", "http"))
        for one in idle:
            one.close()


def test_an_old_version_is_refused(folder):
    old = trusting(folder)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with BackgroundServer(guarded(Access()), tls=tls(folder)) as server:
        assert httpx.get(server.url, verify=old).text == "hello"
    newest = tls(folder, oldest="tls1.3")
    refused = pytest.raises(httpx.TransportError, match=r"(?i)version")
    with BackgroundServer(guarded(Access()), tls=newest) as server, refused:
        httpx.get(server.url, verify=old)


def test_a_client_needs_a_certificate_where_one_is_required(folder):
    mutual = tls(folder, client_ca=folder / "ca.pem")
    with BackgroundServer(guarded(Access()), tls=mutual) as server:
        with pytest.raises(httpx.TransportError):
            httpx.get(server.url, verify=trusting(folder))
        shown = trusting(folder)
        shown.load_cert_chain(folder / "client.pem", folder / "client.key")
        assert httpx.get(server.url, verify=shown).text == "hello"
