"""How far ahead of a model's time an event may lie and still be plausible."""

from __future__ import annotations

import numpy as np

from monitor.clock import HOUR_MS
from monitor.events.columns import NO_TIME, Int64Array
from monitor.events.timed_events import EventKind, TimedEvents

CLOCK_SLACK_MS = 60_000
"""An event this far ahead of the clock is plausible: clocks of hosts differ."""
CLOCK_NEAR_MS = HOUR_MS
"""An event that happened this long before it arrived, or later, is confirmed by the clock."""
_NEVER = 1 << 60


def limit(time: Int64Array, jump_ms: int, events: TimedEvents) -> Int64Array:
    """Return the latest time at which each of some events is not set aside.

    What a source of counts reports to have reached is plausible up to the clock: the source
    has compared the times of its events with each other before.

    Args:
        time: of the model before each.
        jump_ms: length of a jump, milliseconds.
        events: of the model.
    """
    if not len(events.arrived) or int(events.arrived.max()) == NO_TIME:
        return time + jump_ms
    clock = events.arrived + CLOCK_SLACK_MS
    trusted = (events.arrived != NO_TIME) & (time <= clock)
    ahead = trusted & (events.time > clock)
    near = events.time >= events.arrived - CLOCK_NEAR_MS
    near |= events.kind == EventKind.REPORTED
    near &= trusted & ~ahead
    limit = np.where(ahead, time + CLOCK_SLACK_MS, time + jump_ms)
    return np.where(near, _NEVER, limit)


def lead(time: int, jump_ms: int, when: int, kind: int, arrived: int) -> int:
    """Return how far ahead of a time one event may lie, milliseconds; the same rule as `limit`.

    Args:
        time: of the model.
        jump_ms: length of a jump, milliseconds.
        when: time of the event.
        kind: of the event, see `EventKind`.
        arrived: its arrival; `NO_TIME` where it is not known.
    """
    if arrived == NO_TIME or time > arrived + CLOCK_SLACK_MS:
        return jump_ms
    if when > arrived + CLOCK_SLACK_MS:
        return CLOCK_SLACK_MS
    near = when >= arrived - CLOCK_NEAR_MS or kind == EventKind.REPORTED
    return _NEVER if near else jump_ms
