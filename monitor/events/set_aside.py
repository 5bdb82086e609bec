"""Events of a model that lie too far ahead to be plausible, and when they are believed."""

from __future__ import annotations

from copy import copy
from itertools import islice
from typing import NamedTuple, Self

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME
from monitor.events.renumbering import State
from monitor.events.time_columns import NEVER, RANK
from monitor.events.timed_events import EventKind

SHARE = 2
"""One in so many events so far must agree with a jump."""
FEWEST, MOST = 256, 1024
"""Events that must agree with a jump, at least and at most."""
LASTING_SHARE, LASTING_FEWEST = 16, 4
"""As `SHARE` and `FEWEST`, of a jump that lasts or ends a recording."""
LASTING_MS = DAY_MS
"""A jump lasts whose events come over so long a time, by their arrival or their own times."""
RECENT = 256
"""An event that is set aside moves time only within so many further events of its model.

Those of a producer whose clock runs ahead of all others are older by the time that they give,
unless the model has few events.
"""

Event = tuple[int, int, int]
"""Time, key and kind."""


class _Aside(NamedTuple):
    """An event that is set aside.

    Attributes:
        number: of the model's events up to it.
        near: time of the model at which it counts like any other.
    """

    number: int
    near: int


class _Run(NamedTuple):
    """The events that agree with a jump: the majority of the model's events since the first.

    Attributes:
        first: number of the model's events up to the first of them.
        events: how many of them were set aside.
        lasting: time from which a further event shows that the jump lasts, epoch milliseconds.
        arrived: arrival from which it does so, likewise.
        few: whether few suffice: they are labels, or ahead of the clock and within a jump.
    """

    first: int = 0
    events: int = 0
    lasting: int = NEVER
    arrived: int = NEVER
    few: bool = False

    def is_majority(self, number: int) -> bool:
        """Return whether they are, at so many events of the model."""
        return number - self.first < 2 * self.events


class SetAside:
    """The latest events of one model that are set aside, at most `MOST`.

    A jump is believed once half of the model's events so far (`SHARE`), at least `FEWEST` and at
    most `MOST`, agree with it, and are the majority of all events since the first of them. Fewer
    suffice, one in `LASTING_SHARE` and at least `LASTING_FEWEST`, where they arrive over
    `LASTING_MS`, where their own times go on for so long and for the length of the jump, where
    a recording ends with them, where they are labels, which come in the order of their times, or
    where only the clock is against them.

    Attributes:
        near: time of the model at which the first of them counts; `NEVER` without one.
        total: events that were set aside so far.
    """

    def __init__(self) -> None:
        self.near, self.total = NEVER, 0
        self._events: dict[Event, _Aside] = {}
        self._run = _Run()

    def __len__(self) -> int:
        """Events."""
        return len(self._events)

    def __contains__(self, event: Event) -> bool:
        """Return whether an event is set aside now."""
        return event in self._events

    def copied(self) -> Self:
        """Return a copy that changes by itself."""
        found = copy(self)
        found._events = dict(self._events)  # noqa: SLF001  # its own class
        return found

    def add(
        self, event: Event, number: int, arrived: int, *, near: int, time: int, jump_ms: int
    ) -> None:
        """Set an event aside.

        Args:
            event: that is not set aside yet.
            number: of the model's events up to it.
            arrived: arrival of the event, epoch milliseconds; `NO_TIME` where it is not known.
            near: time of the model at which the event counts like any other.
            time: of the model, epoch milliseconds.
            jump_ms: length of a jump, milliseconds.
        """
        self._events[event] = _Aside(number, near)
        self.near = min(self.near, near)
        self.total += 1
        if len(self._events) > MOST:
            del self._events[next(iter(self._events))]
        run = self._run._replace(events=self._run.events + 1)
        few = event[2] == EventKind.LABEL or event[0] - time <= jump_ms
        if run.few != few or not run.is_majority(number):
            lasting = event[0] + max(LASTING_MS, event[0] - time)
            arrived = NEVER if arrived == NO_TIME else arrived + LASTING_MS
            run = _Run(number, 1, lasting, arrived, few)
        self._run = run

    def agreed(self, number: int, time: int, arrived: int) -> list[int]:
        """Return the times of the events with which a jump is believed; none where it is not.

        Those that come after it agree with another.

        Args:
            number: of the model's events so far.
            time: of the last of them, which has been set aside, epoch milliseconds.
            arrived: its arrival, likewise; `NO_TIME` where it is not known.
        """
        needed = min(max(number // SHARE, FEWEST), MOST)
        run = self._run
        if run.few or time >= run.lasting or arrived >= run.arrived:
            needed = _of_lasting(number)
        if min(run.events, len(self)) < needed:
            return []
        self._run = _Run()
        return self._latest(needed)

    def agreed_at_the_end(self, number: int) -> list[int]:
        """Return the times of the events with which a jump is believed that ends a recording.

        Args:
            number: of the model's events.
        """
        needed, run = _of_lasting(number), self._run
        enough = needed <= min(run.events, len(self))
        return self._latest(needed) if enough and run.is_majority(number) else []

    def _latest(self, events: int) -> list[int]:
        return sorted(time for time, *_ in islice(reversed(self._events), events))

    def plausible_within(self, jump_ms: int) -> None:
        """Let the events count within a longer jump, milliseconds."""
        for event, known in self._events.items():
            near = min(known.near, event[0] - jump_ms)
            self._events[event] = known._replace(near=near)
            self.near = min(self.near, near)

    def take_near(self, time: int, number: int) -> list[Event]:
        """Take out the events that count at a time of the model; return those that move it.

        Args:
            time: epoch milliseconds.
            number: of the model's events so far.
        """
        near = [(event, known) for event, known in self._events.items() if known.near <= time]
        for event, _ in near:
            del self._events[event]
        self.near = min((known.near for known in self._events.values()), default=NEVER)
        return [event for event, known in near if number - known.number < RECENT]

    def state(self) -> State:
        """Serializable state."""
        return {
            "aside": [[*event, *known] for event, known in self._events.items()],
            "aside_total": self.total,
            "run": [*self._run],
        }

    @classmethod
    def restored(cls, state: State) -> Self:
        """Return what `state` returned.

        Args:
            state: of an earlier run.
        """
        found = cls()
        found.total = state["aside_total"]
        found._run = _Run(*state.get("run", ()))
        found._events = {(t, k, n): _Aside(*known) for t, k, n, *known in state["aside"]}
        found.near = min((known.near for known in found._events.values()), default=NEVER)
        return found


def _of_lasting(number: int) -> int:
    """Return the events that must agree with a jump that lasts, or ends a recording."""
    return min(max(number // LASTING_SHARE, LASTING_FEWEST), MOST)


def first_stretch(times: list[int], jump_ms: int) -> list[int]:
    """Return the earliest of some times, up to the first jump; three strays before it stay.

    Args:
        times: of at least four events, in order.
        jump_ms: length of a jump, milliseconds.

    >>> first_stretch([0, 20, 21, 22, 23, 90, 91, 92], 10)
    [0, 20, 21, 22, 23]
    """
    ends = (at for at in range(RANK + 1, len(times)) if times[at] - times[at - 1] > jump_ms)
    return times[: next(ends, len(times))]
