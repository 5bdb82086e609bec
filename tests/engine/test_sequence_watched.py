"""What watches models is a function of the sequence of records, wherever batches end."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from sequences import known_by, monitor_of

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

DAY, HOUR = 86_400, 3_600
START = 20_698 * DAY + 14 * HOUR + 1_234.5
"""No midnight: references of first days close within a day."""
CONFIG = Config(
    models={
        "a": {
            "segments": ["region", "version"],
            "max_segment_values": 5,
            "label_timeout": "2d",
            "reference": {"trailing": "1d"},
        },
        "b": {
            "segments": ["version"],
            "shadow_versions": ["s*"],
            "reference": {"trailing": "1d"},
            "maturity": "5h",
        },
        "c": {"label_errors": "audit", "reference": {"trailing": "20h"}, "label_timeout": "3d"},
        "d": {"reference": {"trailing": "1d", "on_version": "restart"}},
    },
    pane="10m",
    windows=["1h", "1d", "2d"],
)


def lines_of(seed, *, records=400, days=6):
    """Records in the order of their arrival: late and early labels, revisions, audits, versions.

    Model d stops half-way, and behind the last prediction labels alone come for two days.

    Args:
        seed: of all that is drawn.
        records: predictions.
        days: over which they come.
    """
    rng, found = random.Random(seed), []
    for number in range(records):
        at, name = START + (number + rng.random()) * days * DAY / records, rng.choice("aaabbcd")
        if name == "d" and number > records / 2:
            continue
        flagged = rng.random() < 0.4
        version = f"v{number * 80 // records}" if rng.random() < 0.8 else f"v{rng.randrange(80)}"
        prediction = {
            "type": "prediction",
            "id": f"{name}-{number}",
            "ts": round(at - rng.choice([0, 0, 0, 100, 90_000]), 3),
            "prediction": int(flagged),
            "model": name,
            "segment": {"region": rng.choice(["eu", "us", "asia"])} if name == "a" else {},
            "version": version,
        }
        if name != "b":  # histograms by value are numbered as scores of models come
            prediction["score"] = round(rng.uniform(0.5, 1) if flagged else rng.uniform(0, 0.5), 3)
        found.append((at, prediction))
        if name == "b" and rng.random() < 0.5:
            shadow = {"version": rng.choice(["s1", "s2"]), "prediction": rng.randrange(2)}
            found.append((at + rng.choice([-9, 0, 300]), prediction | shadow))
        for take, kind in ((0.8, {}), (0.1, {"label": None}), (0.3, {"audit": True})):
            if rng.random() < take:
                age = rng.choice([60, HOUR, 5 * HOUR, 30 * HOUR, 2 * DAY])
                label = {"type": "label", "id": prediction["id"], "ts": round(at + age, 3)}
                label |= {"label": int(rng.random() < (0.7 if flagged else 0.1)), **kind}
                found.append((at + (age if rng.random() < 0.95 else -30), label))
    return [json.dumps(one).encode() for _, one in sorted(found, key=lambda both: both[0])]


def watched_by(monitor):
    """What watches models, but for what is seen of open days, where batches end."""
    watch = through_disk(monitor.state())["watch"]
    usual = watch["predictions"]["models"].items()
    watch["predictions"] = {model: one["narrowest"] for model, one in usual}
    for one in watch["watching"].values():
        del one["detection"]
    return watch


def all_known_by(monitor):
    """What watches models, and the rest of the state."""
    return watched_by(monitor), known_by(monitor)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 1_000), max_size=40))
def test_what_watches_models_is_a_function_of_the_sequence_of_records(seed, cuts):
    lines = lines_of(seed, records=150, days=4)
    found, expected = (monitor_of(lines, ends, CONFIG) for ends in (cuts, range(len(lines))))
    assert [*differences(all_known_by(found), all_known_by(expected))][:3] == []


@pytest.fixture(scope="module")
def one_by_one():
    lines = lines_of(3)
    monitor = monitor_of(lines, range(len(lines)), CONFIG)
    return lines, monitor.state(), all_known_by(monitor)


@pytest.mark.parametrize("size", [7, 100, 10_000])
def test_batches_of_any_size_close_the_same_days(size, one_by_one):
    lines, state, expected = one_by_one
    assert {"0", "1"} <= state["watch"]["watching"].keys()
    assert state["versions"]["a"]["forgotten"]
    assert state["watch"]["watching"]["0"]["nowcasts"]["published"]
    found = monitor_of(lines, range(0, len(lines), size), CONFIG)
    assert [*differences(all_known_by(found), expected)][:3] == []


@pytest.mark.parametrize("share", [0.3, 0.62, 0.8])
def test_a_restart_between_batches_changes_nothing(share):
    lines = lines_of(2)
    at = int(share * len(lines)) // 50 * 50
    restarted = Monitor(CONFIG, through_disk(taken(Monitor(CONFIG), lines[:at]).state()))
    found, expected = taken(restarted, lines[at:]), taken(Monitor(CONFIG), lines)
    assert [*differences(*map(all_but_running, (found, expected)))][:3] == []


def taken(monitor, lines):
    """The monitor, after batches of fifty lines."""
    decoder = Decoder(DecodeSettings.from_config(CONFIG))
    for first in range(0, len(lines), 50):
        monitor.apply(decoder.decode_lines(b"\n".join(lines[first : first + 50]), source="x"))
    return monitor


def all_but_running(monitor):
    """What watches models, and the rest but the sums of windows, which a start makes anew."""
    known = known_by(monitor)
    del known["windows"]["running"]
    return in_order(through_disk(monitor.state())["watch"]), known


def in_order(state):
    """A state with its keys in order: those of models are in the order in which these were met."""
    if not isinstance(state, dict):
        return state
    return {key: in_order(state[key]) for key in sorted(state)}


REGIONS = {"segments": ["region"], "reference": {"trailing": "1d"}, "maturity": "0s"}


def outcomes_by_region(regions):
    """One outcome an hour of each of these segment values."""
    outcome = {"type": "outcome", "model": "m", "prediction": 1}
    found = (
        outcome | {"ts": START + n * HOUR, "label": n % 2, "segment": {"region": one}}
        for n, one in enumerate(regions)
    )
    return [json.dumps(one).encode() for one in found]


SPARSE = Config(
    defaults={
        "segments": ["region"],
        "reference": {"first": "1d"},
        "label_timeout": "6h",
        "horizon": "12h",
        "maturity": "0s",
    },
    pane="1h",
    windows=["1d"],
)


def sparse_lines():
    """A few records a day, for two months; the first reference holds 28 days."""
    rng, found = random.Random(56), []
    for number in range(280):
        at = START + (number + rng.random()) * 5.5 * HOUR
        name, region = rng.choice("mn"), rng.choice(["eu", "us"])
        case = {"id": f"p{number}", "model": name, "segment": {"region": region}}
        prediction = {"type": "prediction", "ts": round(at - rng.choice([0, 0, 5_000]), 3)}
        found.append((at, prediction | case | {"prediction": rng.randrange(2)}))
        if rng.random() < 0.7:
            label_at = at + rng.choice([60, HOUR, 5 * HOUR])
            label = {"type": "label", "id": f"p{number}", "ts": round(label_at, 3)}
            found.append((label_at, label | {"label": rng.randrange(2)}))
    return [json.dumps(one).encode() for _, one in sorted(found, key=lambda both: both[0])]


@pytest.mark.parametrize("size", [7, 100, 10_000])
def test_estimates_are_compared_as_often_in_batches_of_any_size(size):
    lines = sparse_lines()
    found, expected = (
        watched_by(monitor_of(lines, ends, SPARSE))
        for ends in (range(0, len(lines), size), range(len(lines)))
    )
    (estimate, _) = expected["watching"]["0"]["nowcasts"]["published"]["1d"]
    assert estimate["comparisons"] > 10  # of as many days
    assert [*differences(found, expected)][:3] == []


def test_nothing_is_watched_of_series_of_records_that_follow_in_the_batch():
    config = Config(models={"m": REGIONS}, pane="10m", windows=["1d"])
    lines = outcomes_by_region(["eu"] * 4 * 24 + ["asia"])
    found, expected = (
        watched_by(monitor_of(lines, ends, config)) for ends in ([], range(len(lines)))
    )
    assert len(expected["references"]["0"]["rows"]) == 2
    assert [*differences(found, expected)] == []


def test_a_segment_value_without_labels_until_the_reference_closed_follows_learned_rates():
    audited = {**REGIONS, "label_errors": "audit", "label_timeout": "1d", "maturity": "1h"}
    rng, lines = random.Random(1), []
    for number in range(1_000):
        at, region = START + number * DAY / 200, rng.choice(["eu", "us", "asia"])
        case, actual = {"id": f"p{number}"}, rng.random() < 0.4
        flagged = actual if rng.random() < 0.85 else not actual
        prediction = {"prediction": int(flagged), "model": "m", "segment": {"region": region}}
        lines.append((at, {"type": "prediction", "ts": at, **case, **prediction}))
        if region == "asia" and number < 600:
            continue
        label = {"type": "label", "ts": at + 600, **case}
        noisy = actual if rng.random() < 0.9 else not actual
        lines.append((at + 600, label | {"label": int(noisy)}))
        if rng.random() < 0.6:
            lines.append((at + 601, label | {"label": int(actual), "audit": True}))
    lines = [json.dumps(one).encode() for _, one in sorted(lines, key=lambda both: both[0])]
    config = Config(models={"m": audited}, pane="10m", windows=["1d"])
    watch = watched_by(monitor_of(lines, range(0, len(lines), 50), config))
    assert watch["references"]["0"]["rows"].tolist() == [0, 1, 2, 3]
    assert [cut.tolist() for cut in watch["watching"]["0"]["by_day"]["cuts"]] == [[1, 2, 3]]
