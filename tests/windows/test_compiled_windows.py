"""Panes and windows that the compiled kernel counts into, against Python, to the last bit."""

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
from monitor.join import CELLS, Deltas
from monitor.kernel import compiled_module
from monitor.kernel.choice import VARIABLE
from monitor.windows import Windows

pytestmark = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")

HOUR = 3_600_000
FIRST = 1_700_000_000_000 // HOUR * HOUR
GROUPS = [Group("a", values=("x",)), Group("b"), Group("a", values=("y",)), Group("c")]
SEGMENTED = {"a": {"segments": ["k"]}, "b": {}, "c": {}}
CONFIGS = [
    Config(models=SEGMENTED, windows=["1h", "1d"]),
    Config(models=SEGMENTED | {"c": {"clock": "label"}}, windows=["1h", "7d"]),
    Config(models=SEGMENTED | {"b": {"labelling": "weighted"}}, windows=["1h"]),
]
moments = st.builds(
    lambda days, rest: FIRST + days * DAY_MS + rest,
    st.sampled_from([-900, -70, -2, -1, 0, 0, 0, 0, 1, 70]),
    st.integers(0, DAY_MS),
)
near = st.integers(FIRST - 4 * HOUR, FIRST + HOUR)
amounts = st.sampled_from([1, 1, 1, 1, -1, -1])
places = (st.integers(0, len(GROUPS) - 1), st.integers(0, CELLS - 1))
usual = st.tuples(near, near, *places, amounts)
odd = st.tuples(moments, moments, *places, amounts | st.sampled_from([2, 2**31 - 1]))
steps = st.lists(
    st.tuples(
        st.lists(usual, max_size=20) | st.lists(usual | odd, max_size=9),
        st.lists(st.none() | near | moments, min_size=3, max_size=3),
        st.booleans(),
    ),
    max_size=5,
)


class Counted:
    """Windows of a kernel, and all that can be read from them."""

    def __init__(self, config, kernel):
        self.catalogue = Catalogue(config)
        self.numbers = self.catalogue.groups_of(GROUPS)[0]
        with patch.dict("os.environ", {VARIABLE: kernel}):
            self.windows = Windows(config, self.catalogue)

    def apply(self, changes):
        columns = np.array(changes, np.int64).reshape(-1, 5).T
        names = ("time", "label_time", "group", "cell", "count")
        deltas = dict(zip(names, columns, strict=True))
        deltas["group"] = self.numbers[deltas["group"]]
        self.windows.apply(Deltas(**deltas, score_bin=np.zeros_like(columns[0])))

    def look(self, times):
        """Move the windows, and ask for first panes, so that later changes have to be noted."""
        now = np.where(times == NO_TIME, FIRST, times)
        seen = [self.windows.view(name, now, np.zeros_like(now)) for name in self.windows.names]
        return seen, [self.windows.first_pane(model) for model in range(len(times))]

    def state(self):
        running = self.windows._running.values()
        changes = self.windows._changes, [window._changes for window in running]
        return self.windows.state(), changes


@settings(max_examples=40, deadline=None)  # a machine may be busy
@given(st.sampled_from(CONFIGS), steps)
def test_each_kernel_counts_the_same(config, steps):
    both = by_kernel, by_python = Counted(config, "c"), Counted(config, "python")
    for changes, moments, is_seen in steps:
        times = np.array([NO_TIME if moment is None else moment for moment in moments])
        for one in both:
            one.apply(changes)
            one.windows.advance(times)
        if is_seen:
            assert not list(differences(*(one.look(times) for one in both)))
        for one in both:
            one.apply(changes[:3])
        assert not list(differences(by_kernel.state(), by_python.state()))


def test_a_batch_is_the_kernels_while_windows_move_and_first_panes_are_asked_for():
    run = Counted(CONFIGS[1], "c")
    times = np.full(3, FIRST)
    run.windows.advance(times)
    rows = [(FIRST - 60_000 * i, FIRST - 30_000 * i, i % 4, i % CELLS, 1) for i in range(1, 50)]
    run.apply(rows)
    before = run.look(times)[0][0][1].sum()  # of the shortest window
    with patch("numpy.add.at", side_effect=AssertionError):
        run.apply(rows)
    assert 0 < before < run.look(times)[0][0][1].sum()


@pytest.mark.parametrize(("column", "value"), [(2, 1 << 40), (2, -1), (3, -1), (3, CELLS)])
def test_a_change_without_a_place_changes_nothing_in_the_kernel(column, value):
    run = Counted(CONFIGS[0], "c")
    run.apply([(FIRST, FIRST, 0, 0, 1)])
    before = run.state()
    rows = np.array([[FIRST, FIRST, 0, 1, 1]] * 2)
    rows[1, column] = value
    names = ("time", "label_time", "group", "cell", "count")
    columns = dict(zip(names, rows.T, strict=True))
    deltas = Deltas(**columns, score_bin=np.zeros(2, np.int64))
    assert not run.windows._tallied(compiled_module(), deltas)
    assert not list(differences(run.state(), before))
