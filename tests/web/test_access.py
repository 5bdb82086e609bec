"""Authentication of requests, over plain HTTP and over TLS."""

import asyncio
import base64
import socket
import ssl
from collections import Counter

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from web.certificates import write_certificates
from web.test_web_config import HASH

from monitor.clock import ManualClock
from monitor.web.access import Access
from monitor.web.access_middleware import AccessMiddleware
from monitor.web.guesses import (
    BURST,
    MAX_ADDRESSES,
    SECONDS_EACH,
    Guesses,
    TooManyGuessesError,
)
from monitor.web.hosts import AllowedHosts
from monitor.web.passwords import MOST_OF_ONE, Users
from monitor.web.request_pace import BURST as PACE_BURST
from monitor.web.request_pace import PER_SECOND, RequestPace
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
        guesses = [guess(users, n, f"192.0.2.{n}") for n in range(40)]
        await asyncio.sleep(0)
        assert users._waiting.total() == 40
        assert await users.authenticate(RIGHT) == "ann", "cached, so that it does not wait"
        assert users._waiting.total() > 0
        assert set(await asyncio.gather(*guesses)) == {None}
        assert not users._waiting

    asyncio.run(flood())


def guess(users, number, address):
    return asyncio.create_task(users.authenticate(basic("ann", str(number)), address))


def test_forty_guessers_do_not_lock_the_right_password_out():
    users = Users({"ann": HASH}, ManualClock())

    async def flood():
        guesses = [guess(users, n, f"192.0.2.{n % 40}") for n in range(400)]
        await asyncio.sleep(0)
        assert users._waiting.total() == 40 * MOST_OF_ONE
        assert await users.authenticate(RIGHT, "198.51.100.1") == "ann"
        answers = await asyncio.gather(*guesses, return_exceptions=True)
        refused = [a for a in answers if isinstance(a, TooManyGuessesError)]
        assert answers.count(None) == 40 * MOST_OF_ONE
        assert len(refused) == 400 - 40 * MOST_OF_ONE
        assert {a.seconds for a in refused} == {1}

    asyncio.run(flood())


def test_a_guesser_must_wait_and_nobody_else():
    clock = ManualClock()
    users = Users({"ann": HASH}, clock)

    async def guessing():
        for n in range(BURST):
            assert await users.authenticate(basic("ann", str(n)), "192.0.2.1") is None
        for more in (basic("ann", "more"), RIGHT):
            with pytest.raises(TooManyGuessesError, match="try again in 6 s"):
                await users.authenticate(more, "192.0.2.1")
        assert await users.authenticate(RIGHT, "192.0.2.2") == "ann"
        assert await users.authenticate(RIGHT, "192.0.2.1") == "ann", "known by now"
        clock.sleep(SECONDS_EACH)
        assert await users.authenticate(basic("ann", "more"), "192.0.2.1") is None

    asyncio.run(guessing())


def test_one_password_that_many_requests_carry_is_checked_once():
    users = Users({"ann": HASH})

    async def starting():
        many = (users.authenticate(RIGHT, "192.0.2.1") for _ in range(50))
        assert set(await asyncio.gather(*many)) == {"ann"}

    asyncio.run(starting())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 20)), max_size=60))
def test_no_address_guesses_faster_than_the_limit(steps):
    clock, made = ManualClock(), Counter()
    guesses = Guesses(clock)
    for address, seconds in steps:
        clock.sleep(seconds)
        if not guesses.wait(address):
            guesses.note(address)
            made[address] += 1
    elapsed = sum(seconds for _, seconds in steps)
    assert all(count <= BURST + 1 + elapsed / SECONDS_EACH for count in made.values())


def test_addresses_that_are_forgotten_are_the_oldest():
    guesses = Guesses(ManualClock())
    for n in range(MAX_ADDRESSES + 1):
        for _ in range(BURST):
            guesses.note(str(n))
    assert (guesses.wait("0"), guesses.wait("1")) == (0, 6)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), max_size=600))
def test_no_address_is_answered_faster_than_its_pace(steps):
    clock, answered = ManualClock(), Counter()
    pace = RequestPace(clock)
    for address, seconds in steps:
        clock.sleep(seconds / 100)
        answered[address] += not pace.wait(address)
    elapsed = sum(seconds / 100 for _, seconds in steps)
    assert all(count <= PACE_BURST + 1 + elapsed * PER_SECOND for count in answered.values())


def test_a_guesser_and_a_flood_are_answered_429_and_hang_up():
    access = Access(web=WEB)

    async def asked(app, given, client):
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app, client=(client, 1)), base_url="http://x"
        ) as http:
            return [await http.get("/", headers={"Authorization": given}) for _ in range(2)]

    async def ask():
        app = guarded(access)
        app._pace = RequestPace(ManualClock())
        access._users = Users(WEB.users, ManualClock())
        for _ in range(BURST):
            access._users._guesses.note("192.0.2.1")
        guessing = await asked(app, basic("ann", "x"), "192.0.2.1")
        for _ in range(PACE_BURST):
            app._pace.wait("192.0.2.2")
        flooding = await asked(app, RIGHT, "192.0.2.2")
        good = await asked(app, RIGHT, "192.0.2.3")
        return guessing, flooding, good

    guessing, flooding, good = asyncio.run(ask())
    for answer in (*guessing, *flooding):
        assert answer.status_code == 429
        assert answer.headers["connection"] == "close"
        assert int(answer.headers["retry-after"]) >= 1
    assert "too many wrong passwords from your address" in guessing[0].text
    assert "too many requests from your address" in flooding[0].text
    assert [answer.status_code for answer in good] == [200, 200]


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1:9108", 200),
        ("[::1]:9108", 200),
        ("localhost", 200),
        ("LocalHost.:1", 200),
        ("a.localhost:1", 200),
        (f"{socket.gethostname()}:9108", 200),
        ("proxy.example.com", 200),
        ("Proxy.Example.com:443", 200),
        ("evil.example.com:9108", 403),
        ("localhost.evil.example.com", 403),
        ("127.0.0.1.evil.example.com:9108", 403),
        ("xproxy.example.com", 403),
    ],
)
def test_names_of_other_sites_are_refused_where_nobody_authenticates(host, code):
    async def ask(access, path):
        app = Starlette(routes=[Route("/", hello), Route("/healthz", hello)])
        guarded = AccessMiddleware(app, access, ["/healthz"], AllowedHosts(["proxy.example.com"]))
        transport = httpx.ASGITransport(app=guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            given = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
            return (await client.get(path, headers=given)).status_code

    assert asyncio.run(ask(Access(), "/")) == code
    assert asyncio.run(ask(Access(), "/healthz")) == 200
    assert asyncio.run(ask(Access([TOKEN]), "/")) == 200


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
