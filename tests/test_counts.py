"""Confusion counts refuse what is no count, whichever way they are made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from monitor.counts import ConfusionCounts

WRONG = [float("nan"), float("inf"), -1, -0.5]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("at", range(4))
def test_a_cell_that_is_no_count_is_refused(wrong: float, at: int) -> None:
    cells = [[1.0, 2.0, 3.0, 4.0]] * 2
    cells[1] = [wrong if i == at else value for i, value in enumerate(cells[1])]

    with pytest.raises(ValueError, match="finite and at least 0"):
        ConfusionCounts.from_cells(cells)
    named = dict(zip(("tp", "fp", "fn", "tn"), np.transpose(cells), strict=True))
    with pytest.raises(ValueError, match=f"{list(named)[at]} must be finite and at least 0"):
        ConfusionCounts(**named)


@pytest.mark.parametrize("shape", [(), (3,), (5,), (4, 2)])
def test_cells_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="last axis must be tp, fp, fn, tn"):
        ConfusionCounts.from_cells(np.ones(shape))


def test_text_is_no_count() -> None:
    with pytest.raises(TypeError, match="cells must be a number"):
        ConfusionCounts.from_cells(["1", "2", "3", "4"])


def test_a_difference_below_0_is_refused() -> None:
    one = ConfusionCounts.from_cells([1, 1, 1, 1])
    with pytest.raises(ValueError, match="fn must be finite and at least 0"):
        _ = one - ConfusionCounts.from_cells([0, 0, 2, 0])


@given(arrays(np.int64, st.tuples(st.integers(0, 5), st.just(4)), elements=st.integers(0, 10**9)))
def test_sums_and_parts_are_those_of_the_cells(cells: np.ndarray) -> None:
    counts = ConfusionCounts.from_cells(cells)

    assert counts.cells.tolist() == cells.tolist()
    assert counts.sum().cells.tolist() == cells.sum(axis=0).tolist()
    assert counts.sum(axis=0) == counts.sum()
    assert counts[1:].cells.tolist() == cells[1:].tolist()
    assert counts.cells.dtype == np.int64
