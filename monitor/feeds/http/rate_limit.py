"""Limits the records per second of each client."""

from __future__ import annotations

import math
from collections import OrderedDict

from monitor.clock import Clock

MAX_CLIENTS = 10_000
"""Clients that are tracked; beyond it, the client that was silent longest is forgotten."""


class RateLimiter:
    """A token bucket for each client, of one second's worth of records; for one event loop.

    A request that exceeds the rate is accepted, but the client must then wait until its
    average is within the rate again.

    Args:
        per_second: maximum records per second, where a request without any counts as one;
            None for no limit.
        clock: measures time.

    Attributes:
        per_second: maximum records per second; may be changed at any time.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> limiter = RateLimiter(10, clock)
    >>> limiter.wait("a"), limiter.spend("a", 25), limiter.wait("a"), limiter.wait("b")
    (0, None, 2, 0)
    >>> clock.sleep(1.6)
    >>> limiter.wait("a")
    0
    """

    def __init__(self, per_second: float | None, clock: Clock) -> None:
        self.per_second = per_second
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> int:
        """Return the whole seconds until a client may send again; 0 if it may now."""
        if self.per_second is None:
            return 0
        missing = -self._balance(client, self.per_second)
        return math.ceil(missing / self.per_second) if missing > 0 else 0

    def spend(self, client: str, records: int) -> None:
        """Charge a client for a request.

        Args:
            client: name of the client.
            records: number of records in the request.
        """
        if self.per_second is None:
            return
        balance = self._balance(client, self.per_second) - max(records, 1)
        self._left[client] = (self._clock.monotonic(), balance)
        self._left.move_to_end(client)
        if len(self._left) > MAX_CLIENTS:
            self._left.popitem(last=False)

    def _balance(self, client: str, per_second: float) -> float:
        """Records that a client may send now; negative if it has sent too many."""
        now = self._clock.monotonic()
        since, left = self._left.get(client, (now, per_second))
        return min(per_second, left + (now - since) * per_second)
