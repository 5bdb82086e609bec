"""Limits the requests of each address, so that one client leaves time for the others."""

from __future__ import annotations

import math
from collections import OrderedDict

from monitor.clock import Clock

MAX_ADDRESSES = 10_000
"""Addresses that are tracked; beyond it, the address that was silent longest is forgotten."""
PER_SECOND, BURST = 50, 200
"""Requests of an address: on average, and at once."""
_ROUNDING = 1e-9


class RequestPace:
    """A limit of requests for each address; for one event loop.

    Args:
        clock: measures time.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> pace = RequestPace(clock)
    >>> [pace.wait("a") for _ in range(201)][-2:], pace.wait("b")
    ([0, 1], 0)
    >>> clock.sleep(0.5)
    >>> pace.wait("a")
    0
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: OrderedDict[str, float] = OrderedDict()

    def wait(self, address: str) -> int:
        """Count a request of an address if it may be answered now.

        Returns:
            0 if it may, else the whole seconds to wait.
        """
        now = self._clock.monotonic()
        until = max(now, self._until.get(address, now)) + 1 / PER_SECOND
        over = until - now - BURST / PER_SECOND
        if over > _ROUNDING:
            return math.ceil(over)
        self._until[address] = until
        self._until.move_to_end(address)
        if len(self._until) > MAX_ADDRESSES:
            self._until.popitem(last=False)
        return 0
