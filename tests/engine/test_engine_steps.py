"""A batch counted in steps: the same state, whatever happens between two of them."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, without_memory
from streams import batch_of

from monitor.config import Config
from monitor.engine import Monitor, stages
from monitor.events.batches import in_row_order
from monitor.events.parts import in_slices

DAY = 86_400


def stream(seed, predictions=200, days=4):
    """Predictions and late labels of three models, out of order, some delivered twice."""
    chance = random.Random(seed)
    events = []
    for n in range(predictions):
        ts = chance.uniform(0, days * DAY)
        actual = chance.random() < 0.4
        made = {
            "type": "prediction",
            "id": f"p{n}",
            "ts": ts,
            "model": f"m{n % 3}",
            "prediction": actual ^ (chance.random() < 0.2),
            "segment": {"k": f"v{chance.randrange(4)}"},
        }
        late = ts + chance.expovariate(1 / 3600)
        events += [(ts + chance.uniform(0, 60), made)] * (1 + (chance.random() < 0.05))
        if chance.random() < 0.9:
            events.append((late, {"type": "label", "id": f"p{n}", "ts": late, "label": actual}))
    return [event for _, event in sorted(events, key=lambda one: one[0])]


def monitor():
    return Monitor(
        Config(
            defaults={
                "segments": ["k"],
                "label_timeout": "1d",
                "maturity": "2h",
                "reference": {"counts": {"tp": 3_200, "fp": 1_200, "fn": 800, "tn": 4_800}},
            },
            windows=["6h", "2d"],
        )
    )


def same(one, other):
    """Return the differences of two snapshots and of the states behind them."""
    snapshots = [without_memory(each.snapshot()) for each in (one, other)]
    return [*differences(*snapshots), *differences(one.state(), other.state())]


def same_but_for_the_order_of_rows(one, other):
    """The same, whatever the order of waiting rows, and whichever empty panes are listed."""
    states = [each.state() for each in (one, other)]
    waiting = [sorted(state["join"]["predictions"].tolist()) for state in states]
    found = [without_memory(each.snapshot()) for each in (one, other)]
    parts = ("catalogue", "times", "watch", "records", "events", "rejected")
    parts = [{name: state[name] for name in parts} for state in states]
    return [*differences(*waiting), *differences(*found), *differences(*parts)]


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 1000), st.integers(40, 400), st.integers(10, 200))
def test_the_state_is_the_same_whatever_is_read_between_the_steps(seed, size, every):
    events, at_once, stepped = stream(seed), monitor(), monitor()
    for start in range(0, len(events), size):
        batch = batch_of(events[start : start + size], segments=("k",))
        at_once.apply(batch)
        for step, _ in enumerate(stepped.steps(batch)):
            if step % every == every - 1:
                stepped.snapshot()
                stepped.history(stepped.models[0])
    assert same(at_once, stepped) == []


@pytest.mark.parametrize("rows", [1, 7, 100, 1_000])
def test_the_state_is_the_same_however_short_the_slices_are(rows, monkeypatch):
    events, whole, sliced = stream(seed=1), monitor(), monitor()
    for start in range(0, len(events), 150):
        batch = batch_of(events[start : start + 150], segments=("k",))
        whole.apply(batch)
        with monkeypatch.context() as short:
            short.setattr(stages, "SLICE_ROWS", rows)
            sliced.apply(batch)
    assert same_but_for_the_order_of_rows(whole, sliced) == []


def test_between_two_steps_the_books_are_closed(monkeypatch):
    monkeypatch.setattr(stages, "SLICE_ROWS", 20)
    counting, steps = monitor(), 0
    for _ in counting.steps(batch_of(stream(seed=2, predictions=100), segments=("k",))):
        steps += 1
        for model in counting.snapshot().models:
            made = model.predictions_positive + model.predictions_negative
            assert made == model.matched + model.pending + model.expired
    assert steps > 100


def test_slices_hold_every_row_once_and_what_was_rejected_once():
    batch = batch_of(stream(seed=3, predictions=20), segments=("k",))
    parts = list(in_slices(in_row_order(batch), most=6))
    for kind in ("predictions", "labels"):
        keys = [key for part in parts for key in getattr(part, kind).key.tolist()]
        assert keys == getattr(batch, kind).key.tolist()
    assert max(len(part.predictions) + len(part.labels) for part in parts) == 6
    assert [part.records for part in parts] == [batch.records] + [0] * (len(parts) - 1)
    assert list(in_slices(batch, most=1_000)) == [batch]


def test_new_combinations_are_numbered_some_at_a_time():
    count = stages.GROUPS_AT_ONCE * 2 + 1
    made = {"type": "prediction", "ts": 1, "model": "m", "prediction": 1}
    events = [{**made, "id": f"p{n}", "segment": {"k": f"v{n}"}} for n in range(count)]
    monitor = Monitor(Config(defaults={"segments": ["k"], "max_segment_values": count}))
    known = [
        len(monitor._catalogue.group_values())
        for _ in monitor.steps(batch_of(events, segments=("k",)))
    ]
    assert known[-1] == count
    assert max(np.diff(known)) <= stages.GROUPS_AT_ONCE
