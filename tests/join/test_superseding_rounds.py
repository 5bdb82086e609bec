"""A batch in which predictions supersede others is its records one by one, in few rounds."""

import json
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from same import differences

from monitor import Monitor
from monitor.config import Config
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.settings import DecodeSettings
from monitor.join.join import Join

MODEL = {"segments": ("shop",), "threshold": 0.5, "max_segment_values": 20}
SHORT = MODEL | {"label_timeout": "2s", "horizon": "2s"}
CONFIGS = {
    "one model": {"m": MODEL},
    "late labels": {"m": MODEL | {"label_timeout": "3s"}},
    "two models": {"m": MODEL | {"label_timeout": "3s"}, "n": MODEL},
    "past its horizon": {"m": SHORT, "n": MODEL | {"label_timeout": "9s"}},
    "sources": {"m": MODEL | {"label_timeout": "4s", "label_sources": {"order": ["ann", "bob"]}}},
}
KINDS = st.sampled_from([0.2, 0.7, 0.7, 0, 1, None])
"""Scores of predictions, and labels."""
events = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 8),
        st.integers(0, 12),
        KINDS,
        st.sampled_from("mn"),
        st.sampled_from(["ann", "bob", "eve"]),
    ),
    min_size=1,
    max_size=60,
)


def line(config, event):
    key, time, shop, value, model, source = event
    if value in (0, 1, None):
        record = {"type": "label", "id": str(key), "ts": time, "label": value}
        ranked = config.models["m"].label_sources.order
        return json.dumps(record | ({"source": source} if ranked else {})) + "\n"
    record = {"type": "prediction", "id": str(key), "ts": time, "score": value}
    model = model if model in config.models else "m"
    return json.dumps(record | {"model": model, "segment": {"shop": str(shop)}}) + "\n"


def monitor_of(config, blocks):
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    for block in blocks:
        monitor.apply(decoder.decode_lines(block.encode(), source="posted"))
    return monitor


LOST_ONCE = [
    (0, 8, 0, 0.7, "n", "ann"),
    (0, 9, 0, 1, "n", "ann"),
    (0, 2, 0, 0.7, "m", "ann"),
    (0, 1, 0, 0.7, "n", "ann"),
]
"""The label is late for the prediction of the model m, and not for the last one."""


@example(LOST_ONCE, "two models")
@given(events, st.sampled_from([*CONFIGS]))
def test_a_batch_is_its_lines_one_by_one(found, which):
    config = Config(models=CONFIGS[which])
    assert_one_by_one(config, [line(config, one) for one in found], "join", "windows")


def assert_one_by_one(config, lines, *parts):
    """A batch leaves parts of the state as its lines do one by one."""
    states = [monitor_of(config, blocks).state() for blocks in (["".join(lines)], lines)]
    for state in states:  # maxima before some are taken back, which rest on batches
        del state["join"]["books"]["most_predictions"], state["join"]["books"]["most_applied"]
    for part in parts:
        assert not [*differences(*(state[part] for state in states))]


def test_a_prediction_past_its_horizon_is_forgotten_before_the_next_one_of_its_id():
    """The first 16 carry the time of the model to where the last but one is over."""
    config = Config(models={"m": SHORT})
    low = 0.2
    known = [(1, 9), (0, 18), (0, 8), (1, 7), (1, 12), (1, 15), (1, 11), (0, 13)]
    known += [(2, 5), (1, 6), (0, 15), (2, 4), (1, 0), (2, 7), (1, 5), (1, 17)]
    last = [(1, 12, 0, 0.7, "m", ""), (1, 7, 1, low, "m", ""), (1, 7, 3, low, "m", "")]
    found = [(*one, 2, low, "m", "") for one in known] + last
    assert_one_by_one(config, [line(config, one) for one in found], "join", "windows")


def test_pairs_with_a_shadow_version_move_with_each_prediction_that_decides():
    model = MODEL | {"segments": ("shop", "version"), "shadow_versions": ["*-shadow"]}
    config = Config(models={"m": model, "n": model})
    versions = [("n", "1-shadow"), ("m", "1"), ("n", "1"), ("n", "2")]
    lines = [
        line(config, ("a", time, 0, 0.7, model, "")).replace("}\n", f', "version": "{version}"}}\n')
        for time, (model, version) in zip((1, 2, 1, 0), versions, strict=True)
    ]
    assert_one_by_one(config, lines, "join", "windows", "pair_counts")


CONFIG = Config(models=CONFIGS["late labels"])


def rounds_of(lines):
    """The most rounds in which a part of a batch is joined, and what the model counts."""
    take, steps, rounds = Join._take, Join.steps, []

    def begun(*args):
        rounds.append(0)
        return steps(*args)

    def counted(*args, **others):
        rounds[-1] += 1
        return take(*args, **others)

    with patch.multiple(Join, _take=counted, steps=begun):
        monitor = monitor_of(CONFIG, ["".join(lines)])
    return max(rounds), monitor.snapshot().models[0]


def predictions(times, key="a"):
    return [line(CONFIG, (key, time, time % 7, (0.2, 0.7)[time % 2], "m", "")) for time in times]


def label_at(time):
    return line(CONFIG, ("a", time, 0, 1, "m", ""))


def test_predictions_of_one_id_that_follow_an_earlier_one_are_joined_at_once():
    rounds, model = rounds_of(predictions([0, *range(1, 100)]))
    assert rounds == 1
    assert (model.predictions_negative, model.duplicates) == (1, 99)
    assert np.array_equal(model.delay_sum, [0, 0])


@pytest.mark.parametrize("labels", [0, 1])
def test_predictions_of_one_id_each_earlier_than_the_last_are_joined_in_two_rounds(labels):
    """Of ids that are new, and of one whose label came first."""
    first = [label_at(100)] * labels
    rounds, model = rounds_of(first + predictions(range(100, -1, -1)) + predictions([3, 2, 1], "b"))
    assert rounds == 2
    assert (model.predictions_negative, model.predictions_positive) == (1, 1)
    assert (model.duplicates, model.matched) == (102, 0)


def test_a_label_begins_another_round():
    runs = [predictions(range(10 * n + 9, 10 * n, -1)) for n in range(9, -1, -1)]
    label = label_at(3)
    rounds, model = rounds_of([each for run in runs for each in (*run, label)])
    assert rounds == len(runs) - 1  # the first run is another part of the batch
    assert (model.predictions_positive, model.duplicates, model.matched) == (1, 89, 1)


def test_many_rounds_are_steps_of_bounded_work():
    label = label_at(3)
    lines = [each for one in predictions(range(1000, 0, -1)) for each in (one, label)]
    monitor, decoder = Monitor(CONFIG), Decoder(DecodeSettings.from_config(CONFIG))
    batch = decoder.decode_lines("".join(lines).encode(), source="posted")
    assert sum(1 for _ in monitor.steps(batch)) > 1000 / 64
