"""How far the rows of a database were read: the last cursor, and the rows that have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import xxhash

Row = Mapping[str, Any]
"""A row by the names of its columns."""

_OF_TEXT: dict[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "Decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "bytes": bytes.fromhex,
}
"""Reads a cursor from its text in a checkpoint, by its type."""
_KINDS = {int: "numbers", float: "numbers", Decimal: "numbers", str: "texts", bytes: "bytes"}
"""What cursors of a type are; all others are times. Those of two kinds have no order."""


class CursorError(Exception):
    """Rows have no cursor, one that is neither a number nor a time nor a text, or both."""


class Cursor(NamedTuple):
    """A place in the rows of a query.

    Attributes:
        value: that `:cursor` has in the next query; every row read so far has it or a
            smaller one.
        counted: the rows read so far that have this value, by their content, with how
            often each was read.
    """

    value: Any
    counted: Mapping[str, int]

    def to_position(self) -> dict[str, Any]:
        """Return it as a checkpoint stores it."""
        kind, text = type(self.value).__name__, str(self.value)
        if isinstance(self.value, datetime | date):
            text = self.value.isoformat()
        elif isinstance(self.value, bytes):
            text = self.value.hex()
        return {"type": kind, "value": text, "counted": dict(self.counted)}

    @classmethod
    def from_position(cls, position: Mapping[str, Any]) -> Cursor:
        """Return what `to_position` stored."""
        value = _OF_TEXT[position["type"]](position["value"])
        return cls(value, dict(position["counted"]))


class NewRows(NamedTuple):
    """The rows of a page that were not read before.

    Attributes:
        rows: in the order of the cursor.
        following: the place behind them.
    """

    rows: list[Row]
    following: Cursor


def new_rows(rows: Sequence[Row], column: str, at: Cursor, *, full: bool) -> NewRows | None:
    """Return the rows that were not read before; None if a larger page is needed.

    A full page may end between rows of one cursor. These are left for the next page, which
    returns them all. A full page with nothing new before them is too small.

    Args:
        rows: a page, sorted by the cursor.
        column: of the cursor.
        at: the place of the query.
        full: True if the page has as many rows as it may have.

    Raises:
        CursorError: a row has no usable cursor, or one that cannot be compared with the others.

    >>> at = Cursor(0, {})
    >>> page = [{"n": 1}, {"n": 2}, {"n": 2}]
    >>> found = new_rows(page, "n", at, full=True)
    >>> found.rows, found.following.value
    ([{'n': 1}], 1)
    >>> new_rows(page[1:], "n", at, full=True) is None
    True
    """
    values = [_value_of(row, column) for row in rows]
    _check_kind([at.value, *values] if at.counted else values, column)
    if full:
        end = values.index(values[-1])
        rows, values = rows[:end], values[:end]
    left, found = Counter(at.counted), []
    for row, value in zip(rows, values, strict=True):
        if value == at.value and left[mark := fingerprint(row)]:
            left[mark] -= 1
        else:
            found.append(row)
    if full and not found:
        return None
    last = values[-1] if values else at.value
    beside = Counter(fingerprint(r) for r, v in zip(rows, values, strict=True) if v == last)
    if last == at.value:
        return NewRows(found, Cursor(at.value, beside | Counter(at.counted)))
    return NewRows(found, Cursor(last, beside))


def fingerprint(row: Row) -> str:
    """Return a hash of the content of a row."""
    content = msgspec.json.encode(list(row.values()), enc_hook=str)
    return xxhash.xxh3_64_hexdigest(content)


def _check_kind(values: Sequence[Any], column: str) -> None:
    first = next(iter(values), None)
    for value in values:
        if (kind := _kind(value)) != (kinds := _kind(first)):
            raise CursorError(
                f"cursor: {column!r} must hold numbers, times or texts alone, got {kinds} "
                f"({first!r}) and {kind} ({value!r}); cast it, or leave these rows out"
            )


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "times")


def _value_of(row: Row, column: str) -> Any:
    if column not in row:
        raise CursorError(f"cursor: there is no column {column!r}; it has {', '.join(row)}")
    value = row[column]
    if type(value).__name__ not in _OF_TEXT or value != value:  # noqa: PLR0124  # NaN
        raise CursorError(
            f"cursor: {column!r} must hold numbers, times or texts, got {value!r}; select another "
            "column, or cast it"
        )
    return value
