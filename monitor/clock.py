"""Clocks, and lengths of time as numbers.

The engine reads no clock: event times come with the events. Code that waits or
measures wall time (the service, the feeds, the demo) takes a `Clock`, so that a
test passes a `ManualClock`. No other module asks the system for the time.
"""

import threading
import time
from typing import Protocol

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
DAY_SECONDS = DAY_MS // SECOND_MS


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> float:
        """Wall time, epoch seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never decreases."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        ...


class SystemClock:
    """The system's clock."""

    def now(self) -> float:
        """Wall time, epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never decreases."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        time.sleep(seconds)


class Stopwatch:
    """Total time that a condition held, over any number of intervals; thread-safe.

    Args:
        clock: measures the intervals.

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
        """Start an interval, unless one is running."""
        with self._lock:
            if self._since is None:
                self._since = self._clock.monotonic()

    def end(self) -> None:
        """End the running interval, if there is one."""
        with self._lock:
            self._passed, self._since = self._total(), None

    @property
    def seconds(self) -> float:
        """Length of all intervals so far, the running one included."""
        with self._lock:
            return self._total()

    def _total(self) -> float:
        running = 0.0 if self._since is None else self._clock.monotonic() - self._since
        return self._passed + running


class ManualClock:
    """A clock that only `sleep` advances; for tests and simulations.

    Args:
        start: initial wall time, epoch seconds.

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
        """Seconds since the clock was created."""
        return self._passed

    def sleep(self, seconds: float) -> None:
        """Advance the clock and return at once."""
        self._passed += seconds
