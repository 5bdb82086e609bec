"""Time as it passes here; the only place that asks the machine what time it is.

The engine has no clock: event times come with the events. What waits (the
service, the feeds' rate, the demo) takes a `Clock`, and a test gives it one
that it moves by hand.
"""

import threading
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


class Stopwatch:
    """How long something lasted in all, however often; safe to use from any thread.

    Args:
        clock: measures it.

    >>> clock = ManualClock()
    >>> watch = Stopwatch(clock)
    >>> watch.begin(); clock.sleep(2); watch.begin(); watch.end(); clock.sleep(5); watch.seconds
    2.0
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._passed = 0.0
        self._since: float | None = None

    def begin(self) -> None:
        """It goes on from now, if it did not already."""
        with self._lock:
            if self._since is None:
                self._since = self._clock.monotonic()

    def end(self) -> None:
        """It is over, if it was not already."""
        with self._lock:
            self._passed, self._since = self._total(), None

    @property
    def seconds(self) -> float:
        """Until now."""
        with self._lock:
            return self._total()

    def _total(self) -> float:
        running = 0.0 if self._since is None else self._clock.monotonic() - self._since
        return self._passed + running


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
