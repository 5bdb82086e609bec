"""Panes that the compiled kernel counts into against panes in Python, to the last bit."""

from resource import RUSAGE_SELF, getrusage
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same import differences

from monitor.events.columns import NO_TIME
from monitor.kernel import compiled_module
from monitor.kernel.choice import VARIABLE
from monitor.windows.pane_slots import PaneSlots
from monitor.windows.panes import PaneRing

MODELS, CELLS, SPAN = 3, 2, 5
OWNERS = np.array([0, 1, 1, 2])
counts = st.sampled_from([1, 1, 1, -1, 7, 2**31 - 2, -(2**31)])
changes = st.lists(
    st.tuples(st.integers(-9, 12), st.integers(0, 3), st.integers(0, CELLS - 1), counts),
    max_size=30,
)
moves = st.lists(
    st.tuples(changes, st.lists(st.integers(-9, 20) | st.none(), min_size=MODELS, max_size=MODELS)),
    max_size=6,
)


def ring_by(kernel):
    with patch.dict("os.environ", {VARIABLE: kernel}):
        ring = PaneRing(width=10, span=SPAN, cells=CELLS)
    ring.ensure(OWNERS)
    return ring


def add(ring, rows):
    columns = list(zip(*rows, strict=True)) or [()] * 4
    ring.add(*(np.array(column, np.int64) for column in columns))


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
@settings(max_examples=100, deadline=None)  # a machine may be busy
@given(moves)
def test_each_kernel_counts_the_same(moves):
    rings = by_kernel, by_python = ring_by("c"), ring_by("python")
    for rows, panes in moves:
        times = np.array([NO_TIME if pane is None else 10 * pane for pane in panes])
        for ring in rings:
            add(ring, rows)
            ring.advance(times)
        assert not list(differences(by_kernel.state(), by_python.state()))
        for ring in rings:
            add(ring, rows)
        assert not list(differences(by_kernel.state(), by_python.state()))


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
def test_changes_by_one_are_the_kernels_and_others_are_not_where_32_bits_may_be_too_few():
    ring = ring_by("c")
    ring.advance(np.full(MODELS, 40))
    with patch.object(ring._slots, "_add", side_effect=AssertionError):
        add(ring, [(4, 3, 1, 1), (0, 0, 0, -1), (5, 1, 0, 1), (-1, 1, 0, 1)])
        with pytest.raises(AssertionError):
            add(ring, [(4, 3, 1, 2)])
    assert ring.table(0, 6, np.arange(4)).sum() == 1
    add(ring, [(4, 3, 1, 2**31)])
    with patch.object(ring._slots, "_add", side_effect=AssertionError):
        add(ring, [(4, 3, 1, 2**31)])
    assert ring.table(4, 5, np.array([3]))[0, 0, 1] == 2**32 + 1


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
@pytest.mark.parametrize("row", [(4, 4, 0, 1), (4, -1, 0, 1), (4, 0, 2, 1), (4, 0, -1, 1)])
def test_a_change_without_a_place_is_not_the_kernels(row):
    ring = ring_by("c")
    ring.advance(np.full(MODELS, 40))
    compiled, slots = compiled_module(), ring._slots
    columns = tuple(np.array([1, value]) for value in row)
    ahead = np.empty(2, np.int64)
    newest = np.full(MODELS, 4)
    assert compiled.count(slots.counts, slots.written, newest, OWNERS, columns, ahead) == -1
    assert not slots.counts.any()
    assert not slots.written.any()


def widened(state):
    return state | {"counts": state["counts"].astype(np.int64)}


@example(
    [([(1, 1, 1, 1)], [None, 1, 0]), ([(0, 0, 0, 1), (1, 1, 1, 2**31 - 2)], [None] * 3)], (1, 2)
)
@given(moves, st.sampled_from([(1, 2), (2, 1)]))
def test_a_row_that_is_folded_counts_in_the_other_one(moves, rows):
    row, into = rows
    ring, expected = ring_by("python"), ring_by("python")
    for changes, panes in moves:
        times = np.array([NO_TIME if pane is None else 10 * pane for pane in panes])
        add(ring, changes)
        add(expected, [(pane, into if at == row else at, *more) for pane, at, *more in changes])
        ring.fold(row, into)
        ring.advance(times)
        expected.advance(times)
    # Additions change to 64 bits before they must, by what is in a cell: a fold exactly then.
    assert not list(differences(widened(ring.state()), widened(expected.state())))


def test_counts_that_32_bits_are_too_few_for_are_folded():
    ring = ring_by("python")
    ring.advance(np.zeros(MODELS, dtype=np.int64))
    for row in (1, 2):
        add(ring, [(0, row, 0, 2**31 - 2)])
    ring.fold(1, 2)
    assert ring.table(0, 1, np.array([1, 2]))[0].tolist() == [[0, 0], [2**32 - 4, 0]]


def test_room_for_more_rows_leaves_the_memory_of_empty_slots_untouched():
    slots = PaneSlots(span=40_000, cells=4)
    slots.ensure(100)
    before = getrusage(RUSAGE_SELF).ru_minflt
    slots.ensure(2_700)
    assert getrusage(RUSAGE_SELF).ru_minflt - before < 100
    assert not slots.counts[::1_000].any()
