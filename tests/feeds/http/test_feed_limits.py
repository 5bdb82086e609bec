"""Limits on the time and memory of clients, and their authentication."""

import gzip
import select
import socket
import time
import tracemalloc
from contextlib import ExitStack

import httpx
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.routing import Route

from monitor.clock import ManualClock
from monitor.feeds.http.memory_budget import MemoryBudget
from monitor.feeds.http.rate_limit import MAX_CLIENTS, RateLimiter
from monitor.feeds.http.receiving import Receiving
from monitor.web.server import BackgroundServer

EVENT = b'{"type":"label","id":"a","ts":1,"label":1}\n'
TOKEN = "correct-horse-battery"  # noqa: S105  # for these tests only
MEBIBYTE = 1024 * 1024


def pieces(size, count):
    for _ in range(count):
        yield b"x" * size


@pytest.fixture
def served(make_feed):
    """A feed on a socket."""
    feed = make_feed(seconds=1.0)
    with BackgroundServer(feed.app, header_timeout=1.0, grace=1) as server:
        feed.server = server
        yield feed


def connection(server, body=b"", source=None, length=1000):
    address = ("127.0.0.1", server.port)
    opened = socket.create_connection(address, timeout=10, source_address=source)
    head = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length
    opened.sendall(head + body)
    return opened


def is_open(opened):
    opened.settimeout(0)
    try:
        while data := opened.recv(1 << 16):
            assert data
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    return False


def test_a_body_that_is_declared_too_large_is_413_before_it_is_read(feed):
    answer = feed.post(b"", content_length="1000000000")
    assert answer.status_code == 413
    assert feed.budget.left == 400_000


def test_a_body_that_turns_out_too_large_is_413_while_it_comes(served):
    # Without a Content-Length: a gigabyte, of which next to nothing is sent.
    try:
        answer = httpx.post(f"{served.server.url}/v1/events", content=pieces(65_536, 16_384))
        assert answer.status_code == 413
    except (httpx.WriteError, httpx.ReadError):
        pass  # the server closed the connection first
    assert served.budget.left == 400_000
    assert httpx.get(f"{served.server.url}/healthz").status_code == 200


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_body_without_a_length_which_never_arrives_is_411(served, version):
    head = b"POST /v1/events HTTP/%b\r\nHost: x\r\nConnection: close\r\n\r\n" % version
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=10) as opened:
        opened.sendall(head + EVENT)
        assert opened.recv(1 << 16).startswith(b"HTTP/%b 411 " % version)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip), ("zstd", zstandard)])
def test_a_bomb_is_413_and_takes_little_memory(make_feed, encoding, pack):
    feed = make_feed(max_bytes=MEBIBYTE, budget=4 * MEBIBYTE)
    bomb = pack.compress(b"0" * (500 * MEBIBYTE), 9)
    assert len(bomb) < MEBIBYTE
    tracemalloc.start()
    try:
        assert feed.post(bomb, content_encoding=encoding).status_code == 413
        assert tracemalloc.get_traced_memory()[1] < 2 * MEBIBYTE + 3 * len(bomb)
    finally:
        tracemalloc.stop()
    assert feed.budget.left == 4 * MEBIBYTE


def test_while_the_engine_stalls_clients_get_429(make_feed):
    feed = make_feed(budget=10 * len(EVENT))
    codes = [feed.post(EVENT).status_code for _ in range(12)]
    assert codes == [200] * 10 + [429] * 2
    assert feed.post(EVENT).headers["retry-after"] == "1"
    feed.intake.count()
    assert feed.post(EVENT).status_code == 200
    assert len(feed.intake.posted) == 11


def test_rejected_records_use_memory_budget(make_feed):
    feed = make_feed(budget=100_000)
    assert feed.post(b"{}\n" * 100).status_code == 200
    assert feed.post(b"{}\n" * 100).status_code == 429
    feed.intake.count()
    assert feed.budget.left == 100_000


def test_events_that_cannot_be_stored_are_503_and_release_their_memory(feed):
    feed.intake.full = True
    answer = feed.post(EVENT)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert feed.budget.left == 400_000
    feed.intake.full = False
    assert feed.post(EVENT).status_code == 200


def test_the_fault_of_the_intake_is_the_reason_of_a_503(feed):
    feed.intake.full, feed.intake.fault = True, "the disk is gone"
    assert feed.post(EVENT).json() == {"error": "the disk is gone; try again"}


def test_a_client_whose_bodies_never_end_leaves_room_for_others(make_feed):
    feed = make_feed(max_bytes=40_000, budget=100_000, seconds=30)
    hostile = ("127.0.0.2", 0)
    with BackgroundServer(feed.app, header_timeout=30, grace=1) as server:
        opened = [connection(server, b"{" * 30_000, hostile, 39_000) for _ in range(20)]
        refused = b""
        while b"bodies of this client are unfinished" not in refused:
            ready, _, _ = select.select(opened, [], [])
            with ready[0] as first:
                refused = first.recv(1 << 16)
            opened.remove(first)
        assert refused.startswith(b"HTTP/1.1 429 ")
        # The oldest has 30,000; those beside it half of the rest, and half of a body at most.
        assert feed.budget.left >= 20_000
        assert httpx.post(f"{server.url}/v1/events", content=EVENT * 100).status_code == 200
        for one in opened:
            one.close()


@example([(client, 40) for client in "abc" for _ in range(20)])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40)), max_size=60))
def test_bodies_beside_the_oldest_leave_a_share_free(pieces):
    budget, receiving = MemoryBudget(1_000), Receiving()
    with ExitStack() as opened:
        bodies = {client: opened.enter_context(receiving.body(client)) for client in "abc"}
        beside = {client: opened.enter_context(receiving.body(client)) for client in "abc"}
        for client, size in pieces:
            if beside[client].grow(size, budget):
                assert budget.take(size)
        assert budget.left >= 1_000 // 2**3 - 40
        assert all(body.grow(1, budget) for body in bodies.values())
    assert not receiving._beside
    assert not receiving._bodies


def test_before_the_intake_is_ready_events_are_503(feed):
    feed.intake.ready = False
    answer = feed.post(EVENT)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_a_reservation_is_released_once_however_often():
    budget = MemoryBudget(10)
    with budget.reservation() as reservation:
        assert reservation.grow(10)
        reservation.release()
        reservation.release()
    assert budget.left == 10


def test_slow_bodies_are_dropped_and_do_not_delay_others(served):
    opened = [connection(served.server, b"{") for _ in range(100)]
    began = time.monotonic()
    assert httpx.get(f"{served.server.url}/healthz").status_code == 200
    assert httpx.post(f"{served.server.url}/v1/events", content=EVENT).status_code == 200
    while any(map(is_open, opened)) and time.monotonic() - began < 60:
        time.sleep(0.05)
    assert not any(map(is_open, opened))
    for one in opened:
        one.close()
    served.intake.count()
    assert served.budget.left == 400_000


def test_a_body_that_is_too_slow_is_408(served):
    with connection(served.server, b"{") as opened:
        assert opened.recv(1 << 16).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_disconnects_releases_its_memory(served):
    connection(served.server, b"{" * 500).close()
    deadline = time.monotonic() + 60
    while served.budget.left < 400_000 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert served.budget.left == 400_000
    assert served.intake.posted == []


READING = {"GET", "HEAD"}
WRONG = [
    {},
    {"authorization": ""},
    {"authorization": TOKEN},
    {"authorization": f"Basic {TOKEN}"},
    {"authorization": f"Bearer {TOKEN}x"},
    {"authorization": f"Bearer {TOKEN[:-1]}"},
    {"authorization": f"Bearer {TOKEN.upper()}"},
    {"authorization": "Bearer "},
    {"authorization": "Bearer \xff"},
]


@pytest.mark.parametrize("headers", WRONG)
def test_without_a_token_every_route_that_writes_is_401(make_feed, headers):
    feed = make_feed(tokens=[TOKEN, "another-token-0123"])
    routes = [r for r in feed.app.routes if isinstance(r, Route) and r.methods - READING]
    assert len(routes) == 3
    for route in routes:
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = feed.client.post(route.path, content=EVENT, headers=raw)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert feed.intake.posted == []


@pytest.mark.parametrize(
    "value", [f"Bearer {TOKEN}", f"bearer  {TOKEN} ", "Bearer another-token-0123"]
)
def test_with_any_of_the_tokens_events_are_taken(make_feed, value):
    feed = make_feed(tokens=[TOKEN, "another-token-0123"])
    assert feed.post(EVENT, authorization=value).status_code == 200


def test_without_a_token_the_body_is_not_even_read(make_feed):
    feed = make_feed(tokens=[TOKEN])
    assert feed.post(b"", content_length="1000000000").status_code == 401


def test_a_request_from_a_web_page_is_403(feed):
    assert feed.post(EVENT, origin="http://evil.example").status_code == 403
    assert feed.intake.posted == []


def test_a_zstd_frame_that_asks_for_much_memory_is_refused(feed):
    huge = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, enable_ldm=True)
    body = zstandard.ZstdCompressor(compression_params=huge).compressobj(size=-1)
    packed = body.compress(EVENT) + body.flush()
    assert feed.post(packed, content_encoding="zstd").status_code == 400


def test_a_client_above_its_rate_gets_429_with_the_time_to_wait(make_feed):
    feed = make_feed(tokens=[TOKEN, "another-token-0123"], max_per_second=10)
    first, second = f"Bearer {TOKEN}", "Bearer another-token-0123"
    assert feed.post(EVENT * 35, authorization=first).status_code == 200
    refused = feed.post(EVENT, authorization=first)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
    assert feed.post(EVENT, authorization=second).status_code == 200, "each has its own rate"
    feed.clock.sleep(3)
    assert feed.post(EVENT, authorization=first).status_code == 200
    assert len(feed.intake.posted) == 3


def test_requests_without_events_have_a_rate_too(make_feed):
    feed = make_feed(max_per_second=5)
    codes = [feed.post(b"").status_code for _ in range(8)]
    assert codes.count(200) == 6
    assert codes[-1] == 429


def test_clients_that_were_silent_longest_are_forgotten():
    limiter = RateLimiter(1, ManualClock())
    for number in range(MAX_CLIENTS + 10):
        limiter.spend(str(number), 100)
    assert len(limiter._left) == MAX_CLIENTS
    assert limiter.wait("0") == 0
    assert limiter.wait(str(MAX_CLIENTS)) > 0
