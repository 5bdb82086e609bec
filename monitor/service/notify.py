"""Tells systemd that the service runs, where it was started by it (`Type=notify`)."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping


class Notify:
    """What the service says of itself; to nobody where no socket is named.

    Args:
        environment: holds NOTIFY_SOCKET, where systemd listens.

    Source:
        sd_notify(3).
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        path = environment.get("NOTIFY_SOCKET", "")
        # A leading @ stands for the abstract namespace.
        self._address = f"\0{path[1:]}" if path.startswith("@") else path

    def ready(self) -> None:
        """It serves."""
        self._send("READY=1")

    def alive(self) -> None:
        """It goes on: the watchdog is fed."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """It ends on purpose."""
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        if not self._address:
            return
        # Not to be heard is no reason to end: systemd's own timeout says so.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out,
        ):
            out.sendto(text.encode(), self._address)
