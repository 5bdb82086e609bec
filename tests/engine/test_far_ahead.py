"""No number of events dated a day ahead of the clock at their arrival moves the time of a model."""

import pytest
from engine.test_nonsense_times import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    counting,
    label,
    prediction,
    shown,
    stream,
)
from same import differences, through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor

CONFIG = Config(
    models={
        "a": {
            "label_timeout": "10d",
            "maturity": "1m",
            "segments": ["version"],
            "shadow_versions": ["*-shadow"],
        },
        "b": {"maturity": "1m"},
    },
    windows=["1h", "1d"],
)
YEAR = 365 * DAY
STREAM = stream("a", 2_000, step=3 * MINUTE, delay=DAY)
SEEN = max(event["ts"] for event in STREAM) + MINUTE
"""The clock when the stream is read, as a backlog: after its last label."""


def false_prediction(i, ahead):
    return prediction("a", 90_000 + i, SEEN + ahead + i)


def false_shadow(i, ahead):
    return prediction("a", i, SEEN + ahead + i) | {"version": "2-shadow"}


def false_outcome(i, ahead):
    return {
        "type": "outcome",
        "model": "a",
        "id": f"o{i}",
        "ts": SEEN + ahead + i,
        "prediction": 1,
        "label": 1,
    }


def false_counts(i, ahead):
    counts = {"type": "counts", "model": "a", "tp": 1, "fp": 0, "fn": 0, "tn": 0}
    return counts | {"ts": SEEN + ahead + i, "source": "job", "batch": f"{i}"}


def false_watermark(i, ahead):
    counts = {"type": "counts", "model": "a", "tp": 1, "fp": 0, "fn": 0, "tn": 0, "ts": NOON}
    return counts | {"watermark": SEEN + ahead + i, "source": f"job {i}", "batch": f"{i}"}


FALSE = [false_prediction, false_shadow, false_outcome, false_counts, false_watermark]


def read(events, *, size=100, clock=SEEN, monitor=None):
    """A monitor that read events at once, at a time of the wall clock."""
    arrivals = [clock] * len(events)
    return counting(events, size=size, arrivals=arrivals, config=CONFIG, monitor=monitor)


def books(monitor):
    """What is matched, pending and expired of a model, and its time."""
    return shown(monitor)[2:]


@pytest.mark.parametrize("false", FALSE)
@pytest.mark.parametrize("count", [90, 3_000])
@pytest.mark.parametrize("place", [0, 700, 4_000])
def test_no_number_of_events_far_ahead_of_the_clock_moves_time(false, count, place):
    far = [false(i, YEAR) for i in range(count)]
    found = read([*STREAM[:place], *far, *STREAM[place:]])
    cells, windows, matched, pending, expired, time = shown(read(STREAM))
    assert (matched, pending, expired) == (2_000, 0, 0)
    waiting = count if false is false_prediction else 0
    labelled = 0 if false in (false_prediction, false_shadow) else count
    after = (matched + labelled, pending + waiting, expired, time)
    assert (shown(found)[0][:2], shown(found)[1]) == (cells[:2], windows)
    assert books(found) == after
    assert found.snapshot().models[0].aside == (0, count)


@pytest.mark.parametrize("false", FALSE)
@pytest.mark.parametrize("live", [True, False])
def test_sizes_of_batches_and_a_restart_change_nothing(false, live):
    far = [false(i, ahead) for i in range(60) for ahead in (2 * DAY, DAY // 2)]
    events = [one for pair in zip(STREAM[:120], far, strict=True) for one in pair]
    events += STREAM[120:400]
    clock = SEEN if live else None
    arrivals = None if clock is None else [clock] * len(events)
    whole = counting(events, size=len(events), arrivals=arrivals, config=CONFIG)
    for size in (1, 7):
        parts = counting(events[:100], size=size, arrivals=arrivals, config=CONFIG)
        parts = CountingMonitor(CONFIG, through_disk(parts.state()))
        left = None if arrivals is None else arrivals[100:]
        counting(events[100:], size=size, arrivals=left, config=CONFIG, monitor=parts)
        assert not [*differences(parts.state()["times"], whole.state()["times"])]
        assert shown(parts) == shown(whole)


def test_time_follows_the_stream_where_the_clock_is_most_of_a_day_slow():
    events = stream("a", 2_000, step=20, delay=HOUR)
    slow = [event["ts"] - 20 * HOUR for event in events]
    found = counting(events, arrivals=slow, config=CONFIG)
    assert books(found)[:3] == books(counting(events, config=CONFIG))[:3]
    latest = max(event["ts"] for event in events if event["type"] == "prediction")
    assert found.times["a"] >= (latest - 60) * 1000
    assert found.snapshot().models[0].aside[1] <= 200


def test_where_the_clock_is_days_slow_all_counts_and_time_goes_on_once_it_is_set():
    events = stream("a", 1_000, step=20, delay=HOUR)
    slow = [event["ts"] - 3 * DAY for event in events]
    monitor = counting(events, arrivals=slow, config=CONFIG)
    assert monitor.times["a"] <= (slow[-1] + MINUTE) * 1000
    assert books(monitor)[:3] == (1_000, 0, 0)
    later = [prediction("a", 5_000 + i, NOON + 2 * DAY + i) for i in range(20)]
    counting(later, arrivals=[event["ts"] for event in later], config=CONFIG, monitor=monitor)
    assert monitor.times["a"] == later[-3]["ts"] * 1000


def test_recorded_events_have_no_clock():
    far = [false_prediction(i, YEAR) for i in range(1_100)]
    assert counting([*STREAM, *far], config=CONFIG).times["a"] > (SEEN + YEAR) * 1000


@pytest.mark.parametrize("ahead", [YEAR, 30 * DAY])
def test_shadow_predictions_move_no_time_in_a_recording_either(ahead):
    far = [false_shadow(i, ahead) for i in range(3_000)]
    found = counting([*STREAM[:900], *far, *STREAM[900:]], config=CONFIG)
    assert books(found) == books(counting(STREAM, config=CONFIG))


def test_a_model_with_shadow_predictions_alone_is_not_forgotten():
    model = CONFIG.models["a"]
    config = Config(defaults=model.model_dump(exclude_unset=True), forget_after="90d")
    first = [prediction("a", i, NOON + i) for i in range(50)]
    days = range(200)
    shadows = [prediction("a", 100 + i, NOON + i * DAY) | {"version": "2-shadow"} for i in days]
    others = [prediction(name, i, NOON + i * DAY) for i in days for name in "bc"]
    events = sorted([*first, *shadows, *others], key=lambda event: event["ts"])
    assert set(counting(events, config=config).models) == {*"abc"}
    rest = [event for event in events if event.get("version") is None]
    assert set(counting(rest, config=config).models) == {*"bc"}


def test_a_model_is_forgotten_at_its_place_beside_false_shadow_predictions():
    config = Config(defaults=CONFIG.models["a"].model_dump(exclude_unset=True), forget_after="90d")
    days = range(200)
    first = [prediction("a", i, NOON + i) for i in range(50)]
    back = [prediction("a", 500 + i, NOON + 120 * DAY + i) for i in range(20)]
    others = [prediction(name, i, NOON + i * DAY) for i in days for name in "bc"]
    far = [
        false_shadow(i, YEAR) | {"model": name, "ts": NOON + YEAR + i}
        for i in range(99)
        for name in "bc"
    ]
    events = sorted([*first, *back, *others], key=lambda event: event["ts"])
    events = [*events[:150], *far, *events[150:]]
    whole, *parts = [counting(events, size=size, config=config).state() for size in (900, 1, 7)]
    assert whole["forgotten"]["models"] == 1
    for state in parts:
        for part in ("times", "silences", "forgotten"):
            assert not [*differences(state[part], whole[part])]


def test_labels_far_ahead_of_the_clock_move_time_no_further_than_the_clock():
    labels = [label("a", i, SEEN + YEAR + i) for i in range(2_000)]
    made = [event for event in STREAM if event["type"] == "prediction"]
    found = read([*made, *labels])
    assert found.times["a"] <= (SEEN + MINUTE) * 1000
