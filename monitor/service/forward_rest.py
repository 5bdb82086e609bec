"""Sends what is left to forward when the program stops, within a few seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable

from monitor.clock import Clock

REST_SECONDS = 5.0


def send_rest(
    deliver: Callable[[], float | None],
    unsent: Callable[[], int],
    checkpoint: Callable[[], bool],
    *,
    sending: threading.Thread | None,
    clock: Clock,
) -> None:
    """Send until nothing is left, a failure, or `REST_SECONDS` and a checkpoint have passed.

    Args:
        deliver: sends a batch if one may be sent; returns after how many seconds again, or None.
        unsent: returns how many changes are left.
        checkpoint: writes a checkpoint; returns whether it is on disk.
        sending: thread that sent until now, and is about to end; None for none.
        clock: monotonic time.
    """
    end = clock.monotonic() + REST_SECONDS

    def ends(thread: threading.Thread) -> bool:
        thread.join(max(0.0, end - clock.monotonic()))
        return not thread.is_alive()

    def delivers() -> bool:
        waits: list[float | None] = []
        thread = threading.Thread(target=lambda: waits.append(deliver()), daemon=True)
        thread.start()
        return ends(thread) and waits == [None]

    going = sending is None or ends(sending)
    while going and unsent() and clock.monotonic() < end:
        going = delivers() and checkpoint()
