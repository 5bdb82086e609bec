"""Limits wrong passwords by address, so that guessing locks out nobody but the guesser."""

from __future__ import annotations

import math
from collections import OrderedDict

from monitor.clock import Clock

MAX_ADDRESSES = 10_000
"""Addresses that are tracked; beyond it, the address whose last guess is oldest is forgotten."""
BURST = 10
"""Wrong passwords that an address may send at once."""
SECONDS_EACH = 6.0
"""Seconds after which an address may send one more."""


class TooManyGuessesError(Exception):
    """An address must wait before its next password is checked.

    Args:
        seconds: whole seconds to wait.

    Attributes:
        seconds: whole seconds to wait.
    """

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many wrong passwords; try again in {seconds} s")
        self.seconds = seconds


class Guesses:
    """Wrong passwords of each address; for one event loop.

    Args:
        clock: measures time.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> guesses = Guesses(clock)
    >>> for _ in range(10): guesses.note("192.0.2.1")
    >>> guesses.wait("192.0.2.1"), guesses.wait("192.0.2.2")
    (6, 0)
    >>> clock.sleep(6.0)
    >>> guesses.wait("192.0.2.1")
    0
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: OrderedDict[str, float] = OrderedDict()

    def wait(self, address: str) -> int:
        """Return the whole seconds until the next password of an address is checked; 0 if now."""
        ahead = self._until.get(address, 0.0) - self._clock.monotonic()
        over = ahead - (BURST - 1) * SECONDS_EACH
        return math.ceil(over) if over > 0 else 0

    def note(self, address: str) -> None:
        """Count a wrong password."""
        now = self._clock.monotonic()
        self._until[address] = max(now, self._until.get(address, now)) + SECONDS_EACH
        self._until.move_to_end(address)
        if len(self._until) > MAX_ADDRESSES:
            self._until.popitem(last=False)
