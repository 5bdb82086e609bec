"""Columns of the tables of Python programs: their names, and their values as plain ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import numpy as np

from monitor.feeds.scalars import is_nothing, plain

_EPOCH = np.datetime64("1970-01-01", "us")


def own_names(table: Any) -> dict[str, Any]:
    """Return the columns of a table as it names them, by their names as text.

    Args:
        table: a frame, an Arrow table, or arrays by name.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(table, Mapping):
        names: Any = table.keys()
    elif hasattr(table, "column_names"):  # pyarrow, whose `columns` are arrays
        names = table.column_names
    elif any(hasattr(table, ask) for ask in ("collect", "compute")) and not hasattr(
        table, "__arrow_c_stream__"
    ):
        raise ValueError(
            f"table: must hold its rows, got {type(table).__name__}, which is a plan of them; "
            "give its .collect() or .compute()"
        )
    elif hasattr(table, "columns"):
        names = table.columns
    elif hasattr(table, "__arrow_c_stream__") and hasattr(table, "schema"):
        names = table.schema.names  # of a reader of pyarrow, which gives its rows once
    else:
        raise ValueError(
            f"table: must be a frame, an Arrow table or arrays by name, got {type(table).__name__}"
        )
    return {str(name): name for name in names}


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
            raise ValueError(f"{name}: must be one-dimensional, got {array.ndim} dimensions")
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
