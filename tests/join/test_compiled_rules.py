"""The join in the compiled kernel against the join in Python, to the last bit."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.class_names import name_numbers
from monitor.events.columns import (
    LATEST_MS,
    NO_CLASS,
    NO_TIME,
    RETRACTED,
    Group,
    Labels,
    Predictions,
)
from monitor.join import BEFORE_ALL, Join, index
from monitor.join.deltas import DeltaRoom, Deltas
from monitor.kernel import compiled_module
from monitor.kernel.choice import VARIABLE


@pytest.fixture(autouse=True, scope="module")
def _few_places():
    """So few that a join is made in no time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "LEAST_PLACES", 1024)
        yield


pytestmark = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")

START, HOUR = 1_600_000_000_000, 3_600_000
GROUPS = [Group("a", "1"), Group("b"), Group("a", "2"), Group("c")]
CONFIGS = [
    Config(defaults={"label_timeout": "2h", "horizon": "30d"}),  # labels are late
    Config(defaults={"label_timeout": "1h", "horizon": "2h"}),  # predictions end
    Config(models={name: {"labelling": "weighted"} for name in "abc"}),
    Config(
        models={
            name: {"labelling": "negatives_by_timeout", "label_timeout": timeout}
            for name, timeout in zip("abc", ("1h", "2h", "30d"), strict=True)
        }
    ),
    Config(models={"a": {"segments": ["version"], "shadow_versions": ["2"]}, "b": {}, "c": {}}),
    Config(
        models={"a": {"classes": ["x", "y", "z"]}, "b": {}, "c": {"classes": ["x", "y"]}},
        defaults={"label_timeout": "2h", "horizon": "30d"},
    ),
    Config(models={name: {"classes": ["1", "x", "y"], "label_timeout": "1h"} for name in "abc"}),
]
_PLAIN = dict.fromkeys("xyz1", 1)
NAMES = dict(zip("xyz1", name_numbers("xyz1").tolist(), strict=True))
shares = st.sampled_from([np.nan, 1.0, 0.25, 0.001])
moments = st.one_of(st.integers(0, 6 * HOUR), st.sampled_from([0, HOUR, 2 * HOUR, 90 * HOUR]))
predicted = st.tuples(
    st.integers(0, 20),
    moments,
    st.booleans(),
    st.sampled_from([np.nan, 0.0, 0.2999, 0.3, 0.5, 1.0]),
    st.integers(0, len(GROUPS) - 1),
)
labelled = st.tuples(
    st.integers(0, 25),
    moments,
    st.sampled_from([0, 1, RETRACTED, *NAMES, *NAMES]),
    shares,
    st.booleans(),
)
batches = st.lists(
    st.tuples(st.lists(predicted, max_size=15), st.lists(labelled, max_size=25)), max_size=6
)


def columns_of(rows, *kinds):
    found = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return [np.array(column, kind) for column, kind in zip(found, kinds, strict=True)]


def events_of(batch, numbers, config=CONFIGS[0]):
    """The columns of a batch: all predictions, then all labels; some in one record with theirs."""
    sizes = np.array([len(config.model(group.model).classes) for group in GROUPS])
    named = sizes.any()
    key, time, positive, score, group = columns_of(
        batch[0], np.uint64, np.int64, np.bool_, np.float64, np.int64
    )
    many = sizes[group] > 2
    predictions = Predictions(
        key=key + np.uint64(1),
        time=START + time,
        predicted_positive=positive | many,
        score=score,
        group=numbers[group],
        predicted_class=np.where(many, time % 3, NO_CLASS),
        row=np.arange(len(key)),
    )
    rows = [
        (key, time, NAMES.get(value, value) if named else _PLAIN.get(value, value), *rest)
        for key, time, value, *rest in batch[1]
    ]
    key, time, value, share, together = columns_of(
        rows, np.uint64, np.int64, np.int64, np.float64, np.bool_
    )
    together &= np.isin(key + np.uint64(1), predictions.key)
    times = {int(k): int(t) for k, t in zip(predictions.key, predictions.time, strict=True)}
    rows = {int(k): int(r) for k, r in zip(predictions.key, predictions.row, strict=True)}
    theirs = [(times.get(int(k) + 1, NO_TIME), rows.get(int(k) + 1, 0)) for k in key]
    given, row = columns_of(theirs, np.int64, np.int64)
    labels = Labels(
        key=key + np.uint64(1),
        time=START + time,
        value=value,
        sampling_probability=share,
        prediction_time=np.where(together, given, NO_TIME),
        row=np.where(together, row, len(predictions) + np.arange(len(key))),
    )
    return predictions, labels.take(np.argsort(labels.row, kind="stable"))


class Run:
    """One join, and all that it reports."""

    def __init__(self, config, kernel):
        self.catalogue = Catalogue(config)
        keys = {name: len(model.segments) for name, model in config.models.items()}
        groups = [
            group._replace(values=(group.version,) * keys.get(group.model, 0)) for group in GROUPS
        ]
        self.numbers = self.catalogue.groups_of(groups)[0]
        self.config = config
        with patch.dict("os.environ", {VARIABLE: kernel}):
            self.join = Join(self.catalogue, 1_000)

    def take(self, batch, watermark) -> Any:
        times = np.full(len(self.catalogue.models), watermark)
        over = self.join.forgetting.over(times, watermark)
        self.join.advance(over)
        found = self.join.steps(*events_of(batch, self.numbers, self.config), over)
        deltas = Deltas.concatenate([*found])
        order = np.lexsort([getattr(deltas, name) for name in deltas.names()])
        return deltas.take(order), self.join.met(), self.join.state()


@settings(max_examples=40, deadline=None)  # a machine may be busy
@given(batches, st.sampled_from(CONFIGS), st.integers(0, 3 * HOUR))
def test_each_kernel_joins_the_same(batches, config, pace):
    by_kernel, by_python = Run(config, "c"), Run(config, "python")
    watermark = BEFORE_ALL
    for number, batch in enumerate(batches):
        found, expected = (run.take(batch, watermark) for run in (by_kernel, by_python))
        assert not list(differences(found, expected))
        watermark = START + number * pace


def one_of_each():
    """A prediction and labels of its id: in force, beaten by it, retracted, and the same again."""
    labels = [(1, 20, 1), (1, 10, 0), (1, 30, RETRACTED), (1, 30, RETRACTED), (2, 5, 1)]
    return (
        [(1, 0, True, 0.3, 0), (2, 0, False, np.nan, 3)],
        [(*label, np.nan, False) for label in labels],
    )


def test_a_plain_batch_is_the_kernels():
    run = Run(CONFIGS[0], "c")
    rules = run.join._labels, run.join._predictions
    with (
        patch.object(rules[0], "_put", side_effect=AssertionError),
        patch.object(rules[1]._memory, "enter_predictions", side_effect=AssertionError),
        patch.object(rules[1]._memory, "known", side_effect=AssertionError),  # a second search
    ):
        deltas, met, state = run.take(one_of_each(), BEFORE_ALL)
    assert deltas.count.tolist().count(-1) == 1
    assert len(met[0].model) == 5
    assert (state["books"]["duplicate_labels"], state["books"]["applied"].tolist()) == (
        3,
        [1, 0, 1],
    )


def test_a_batch_with_names_for_classes_is_the_kernels_unless_one_is_misnamed():
    run = Run(CONFIGS[5], "c")
    labels = [(1, 20, "y"), (1, 10, "x"), (1, 30, RETRACTED), (1, 40, "z"), (2, 5, "y")]
    batch = one_of_each()[0], [(*label, np.nan, False) for label in labels]
    rules = run.join._labels, run.join._predictions
    with (
        patch.object(rules[0], "_put", side_effect=AssertionError),
        patch.object(rules[1]._memory, "enter_predictions", side_effect=AssertionError),
    ):
        deltas, _, state = run.take(batch, BEFORE_ALL)
        assert sorted(zip(deltas.stratum.tolist(), deltas.count.tolist(), strict=True))[-2:] == [
            (1, 1),
            (2, 1),
        ]
        assert state["books"]["labels"].tolist() == [[0, 2, 1], [0, 0, 0], [0, 1, 0]]
        with pytest.raises(AssertionError):
            run.take(([], [(2, 9, "z", np.nan, False)]), BEFORE_ALL)


@pytest.mark.parametrize(
    ("column", "changed"),
    [
        ("time", -(1 << 62)),
        ("time", LATEST_MS),
        ("group", -1),
        ("group", 4),
        ("score", 1.5),
        ("score", -0.1),
        ("predicted_class", -2),
        ("predicted_class", 64),
    ],
)
def test_a_prediction_that_is_not_plain_is_left_to_python(column, changed):
    run = Run(CONFIGS[0], "c")
    predictions, _ = events_of(one_of_each(), run.numbers)
    getattr(predictions, column)[1] = changed
    rules, over = run.join._predictions._compiled, run.join.forgetting
    run.join._memory.learn_models()
    times = np.full(len(run.catalogue.models), BEFORE_ALL)
    before = run.join.books.state()
    assert not rules.remember(predictions, over.over(times, BEFORE_ALL), DeltaRoom(2))
    assert not list(differences(run.join.books.state(), before))


@pytest.mark.parametrize("ids", [[2, 5, 4], [4, 5, 6, 5]], ids=["known", "twice"])
def test_predictions_of_an_id_that_comes_again_are_left_to_python_as_a_whole(ids):
    run = Run(CONFIGS[0], "c")
    run.take((one_of_each()[0], []), BEFORE_ALL)
    table, rules = run.join._memory.table, run.join._predictions._compiled
    predictions, _ = events_of(([(i, 0, True, 0.3, 0) for i in ids], []), run.numbers)
    over = run.join.forgetting.over(np.full(len(run.catalogue.models), BEFORE_ALL), BEFORE_ALL)
    table.give_back(table.reserve(len(ids)))  # so that the index has its room, and moves no more
    before, places = run.join.state(), table.index_memory[0].copy()
    room = DeltaRoom(len(ids))
    assert not rules.remember(predictions, over, room)
    assert not list(differences(run.join.state(), before))
    assert (table.index_memory[0] == places).all()
    assert not len(room.written)
    assert not table.all_rows()[len(table) :].any()


@pytest.mark.parametrize(
    ("column", "changed"), [("time", -(1 << 62)), ("time", LATEST_MS), ("value", -1), ("value", 67)]
)
def test_a_label_that_is_not_plain_is_left_to_python(column, changed):
    run = Run(CONFIGS[0], "c")
    run.take((one_of_each()[0], []), BEFORE_ALL)
    _, labels = events_of(one_of_each(), run.numbers)
    getattr(labels, column)[4] = changed
    memory, over = run.join._memory, run.join.forgetting
    slots = memory.table.find(labels.key)
    assert (slots >= 0).all()
    times = np.full(len(run.catalogue.models), BEFORE_ALL)
    before = run.join.state()
    rules = run.join._labels._compiled
    room = DeltaRoom(2 * len(labels))
    assert rules.meet(slots, labels, over.over(times, BEFORE_ALL), room) is None
    assert rules.meet(slots + 100_000, labels, over.over(times, BEFORE_ALL), room) is None
    assert not list(differences(run.join.state(), before))
