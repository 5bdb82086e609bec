"""Columns of the tables of Python programs: their names, and their values as plain ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np

from monitor.feeds.scalars import is_nothing, plain

_TABLES = "a frame, an Arrow table, a list of dicts or arrays by name"
_EPOCH = np.datetime64("1970-01-01", "us")


def as_table(given: Any) -> Any:
    """Return rows as arrays by name, and a table as it is.

    Args:
        given: a table; or rows: a list of dicts, or a record array of NumPy. A dict may lack
            columns of others.

    Raises:
        ValueError: it is an empty list, or one of something else.

    >>> as_table([{"id": 1, "label": 0}, {"id": 2}])
    {'id': [1, 2], 'label': [0, None]}
    """
    if isinstance(given, np.ndarray) and given.dtype.names:
        return {name: given[name] for name in given.dtype.names}
    if not isinstance(given, list):
        return given
    for row in given:
        if not isinstance(row, Mapping):
            raise ValueError(  # noqa: TRY004  # as for any table that does not fit
                f"table: must be {_TABLES}, got a list of {type(row).__name__}"
            )
    if not given:
        raise ValueError("table: has no rows and no columns, got []; give a list that has rows")
    names = dict.fromkeys(chain.from_iterable(given))
    return {name: [row.get(name) for row in given] for name in names}


def own_names(table: Any) -> dict[str, Any]:
    """Return the columns of a table as it names them, by their names as text.

    Args:
        table: a frame, an Arrow table, or arrays by name.

    Raises:
        ValueError: it is none of these.
    """
    return {str(name): name for name in _names(table)}


def check_once(table: Any, columns: Mapping[str, str]) -> None:
    """Refuse a table that has a column twice of those that are read.

    Args:
        table: a frame, an Arrow table, or arrays by name.
        columns: the column of each field.

    Raises:
        ValueError: it has one of these columns twice.
    """
    number = Counter(map(str, _names(table)))
    for field, column in columns.items():
        if number[column] > 1:
            in_pandas = ", in pandas table.loc[:, ~table.columns.duplicated()]"
            raise ValueError(
                f"{field}: the table has {number[column]} columns {column!r}; keep or rename one"
                f"{in_pandas if hasattr(table, 'iloc') else ''}"
            )


def _names(table: Any) -> Iterable[Any]:
    names: Iterable[Any]
    of_arrow = hasattr(table, "__arrow_c_stream__")
    if isinstance(table, Mapping):
        names = table.keys()
    elif hasattr(table, "column_names"):  # pyarrow, whose `columns` are arrays
        names = table.column_names
    elif any(hasattr(table, ask) for ask in ("collect", "compute")) and not of_arrow:
        raise ValueError(
            f"table: must hold its rows, got {type(table).__name__}, which is a plan of them; "
            "give its .collect() or .compute()"
        )
    elif hasattr(table, "columns"):
        names = table.columns
    elif of_arrow and hasattr(table, "schema"):  # a reader, which gives its rows once
        names = table.schema.names
    else:
        raise ValueError(f"table: must be {_TABLES}, got {type(table).__name__}{_advice(table)}")
    return names


def _advice(given: Any) -> str:
    if isinstance(given, Iterator):
        return "; give list(rows)"
    if isinstance(given, str | PurePath):
        return f"; read the file first, as pandas.read_csv({str(given)!r}) does"
    return ""


def without_nan(batch: Any) -> Any:
    """Return a record batch with null for NaN, which is nothing in every table, as in pandas."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    for index, column in enumerate(batch.columns):
        if not arrow.types.is_floating(column.type):
            continue
        nan = compute.is_nan(column)
        if compute.any(nan).as_py():
            known = compute.if_else(nan, arrow.scalar(None, column.type), column)
            batch = batch.set_column(index, batch.schema.field(index), known)
    return batch


def plain_column(column: Any) -> Any:
    """Return an array-like as an array or a list, which pyarrow takes."""
    return column if isinstance(column, list | tuple) else np.asarray(column)


def listed(name: str, column: Any) -> list[Any]:
    """Return the values of a column as Python's own; None for every kind of nothing.

    Args:
        name: of the column, for messages.
        column: its values.

    Raises:
        ValueError: it has several dimensions.
    """
    array = column if isinstance(column, list | tuple) else np.asarray(column)
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise ValueError(
                f"{name}: must be one-dimensional, got {array.ndim} dimensions; give one column, "
                "as values[:, 1]"
            )
        if array.dtype.kind == "M":
            return _moments(array)
        array = array.tolist()
    return [_something(value) for value in array]


def _moments(array: Any) -> list[datetime | None]:
    seconds = (array.astype("datetime64[us]") - _EPOCH).astype(np.int64) / 1e6
    known = (~np.isnat(array)).tolist()
    return [
        datetime.fromtimestamp(value, UTC).replace(tzinfo=None) if is_known else None
        for value, is_known in zip(seconds.tolist(), known, strict=True)
    ]


def _something(value: Any) -> Any:
    return None if is_nothing(value) else plain(value)
