"""Versions of recorded events: their cells and pairs, recounted in plain Python."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount

from monitor.config import Labelling, parse_config
from monitor.diagnosis.time_ranges import TimeRange
from monitor.diagnosis.version_events import VersionEvents
from monitor.diagnosis.versions import compare_recorded
from monitor.errors import UsageError
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
HOUR = 3_600
CELLS = ("tp", "fp", "fn", "tn")
CONFIG = "models: {m: {segments: [region, channel], label_timeout: 3d}, other: {}}"
MODEL = parse_config(CONFIG, "monitor.yaml")


def batches(events, size=7, config=MODEL):
    decoder = Decoder(DecodeSettings.from_config(config))
    lines = [json.dumps(event).encode() for event in events]
    return [
        decoder.decode_fields(
            [json.loads(line) for line in lines[i : i + size]],
            position=str,
            record=lambda _: b"",
        )
        for i in range(0, len(lines), size)
    ]


def made(seed, count=300, shadow=0.5):
    """Predictions of two versions and labels: shadowed ids, revisions, late labels, others."""
    rng = random.Random(seed)  # made-up events
    events = []
    for number in range(count):
        ts = 10 * DAY + rng.randrange(5 * DAY * 1000) / 1000
        both = rng.random() < shadow
        for version in ("6", "7") if both else rng.choice((("6",), ("7",), ("",))):
            event = {
                "type": "prediction",
                "id": f"i{number}",
                "ts": ts + (0 if version == "6" else rng.choice((0, 1, 2 * DAY))),
                "prediction": rng.randrange(2),
                "model": "m",
                "segment": {"region": rng.choice("ab"), "channel": rng.choice("xy")},
            }
            events.append(event | ({"version": version} if version else {}))
            if rng.random() < 0.1:
                events.append(events[-1] | {"ts": events[-1]["ts"] + 60, "prediction": 0})
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            delay = rng.choice((0.1, 1, 2, 2.9, 4)) * DAY
            label = rng.choice((0, 0, 1, 1, None))
            events.append({"type": "label", "id": f"i{number}", "ts": ts + delay, "label": label})
    events.append(
        {"type": "prediction", "id": "i1", "ts": 12 * DAY, "prediction": 1, "model": "other"}
    )
    rng.shuffle(events)
    return events


def of_version(events, name):
    return [
        event
        for event in events
        if event["type"] == "label" or (event.get("version", "") == name and event["model"] == "m")
    ]


@pytest.mark.parametrize("seed", range(3))
def test_cells_equal_a_recount_of_each_version_by_itself(seed):
    events = made(seed)
    opens, closes = 10 * DAY + 1_000, 14 * DAY + 500
    within = TimeRange(opens * 1000, closes * 1000)
    found = VersionEvents(batches(events), "m", MODEL.model("m")).outcomes(("6", "7"), within)
    strata = sorted({(a, b) for a in "ab" for b in "xy"})
    for index, name in enumerate(("6", "7")):
        counted = Recount(of_version(events, name), 3 * DAY)
        expected = Counter()
        for event, cell in counted.outcomes(since=opens, before=closes):
            stratum = strata.index(tuple(event["segment"].values()))
            expected[event["ts"] // HOUR, stratum, CELLS.index(cell)] += 1
        got = {
            (found.hour[row], found.segment[row], cell): n
            for (row, cell), n in np.ndenumerate(found.cells[index, :, :4])
            if n
        }
        assert got == dict(expected)
        assert sum(expected.values()) > 30


@pytest.mark.parametrize("seed", range(3))
def test_pairs_equal_a_recount_of_the_ids_that_both_scored(seed):
    events = made(seed)
    within = TimeRange(10 * DAY * 1000, 14 * DAY * 1000)
    found = VersionEvents(batches(events), "m", MODEL.model("m")).pairs(("6", "7"), within)
    a, b = (Recount(of_version(events, name), 3 * DAY) for name in ("6", "7"))
    expected = Counter()
    for identity in a.predictions.keys() & b.predictions.keys():
        ends = a.predictions[identity], b.predictions[identity]
        if all(10 * DAY <= end["ts"] < 14 * DAY for end in ends):
            label = a.label_of(identity)
            if label is not None:
                joint = {(1, 1): 0, (1, 0): 1, (0, 1): 2, (0, 0): 3}
                flags = tuple(end["prediction"] for end in ends)
                expected[label, int(ends[0]["ts"] // DAY) - 10, joint[flags]] += 1
    got = {
        (label, *place): n
        for label, cells in ((1, found[0]), (0, found[1]))
        for place, n in np.ndenumerate(cells)
        if n
    }
    assert got == dict(expected)
    assert sum(expected.values()) > 30


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_neither_batches_nor_their_order_matter(seed, size):
    events = made(seed, count=40)
    within = TimeRange(10 * DAY * 1000, 15 * DAY * 1000)
    shuffled = random.Random(seed + 1).sample(events, len(events))
    found = [
        VersionEvents(batches(some, length), "m", MODEL.model("m"))
        for some, length in ((events, size), (shuffled, 1_000))
    ]
    one, other = (events.outcomes(("6", "7"), within) for events in found)
    for name in ("hour", "segment", "cells"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert found[0].versions == found[1].versions


def test_an_outcome_record_labels_the_other_version_too():
    """B's prediction comes alone; A's record carries the label of both."""
    a = {"type": "outcome", "id": "x", "ts": DAY, "prediction": 1, "label": 1, "model": "m"}
    b = {"type": "prediction", "id": "x", "ts": DAY + 5, "prediction": 0, "model": "m"}
    events = VersionEvents(
        batches([a | {"version": "6"}, b | {"version": "7"}]), "m", MODEL.model("m")
    )
    cells = events.outcomes(("6", "7"), TimeRange(0, 3 * DAY * 1000)).cells.sum(axis=1)
    assert cells[:, :4].tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]


def test_silence_is_a_negative_where_labels_come_for_positives_only():
    config = parse_config(
        "models: {m: {labelling: negatives_by_timeout, label_timeout: 1d}}", "monitor.yaml"
    )
    events = [
        {"type": "prediction", "id": f"{v}{i}", "ts": DAY + i, "prediction": i % 2, "version": v}
        for v in "67"
        for i in range(4)
    ]
    events.append({"type": "label", "id": "61", "ts": DAY + 60, "label": 1})
    found = VersionEvents(batches(events, config=config), "m", config.model("m"))
    cells = found.outcomes(("6", "7"), TimeRange(0, 3 * DAY * 1000)).cells.sum(axis=1)
    assert cells[:, :4].tolist() == [[1, 1, 0, 2], [0, 2, 0, 2]]


def test_counts_of_another_system_are_compared_as_well():
    counts = {
        "type": "counts",
        "ts": 10 * DAY,
        "tp": 80,
        "fp": 10,
        "fn": 20,
        "tn": 90,
        "model": "m",
    }
    later = {"ts": 10 * DAY + 60}
    events = [counts | {"version": "6"}, counts | later | {"version": "7", "tp": 70, "fn": 30}]
    events += [event | {"ts": event["ts"] + 600} for event in events]
    found = compare_recorded(batches(events), "m", MODEL.model("m"), mature_until=20 * DAY * 1000)
    assert found.predictions == (200, 200)  # A's first lie before B's, B's last behind A's
    assert found.comparison.pairs is None


@pytest.mark.parametrize("labelling", [Labelling.SAMPLED, Labelling.FLAGGED_ONLY])
def test_other_regimes_are_refused(labelling):
    chosen = MODEL.model("m").model_copy(update={"labelling": labelling})
    with pytest.raises(UsageError, match=f"under labelling {labelling}"):
        compare_recorded([], "m", chosen, mature_until=0)


def test_versions_that_begin_with_the_record_are_listed_by_their_predictions():
    events = VersionEvents(batches(made(1)), "m", MODEL.model("m"))
    assert {one.name for one in events.versions} == {"6", "7", "__missing__"}
    assert [one.predictions for one in events.versions[:2]] == sorted(
        (one.predictions for one in events.versions[:2]), reverse=True
    )
    expected = Counter(
        event.get("version", "__missing__")
        for event in made(1)
        if event["type"] == "prediction" and event["model"] == "m"
    )
    assert {one.name: one.predictions for one in events.versions} == dict(expected)
