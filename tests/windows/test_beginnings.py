import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.join.deltas import CELLS, PREDICTED_POSITIVE
from monitor.windows.beginnings import Beginnings
from monitor.windows.panes import PaneRing

SPAN = 12
MODELS = 2

changes = st.tuples(
    st.just("add"),
    st.lists(
        st.tuples(
            st.integers(0, 40),  # pane: late, stored, or ahead
            st.integers(0, MODELS - 1),
            st.integers(0, CELLS - 1),
            st.integers(-1, 3),
        ),
        min_size=1,
        max_size=6,
    ),
)
steps = st.lists(
    st.one_of(
        changes,
        st.tuples(st.just("advance"), st.integers(0, 40)),
        st.tuples(st.just("forget"), st.integers(0, MODELS - 1)),
        st.tuples(st.just("ask"), st.lists(st.integers(1, 9), min_size=1, max_size=4)),
    ),
    max_size=30,
)


class Followed:
    """A ring, what is cached of it, and how many panes were read for that."""

    def __init__(self):
        self.ring = PaneRing(width=1, span=SPAN, cells=CELLS)
        self.ring.ensure(np.arange(MODELS))
        self.read = 0
        self.beginnings = Beginnings(self.ring, self.table)

    def table(self, start, end, rows):
        self.read += end - start
        return self.ring.table(start, end, rows)

    def add(self, *rows):
        pane, model, cell, count = np.array(rows, dtype=np.int64).T
        self.ring.add(pane, model, cell, count)
        self.beginnings.note(model, pane)


def first_by_recount(ring, model):
    panes, cells = ring.series(model)
    busy = panes[cells[:, PREDICTED_POSITIVE:].any(axis=1)]
    return int(busy.min()) if len(busy) else None


@given(steps)
def test_beginnings_are_those_of_a_recount_of_the_ring_whatever_came_between(steps):
    followed = Followed()
    for what, of in steps:
        if what == "add":
            followed.add(*of)
        elif what == "advance":
            followed.ring.advance(of)
        elif what == "forget":
            followed.beginnings.forget(of)
        for model in range(MODELS if what == "ask" else 0):
            first = first_by_recount(followed.ring, model)
            assert followed.beginnings.first(model, model) == first
            if first is None:
                continue
            ends = (first + np.cumsum(of)).tolist()
            rows = np.array([model])
            sums = [followed.ring.sum(first, end, rows)[0].tolist() for end in ends]
            assert followed.beginnings.sums(model, model, ends).tolist() == sums


def test_only_what_has_changed_is_read_again():
    followed = Followed()
    followed.ring.advance(8)
    followed.add((1, 0, PREDICTED_POSITIVE, 1))
    assert followed.beginnings.first(0, 0) == 1
    followed.beginnings.sums(0, 0, [3, 5])
    assert followed.read == 4
    followed.beginnings.sums(0, 0, [3, 5, 7])
    assert followed.read == 6
    followed.add((7, 0, PREDICTED_POSITIVE, 1), (2, 1, PREDICTED_POSITIVE, 1))
    followed.beginnings.sums(0, 0, [3, 5, 7])
    assert followed.read == 6
    followed.add((5, 0, PREDICTED_POSITIVE, 1))
    followed.beginnings.sums(0, 0, [3, 5, 7])
    assert followed.read == 8
