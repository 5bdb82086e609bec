"""Sends what is left to forward when the program stops, within a few seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum

from monitor.clock import Clock

REST_SECONDS = 5.0
_RETRY_SECONDS = 0.5


class Rest(Enum):
    """What came of one step."""

    TAKEN = 1
    """The receiver has said that it has all counts."""
    WAITS = 2
    """The next step needs another checkpoint."""
    FAILED = 3
    """The receiver did not take counts, or did not answer."""


def send_rest(
    step: Callable[[], Rest],
    checkpoint: Callable[[], bool],
    *,
    sending: threading.Thread | None,
    clock: Clock,
) -> bool:
    """Take steps until all is taken, or `REST_SECONDS` and a checkpoint have passed.

    Args:
        step: sends a batch if one may be sent, or asks the receiver whether it has all.
        checkpoint: writes a checkpoint; returns whether it is on disk.
        sending: thread that sent until now, and is about to end; None for none.
        clock: monotonic time.

    Returns:
        Whether all is taken.
    """
    end = clock.monotonic() + REST_SECONDS

    def ends(thread: threading.Thread) -> bool:
        thread.join(max(0.0, end - clock.monotonic()))
        return not thread.is_alive()

    goes_on = sending is None or ends(sending)
    while goes_on and clock.monotonic() < end:
        came: list[Rest] = []
        thread = threading.Thread(target=lambda came=came: came.append(step()), daemon=True)
        thread.start()
        goes_on = ends(thread) and bool(came)
        if came == [Rest.TAKEN]:
            return True
        if came == [Rest.FAILED]:
            clock.sleep(min(_RETRY_SECONDS, max(0.0, end - clock.monotonic())))
        elif goes_on:
            goes_on = checkpoint()
    return False
