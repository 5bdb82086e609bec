"""Notifies systemd of the state of the service (`Type=notify`)."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping


class Notify:
    """Sends notifications to systemd; does nothing without a socket.

    Args:
        environment: environment variables; NOTIFY_SOCKET names the socket.

    Source:
        sd_notify(3).
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        path = environment.get("NOTIFY_SOCKET", "")
        # A leading @ denotes the abstract namespace.
        self._address = f"\0{path[1:]}" if path.startswith("@") else path

    def ready(self) -> None:
        """Notify that the service has started."""
        self._send("READY=1")

    def alive(self) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """Notify that the service stops on purpose."""
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        if not self._address:
            return
        # A lost notification does not stop the service; systemd has a timeout of its own.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out,
        ):
            out.sendto(text.encode(), self._address)
