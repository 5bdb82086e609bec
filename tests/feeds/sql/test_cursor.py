"""The rows that a page adds, against all rows at once."""

import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.sql.cursor import Cursor, CursorError, new_rows

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=30)
"""A cursor and a content each; many are equal."""


def read_all(table, at, most):
    """Read until nothing is left, as a source does; the rows, and the place behind them."""
    found, size = [], most
    while True:
        rows = sorted((row for row in table if row[0] >= at.value), key=lambda row: row[0])
        page = [{"n": n, "content": content} for n, content in rows[:size]]
        full = len(page) == size
        fresh = new_rows(page, "n", at, full=full)
        if fresh is None:
            size *= 2
            continue
        found += [tuple(row.values()) for row in fresh.rows]
        at = Cursor.from_position(json.loads(json.dumps(fresh.following.to_position())))
        size = most
        if not full:
            return found, at


@given(st.lists(ROWS, max_size=4), st.integers(1, 6))
def test_rows_are_read_once_in_whatever_portions_they_come(portions, most):
    table, found, at = [], [], Cursor(0, {})
    for portion in portions:
        came = [(max(n, at.value), content) for n, content in portion]
        table += came
        rows, at = read_all(table, at, most)
        found += rows
    assert Counter(found) == Counter(table)


@pytest.mark.parametrize(
    "value",
    [
        10**17,
        -1.5,
        "2026-07-01 12:00:00.5",
        Decimal("12.340"),
        date(2026, 7, 1),
        datetime(2026, 7, 1, 12, 0, 0, 5, tzinfo=UTC),
        datetime(2026, 7, 1, 12),  # noqa: DTZ001  # as databases give it
        b"\x00\x01",
    ],
)
def test_a_cursor_of_any_type_survives_a_checkpoint(value):
    cursor = Cursor(value, {"a": 2})
    stored = json.loads(json.dumps(cursor.to_position()))
    assert Cursor.from_position(stored) == cursor
    assert type(Cursor.from_position(stored).value) is type(value)


MIXED = {
    "a text among numbers": (Cursor(0, {}), [3, "later"], "numbers (3) and texts ('later')"),
    "a time after texts": (Cursor("a", {"x": 1}), [date(2026, 7, 1)], "texts ('a') and times ("),
}


@pytest.mark.parametrize("case", MIXED)
def test_cursors_that_have_no_order_are_refused(case):
    """SQLite has values of any type in a column, and sorts every number before any text."""
    at, values, got = MIXED[case]
    with pytest.raises(CursorError, match="'n' must hold numbers, times or texts alone") as fault:
        new_rows([{"n": value} for value in values], "n", at, full=False)
    assert f"got {got}" in str(fault.value)


def test_numbers_of_any_type_and_a_start_of_another_one_have_an_order():
    rows = [{"n": value} for value in (1, 1.5, Decimal(2))]
    assert new_rows(rows, "n", Cursor("1", {}), full=False).rows == rows


@pytest.mark.parametrize("value", [None, [1], True])
def test_other_cursors_are_refused(value):
    with pytest.raises(CursorError, match="'n' must hold numbers, times or texts"):
        new_rows([{"n": value}], "n", Cursor(0, {}), full=False)
