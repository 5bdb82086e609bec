"""Liveness of the service loop: time since its last turn, and its longest stall."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping

from monitor.clock import Clock
from monitor.prometheus.process_series import CLOCK, LOOP_STALL, NumberByLabels, SeriesDescription

REMEMBERED_SECONDS = 300.0
"""A stall is published for this long after its end."""
SIGN_EVERY_SECONDS = 1.0


class Liveness:
    """Records the turns of the loop; any thread may read its figures.

    Args:
        clock: measures the time between two turns.
        alive: called at most once a second, at a turn.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> liveness = Liveness(clock, lambda: print("alive"))
    >>> liveness.turned(); clock.sleep(0.5); liveness.turned(); clock.sleep(2.0)
    alive
    >>> liveness.stall, liveness.since
    (2.0, 2.0)
    >>> liveness.turned(); clock.sleep(0.5)
    alive
    >>> liveness.stall, liveness.since
    (2.0, 0.5)
    """

    def __init__(self, clock: Clock, alive: Callable[[], None] | None = None) -> None:
        self._clock = clock
        self._alive = alive
        self._lock = threading.Lock()
        self._turned: float | None = None
        self._signed: float | None = None
        self._stalls: deque[tuple[float, float]] = deque()

    @property
    def since(self) -> float:
        """Seconds since the last turn; 0 before the first."""
        return 0.0 if self._turned is None else self._clock.monotonic() - self._turned

    @property
    def stall(self) -> float:
        """Longest time between two turns in the last five minutes, up to now, in seconds."""
        with self._lock:
            self._forget()
            return max(self.since, self._stalls[0][1] if self._stalls else 0.0)

    def turned(self) -> None:
        """Record a turn of the loop."""
        now, stall = self._clock.monotonic(), self.since
        with self._lock:
            self._forget()
            while self._stalls and self._stalls[-1][1] <= stall:
                self._stalls.pop()
            self._stalls.append((now, stall))
            self._turned = now
        if self._alive and (self._signed is None or now - self._signed >= SIGN_EVERY_SECONDS):
            self._signed = now
            self._alive()

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of the loop and of its clock, and how each is read."""
        return {CLOCK: lambda: {(): self._clock.now()}, LOOP_STALL: lambda: {(): self.stall}}

    def _forget(self) -> None:
        """Drop old stalls; they are in order of their end, each longer than those after it."""
        now = self._clock.monotonic()
        while self._stalls and now - self._stalls[0][0] > REMEMBERED_SECONDS:
            self._stalls.popleft()
