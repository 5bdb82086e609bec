"""Event time: follows the events, and advances with the local clock while none arrive."""

from __future__ import annotations

from monitor.clock import Clock
from monitor.events.renumbering import State


class EventClock:
    """The current event time: the watermark plus the time since it last advanced.

    Independent of the wall date, so recorded data works; windows still move on
    while no events arrive.

    Args:
        clock: measures the time since the watermark advanced.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> event_clock = EventClock(clock)
    >>> event_clock.observe(watermark_ms=1_000)
    >>> clock.sleep(2.5)
    >>> event_clock.now_ms
    3500
    >>> event_clock.observe(watermark_ms=1_100)
    >>> event_clock.now_ms
    1100
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watermark_ms: int | None = None
        self._advanced = 0.0

    @property
    def now_ms(self) -> int | None:
        """Epoch milliseconds; None without a watermark."""
        if self._watermark_ms is None:
            return None
        return self._watermark_ms + int((self._clock.monotonic() - self._advanced) * 1000)

    def state(self) -> State:
        """Serializable state: the watermark, the seconds since it advanced, and the wall time."""
        passed = self._clock.monotonic() - self._advanced
        return {"watermark_ms": self._watermark_ms, "passed": passed, "at": self._clock.now()}

    def restore(self, state: State) -> None:
        """Continue from an earlier process's `state`; the time in between counts as passed.

        If the wall clock was set back since, no time counts as passed.
        """
        between = max(0.0, self._clock.now() - state["at"])
        self._watermark_ms = state["watermark_ms"]
        self._advanced = self._clock.monotonic() - state["passed"] - between

    def observe(self, watermark_ms: int | None) -> None:
        """Set the current watermark."""
        if watermark_ms != self._watermark_ms:
            self._watermark_ms, self._advanced = watermark_ms, self._clock.monotonic()
