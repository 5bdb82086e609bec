"""Predictions of shadow versions: pairs against a recount, the law, states and limits."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from same import through_disk
from watch.shadowed import CONFIG, SHADOW, shadow_config, shadowed
from watch.versioned import DAY, HOUR, batches, fed, model_of, stream

from monitor.engine import CountingMonitor, Monitor
from monitor.join import pairs, shadow_versions

TIMEOUT = 3 * DAY
WAYS = {(1, 1): "both", (1, 0): "deciding", (0, 1): "shadow", (0, 0): "none"}


def unruly(seed):
    """Four days with repeated predictions of both versions, and labels that are revised."""
    rng = random.Random(seed)
    events = shadowed(stream(seed, days=4, a_day=36), seed, share=0.7, late=4_000)
    for event in rng.sample(events, len(events) // 4):
        moved = round(event["ts"] + rng.uniform(-HOUR, HOUR), 3)
        kind = "prediction" if event["type"] == "prediction" else "label"
        value = rng.choice([0, 1] if kind == "prediction" else [0, 1, None])
        events.append(event | {"ts": moved, kind: value})
    return sorted(events, key=lambda event: event["ts"])


def recounted(events, names=("6", SHADOW)):
    """Pairs of two versions by hour, region, label and who flagged them, in plain Python."""
    truth = Recount([e for e in events if e.get("version", "6") == "6"], TIMEOUT)
    scored = [
        truth if name == "6" else Recount([e for e in events if e.get("version") == name])
        for name in names
    ]
    found = Counter()
    for identity in scored[0].predictions.keys() & scored[1].predictions.keys():
        decided = truth.predictions[identity]
        way = WAYS[tuple(int(one.predictions[identity]["prediction"]) for one in scored)]
        place = int(decided["ts"] // HOUR), decided["segment"]["region"]
        found[(*place, "all", way)] += 1
        label = truth.label_of(identity)
        if label is not None:
            found[(*place, ("negative", "positive")[label], way)] += 1
    return found


def paired(monitor, names=("6", SHADOW)):
    """The same of a monitor."""
    held, found = monitor.state().get("pair_counts", {}).get("0"), Counter()
    if held is None:
        return found
    values = monitor._catalogue.group_values()  # the names of its groups
    groups = (one.tolist() for one in pairs.groups_of_pairs(held["group"]))
    rows = zip(held["hour"].tolist(), *groups, held["cells"].tolist(), strict=True)
    for hour, deciding, first, second, cells in rows:
        if (values[first][1], values[second][1]) != names:
            continue
        for index, n in enumerate(cells):
            kind = ("all", "positive", "negative")[index // 4]
            if n:
                way = list(WAYS.values())[index % 4]
                found[(hour, values[deciding][0], kind, way)] += n
    return found


SHADOWS = ("7-shadow", "8-shadow", "9-shadow")


def several(seed):
    """The events of `unruly`, and those of two more shadow versions, as unruly."""
    events, rng = unruly(seed), random.Random(seed)
    for name in SHADOWS[1:]:
        found = []
        for event in events:
            if event.get("version") == SHADOW and rng.random() < 0.8:
                moved = {"ts": event["ts"] + 0.001, "prediction": rng.choice([0, 1])}
                found.append(event | {"version": name} | moved)
        events = sorted([*events, *found], key=lambda event: event["ts"])
    return events


def without():
    """The configuration without shadow versions."""
    return shadow_config(CONFIG.replace(', shadow_versions: ["*-shadow"]', ""))


def states(monitor):
    return model_of(monitor).versions_now.shadows.predictions


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 999), st.sampled_from([1, 17, 5_000]), st.booleans())
def test_pairs_equal_a_recount_in_any_order(seed, size, shuffled):
    events = unruly(seed)
    if shuffled:
        random.Random(seed).shuffle(events)
    monitor = fed(events, shadow_config(), size, kind=CountingMonitor)
    assert paired(monitor) == recounted(events)
    received = sum(e.get("version") == SHADOW for e in events)
    snapshot = monitor.snapshot()
    assert sum(states(monitor).values()) == snapshot.events["shadow"] == received
    matched = sum(n for key, n in recounted(events).items() if key[2] != "all")
    assert states(monitor)["matched"] == matched


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 999), st.sampled_from([1, 17, 5_000]), st.booleans())
def test_pairs_of_shadows_with_each_other_equal_a_recount_in_any_order(seed, size, shuffled):
    events = several(seed)
    if shuffled:
        random.Random(seed).shuffle(events)
    monitor = fed(events, shadow_config(), size, kind=CountingMonitor)
    for names in combinations(("6", *SHADOWS), 2):
        expected = recounted(events, names)
        assert paired(monitor, names) == expected
        assert sum(expected.values()) > 20


def test_pairs_of_shadows_go_on_after_a_restart_as_if_there_had_been_none():
    events = several(4)
    half = len(events) // 2
    again = Monitor(shadow_config(), through_disk(fed(events[:half], shadow_config()).state()))
    for batch in batches(events[half:], shadow_config()):
        again.apply(batch)
    for names in combinations(("6", *SHADOWS), 2):
        assert paired(again, names) == recounted(events, names)


def test_the_size_of_batches_leaves_no_trace_in_the_state():
    events = unruly(3)
    found = [fed(events, shadow_config(), size).state()["join"]["shadows"] for size in (1, 900)]
    for state in found:
        state["predictions"] = sorted(map(tuple, state["predictions"].tolist()))
        state["books"] = state["books"].tolist()
    assert found[0] == found[1]


def test_shadow_predictions_change_nothing_of_the_version_that_decides():
    events = unruly(5)
    plain = [e for e in events if e.get("version") != SHADOW]
    one, other = fed(events, shadow_config()).snapshot(), fed(plain, shadow_config()).snapshot()
    assert one.series == other.series
    assert one.lifetime.counts == other.lifetime.counts
    mine, theirs = one.models[0], other.models[0]
    for name in ("matched", "duplicates", "predictions_positive", "version"):
        assert getattr(mine, name) == getattr(theirs, name), name
    assert mine.versions == theirs.versions
    assert one.labels == other.labels


def test_a_restored_monitor_goes_on_as_if_it_had_not_stopped():
    events = unruly(8)
    half = len(events) // 2
    monitor = fed(events[:half], shadow_config())
    again = Monitor(shadow_config(), through_disk(monitor.state()))
    for batch in batches(events[half:], shadow_config()):
        again.apply(batch)
    assert paired(again) == recounted(events)
    assert states(again) == states(fed(events, shadow_config()))


def test_a_prediction_without_a_version_decides_whatever_the_pattern_is():
    config = shadow_config(CONFIG.replace("*-shadow", "[!6]*"))
    events = [e for e in stream(days=2, a_day=24) if e["type"] == "prediction"]
    unnamed = [{k: v for k, v in e.items() if k != "version"} for e in events]
    snapshot = fed(unnamed, config).snapshot()
    assert (snapshot.events["shadow"], snapshot.events["prediction"]) == (0, len(events))


def test_a_state_from_before_shadow_versions_is_taken_over():
    events = unruly(8)
    half = len(events) // 2
    before = without()
    plain = [e for e in events[:half] if e.get("version") != SHADOW]
    state = fed(plain, before).state()
    assert "shadows" not in state["join"]
    again = Monitor(shadow_config(), state)
    for batch in batches(
        [*(e for e in events[:half] if e not in plain), *events[half:]], again.config
    ):
        again.apply(batch)
    assert paired(again) == recounted(events)


def test_without_the_setting_a_second_prediction_of_an_id_is_a_duplicate():
    events = unruly(2)
    monitor = fed(events, without())
    assert "pair_counts" not in monitor.state()
    assert model_of(monitor).versions_now.shadows is None
    ids = {e["id"] for e in events if e["type"] == "prediction"}
    received = sum(e["type"] == "prediction" for e in events)
    assert model_of(monitor).duplicates == received - len(ids)


def test_shadow_versions_that_are_no_longer_configured_are_forgotten_and_the_law_holds():
    monitor = fed(unruly(2), shadow_config())
    again = Monitor(without(), monitor.state())
    assert again.snapshot().events["shadow"] == 0
    assert "shadows" not in again.state()["join"]


def test_predictions_that_are_over_expire_or_stay_matched():
    events = shadowed(stream(days=20, a_day=48))
    lone = [e | {"id": f"lone-{e['id']}"} for e in events if e.get("version") == SHADOW][::5]
    monitor = fed(sorted(events + lone, key=lambda e: e["ts"]), shadow_config())
    received = sum(e.get("version") == SHADOW for e in events)
    matched = sum(n for key, n in recounted(events).items() if key[2] != "all")
    found = states(monitor)
    assert found["matched"] == matched
    assert sum(found.values()) == received + len(lone)
    # of the last days of the stream, some wait still
    ends = model_of(monitor).watermark_ms / 1_000
    young = sum(e["ts"] >= ends - TIMEOUT for e in lone)
    assert young <= found["pending"] < 2 * young + (received - matched)
    assert found["expired"] >= len(lone) - young
    assert model_of(monitor).duplicates == 0


def test_beyond_the_most_pending_the_earliest_are_evicted():
    text = """
max_pending: 8192
models: {m: {segments: [region, version], label_timeout: none, shadow_versions: ["*-shadow"]}}
"""
    events = [e for e in shadowed(stream(days=20, a_day=1_200)) if e["type"] == "prediction"]
    monitor = fed(events, shadow_config(text), 4_000)
    found = states(monitor)
    assert found["evicted"] > 0
    assert found["pending"] <= 8192 + 8192
    assert sum(found.values()) == sum(e["version"] == SHADOW for e in events)


@pytest.mark.parametrize("size", [1, 5_000])
def test_more_shadow_versions_than_there_are_places_for_count_as_evicted(monkeypatch, size):
    monkeypatch.setattr(shadow_versions, "MOST_SHADOWS", 2)
    events = stream(days=4, a_day=24)
    alike = [shadowed(events, name=f"{n}-shadow", late=0) for n in "789"]
    extra = [e for one in alike for e in one if e.get("version", "6") != "6"]
    events = sorted(
        [*(e for e in alike[0] if e.get("version") != SHADOW), *extra], key=lambda e: e["ts"]
    )
    found = states(fed(events, shadow_config(), size))
    assert found["evicted"] == len(extra) / 3
    assert found["matched"] + found["pending"] == 2 * len(extra) / 3


def test_silence_is_a_negative_in_pairs_too():
    text = """
models:
  m: {segments: [region, version], label_timeout: 1d, labelling: negatives_by_timeout,
      shadow_versions: ["*-shadow"]}
"""
    events = shadowed([e for e in stream(days=6) if e.get("label") != 0], late=0)
    compared = model_of(fed(events, shadow_config(text))).versions_now.compared
    both = compared.comparison.pairs
    assert both.positive.sum() + both.negative.sum() == compared.predictions[1]
