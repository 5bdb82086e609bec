"""Days close one by one, however many of them a batch spans."""

import json
import random

import numpy as np
import pytest
from same import differences

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Labels
from monitor.events.crossings import apart, common_steps, label_days
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
START = 20_700 * DAY
CONFIG = Config(defaults={"segments": ["region"], "label_timeout": "20d", "horizon": "20d"})


def lines_of(models, days=45, per_day=60, seed=0):
    """Records of these models in the order of their arrival; labels come hours or days late."""
    rng, records = random.Random(seed), []
    for model in models:
        for i in range(days * per_day):
            at = START + (i + rng.random()) * DAY / per_day
            flagged = rng.random() < 0.3
            records.append(
                (
                    at + (rng.random() * 7200 if rng.random() < 0.1 else 0),
                    {
                        "type": "prediction",
                        "id": f"{model}-{i}",
                        "ts": round(at, 3),
                        "prediction": int(flagged),
                        "model": model,
                        "score": round(rng.uniform(0.5, 1) if flagged else rng.uniform(0, 0.5), 3),
                        "segment": {"region": rng.choice("abc")},
                    },
                )
            )
            if rng.random() < 0.9:
                came = at + rng.expovariate(1 / 3600 / rng.choice([1, 20, 60]))
                label = int(rng.random() < (0.7 if flagged else 0.05))
                record = {"type": "label", "id": f"{model}-{i}", "ts": round(came, 3)}
                records.append((came, {**record, "label": label}))
    records.sort(key=lambda one: one[0])
    return [json.dumps(record).encode() + b"\n" for _, record in records]


def state_of(lines, size):
    monitor, decoder = Monitor(CONFIG), Decoder(DecodeSettings.from_config(CONFIG))
    for start in range(0, len(lines), size):
        monitor.apply(decoder.decode_lines(b"".join(lines[start : start + size]), source="t"))
    return monitor.state()


def by_day(watch):
    """What is decided by days: references, levels, detectors by days, pages."""
    watching = {
        model: {key: one[key] for key in one if key not in ("detection", "nowcasts")}
        for model, one in watch["watching"].items()
    }
    return {"references": watch["references"], "watching": watching}


@pytest.fixture(scope="module")
def lines():
    return lines_of(["m"])


@pytest.fixture(scope="module")
def in_small_batches(lines):
    return state_of(lines, 7)


@pytest.mark.parametrize("size", [100, 1_000, 1_000_000])
def test_what_is_decided_by_days_does_not_depend_on_the_size_of_batches(
    size, lines, in_small_batches
):
    state = state_of(lines, size)
    assert state["watch"]["watching"]
    assert not [*differences(by_day(state["watch"]), by_day(in_small_batches["watch"]))]


@pytest.mark.parametrize("part", ["windows", "scores", "delays"])
def test_counts_are_stored_alike_without_empty_panes(part, lines, in_small_batches):
    assert not [*differences(state_of(lines, 1_000)[part], in_small_batches[part])]


def test_the_moments_at_which_days_close_are_part_of_the_state(in_small_batches):
    state = Monitor(CONFIG, in_small_batches).state()
    assert state["day_cuts"] == in_small_batches["day_cuts"] != [0]


def labels_at(*days):
    time = np.array([round(day * DAY * 1000) for day in days], dtype=np.int64)
    some = np.zeros(len(days), dtype=np.int64)
    columns = dict.fromkeys(Labels.__dataclass_fields__, some)
    return EventBatch(labels=Labels(**{**columns, "time": time, "row": np.arange(len(days))}))


def test_the_third_label_of_a_day_carries_time_into_it():
    batch = labels_at(5.1, 6.1, 6.2, 6.3, 6.4, 7.1, 7.2, 7.6, 7.9, 9.0)
    reached = round(5.5 * DAY * 1000)
    assert label_days(batch, reached, 0) == [3, 7]
    assert label_days(batch, reached, DAY * 500) == [7, 9]
    assert label_days(batch, 10 * DAY * 1000, 0) == []


def test_cuts_lie_apart_from_one_another_and_from_others():
    assert apart([5, 1, 9, 12, 30, 31], [10], 4) == [5, 9, 30]
    assert apart([3, 3, 4], [], 1) == [3, 4]


def test_the_common_step_is_the_second_highest():
    assert common_steps([(3, 0, 8), (5, 1, 7), (9, 1, 8)], {0: 6, 1: 6}, 6) == [5, 9]
