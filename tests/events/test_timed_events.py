"""Repeated events of one model are those that a set has seen before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.events.columns import NO_TIME
from monitor.events.timed_events import TimedEvents, times_once

event = st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 1))


def recounted(events, time, known):
    seen, found = set(known), []
    for one in events:
        found.append(one[0] if one[0] > time and one not in seen else NO_TIME)
        seen.add(one)
    return found


def found_by_columns(events, time, known):
    at, key, kind = np.array(events, dtype=np.int64).reshape(-1, 3).T
    arrived = np.full(len(events), NO_TIME, dtype=np.int64)
    return times_once(TimedEvents(at, key.astype(np.uint64), kind, arrived), time, known).tolist()


@given(
    st.lists(event, max_size=60),
    st.integers(-1, 9),
    st.lists(event, unique=True, max_size=3).map(tuple),
)
def test_a_repeated_event_has_no_time(events, time, known):
    assert found_by_columns(events, time, known) == recounted(events, time, known)


def test_the_first_of_many_repeated_events_has_its_time():
    """As many as a sort that is not stable reorders."""
    events = [(7, key % 3, 0) for key in range(300)]
    assert found_by_columns(events, 0, ()) == recounted(events, 0, ())
