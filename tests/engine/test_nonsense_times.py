"""False times of one producer change no other model's counts, and few change none at all."""

import json
import random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor
from monitor.feeds.decode import Decoder, DecodeSettings

MINUTE, HOUR, DAY = 60, 3_600, 86_400
NOON = 1_790_000_000 // DAY * DAY + DAY // 2
CONFIG = Config(
    models={"a": {"label_timeout": "14d", "maturity": "1m"}, "b": {"maturity": "1m"}},
    windows=["1h", "1d"],
)


def prediction(model, number, ts):
    fields = {"type": "prediction", "model": model, "id": f"{model}{number}", "ts": ts}
    return fields | {"prediction": number % 2}


def label(model, number, ts):
    return {"type": "label", "id": f"{model}{number}", "ts": ts, "label": number // 2 % 2}


def stream(model, count, *, first=0, step=MINUTE, delay=2 * DAY):
    """Predictions of a model with their labels, in the order of time."""
    made = [prediction(model, first + i, NOON + i * step) for i in range(count)]
    labels = [label(model, first + i, NOON + i * step + delay) for i in range(count)]
    return sorted([*made, *labels], key=lambda event: event["ts"])


def counting(events, *, size=100, arrivals=None, config=CONFIG, monitor=None):
    """A monitor that took the events in batches, each record with its arrival where given.

    What is judged is no part of what is compared here, and takes most of the time.
    """
    monitor = monitor or CountingMonitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    for start in range(0, len(events), size):
        lines = b"\n".join(json.dumps(event).encode() for event in events[start : start + size])
        when = [] if arrivals is None else arrivals[start : start + size]
        batch = decoder.decode_lines(lines, source="t")
        monitor.apply(batch.arrived([(row, round(at * 1000)) for row, at in enumerate(when)]))
    return monitor


def shown(monitor, model="a"):
    """What is shown of a model."""
    snapshot = monitor.snapshot()
    state = next(m for m in snapshot.models if m.name == model)
    windows = [(w.open[state.row], w.close[state.row]) for w in snapshot.windows]
    cells = [w.counts[state.row].cells.tolist() for w in (*snapshot.windows, snapshot.lifetime)]
    return cells, windows, state.matched, state.pending, state.expired, state.watermark_ms


@pytest.mark.parametrize("place", [0, 1, 10, 1_000, 3_000, 7_990])
@pytest.mark.parametrize("size", [1_000_000, 100])
def test_three_predictions_a_year_ahead_make_no_outcome_expire(place, size):
    events = stream("a", 4_000, delay=HOUR)
    strays = [prediction("a", 90_000 + i, NOON + 365 * DAY + i) for i in range(3)]
    cells, windows, matched, pending, expired, time = shown(counting(events))
    found = shown(counting([*events[:place], *strays, *events[place:]], size=size))
    assert found == (cells, windows, matched, pending + 3, expired, time)
    assert (matched, pending, expired) == (4_000, 0, 0)


def test_one_record_of_counts_with_a_far_watermark_moves_nothing():
    events = stream("a", 2_000)
    far = {"type": "counts", "model": "a", "ts": NOON, "tp": 0, "fp": 0, "fn": 0, "tn": 0}
    far |= {"source": "job", "batch": "1", "watermark": NOON + 365 * DAY}
    found = counting([*events[:500], far, *events[500:]])
    assert shown(found) == shown(counting(events))


def test_a_source_of_counts_carries_time_by_what_it_reports():
    counts = [
        {"type": "counts", "model": "a", "ts": NOON, "tp": 1, "fp": 0, "fn": 0, "tn": 0}
        | {"source": "job", "batch": f"{i}", "watermark": NOON + i * HOUR}
        for i in range(40)
    ]
    assert counting(counts, size=7).times == {"a": (NOON + 39 * HOUR) * 1000}


def test_labels_of_unknown_ids_move_nothing():
    events = stream("a", 2_000)
    strays = [label("nobody", i, NOON + 365 * DAY + i) for i in range(10_000)]
    assert shown(counting([*events[:900], *strays, *events[900:]])) == shown(counting(events))


@pytest.mark.parametrize("ahead", [30 * DAY, 12 * HOUR, 50 * MINUTE])
@pytest.mark.parametrize("place", [0, 700, 2_000])
def test_ten_thousand_false_times_of_one_producer_change_no_other_model(ahead, place):
    events = stream("a", 1_000)
    false = [prediction("b", i, NOON + i + ahead) for i in range(10_000)]
    alone, monitor = counting(events), counting([*events[:place], *false, *events[place:]])
    assert shown(monitor) == shown(alone)
    assert shown(monitor, "b")[3] == 10_000


def test_false_labels_of_one_model_change_no_other():
    others = [prediction("b", i, NOON + i) for i in range(10_000)]
    events = [*others, *stream("a", 1_000)]
    false = [label("b", i, NOON + 29 * DAY + i) for i in range(10_000)]
    found = counting([*events[:10_500], *false, *events[10_500:]])
    assert shown(found) == shown(counting(events))


def test_three_events_ahead_of_the_clock_empty_no_window():
    events = [prediction("a", i, NOON + i) for i in range(2 * HOUR)]
    strays = [prediction("a", 90_000 + i, events[-1]["ts"] + 59 * MINUTE) for i in range(3)]
    arrivals = [event["ts"] + 1.0 for event in events]
    monitor = counting(events, arrivals=arrivals, size=1_000)
    before = shown(monitor)
    now = counting(strays, arrivals=[arrivals[-1]] * 3, monitor=monitor)
    assert shown(now)[1] == before[1]
    assert shown(now)[5] == before[5]
    assert now.snapshot().models[0].aside == (3, 3)


def test_time_follows_the_stream_where_the_clock_is_two_hours_slow():
    events = stream("a", 3_000, step=20, delay=HOUR)
    slow = [event["ts"] - 2 * HOUR for event in events]
    found, expected = counting(events, arrivals=slow), counting(events)
    assert found.times["a"] >= max(e["ts"] for e in events if e["type"] == "prediction") * 1000 - (
        3 * 20_000
    )
    assert shown(found)[2:5] == shown(expected)[2:5]


def test_after_a_gap_time_goes_on():
    before = stream("a", 1_000, delay=HOUR)
    later = [event | {"ts": event["ts"] + 60 * DAY} for event in stream("a", 1_000, first=5_000)]
    monitor = counting([*before, *later])
    assert monitor.times["a"] >= later[-3]["ts"] * 1000
    assert monitor.snapshot().models[0].aside[0] == 0


@pytest.mark.slow
def test_a_model_that_is_silent_goes_on_with_the_others(monkeypatch):
    rows = 1 << 14
    monkeypatch.setattr("monitor.engine.stages.EPOCH_ROWS", rows)
    config = Config(models={"a": {}, "b": {}, "c": {}})
    quiet = [prediction("a", i, NOON + i) for i in range(100)]
    busy = [prediction("bc"[i % 2], i, NOON + i * 640) for i in range(4 * rows)]
    monitor = counting([*quiet, *busy], size=1_250, config=config)
    assert monitor.times["a"] > (NOON + 10 * DAY) * 1000
    assert monitor.times["b"] == busy[-6]["ts"] * 1000


def test_what_is_known_goes_on_after_a_restart():
    events = stream("a", 500)
    strays = [prediction("a", 90_000 + i, NOON + 365 * DAY + i) for i in range(3)]
    events = [*events[:300], *strays, *events[300:]]
    for cut in (2, 10, 302, 305, 900):
        first = counting(events[:cut], size=50)
        again = CountingMonitor(CONFIG, through_disk(first.state()))
        rest = counting(events[cut:], monitor=again)
        assert not [*differences(rest.state(), counting(events).state())]


clumps = st.lists(
    st.tuples(
        st.sampled_from("aabc"),
        st.integers(1, 12),
        st.sampled_from([0, 0, 0, 30, 12 * HOUR, 40 * DAY]),
        st.sampled_from([1, 60, 3 * HOUR]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@patch("monitor.events.set_aside.FEWEST", 5)
@patch("monitor.events.set_aside.RECENT", 10)
@settings(max_examples=60, deadline=None)
@given(clumps, st.lists(st.integers(0, 150), max_size=4), st.booleans())
def test_times_are_a_function_of_the_sequence_of_records(parts, cuts, live):
    config = Config(
        models={name: {"label_timeout": "2d"} for name in "abc"}, windows=["1h"], pane="1m"
    )
    events, now = [], NOON
    for number, (model, count, ahead, step) in enumerate(parts):
        for i in range(count):
            now += step
            events.append(prediction(model, 100 * number + i, now + ahead))
            if i % 3 == 0:
                events.append(label(model, 100 * number + i, now + ahead + 60))
    arrivals = [NOON + i * 60.0 for i in range(len(events))] if live else None
    ends = sorted({min(cut, len(events)) for cut in cuts} | {len(events)})
    whole = CountingMonitor(config)
    for start, end in zip([0, *ends], ends, strict=False):
        when = None if arrivals is None else arrivals[start:end]
        part = events[start:end]
        counting(part, size=max(1, len(part)), arrivals=when, config=config, monitor=whole)
    single = counting(events, size=1, arrivals=arrivals, config=config)
    left, right = whole.state(), single.state()
    assert not [*differences(left["times"], right["times"])]
    assert not [*differences(left["over"], right["over"])]
    assert not [*differences(left["join"], right["join"])]
    assert shown(whole) == shown(single)


def test_no_order_of_events_without_gaps_changes_the_time():
    events = [prediction("a", i, NOON + i * HOUR) for i in range(3_000)]
    expected = counting(events).times
    for seed in range(3):
        shuffled = random.Random(seed).sample(events, len(events))
        assert counting(shuffled, size=int(np.random.default_rng(seed).integers(1, 900))).times == (
            expected
        )
