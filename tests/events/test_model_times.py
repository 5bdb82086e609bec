"""Times of models by whole columns are those of their events one by one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same import differences

from monitor.events.columns import NO_TIME, EventBatch, Group, Predictions
from monitor.events.model_time import ModelTime
from monitor.events.model_times import ModelTimes
from monitor.events.time_columns import TimeColumns
from monitor.events.timed_events import EventKind, TimedEvents
from monitor.kernel import compiled_module

JUMP, MODELS = 100_000, 3
START = 1_000_000_000
GROUPS = tuple(Group(f"m{number}") for number in range(MODELS))

steps = st.one_of(st.integers(-300, 300), st.sampled_from([0, 0, 0, 70_000, -90_000, 500_000]))
events = st.lists(
    st.tuples(st.integers(0, MODELS - 1), steps, st.integers(0, 5)), min_size=60, max_size=200
)


@pytest.fixture(autouse=True, scope="module")
def few_agree():
    """Let so few events agree with a jump, and so few make an event old, that streams have both."""
    rules = "monitor.events.set_aside"
    with patch(f"{rules}.FEWEST", 6), patch(f"{rules}.RECENT", 20), patch(f"{rules}.MOST", 12):
        yield


def stream(moves):
    """Model, time and key of events; the times go on from each other in small steps and large."""
    found, now = [], START
    for model, step, key in moves:
        found.append((model, now + step, key))
        now += 50 if abs(step) > 300 else max(step, 0)
    return found


def batch_of(part, arrivals):
    model, time, key = (np.array(column) for column in zip(*part, strict=True))
    count = len(part)
    predictions = Predictions(
        key=key.astype(np.uint64),
        time=time.astype(np.int64),
        predicted_positive=np.zeros(count, dtype=np.bool_),
        score=np.full(count, np.nan),
        group=model.astype(np.int64),
        row=np.arange(count),
    )
    batch = EventBatch(predictions=predictions, groups=GROUPS, records=count)
    return batch if arrivals is None else batch.arrived(enumerate(arrivals))


def one_by_one(found, arrivals):
    """The rule for one event of one model, whatever comes with it in a batch."""
    models = [ModelTime(JUMP) for _ in range(MODELS)]
    for place, (model, time, key) in enumerate(found):
        arrived = NO_TIME if arrivals is None else arrivals[place]
        values = ([time], [key], [EventKind.PREDICTION], [arrived])
        kinds = (np.int64, np.uint64, np.int64, np.int64)
        columns = (np.array(v, dtype=kind) for v, kind in zip(values, kinds, strict=True))
        models[model] = models[model].after(TimedEvents(*columns))
    return [model.state() for model in models]


def by_columns(found, arrivals, size, *, foresee, kernel=None):
    times, model_of_group = ModelTimes(JUMP), np.arange(MODELS)
    times._compiled = compiled_module() if kernel is None else None
    times.ensure(MODELS)
    for first in range(0, len(found), size):
        part = slice(first, first + size)
        batch = batch_of(found[part], None if arrivals is None else arrivals[part])
        if foresee:
            times.seeing(batch, model_of_group)
        times.advance(batch, model_of_group)
    return times


def comparable(states):
    """Without the order of what was set aside, and what is only known of the present time."""
    return [{**state, "highest": sorted(map(list, state["highest"]))} for state in states]


@settings(max_examples=40)
@given(events, st.integers(1, 80), st.booleans(), st.sampled_from([None, -7_200_000, 0, 30_000]))
def test_columns_are_events_one_by_one(moves, size, foresee, lag):
    found = stream(moves)
    arrivals = None if lag is None else [START + 50 * place + lag for place in range(len(found))]
    times = by_columns(found, arrivals, size, foresee=foresee)
    assert comparable(times.state()["models"]) == comparable(one_by_one(found, arrivals))


@settings(max_examples=40)
@given(events, st.integers(1, 80))
def test_each_kernel_has_the_same_columns(moves, size):
    found = [(model, time, (key << 63 | key) & (2**64 - 1)) for model, time, key in stream(moves)]
    by_kernel = by_columns(found, None, size, foresee=True)
    by_python = by_columns(found, None, size, foresee=True, kernel=False)
    assert not list(differences(by_kernel.state(), by_python.state()))
    assert not list(differences(by_kernel._columns, by_python._columns))


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
def test_events_in_pace_are_the_kernels():
    found = [(place % MODELS, START + 50 * place, place) for place in range(400)]
    times = by_columns(found[:300], None, 300, foresee=False)
    assert times._columns.settled.all()
    with patch.object(TimeColumns, "after", side_effect=AssertionError):
        times.advance(batch_of(found[300:], None), np.arange(MODELS))
        with pytest.raises(AssertionError):
            times.advance(batch_of([(0, START + 10 * JUMP, 7)], None), np.arange(MODELS))


def test_more_events_than_are_looked_at_first_change_nothing():
    rng = np.random.default_rng(7)
    time = START + rng.permutation(3_000) * 20 // 3
    found = [(int(m), int(t), int(k)) for m, t, k in zip(
        rng.integers(0, MODELS, 3_000), time, rng.integers(0, 9, 3_000), strict=True
    )]  # fmt: skip
    expected = comparable(one_by_one(found, None))
    for size in (3_000, 1_500):
        times = by_columns(found, None, size, foresee=True)
        assert comparable(times.state()["models"]) == expected


def test_a_state_goes_on_with_the_models_that_are_left():
    found = stream([(place % MODELS, 40, place) for place in range(200)])
    times = by_columns(found, None, 50, foresee=False)
    again = ModelTimes(JUMP)
    again.ensure(MODELS)  # one of them new
    again.restore(times.state(), np.array([0, 2]))
    assert again.now.tolist() == [*times.now[[0, 2]].tolist(), NO_TIME]
    fresh = ModelTime(JUMP).state()
    assert again.state()["models"] == [*(times.state()["models"][i] for i in (0, 2)), fresh]
    again.end_epoch()


heard = st.lists(
    st.tuples(st.integers(0, MODELS - 1), st.integers(-300, 200_000), st.integers(0, 9)),
    max_size=40,
)


@settings(max_examples=50)
@given(events, heard, st.integers(1, 80))
@example(
    moves=[*((0, 10, key) for key in range(60)), *((0, 150_000, key) for key in range(3))],
    labels=[(0, 90_000, key) for key in range(3)],  # near enough for what is set aside
    size=80,
)
def test_the_times_are_at_most_their_upper_bounds(moves, labels, size):
    times = by_columns(stream(moves), None, size, foresee=False)
    latest = max(START, int(times.now.max()))
    if labels:
        model, ahead, key = (np.array(column) for column in zip(*labels, strict=True))
        times.hear(model, latest + ahead, key.astype(np.uint64))
    bounds = times.at_most
    assert (times.now <= bounds).all()
    assert times.at_most.tolist() == times.now.tolist()  # once they are known
