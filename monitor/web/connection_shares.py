"""Shares the connections of a listener between addresses while more of them wait.

The server stops accepting at its limit of connections. Then, and only then, addresses that
hold more than their share lose connections, so that others are accepted. A connection is
found among the descriptors of the process, since the server hands out none.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple

_REST_SECONDS = 0.02
_DESCRIPTORS = Path("/proc/self/fd")
_QUEUE = struct.Struct("=24xI")
"""Head of Linux's `struct tcp_info`; of a listening socket, `tcpi_unacked` is its queue."""


class Held(NamedTuple):
    """A connection that the process holds.

    Attributes:
        descriptor: its file descriptor.
        inode: increases with each connection that is accepted.
        address: the client's address, of IPv6 its network of 64 bits.
    """

    descriptor: int
    inode: int
    address: str


class ConnectionShares:
    """Watches a listener in a thread, and closes connections beyond the share of an address.

    Does nothing on systems without `/proc`.

    Args:
        listener: the listening socket.
        most: connections that the server accepts at a time.

    Attributes:
        closed: number of connections closed.
    """

    def __init__(self, listener: socket.socket, most: int) -> None:
        self.closed = 0
        self._listener = listener.dup()
        self._port = listener.getsockname()[1]
        self._most = most
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"connections-{self._port}", daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        if _DESCRIPTORS.is_dir():
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        while not self._stopping.wait(_REST_SECONDS):
            while waiting(self._listener) and self._close_some() and not self._stopping.is_set():
                pass

    def _close_some(self) -> int:
        excess = beyond_share(held(self._port), self._most)
        for connection in excess:
            _shut_down(connection)
        self.closed += len(excess)
        return len(excess)


def beyond_share(connections: Iterable[Held], most: int) -> list[Held]:
    """Return the connections to close so that each address holds at most its share.

    One share is left over for addresses that have no connection yet. Below the limit none is
    closed: a connection also waits for a moment while a server below its limit is busy.

    Args:
        connections: all connections of a listener.
        most: connections that the listener serves at a time.

    >>> beyond_share([Held(5, 1, "a"), Held(6, 2, "a"), Held(7, 3, "b")], 3)
    [Held(descriptor=5, inode=1, address='a')]
    >>> beyond_share([Held(5, 1, "a"), Held(6, 2, "a"), Held(7, 3, "b")], 4)
    []
    """
    newest_first = sorted(connections, key=lambda one: one.inode, reverse=True)
    if len(newest_first) < most:
        return []
    share = max(1, most // (len({one.address for one in newest_first}) + 1))
    kept: Counter[str] = Counter()
    excess = []
    for one in newest_first:
        kept[one.address] += 1
        if kept[one.address] > share:
            excess.append(one)
    return excess


def waiting(listener: socket.socket) -> int:
    """Return how many connections of a listening socket wait to be accepted; 0 if unknown."""
    try:
        info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _QUEUE.size)
    except (AttributeError, OSError):
        return 0
    return int(_QUEUE.unpack(info)[0]) if len(info) == _QUEUE.size else 0


def held(port: int) -> Iterator[Held]:
    """Yield the connections of this process to one of its ports."""
    for path in _DESCRIPTORS.iterdir():
        found = _held(int(path.name), port)
        if found is not None:
            yield found


def network(address: str) -> str:
    """Return the identity of one client: its address, or of IPv6 the network of 64 bits.

    >>> network("192.0.2.1"), network("2001:db8::1:2:3"), network("::ffff:192.0.2.1")
    ('192.0.2.1', '2001:db8::', '192.0.2.1')
    >>> network("a path")
    'a path'
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64))


def _held(descriptor: int, port: int) -> Held | None:
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISSOCK(status.st_mode):
            return None
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            if not _is_at(connection, port):
                return None
            return Held(descriptor, status.st_ino, network(connection.getpeername()[0]))
    except OSError:  # closed meanwhile, or not connected
        return None


def _is_at(connection: socket.socket, port: int) -> bool:
    internet = connection.family in (socket.AF_INET, socket.AF_INET6)
    return internet and connection.getsockname()[1] == port


def _shut_down(one: Held) -> None:
    """End a connection; the server, which owns the descriptor, finds it closed by the client.

    Meanwhile the descriptor may have become that of another connection, which stays.
    """
    with suppress(OSError), socket.socket(fileno=os.dup(one.descriptor)) as connection:
        if os.fstat(connection.fileno()).st_ino == one.inode:
            connection.shutdown(socket.SHUT_RDWR)
