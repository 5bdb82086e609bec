"""The law of checkpoints: taken up at any point, a monitor is as one that never stopped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import DAY, stream
from same import differences, through_disk, without_memory
from streams import batch_of, flights, in_batches

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group
from monitor.events.renumbering import State


def taken_up(monitor: Monitor) -> Monitor:
    return Monitor(monitor.config, through_disk(monitor.state()))


def assert_same(one: Monitor, other: Monitor) -> None:
    assert list(differences(without_memory(one.snapshot()), without_memory(other.snapshot()))) == []
    assert list(differences(in_order(one.state()), in_order(other.state()))) == []


def in_order(state: State) -> State:
    """The state with the labels that wait in one order: they have none."""
    held = through_disk(state)["join"]["held"]
    order = np.lexsort((held["value"], held["time"], held["key"]))
    sorted_held = {name: column[order] for name, column in held.items()}
    return {**state, "join": {**state["join"], "held": sorted_held}}


def assert_law(config: Config, batches, *, every: int, looked=False) -> Monitor:
    """Interrupt a monitor after every so many batches; at the end it is as the other."""
    whole, interrupted = Monitor(config), Monitor(config)
    for number, batch in enumerate(batches, start=1):
        whole.apply(batch)
        interrupted.apply(batch)
        if looked:
            whole.snapshot()
            interrupted.snapshot()
        if number % every == 0:
            interrupted = taken_up(interrupted)
            assert (
                list(
                    differences(
                        without_memory(whole.snapshot()), without_memory(interrupted.snapshot())
                    )
                )
                == []
            )
    assert_same(whole, interrupted)
    return whole


REGIMES = {
    "complete": {},
    "sampled": {"labelled": (1, 1, 0.2, 0.2)},
    "weighted": {"labelled": (1, 0.2, 1, 0.2), "weighted": True},
    "negatives_by_timeout": {"labelled": (1, 0, 1, 0)},
    "flagged_only": {"labelled": (1, 1, 0, 0)},
}


@pytest.mark.parametrize("labelling", REGIMES)
def test_under_every_regime(labelling):
    events = stream(
        24 if labelling == "complete" else 12,
        6_000,
        seed=4,
        prevalence=lambda day: np.where(day < 16, 0.1, 0.04),
        recall=lambda day: np.where(day < 18, 0.8, 0.5),
        fpr=0.06,
        delays=(1.0, 0.5, 1.0, 0.5),
        **REGIMES[labelling],
    )
    config = Config(
        defaults={
            "labelling": labelling,
            "label_timeout": "4d",
            "reference": {"first": "7d"},
            "false_pages_per_year": 50,
        },
        windows=["1h", "1d", "7d"],
    )
    monitor = assert_law(config, events.batches(np.inf, DAY // 2), every=5)
    watched = monitor.snapshot().models[0].watched
    if labelling == "complete":
        assert watched.detections
        assert watched.reference is not None
    if labelling == "weighted":
        assert monitor._windows.weights.lifetime.any()


@pytest.mark.slow
@pytest.mark.parametrize("looked", [False, True])
def test_on_real_flights_with_segments(looked):
    batches = in_batches(flights()[:60_000], 6_000, segments=("carrier", "origin"))
    config = Config(
        defaults={
            "segments": ["carrier", "origin"],
            "max_segment_values": 6,
            "label_timeout": "90d",
        },
        windows=["1d", "7d", "28d"],
        max_pending=9_000,
    )
    monitor = assert_law(config, batches, every=4, looked=looked)
    (model,) = monitor.snapshot().models
    assert model.evicted
    assert model.watched.reference is not None
    assert monitor.snapshot().overflowed_values


@pytest.mark.parametrize(
    "reference", [{"trailing": "2d"}, {"counts": {"tp": 9, "fp": 9, "fn": 9, "tn": 99}}]
)
def test_with_every_kind_of_reference_and_windows_by_label(reference):
    events = stream(12, 4_000, seed=5, delays=(0.2, 0.2, 0.2, 0.2))
    config = Config(
        defaults={"reference": reference, "clock": "label", "label_timeout": "3d"},
        windows=["6h", "2d"],
    )
    assert_law(config, events.batches(np.inf, DAY // 3), every=7)


IDS = st.sampled_from([f"p{n}" for n in range(12)])
TIMES = st.integers(0, 40).map(lambda hours: hours * 9_000)
PREDICTION = st.fixed_dictionaries(
    {
        "type": st.just("prediction"),
        "id": IDS,
        "ts": TIMES,
        "prediction": st.integers(0, 1),
        "model": st.sampled_from(["a", "b"]),
        "version": st.sampled_from(["", "1", "2"]),
        "segment": st.fixed_dictionaries({"k": st.sampled_from("xyz")}),
    },
    optional={"score": st.sampled_from([0.0, 0.31, 1.0])},
)
LABEL = st.fixed_dictionaries(
    {"type": st.just("label"), "id": IDS, "ts": TIMES, "label": st.sampled_from([0, 1, None])}
)


@given(
    batches=st.lists(st.lists(st.one_of(PREDICTION, LABEL), max_size=12), min_size=1, max_size=8),
    stops=st.sets(st.integers(0, 7)),
)
@settings(max_examples=20, deadline=None)
def test_whatever_comes_and_whenever_it_stops(batches, stops):
    config = Config(
        defaults={"segments": ["k"], "max_segment_values": 2, "label_timeout": "20h"},
        windows=["1h", "1d"],
    )
    whole, interrupted = Monitor(config), Monitor(config)
    for number, events in enumerate(batches):
        batch = batch_of(events, segments=("k",))
        whole.apply(batch)
        interrupted.apply(batch_of(events, segments=("k",)))
        if number in stops:
            interrupted = taken_up(interrupted)
    assert_same(whole, interrupted)


def counted(batch_key: int, tp: int, hour: int) -> EventBatch:
    return EventBatch(
        counts=CountDeltas(
            time=np.array([hour * 3_600_000]),
            group=np.array([0]),
            cells=np.array([[tp, 1, 1, 9]]),
            population=np.array([[tp + 1, 10]]),
            batch_key=np.array([batch_key], np.uint64),
        ),
        groups=(Group("m"),),
        records=1,
    )


def test_counts_that_are_delivered_again_after_a_restart_are_not_added():
    monitor = Monitor(Config())
    for hour in range(4):
        monitor.apply(counted(2**64 - 1 - hour, 5, hour))
    monitor = taken_up(monitor)
    monitor.apply(counted(2**64 - 2, 7, 1))
    assert int(monitor.snapshot().lifetime.counts.tp[0]) == 5 * 3 + 7


def test_a_stretch_of_time_that_is_being_counted_goes_on():
    whole, interrupted = Monitor(Config()), Monitor(Config())
    ranges = [m.count_range(0, 10 * DAY, DAY) for m in (whole, interrupted)]
    events = stream(4, 2_000, seed=6)
    for number, batch in enumerate(events.batches(np.inf, DAY)):
        whole.apply(batch)
        interrupted.apply(batch)
        if number == 1:
            interrupted = taken_up(interrupted)
            ranges[1] = interrupted._stages.ranges[0]
    assert list(differences(*(found.state() for found in ranges))) == []
