"""Whether the loop turns: signs of life, and the longest time for which it did not."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping

from monitor.clock import Clock
from monitor.prometheus.process_series import LOOP_STALL, NumberByLabels, SeriesDescription

REMEMBERED_SECONDS = 300.0
"""A stall is published for so long after it has ended."""
SIGN_EVERY_SECONDS = 1.0


class Liveness:
    """Takes notice of each turn of the loop; its numbers may be read from any thread.

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
        """Seconds since the last turn; 0 before the first one."""
        return 0.0 if self._turned is None else self._clock.monotonic() - self._turned

    @property
    def stall(self) -> float:
        """Seconds of the longest time between two turns, of the last five minutes and till now."""
        with self._lock:
            self._forget()
            return max(self.since, self._stalls[0][1] if self._stalls else 0.0)

    def turned(self) -> None:
        """The loop turns, and is about to go on."""
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
        """What /metrics says of it."""
        return {LOOP_STALL: lambda: {(): self.stall}}

    def _forget(self) -> None:
        """Stalls are in the order in which they ended, each longer than those after it."""
        now = self._clock.monotonic()
        while self._stalls and now - self._stalls[0][0] > REMEMBERED_SECONDS:
            self._stalls.popleft()
