"""Counting into tables, beside NumPy's own way of it."""

import numpy as np
import pytest

from monitor.counts import Outcome, add_at
from monitor.join.counters import CELLS, Books


def test_adding_equals_numpys_own_on_tables_that_are_not_square():
    chance = np.random.default_rng(1)
    table = np.zeros((7, 3), np.int64)
    row, column = chance.integers(0, 7, 500), chance.integers(0, 3, 500)
    amount = chance.integers(-5, 6, 500)
    expected = table.copy()
    np.add.at(expected, (row, column), amount)
    add_at(table, row, column, amount)
    assert np.array_equal(table, expected)


def test_a_table_in_pieces_is_refused_and_not_lost_in_a_copy():
    with pytest.raises(ValueError, match="C-contiguous"):
        add_at(np.zeros((4, 4), np.int64)[:, :2], np.array([0]), np.array([0]), 1)


def test_moves_go_from_row_to_column_of_their_model():
    books = Books()
    books.ensure(3)
    books.move(np.array([2, 2, 0]), np.array([-1, -1, Outcome.TP]), np.array([0, 0, Outcome.FP]))
    expected = np.zeros((3, CELLS, CELLS), np.int64)
    expected[2, 0, 1 + Outcome.TP] = 2
    expected[0, 1 + Outcome.TP, 1 + Outcome.FP] = 1
    assert np.array_equal(books.transitions, expected)
