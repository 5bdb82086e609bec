"""A model whose time false events carried away goes on where an operator sets it back to."""

import pytest
from engine.test_nonsense_times import DAY, HOUR, MINUTE, NOON, counting, prediction, shown, stream
from same import through_disk

from monitor.config import Config
from monitor.engine import Monitor
from monitor.engine.taken_back import with_time
from monitor.events.columns import Series

CONFIG = Config(
    models={name: {"label_timeout": "14d", "maturity": "1m"} for name in "ab"},
    windows=["1h", "1d"],
)
BEFORE, DURING, AFTER = 4 * 144, 72, 2 * 144
"""Predictions of a model, one in ten minutes: before its time is carried away, then, and since."""
NOW = (NOON + (BEFORE + DURING) * 10 * MINUTE) * 1000


def true_events(first, count):
    shift = first * 10 * MINUTE
    events = []
    for model in "ab":
        made = stream(model, count, first=first, step=10 * MINUTE, delay=30)
        events += [{**event, "ts": event["ts"] + shift} for event in made]
    return sorted(events, key=lambda event: event["ts"])


def false_events():
    """A year ahead, and so many that they are believed."""
    return [prediction("a", 10_000 + i, NOON + 365 * DAY + i * MINUTE) for i in range(700)]


@pytest.fixture(scope="module")
def carried():
    """A monitor after the false events, and half a day of true ones behind its time."""
    monitor = counting(true_events(0, BEFORE), config=CONFIG)
    counting(false_events(), monitor=monitor)
    return counting(true_events(BEFORE, DURING), monitor=monitor)


def back(monitor):
    return Monitor(CONFIG, with_time(through_disk(monitor.state()), "a", NOW))


def test_enough_false_events_carry_their_model_away(carried):
    assert carried.times["a"] > NOW + 360 * DAY * 1000
    assert carried.times["b"] <= NOW


def test_counters_and_the_other_model_stay(carried):
    found = back(carried)
    assert found.times == {**carried.times, "a": NOW}
    assert shown(found, "b") == shown(carried, "b")
    assert shown(found)[0][-1] == shown(carried)[0][-1], "counts since the start"
    books = [m.counters for m in found.snapshot().models]
    assert books == [m.counters for m in carried.snapshot().models]


def test_windows_go_on_and_are_those_of_a_monitor_without_false_events_once_full(carried):
    clean = counting(true_events(0, BEFORE + DURING + AFTER), config=CONFIG)
    found = counting(true_events(BEFORE + DURING, AFTER), monitor=back(carried))
    assert found.times == clean.times
    cells, bounds, *_ = shown(found)
    expected, expected_bounds, *_ = shown(clean)
    assert (cells[:2], bounds) == (expected[:2], expected_bounds)
    assert sum(cells[1]) > 100
    left = counting(true_events(BEFORE + DURING, AFTER), monitor=Monitor(CONFIG, carried.state()))
    assert sum(shown(left)[0][1]) == 0, "without it, nothing is shown for a year"


def test_labels_of_predictions_that_are_still_remembered_count_again():
    monitor = counting(true_events(0, BEFORE), config=CONFIG)
    waiting = [prediction("a", 50_000 + i, NOW / 1000 - HOUR + i) for i in range(10)]
    counting(
        waiting + [one | {"ts": one["ts"] - 350 * DAY} for one in false_events()], monitor=monitor
    )
    late = [
        {"type": "label", "id": one["id"], "ts": NOW / 1000 + HOUR, "label": 1} for one in waiting
    ]
    found = counting(late, monitor=back(monitor))
    labelled = dict(zip(("applied", "held"), found.snapshot().labels[:2], strict=True))
    assert labelled == {"applied": 2 * BEFORE + 10, "held": 0}


def test_few_false_events_are_set_aside_again(carried):
    found = counting(
        [prediction("a", 90_000 + i, NOON + 365 * DAY) for i in range(20)], monitor=back(carried)
    )
    assert found.times["a"] == NOW


@pytest.mark.parametrize(
    ("model", "time", "fault"),
    [("c", NOW, "no model 'c'; there are a, b"), ("b", NOW, "is not later than that")],
)
def test_what_cannot_be_taken_back_is_refused(carried, model, time, fault):
    with pytest.raises(ValueError, match=fault):
        with_time(carried.state(), model, time)


def test_scores_of_segment_values_are_those_of_a_monitor_without_false_events():
    config = Config(
        models={name: {"label_timeout": "14d", "segments": ["kind"]} for name in "ab"},
        windows=["1d"],
    )

    def scored(events):
        more = {"score": 0.7, "segment": {"kind": "x"}}
        return [one | (more if one["type"] == "prediction" else {}) for one in events]

    true, false = scored(true_events(0, BEFORE)), scored(false_events())
    monitor = counting(true, config=config)
    counting(false, config=config, monitor=monitor)
    carried = through_disk(monitor.state())
    rest = scored(true_events(BEFORE, DURING + AFTER))
    found = counting(
        rest,
        config=config,
        monitor=Monitor(config, with_time(carried, "a", NOW - 12 * HOUR * 1000)),
    )
    clean = counting(rest, config=config, monitor=counting(true, config=config))
    stretch = NOW, NOW + 2 * DAY * 1000
    for model in "ab":
        series = Series(model, "kind", "x")
        both = [one.value_scores.blocks(model, *stretch).of(series) for one in (found, clean)]
        assert both[0].positive.tolist() == both[1].positive.tolist()
        assert both[0].negative.tolist() == both[1].negative.tolist()
        assert both[1].positive.sum() > AFTER / 4
