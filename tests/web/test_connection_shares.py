"""Connections are shared between addresses, and never take all descriptors."""

import os
import resource
import socket
from collections import Counter
from contextlib import ExitStack

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from monitor.web.connection_shares import Held, beyond_share, held, network, waiting
from monitor.web.descriptors import RESERVED, connections_each, divided
from monitor.web.server import BackgroundServer

HOSTILE = "127.0.0.2"
connections = st.lists(st.sampled_from("abcdef"), max_size=80).map(
    lambda addresses: [Held(100 + n, n, address) for n, address in enumerate(addresses)]
)


@given(connections, st.integers(1, 40))
def test_what_is_closed_is_the_oldest_beyond_a_fair_share(found, most):
    closed = beyond_share(found, most)
    left = [one for one in found if one not in closed]
    held_by = Counter(one.address for one in left)
    share = max(1, most // (len({one.address for one in found}) + 1))
    if len(found) < most:
        assert not closed
        return
    for address in {one.address for one in found}:
        had = sum(one.address == address for one in found)
        assert held_by[address] == min(had, share)
        newest = max((one.inode for one in closed if one.address == address), default=-1)
        assert all(one.inode > newest for one in left if one.address == address)
    if len({one.address for one in found}) < most:
        assert len(left) < most or not found


def test_networks_of_ipv6_count_as_one_client():
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") == "192.0.2.1"
    assert network("fe80::1%eth0") == "fe80::"


@given(st.integers(1, 100_000), st.integers(1, 10))
def test_connections_leave_descriptors_for_everything_else(descriptors, listeners):
    each = divided(descriptors, listeners)
    assert each >= 8
    assert each == 8 or each * listeners <= descriptors - RESERVED


def test_the_soft_limit_is_raised_to_the_hard_one():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] - 1, before[1]))
        assert connections_each(2) == divided(before[1], 2)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_queue_of_a_listener_and_what_is_accepted_of_it_are_known():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        assert (waiting(listener), list(held(address[1]))) == (0, [])
        with socket.create_connection(address, source_address=(HOSTILE, 0)):
            assert waiting(listener) == 1
            accepted, _ = listener.accept()
            with accepted:
                assert waiting(listener) == 0
                (one,) = held(address[1])
                assert (one.descriptor, one.address) == (accepted.fileno(), HOSTILE)
        assert list(held(address[1])) == []


@pytest.fixture
def server():
    """A server of eight connections that drops nobody by itself."""

    async def answer(_):
        return PlainTextResponse("answered")

    app = Starlette(routes=[Route("/", answer)])
    with BackgroundServer(app, header_timeout=600, max_connections=8, grace=1) as server:
        yield server


@pytest.fixture
def hostile(server):
    """Opens connections from another address; all are closed when the test ends."""
    with ExitStack() as opened:

        def connect(said=b""):
            address = ("127.0.0.1", server.port)
            one = socket.create_connection(address, source_address=(HOSTILE, 0))
            opened.enter_context(one).sendall(said)
            return one

        yield connect


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_an_address_that_takes_all_connections_does_not_keep_others_out(server, hostile, said):
    for _ in range(60):
        hostile(said)
    for _ in range(5):
        assert httpx.get(server.url, timeout=60).text == "answered"


def test_connections_below_the_limit_stay(server, hostile):
    opened = [hostile() for _ in range(4)]
    for _ in range(5):
        assert httpx.get(server.url, timeout=60).text == "answered"
    for one in opened:
        one.settimeout(0)
        with pytest.raises(BlockingIOError):
            one.recv(1)


def test_clients_that_do_not_read_are_bounded_by_the_kernel(server, hostile):
    assert hostile(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").recv(1 << 16)
    (one,) = (one for one in held(server.port) if one.address == HOSTILE)
    with socket.socket(fileno=os.dup(one.descriptor)) as connection:
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * 128 * 1024
