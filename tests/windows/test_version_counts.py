"""Counts by hour and group, against a recount in plain Python."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from same import differences
from watch.versioned import DAY, HOUR, batches, config_of, fed, stream

from monitor.engine import CountingMonitor, Monitor
from monitor.windows import version_counts

CELLS = ("tp", "fp", "fn", "tn")


def counted(monitor):
    """Outcomes by hour, region, version and cell; those of predictions under two more cells."""
    held = monitor.state().get("version_counts", {}).get("0")
    values, found = monitor._catalogue.group_values(), Counter()  # the names of its groups
    if held is None:
        return found
    names = (*CELLS, "flagged", "passed")
    for hour, group, cells in zip(held["hour"], held["group"], held["cells"], strict=True):
        for name, n in zip(names, cells.tolist(), strict=True):
            if n:
                found[(int(hour), *values[group], name)] += n
    return found


def expected(events, since=-(10**9)):
    truth, found = Recount(events, label_timeout=3 * DAY), Counter()
    for event in truth.predictions.values():
        key = (int(event["ts"] // HOUR), event["segment"]["region"], event["version"])
        if key[0] >= since:
            found[(*key, "flagged" if event["prediction"] else "passed")] += 1
    for event, cell in truth.outcomes():
        key = (int(event["ts"] // HOUR), event["segment"]["region"], event["version"])
        if key[0] >= since:
            found[(*key, cell)] += 1
    return found


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 999), st.sampled_from([1, 17, 5_000]), st.booleans())
def test_counts_equal_a_recount_in_any_order(seed, size, shuffled):
    events = stream(seed, days=4, a_day=48)
    if shuffled:
        random.Random(seed).shuffle(events)
    assert counted(fed(events, size=size, kind=CountingMonitor)) == expected(events)


def test_a_restored_monitor_goes_on_as_if_it_had_not_stopped():
    events = stream(days=6)
    half = len(events) // 2
    monitor = fed(events[:half])
    again = Monitor(config_of(), monitor.state())
    for batch in batches(events[half:], config_of()):
        again.apply(batch)
    assert counted(again) == expected(events)


def test_a_state_without_these_counts_begins_with_the_next_hour():
    events = stream(days=6)
    half = len(events) * 3 // 4
    state = dict(fed(events[:half]).state())
    del state["version_counts"]
    again = Monitor(config_of(), state)
    for batch in batches(events[half:], config_of()):
        again.apply(batch)
    since = max(e["ts"] for e in events[:half]) // HOUR + 1
    assert counted(again) == expected(events, since)
    found = again.versions.compare("m", 6 * DAY * 1000).compared
    assert (found.within.opens, found.anytime) == (since * HOUR * 1000, False)


def test_a_model_that_is_gone_takes_its_counts_with_it():
    text = "models: {a: {segments: [version]}, m: {segments: [region, version]}}"
    events = stream(days=4)
    events += [e | {"id": f"a-{e['id']}", "model": "a"} for e in events if "model" in e]
    monitor = fed(events, config_of(text))
    assert set(monitor.state()["version_counts"]) == {"0", "1"}
    left = Monitor(config_of("models: {m: {segments: [region, version]}}"), monitor.state())
    mine = [e for e in events if e.get("model") == "m" or e["type"] == "label"]
    truth = expected([e for e in mine if not e["id"].startswith("a-")])
    assert counted(left) == truth


@pytest.mark.parametrize("size", [1, 40, 10_000])
def test_beyond_the_most_rows_the_oldest_hours_go_whatever_the_batches(monkeypatch, size):
    monkeypatch.setattr(version_counts, "MOST_ROWS", 100)
    events = stream(days=5)
    monitor = fed(events, size=size, kind=CountingMonitor)
    held = monitor.state()["version_counts"]["0"]
    assert len(held["hour"]) <= 100
    assert counted(monitor) == expected(events, held["since"])
    assert held["since"] == int(held["hour"].min())


def test_a_restored_monitor_drops_the_oldest_hours_at_the_same_moment(monkeypatch):
    monkeypatch.setattr(version_counts, "MOST_ROWS", 100)
    parts = [*batches(stream(days=5), config_of(), 40)]
    whole = broken = CountingMonitor(config_of())
    for number, batch in enumerate(parts):
        if number == len(parts) // 2:
            broken = CountingMonitor(config_of(), whole.state())
        whole.apply(batch)
        if broken is not whole:
            broken.apply(batch)
    assert broken is not whole
    assert not [*differences(whole.state(), broken.state())]
