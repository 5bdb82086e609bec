"""Time as it passes here; the only place that asks the machine what time it is.

The engine has no clock: event times come with the events. What waits (the
service, the feeds' rate, the demo) takes a `Clock`, and a test gives it one
that it moves by hand.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """What time it is and how to wait."""

    def now(self) -> float:
        """Wall time, epoch seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Wall time, epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class ManualClock:
    """A clock that stands still until it is moved; for tests and simulations.

    Args:
        start: wall time at first, epoch seconds.

    >>> clock = ManualClock(start=100.0)
    >>> clock.sleep(5.0)
    >>> clock.now(), clock.monotonic()
    (105.0, 5.0)
    """

    def __init__(self, start: float = 0.0) -> None:
        self._start = start
        self._passed = 0.0

    def now(self) -> float:
        """Wall time, epoch seconds."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._passed

    def sleep(self, seconds: float) -> None:
        """Move on by as much, at once."""
        self._passed += seconds
