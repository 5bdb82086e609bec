"""Ports for programs that the tests start by their configuration."""

import random
import socket

_PORTS = range(20_000, 32_768)
"""Below those that a system gives to connections, on Linux by default: one of them may be taken
between the moment it is found free and the moment the program listens, and the program ends."""
_given: set[int] = set()


def free_port() -> int:
    """Return a port of the loopback address that is free, and was not returned before."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        if port in _given:
            continue
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        _given.add(port)
        return port
    raise AssertionError("no port is free")
