"""Label delays and scores that the compiled kernel counts, against Python, to the last bit."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Group
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import CELLS, Deltas
from monitor.kernel import compiled_module
from monitor.kernel.choice import VARIABLE
from monitor.labels.delay_bins import FIRST_MS, LAST_MS
from monitor.labels.delays import LabelDelays
from monitor.windows.scores import Scores
from monitor.windows.value_scores import ValueScores

pytestmark = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")

MODELS = 3
HOUR = 3_600_000
FIRST = 1_700_000_000_000
moments = st.builds(
    lambda days, rest: FIRST + days * DAY_MS + rest,
    st.sampled_from([-900, -70, -63, -2, -1, 0, 0, 0, 1, 2, 70, 900]),
    st.integers(0, DAY_MS),
)
rows = st.tuples(
    moments,
    moments,
    st.integers(0, MODELS - 1),
    st.integers(0, CELLS - 1),
    st.sampled_from([NO_SCORE, 0, 1, 500, SCORE_BINS - 1]),
    st.sampled_from([1, 1, 1, 1, -1, -1, 2, 2**31 - 1]),
)
usual = st.tuples(
    st.integers(FIRST - 4 * HOUR, FIRST + HOUR),
    st.integers(FIRST - 4 * HOUR, FIRST + HOUR),
    st.integers(0, MODELS - 1),
    st.integers(0, CELLS - 1),
    st.integers(0, SCORE_BINS - 1),
    st.sampled_from([1, -1]),
)
times = st.lists(st.none() | moments, min_size=MODELS, max_size=MODELS)
steps = st.lists(
    st.tuples(st.lists(usual, max_size=20) | st.lists(usual | rows, max_size=9), times), max_size=5
)


def made(kind, kernel):
    config = Config(defaults={"segments": ["a", "b"]} if kind is ValueScores else {})
    catalogue = Catalogue(config)
    values = ("x", "y") if kind is ValueScores else ()
    catalogue.groups_of([Group(f"model-{number}", "", values) for number in range(MODELS)])
    with patch.dict("os.environ", {VARIABLE: kernel}):
        if kind is ValueScores:
            return ValueScores(catalogue, Scores(catalogue))
        return LabelDelays(config, catalogue) if kind is LabelDelays else Scores(catalogue)


def deltas_of(changes):
    columns = np.array(changes, np.int64).reshape(-1, 6).T
    names = ("time", "label_time", "group", "cell", "score_bin", "count")
    return Deltas(**dict(zip(names, columns, strict=True)))


@pytest.mark.parametrize("kind", [LabelDelays, Scores, ValueScores])
@settings(max_examples=40, deadline=None)  # a machine may be busy
@given(steps=steps)
def test_each_kernel_counts_the_same(kind, steps):
    both = by_kernel, by_python = made(kind, "c"), made(kind, "python")
    for changes, moments in steps:
        now = np.array([NO_TIME if moment is None else moment for moment in moments])
        for one in both:
            one.apply(deltas_of(changes))
            one.advance(now)
            one.apply(deltas_of(changes[:3]))
        assert not list(differences(by_kernel.state(), by_python.state()))
        assert by_kernel._changes.tolist() == by_python._changes.tolist()


@pytest.mark.parametrize("kind", [LabelDelays, Scores, ValueScores])
def test_a_long_batch_is_the_kernels_alone(kind):
    chance = np.random.default_rng(7)
    hours = chance.integers(-3 * HOUR, HOUR, (2000, 2)) + FIRST
    rest = chance.integers(0, [MODELS, CELLS, SCORE_BINS], (2000, 3))
    changes = np.column_stack([hours, rest, chance.choice([1, -1], 2000)])
    both = by_kernel, by_python = made(kind, "c"), made(kind, "python")
    for one in both:
        one.advance(np.full(MODELS, FIRST))
        one.apply(deltas_of([[FIRST, FIRST, model, 0, 3, 1] for model in range(MODELS)]))
    by_python.apply(deltas_of(changes))
    with patch("numpy.add.at", side_effect=AssertionError):
        by_kernel.apply(deltas_of(changes))
    assert not list(differences(by_kernel.state(), by_python.state()))


@pytest.mark.parametrize("kind", [LabelDelays, Scores, ValueScores])
@pytest.mark.parametrize("wrong", [(2, 1 << 40), (2, -1), (3, -1)])
def test_a_change_without_a_place_changes_nothing_in_the_kernel(kind, wrong):
    one = made(kind, "c")
    one.apply(deltas_of([[FIRST, FIRST, 0, 0, 3, 1]]))
    before = one.state()
    rows = [[FIRST, FIRST + 5, 0, 1, 3, 1], [FIRST, FIRST + 5, 0, 1, 3, 1]]
    column, value = wrong
    rows[1][column] = value
    target = "monitor.labels.delay_tables._count"
    if kind is LabelDelays:
        with patch(target, side_effect=AssertionError), pytest.raises(AssertionError):
            one.apply(deltas_of(rows))
    else:
        assert not one._tallied(compiled_module(), deltas_of(rows))
    assert not list(differences(one.state(), before))


def test_each_kernel_counts_a_delay_at_the_edge_of_a_bin_in_the_same_one():
    delays = np.unique([each + more for each in (FIRST_MS, LAST_MS) for more in (-1, 0, 1)])
    made_at, none = np.full(len(delays), FIRST), np.zeros(len(delays), np.int64)
    deltas = Deltas(
        time=made_at,
        label_time=made_at + delays,
        group=none,
        cell=none,
        score_bin=none + NO_SCORE,
        count=none + 1,
    )
    by_kernel, by_python = made(LabelDelays, "c"), made(LabelDelays, "python")
    for one in (by_kernel, by_python):
        one.apply(deltas)
    assert not list(differences(by_kernel.state(), by_python.state()))
    assert by_kernel.state()["counts"].sum() == len(delays)
