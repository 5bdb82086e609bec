"""Event time as it goes on: by the events, and while none come by the time that passes here."""

from __future__ import annotations

from monitor.clock import Clock
from monitor.events.renumbering import State


class EventClock:
    """Now, in event time: the watermark and the time since it last advanced.

    Never the wall's date, so that recorded data works; windows still move on
    while nothing comes.

    Args:
        clock: measures the time since.

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
        """Epoch milliseconds; None while there is no watermark."""
        if self._watermark_ms is None:
            return None
        return self._watermark_ms + int((self._clock.monotonic() - self._advanced) * 1000)

    def state(self) -> State:
        """The watermark, for how long it has stood, and the wall time of this."""
        passed = self._clock.monotonic() - self._advanced
        return {"watermark_ms": self._watermark_ms, "passed": passed, "at": self._clock.now()}

    def restore(self, state: State) -> None:
        """Go on from what `state` gave in an earlier process; the time between counts as passed.

        Where the wall clock has been set back since, none has passed between.
        """
        between = max(0.0, self._clock.now() - state["at"])
        self._watermark_ms = state["watermark_ms"]
        self._advanced = self._clock.monotonic() - state["passed"] - between

    def observe(self, watermark_ms: int | None) -> None:
        """Take notice of where the watermark stands now."""
        if watermark_ms != self._watermark_ms:
            self._watermark_ms, self._advanced = watermark_ms, self._clock.monotonic()
