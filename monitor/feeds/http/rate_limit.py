"""How fast each client may send."""

from __future__ import annotations

import math
from collections import OrderedDict

from monitor.clock import Clock

REMEMBERED = 10_000
"""Clients that are told apart; of more, those that were silent longest begin anew."""


class Rates:
    """A number of records a second for each client; for one event loop.

    A client that was silent may send a second's worth at once. What it sends beyond
    its rate is taken, once, and then it waits until it is within it again.

    Args:
        per_second: records, a request without any counting as one; None for any number.
        clock: measures it.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> rates = Rates(10, clock)
    >>> rates.wait("a"), rates.spend("a", 25), rates.wait("a"), rates.wait("b")
    (0, None, 2, 0)
    >>> clock.sleep(1.6)
    >>> rates.wait("a")
    0
    """

    def __init__(self, per_second: float | None, clock: Clock) -> None:
        self.per_second = per_second
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> int:
        """Whole seconds until a client may send again; 0 for now."""
        if self.per_second is None:
            return 0
        missing = -self._balance(client, self.per_second)
        return math.ceil(missing / self.per_second) if missing > 0 else 0

    def spend(self, client: str, records: int) -> None:
        """A client has sent so many."""
        if self.per_second is None:
            return
        balance = self._balance(client, self.per_second) - max(records, 1)
        self._left[client] = (self._clock.monotonic(), balance)
        self._left.move_to_end(client)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)

    def _balance(self, client: str, per_second: float) -> float:
        """Records that a client may send; below 0 it has sent too many."""
        now = self._clock.monotonic()
        since, left = self._left.get(client, (now, per_second))
        return min(per_second, left + (now - since) * per_second)
