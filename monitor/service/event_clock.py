"""Event time: follows the events of each model, and advances with the local clock meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.clock import SECOND_MS, Clock
from monitor.events.renumbering import State


class EventClock:
    """The current event time of each model: its time plus the seconds since that last advanced.

    Independent of the wall date, so recorded data works; windows still move on
    while no events arrive.

    Args:
        clock: measures the seconds since the time of a model advanced.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> event_clock = EventClock(clock)
    >>> event_clock.observe({"fraud": 1_000})
    >>> clock.sleep(2.5)
    >>> event_clock.observe({"fraud": 1_000, "spam": 7_000})
    >>> clock.sleep(0.5)
    >>> event_clock.now_ms
    {'fraud': 4000, 'spam': 7500}
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, tuple[int, float]] = {}

    @property
    def now_ms(self) -> Mapping[str, int]:
        """Epoch milliseconds of each model that has a time."""
        now = self._clock.monotonic()
        return {
            model: time + int((now - advanced) * SECOND_MS)
            for model, (time, advanced) in self._known.items()
        }

    def state(self) -> State:
        """Serializable state: times, the seconds since each advanced, and the wall time."""
        now = self._clock.monotonic()
        models = {model: [time, now - advanced] for model, (time, advanced) in self._known.items()}
        return {"models": models, "at": self._clock.now()}

    def restore(self, state: State) -> None:
        """Continue from an earlier process's `state`; the time in between counts as passed.

        If the wall clock was set back since, no time counts as passed. From a state of before
        models had times of their own, each begins with its next event.
        """
        between = max(0.0, self._clock.now() - state["at"])
        now = self._clock.monotonic()
        self._known = {
            model: (time, now - passed - between)
            for model, (time, passed) in state.get("models", {}).items()
        }

    def observe(self, times: Mapping[str, int]) -> None:
        """Set the current time of each model, epoch milliseconds."""
        now, known = self._clock.monotonic(), self._known
        self._known = {
            model: known[model] if model in known and known[model][0] == time else (time, now)
            for model, time in times.items()
        }
