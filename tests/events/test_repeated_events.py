"""The same few events over and over settle no time of a model, and cost little."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from same import differences

from monitor.events.columns import NO_TIME
from monitor.events.model_time import ModelTime
from monitor.events.timed_events import EventKind, TimedEvents

JUMP = 100_000
rows = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 5, 90, 500_000]),
        st.integers(0, 3),
        st.sampled_from([EventKind.PREDICTION, EventKind.REPORTED]),
        st.sampled_from([NO_TIME, 100, 400_000]),
    ),
    max_size=150,
)


def events_of(found):
    time, key, kind, arrived = (np.array(column) for column in zip(*found, strict=True))
    return TimedEvents(time, key.astype(np.uint64), kind, arrived)


@given(rows, st.integers(0, 40))
def test_events_that_come_again_are_those_one_by_one(found, carried):
    found = [one for one in found for _ in range(1 + one[0] % 7)]
    whole, single = ModelTime(JUMP), ModelTime(JUMP)
    path = []
    for i in range(len(found)):
        if i == carried:
            whole.carry(3)
            single.carry(3)
        if i >= carried:
            single = single.after(events_of([found[i]]))
            path.append(single.time if single.settled else NO_TIME)
    if rest := found[carried:]:
        assert whole.path(events_of(rest)).tolist() == path
        assert not [*differences(whole.after(events_of(rest)).state(), single.state())]


def test_one_event_over_and_over_is_looked_at_once_in_a_while():
    few = events_of([(0, 1, EventKind.PREDICTION, 5)] * 100_000)
    with patch.object(ModelTime, "_of_the_first", autospec=True) as looked_at:
        ModelTime(JUMP).after(few)
    assert looked_at.call_count < 2_000
