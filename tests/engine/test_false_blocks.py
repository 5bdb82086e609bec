"""False times behind the clock, as in a backlog or a recording: few carry no time, gaps do."""

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
)
from same import differences, through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.engine.taken_back import with_time
from monitor.events.set_aside import FEWEST, MOST

COUNT = 2_000
STEP = 5 * MINUTE
DELAY = 12 * HOUR
LATER = NOON + 60 * DAY
"""The clock when a backlog is read."""


def config(timeout="2d"):
    models = {name: {"label_timeout": timeout, "maturity": "1m"} for name in "ab"}
    return Config(models=models, windows=["1h", "1d"])


def stream(count=COUNT, *, shift=lambda _: 0, step=STEP, delay=DELAY, model="a"):
    """Predictions of a model and their labels where they happened, dated later by a shift."""
    events = []
    for i in range(count):
        made, later = NOON + i * step, shift(i)
        events.append((made, prediction(model, i, made + later)))
        events.append((made + delay, label(model, i, made + delay + later)))
    return [event for _, event in sorted(events, key=lambda one: one[0])]


def block(place, length, ahead=14 * DAY):
    """False times of consecutive predictions."""
    return lambda i: ahead if place <= i < place + length else 0


def read(events, *, clock=None, size=100, timeout="2d", monitor=None):
    """A monitor that read a recording, or, at a time of the clock, a backlog."""
    when = None if clock is None else [clock] * len(events)
    return counting(events, size=size, arrivals=when, config=config(timeout), monitor=monitor)


def books(monitor, model="a"):
    return shown(monitor, model)[2:5]


@pytest.mark.parametrize("clock", [None, LATER])
@pytest.mark.parametrize("timeout", ["2d", "10d"])
@pytest.mark.parametrize("place", [100, 350, 1_000, 1_900])
def test_a_block_of_predictions_dated_two_weeks_ahead_makes_no_outcome_expire(
    clock, timeout, place
):
    found = read(stream(shift=block(place, 100)), clock=clock, timeout=timeout)
    assert books(found) == (COUNT, 0, 0)
    true = [i for i in range(COUNT) if not place <= i < place + 100]
    assert found._stages.times.settled[0] == (NOON + true[-3] * STEP) * 1000


@pytest.mark.parametrize("every", [20, 3])
@pytest.mark.parametrize("timeout", ["2d", "10d"])
def test_a_producer_with_a_clock_two_weeks_ahead_of_the_others_carries_no_time(every, timeout):
    later = 6_000  # over three weeks, so that the true times reach the first false ones
    events = stream(later, shift=lambda i: 14 * DAY if i % every == 1 else 0)
    assert books(read(events, timeout=timeout, size=1_000)) == (later, 0, 0)


@pytest.mark.parametrize("every", [20, 5])
def test_labels_of_such_a_producer_carry_no_time_either(every, monkeypatch):
    monkeypatch.setattr("monitor.engine.stages.EPOCH_ROWS", 1 << 12)
    events = stream(6_000, shift=lambda i: 14 * DAY if i % every == 1 else 0)
    found = read(events, size=1_000)
    assert books(found) == (6_000, 0, 0)
    assert found._stages.times.settled[0] <= (NOON + 6_000 * STEP + DELAY) * 1000


def test_labels_carry_the_time_where_predictions_have_stopped(monkeypatch):
    monkeypatch.setattr("monitor.engine.stages.EPOCH_ROWS", 1 << 9)
    events = stream(1_100, delay=4 * DAY, step=MINUTE)
    whole = read(events, size=3_000, timeout="14d")
    assert whole._stages.times.settled[0] >= (NOON + 4 * DAY) * 1000
    for size in (1, 90):
        parts = read(events[:1_800], size=size, timeout="14d")
        parts = CountingMonitor(config("14d"), through_disk(parts.state()))
        read(events[1_800:], size=size, monitor=parts, timeout="14d")
        assert not [*differences(parts.state()["times"], whole.state()["times"])]


def test_a_producer_whose_clock_is_an_hour_ahead_carries_no_time_of_a_live_stream():
    made = [NOON + i for i in range(2 * HOUR)]
    events = [
        prediction("a", i, at + (50 * MINUTE if i % 20 == 1 else 0)) for i, at in enumerate(made)
    ]
    found = counting(events, size=500, arrivals=[at + 1 for at in made], config=config())
    assert found.times["a"] <= (made[-1] + MINUTE) * 1000


def test_as_many_false_times_as_carry_a_model_are_told_with_what_they_cost():
    place, length = 500, 700
    found = read(stream(shift=block(place, length)))
    state = found.snapshot().models[0]
    late = COUNT - place - length
    assert (state.matched, state.expired) == (COUNT - late, late)
    assert (state.jumps.believed, state.jumps.before) == (1, (NOON + 497 * STEP) * 1000)
    assert state.jumps.after - state.jumps.before > 13 * DAY * 1000
    assert state.came_expired.events == late
    assert 8 * DAY < state.came_expired.furthest_ms / 1000 < 14 * DAY


def test_predictions_that_come_expired_are_counted_once_wherever_batches_end():
    events = stream(1_500, shift=block(300, 500))
    whole = read(events, size=len(events))
    for size in (1, 70):
        parts = read(events[:1_300], size=size)
        parts = CountingMonitor(config(), through_disk(parts.state()))
        read(events[1_300:], size=size, monitor=parts)
        for part in ("times", "come_expired", "over", "join"):
            assert not [*differences(parts.state()[part], whole.state()[part])]
    assert whole.snapshot().models[0].came_expired.events == 700


@pytest.mark.parametrize("clock", [None, LATER])
@pytest.mark.parametrize(("before", "after"), [(30, 400), (400, 450), (3_000, 1_100)])
def test_after_a_gap_nothing_is_lost_and_time_goes_on(clock, before, after):
    events = stream(before + after, shift=lambda i: 14 * DAY if i >= before else 0)
    found = read(events, clock=clock)
    last = NOON + (before + after - 3) * STEP + 14 * DAY
    assert books(found) == (before + after, 0, 0)
    assert found._stages.times.settled[0] == last * 1000
    assert found.snapshot().models[0].jumps.believed == 1


def test_a_jump_needs_half_of_the_events_so_far_within_bounds():
    for before, needed in [(40, FEWEST), (400, 399), (3_000, MOST)]:
        for count, moves in [(needed - 1, False), (needed, True)]:
            made = [prediction("a", i, NOON + i * STEP) for i in range(before)]
            first = made[-1]["ts"] + 14 * DAY
            later = [prediction("a", 9_000 + i, first + i) for i in range(count)]
            assert (read([*made, *later]).times["a"] >= first * 1000) is moves


@pytest.mark.parametrize("after", [20, 200])
def test_a_recording_that_ends_soon_after_a_gap_ends_with_its_last_events(after):
    events = stream(300 + after, shift=lambda i: 14 * DAY if i >= 300 else 0, delay=HOUR)
    monitor = Monitor(config())
    counting(events, monitor=monitor)
    gap, last = ((NOON + i * STEP) * 1000 for i in (300, 297 + after))
    assert monitor._stages.times.settled[0] < gap
    monitor.carry({})
    assert monitor._stages.times.settled[0] == last + 14 * DAY * 1000
    assert books(monitor) == (300 + after, 0, 0)
    assert sum(shown(monitor)[0][1]) == after, "in the last day"


def test_files_that_come_day_by_day_go_on_after_a_gap_with_the_second():
    monitor, day = None, 150
    for number, begins in enumerate([*range(10), 24, 25]):
        made = [NOON + begins * DAY + i * 8 * MINUTE for i in range(day)]
        events = [prediction("a", number * day + i, at) for i, at in enumerate(made)]
        arrivals = [NOON + (begins + 1) * DAY + 3 * HOUR] * day
        monitor = counting(events, arrivals=arrivals, config=config(), monitor=monitor)
    assert monitor.times["a"] == made[-3] * 1000


def test_a_stream_that_becomes_sparse_goes_on():
    often = [prediction("a", i, NOON + i * MINUTE) for i in range(500)]
    rarely = [prediction("a", 500 + i, NOON + DAY + i * 2 * DAY) for i in range(60)]
    assert read([*often, *rarely]).times["a"] == rarely[-3]["ts"] * 1000


@pytest.mark.parametrize("days", [3, 7])
@pytest.mark.parametrize("chunk", [30, 300, 3_000])
def test_parts_of_a_stream_read_in_turn_lose_nothing_within_the_horizon(days, chunk):
    one = stream(1_000)
    other = [
        event | {"ts": event["ts"] + days * DAY, "id": f"other {event['id']}"} for event in one
    ]
    turns = range(0, len(one), chunk)
    events = [event for at in turns for part in (one, other) for event in part[at : at + chunk]]
    assert books(read(events, timeout="14d")) == (2_000, 0, 0)


def test_after_a_time_is_taken_back_all_that_is_remembered_is_matched():
    """False times as a block at its end: what came before is remembered, and the rest comes after.

    Labels of these come after the time is taken back, too.
    """
    true = stream()
    cut = next(n for n, event in enumerate(true) if event["id"] == "a600")
    first = read(true[:cut])
    false = [prediction("a", 9_000 + i, NOON + 10 * DAY + i * MINUTE) for i in range(800)]
    read(false, monitor=first)
    assert first.snapshot().models[0].jumps.believed == 1
    time = (NOON + 597 * STEP) * 1000
    again = CountingMonitor(config(), with_time(through_disk(first.state()), "a", time))
    read(true[cut:], monitor=again)
    state = again.snapshot().models[0]
    assert (state.matched, state.pending, state.expired) == (COUNT, 800, 0)
    assert (state.jumps.believed, state.came_expired.events) == (1, 0)


FALSE_OF_B = {
    "behind the clock": lambda i: prediction("b", i, NOON + 14 * DAY + i),
    "ahead of the clock": lambda i: prediction("b", i, LATER + 30 * DAY + i),
    "just ahead of the clock": lambda i: prediction("b", i, LATER + 50 * MINUTE + i / 10),
    "far behind": lambda i: prediction("b", i, NOON - 30 * DAY + i),
    "watermarks": lambda i: {
        "type": "counts",
        "model": "b",
        "tp": 1,
        "fp": 0,
        "fn": 0,
        "tn": 0,
        "ts": NOON,
        "source": f"job {i % 50}",
        "batch": f"{i}",
        "watermark": NOON + 50 * DAY + i,
    },
    "labels": lambda i: label("b", 100_000 + i, NOON + 50 * DAY + i),
    "labels of unknown ids": lambda i: label("nobody", i, NOON + 50 * DAY + i),
}


@pytest.mark.parametrize("clock", [None, LATER])
@pytest.mark.parametrize("what", FALSE_OF_B)
def test_ten_thousand_false_times_of_one_model_change_no_other(what, clock):
    known = [prediction("b", 100_000 + i, NOON + i) for i in range(10_000)]
    true = [*(known if what == "labels" else known[:20]), *stream(600)]
    false = [FALSE_OF_B[what](i) for i in range(10_000)]
    expected = shown(read(true, clock=clock, size=1_000))
    for place in (20, len(true) - 600):
        events = [*true[:place], *false, *true[place:]]
        assert shown(read(events, clock=clock, size=1_000)) == expected
