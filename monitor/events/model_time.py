"""How far event time has come for one model, by the events of that model alone.

The time of a model is the third-highest time of its distinct events, so that two stray
records move nothing. An event that lies further ahead than the stream's own pace makes
plausible is set aside: it counts as any other, but it moves time only once enough events
agree with it, see `ModelTime`.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Self

import numpy as np

from monitor.events.columns import NO_TIME, Int64Array
from monitor.events.jumps import Jumps
from monitor.events.plausible_times import lead, limit
from monitor.events.renumbering import State
from monitor.events.set_aside import Event, SetAside, first_stretch
from monitor.events.time_columns import RANK, ModelRow
from monitor.events.timed_events import EventKind, TimedEvents, one_by_one, repetitions, times_once
from monitor.events.watermark import third_highest_time

FIRST = 16
"""Distinct events that suffice to distinguish the bulk of a stream from strays."""
STRAYS = FIRST // 2 - 1
"""Of these, events that are set aside, at most: fewer than half."""
PACE = RANK + 1
"""Gaps of a sparse stream within a jump: its time is two events behind, its next one ahead."""

_AT_ONCE = 256
_TWICE = 2


class ModelTime:
    """The time of one model; once it is settled it never goes back.

    The first `FIRST` distinct events settle it: of these, up to `STRAYS` that lie more than a
    jump ahead of the others are set aside. From then on an event is set aside where it lies

    - more than a jump ahead of the time of the model, unless it arrived within
      `CLOCK_NEAR_MS`, or is what a source of counts reports, with a known arrival;
    - ahead of the clock at its arrival and of the time of the model by more than
      `CLOCK_SLACK_MS`. Where the model itself is ahead of the clock, its stream has agreed
      that the clock is slow, and the clock decides nothing.

    A jump moves time once enough of the events that are set aside agree with it, and most of the
    events since, see `SetAside`: a block of false times among true ones moves nothing, and after a
    gap in the stream time goes on a little later. An event that is set aside moves time like any
    other once time has come near enough, if not too many events came meanwhile. A gap that came
    twice is the stream's own pace, as that of one record a day: from then on, a jump is `PACE`
    such gaps.

    Where no gap is longer than a jump, the time in the end does not depend on the order of
    the events.

    Args:
        jump_ms: length of a jump, milliseconds; of a sparse stream a jump is longer.

    Attributes:
        jump_ms: length of a jump now, milliseconds.
        time: epoch milliseconds; `NO_TIME` before three distinct events.
        settled: True once the bulk of the stream has decided the time.
        aside: events that are set aside now.
        aside_total: events that were set aside so far.
        jumps: jumps that were believed.

    >>> jump = 86_400_000
    >>> number, none = np.arange(20), np.full(20, NO_TIME)
    >>> time = np.where(number < 3, 400 * jump, number)
    >>> events = TimedEvents(time, number, np.zeros(20, np.int64), none)
    >>> lane = ModelTime(jump).after(events)
    >>> lane.time, lane.aside
    (17, 3)
    """

    def __init__(self, jump_ms: int) -> None:
        self.jump_ms = jump_ms
        self.time = NO_TIME
        self.settled = False
        self.jumps = Jumps()
        self._events = 0
        self._highest: tuple[Event, ...] = ()
        self._first: dict[Event, int] = {}
        self._aside = SetAside()
        self._gaps: tuple[int, ...] = ()

    @property
    def row(self) -> ModelRow:
        """The part of the state that decides which events are in pace, and that these change."""
        known = (self.time, self.settled, self._events, self.jump_ms, self._aside.near)
        return ModelRow(*known, self._highest)

    @property
    def aside(self) -> int:
        """Events that are set aside now."""
        return len(self._aside)

    @property
    def aside_total(self) -> int:
        """Events that were set aside so far, those too far ahead of the clock included."""
        return self._aside.total

    def with_far(self, events: int) -> ModelTime:
        """Return what this is after some events that are too far ahead of the clock."""
        found = copy(self)
        found._aside = self._aside.copied()  # noqa: SLF001  # its own class
        found._aside.total += events  # noqa: SLF001  # likewise
        return found

    def at_the_end(self) -> int:
        """Time of the model where a recording ends here, epoch milliseconds."""
        times = self._aside.agreed_at_the_end(self._events)
        return first_stretch(times, self.jump_ms)[-RANK] if times else self.time

    def after(self, events: TimedEvents) -> ModelTime:
        """Return what this is after some more events."""
        found = copy(self)
        found._take(events, None)  # noqa: SLF001  # its own class
        return found

    def path(self, events: TimedEvents) -> Int64Array:
        """Return the settled time after each of some more events; `NO_TIME` before it is settled.

        Args:
            events: of the model; this object stays as it is.
        """
        after = np.full(len(events.time), NO_TIME, dtype=np.int64)
        copy(self)._take(events, after)  # noqa: SLF001  # its own class
        return after

    def moved(self, row: ModelRow) -> ModelTime:
        """Return what this is after events in pace, none of which was set aside."""
        found = copy(self)
        found.time, found._events, found._highest = row.time, row.events, row.highest  # noqa: SLF001
        return found

    def carry(self, time: int) -> None:
        """Advance to a time that the other models have reached, where this one is silent."""
        self._reach(time)

    def settle_at(self, time: int) -> None:
        """Begin at a time that is known, epoch milliseconds."""
        self.time, self.settled, self._events = time, True, FIRST

    def _take(self, events: TimedEvents, path: Int64Array | None) -> None:
        self._first, self._aside = dict(self._first), self._aside.copied()
        start, count = 0, len(events.time)
        while start < count:
            rest = events.rows(slice(start, None))
            end = start + self._in_pace(rest)
            if end > start:
                chosen = events.rows(slice(start, end))
                if path is not None:
                    path[start:end] = self._running(chosen)[1:]
                self._advance(chosen)
                if path is not None:
                    path[end - 1] = self.time
                start = end
                continue
            end = min(start + (_AT_ONCE if self.settled else FIRST), count)
            for i, event in enumerate(one_by_one(events.rows(slice(start, end))), start=start):
                self._take_one(*event)
                if path is not None and self.settled:
                    path[i] = self.time
            start = end
            if not self.settled:  # the same events find the same time
                start += repetitions(events.rows(slice(start, None)), self._first)

    def _in_pace(self, events: TimedEvents) -> int:
        """Return how many of some events can be taken at once.

        The last of them may be the first that brings an event near that is set aside.
        """
        if not self.settled:
            return 0
        reported = events.kind == EventKind.REPORTED
        if reported.any():
            events = events.rows(slice(int(reported.argmax())))
        inside = (events.time <= limit(np.array(self.time), self.jump_ms, events)).all()
        if inside and not len(self._aside):
            return len(events.time)
        running = self._running(events)
        ahead = events.time > limit(running[:-1], self.jump_ms, events)
        end = int(ahead.argmax()) if ahead.any() else len(events.time)
        near = running[1:] >= self._aside.near
        return min(end, int(near.argmax()) + 1) if near.any() else end

    def _advance(self, events: TimedEvents) -> None:
        """Advance by events none of which is set aside."""
        self._events += len(events.time)
        later = events.time[events.time > self.time]
        if not len(later):
            return
        least = max(third_highest_time(later), self.time + 1)
        highest = events.rows(np.flatnonzero(events.time >= least))
        known = {*self._highest, *(event[:3] for event in one_by_one(highest))}
        self._highest = tuple(sorted(known, reverse=True)[:RANK])
        self._settle_highest()

    def _take_one(self, time: int, key: int, kind: int, arrived: int) -> None:
        event = (time, key, kind)
        if not self.settled:
            self._first[event] = arrived
            self._of_the_first()
            return
        self._events += 1
        allowed = lead(self.time, self.jump_ms, time, kind, arrived)
        if time - self.time <= allowed:
            if time > self.time:
                self._count(event)
        elif event not in self._aside:
            self._set_aside(event, allowed, arrived)
            self._follow_agreement(time, arrived)

    def _count(self, event: Event) -> None:
        """Advance by an event later than the time of the model that is not set aside."""
        if event[2] == EventKind.REPORTED:
            self._reach(event[0])
            return
        self._highest = tuple(sorted({*self._highest, event}, reverse=True)[:RANK])
        self._settle_highest()

    def _set_aside(self, event: Event, allowed: int, arrived: int) -> None:
        now = {"near": event[0] - allowed, "time": self.time, "jump_ms": self.jump_ms}
        self._aside.add(event, self._events, arrived, **now)

    def _follow_agreement(self, time: int, arrived: int) -> None:
        """Advance with the latest events that are set aside, where they agree.

        False times may be among them: those behind another jump neither move time nor teach
        the pace.

        Args:
            time: of the last of them, epoch milliseconds.
            arrived: its arrival.
        """
        times = self._aside.agreed(self._events, time, arrived)
        if times:
            before = self.time
            self._learn_pace([before, *first_stretch(times, self.jump_ms)])
            self._reach(first_stretch(times, self.jump_ms)[-RANK])
            self.jumps = self.jumps.and_one(before, self.time, len(times))

    def _learn_pace(self, times: list[int]) -> None:
        """Lengthen a jump where the stream has had two gaps that are too long for it.

        Args:
            times: of the stream and of events that go on from there, in order.
        """
        gaps = [later - time for time, later in pairwise(times)]
        longer = [gap for gap in gaps if PACE * gap > self.jump_ms]
        self._gaps = tuple(sorted([*self._gaps, *longer], reverse=True)[:_TWICE])
        if not longer or len(self._gaps) < _TWICE:
            return
        self.jump_ms = PACE * self._gaps[-1]
        self._aside.plausible_within(self.jump_ms)

    def _of_the_first(self) -> None:
        """Find the time from the first events, and settle it once there are enough."""
        ordered = sorted(self._first, reverse=True)
        if len(ordered) >= FIRST:
            self._learn_pace([time for time, *_ in ordered[: RANK - 1 : -1]])
            strays = self._strays(ordered)
            time = ordered[strays][0]
            leads = {event: self._lead_of(event, time) for event in ordered[:strays]}
            first, self._first = self._first, {}
            self.settled, self._events, self.time = True, len(ordered), time
            for event in ordered[:strays]:
                self._set_aside(event, leads[event], first[event])
            ordered = ordered[strays:]
        reported = [time for time, _, kind in ordered if kind == EventKind.REPORTED]
        events = [event for event in ordered if event[2] != EventKind.REPORTED]
        self.time = max([NO_TIME, *reported, *(event[0] for event in events[RANK - 1 : RANK])])
        self._highest = tuple(event for event in events[:RANK] if event[0] > self.time)

    def _strays(self, ordered: list[Event]) -> int:
        """Return how many of the first events lie a jump ahead of the others, the latest first."""
        for few in range(STRAYS, 0, -1):
            time = ordered[few][0]
            leads = [self._lead_of(event, time) for event in ordered[:few]]
            if ordered[few - 1][0] - time > max(leads):
                return few
        return 0

    def _lead_of(self, event: Event, time: int) -> int:
        return lead(time, self.jump_ms, event[0], event[2], self._first[event])

    def _settle_highest(self) -> None:
        if len(self._highest) == RANK:
            self._reach(self._highest[-1][0])

    def _reach(self, time: int) -> None:
        """Advance to a time, and let the events count that are near then."""
        self.time = max(self.time, time)
        self._highest = tuple(event for event in self._highest if event[0] > self.time)
        while self._aside.near <= self.time:
            near = self._aside.take_near(self.time, self._events)
            reported = [event[0] for event in near if event[2] == EventKind.REPORTED]
            later = {event for event in near if event[0] > self.time} | {*self._highest}
            events = sorted((e for e in later if e[2] != EventKind.REPORTED), reverse=True)[:RANK]
            third = [events[-1][0]] if len(events) == RANK else []
            self.time = max([self.time, *reported, *third])
            self._highest = tuple(event for event in events if event[0] > self.time)

    def _running(self, events: TimedEvents) -> Int64Array:
        """Return the time before the first of some events in pace, and after each of them."""
        time = times_once(events, self.time, self._highest)
        tops = [*(event[0] for event in self._highest), *[NO_TIME] * RANK][:RANK]
        highest = time
        for top in tops:
            highest = np.maximum.accumulate(np.concatenate([[top], time]))
            time = np.minimum(highest[:-1], time)  # all but the highest, for the next
        return np.maximum(highest, self.time)

    def state(self) -> State:
        """Serializable state."""
        return {
            "time": self.time,
            "settled": self.settled,
            "events": self._events,
            "jumps": [*self.jumps],
            "gaps": list(self._gaps),
            "highest": [list(event) for event in self._highest],
            "first": [[*event, arrived] for event, arrived in self._first.items()],
            **self._aside.state(),
        }

    @classmethod
    def restored(cls, jump_ms: int, state: State) -> Self:
        """Return the time that `state` returned.

        Args:
            jump_ms: length of a jump, milliseconds.
            state: of an earlier run.
        """
        found = cls(jump_ms)
        found.time, found.settled = state["time"], state["settled"]
        found.jumps = Jumps(*state.get("jumps", ()))
        found._events = state["events"]
        found._gaps = tuple(state["gaps"])
        found.jump_ms = max([jump_ms, *(PACE * gap for gap in found._gaps[_TWICE - 1 :])])
        found._highest = tuple((t, k, n) for t, k, n in state["highest"])
        found._first = {(t, k, n): arrived for t, k, n, arrived in state["first"]}
        found._aside = SetAside.restored(state)
        return found
