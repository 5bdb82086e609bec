"""Names by which browsers on this machine may open a listener.

A page of another site can point its own name at 127.0.0.1 and then read a listener there as if
it were its own (DNS rebinding); the request then carries that name. A listener on a loopback
address without authentication therefore answers to names of this machine only. Listeners that
other machines reach have names that only their operators know, and are not restricted.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from ipaddress import ip_address

_LOCAL = "localhost"


class AllowedHosts:
    """Values of the header Host that are answered.

    Args:
        names: further names, besides addresses, `localhost` and the names of this machine.

    >>> hosts = AllowedHosts(["monitor.example.com"])
    >>> [hosts.allow(host) for host in ("127.0.0.1:9108", "[::1]", "localhost:80", None)]
    [True, True, True, True]
    >>> hosts.allow("monitor.example.com"), hosts.allow("evil.example.com:9108")
    (True, False)
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        own = (socket.gethostname(), socket.gethostname().partition(".")[0], _LOCAL)
        self._names = {name.lower().rstrip(".") for name in (*names, *own)}

    def allow(self, host: str | None) -> bool:
        """Return True if a request with this header is answered.

        Args:
            host: value of the header Host; None without one, as no browser sends.
        """
        if not host:
            return True
        name = _name(host)
        return name in self._names or name.endswith(f".{_LOCAL}") or _is_address(name)


def _name(host: str) -> str:
    """Return the name or address of a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
