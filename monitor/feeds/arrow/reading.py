"""Columns of an Arrow record batch as NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import BoolArray, FloatArray, Int64Array, Rows
from monitor.feeds import table_fields
from monitor.feeds.decode.field_columns import LEFT_OUT

pa: Any = import_module("pyarrow")
pc: Any = import_module("pyarrow.compute")

_A_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6}
"""By unit of a time."""


class NumberColumn(NamedTuple):
    """A column of numbers.

    Attributes:
        values: NaN for null.
        fit: false for a NaN in the column itself.
    """

    values: FloatArray
    fit: BoolArray


class Classes(NamedTuple):
    """A column of classes.

    Attributes:
        values: 0 or 1; `LEFT_OUT` for null and for any other value.
        fit: false for a value other than 0, 1 and null.
    """

    values: Int64Array
    fit: BoolArray


class Texts(NamedTuple):
    """A column of strings.

    Attributes:
        codes: index into `values`; -1 for null.
        values: the distinct strings.
    """

    codes: Int64Array
    values: list[str | None]


def is_plain(schema: Any, segments: Mapping[str, str]) -> bool:
    """Return whether `ArrowColumns` can read all columns of predictions and labels.

    Args:
        schema: of the table, an Arrow schema.
        segments: the name of each segment key's column.
    """
    kinds = {
        **dict.fromkeys(table_fields.TIMES, _is_time),
        **dict.fromkeys(table_fields.CLASSES, _is_class),
        **dict.fromkeys(table_fields.NUMBERS, _is_number),
        "type": _is_text,
        **dict.fromkeys(("id", "model", "version", "source", *segments.values()), _is_name),
        "segment": _is_struct_of_names,
    }
    found = {field.name: field.type for field in schema}
    return all(is_kind(found[name]) for name, is_kind in kinds.items() if name in found)


class ArrowColumns:
    """The columns of some rows of a record batch; a missing column reads as all null.

    Args:
        batch: of plain columns, see `is_plain`.
        segments: the name of each segment key's column.
        rows: indices of the rows, or a slice.
    """

    def __init__(self, batch: Any, segments: Mapping[str, str], rows: Rows) -> None:
        self._batch = batch
        self._segments = segments
        self._rows = rows

    def __len__(self) -> int:
        return int(self._batch.num_rows) if isinstance(self._rows, slice) else len(self._rows)

    def numbers(self, name: str) -> NumberColumn:
        """Read a column of numbers."""
        return self._numbers(self._column(name))

    def classes(self, name: str) -> Classes:
        """Read classes from a column of numbers or bools."""
        column = self._column(name)
        if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.int8())
        values, null = self._values(column)
        positive = values == 1
        known = (positive | (values == 0)) & ~null
        return Classes(np.where(known, positive, np.int64(LEFT_OUT)), known | null)

    def times(self, name: str) -> NumberColumn:
        """Read epoch seconds from a column of numbers or timestamps; without a zone: UTC."""
        column = self._column(name)
        if not pa.types.is_timestamp(column.type):
            return self._numbers(column)
        if column.type.unit == "ns":
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        values, fit = self._numbers(column.cast(pa.int64()))
        return NumberColumn(values / _A_SECOND[column.type.unit], fit)

    def texts(self, name: str) -> Texts:
        """Read a column of strings, or of integers as their digits, each distinct one once."""
        return self._texts(self._column(name))

    def segment(self, key: str) -> Texts:
        """Read the values of a segment key."""
        if key in self._segments:
            return self.texts(self._segments[key])
        whole = self._column("segment")
        if pa.types.is_struct(whole.type) and whole.type.get_field_index(key) >= 0:
            return self._texts(pc.struct_field(whole, [key]))
        return self._texts(pa.nulls(len(whole)))

    def _column(self, name: str) -> Any:
        index = self._batch.schema.get_field_index(name)
        return pa.nulls(self._batch.num_rows) if index < 0 else self._batch.column(index)

    def _numbers(self, column: Any) -> NumberColumn:
        if pa.types.is_null(column.type):
            return NumberColumn(np.full(len(self), np.nan), np.ones(len(self), np.bool_))
        values, null = self._values(column.cast(pa.float64(), safe=False))
        if null.any():
            values = np.where(null, np.nan, values)
        return NumberColumn(values, null | ~np.isnan(values))

    def _texts(self, column: Any) -> Texts:
        if pa.types.is_null(column.type):
            return Texts(np.full(len(self), -1), [])
        if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
            column = decoded(column)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        distinct = column.dictionary
        if pa.types.is_integer(distinct.type):
            distinct = distinct.cast(pa.string())
        codes, null = self._values(column.indices)
        codes = codes.astype(np.int64)
        if null.any():
            codes[null] = -1
        return Texts(codes, distinct.to_pylist())

    def _values(self, column: Any) -> tuple[NDArray[Any], BoolArray]:
        """Return the rows' values without a copy, meaningless for null, and which are null."""
        buffers = [None, column.buffers()[1]]
        bare = pa.Array.from_buffers(column.type, len(column), buffers, offset=column.offset)
        values, null = bare.to_numpy(), null_in(column)
        return values[self._rows], null[self._rows]


def null_in(column: Any) -> BoolArray:
    """Return which values of a column are null.

    Args:
        column: of a record batch.
    """
    if not column.null_count:
        return np.zeros(len(column), np.bool_)
    null: BoolArray = column.is_null().to_numpy(zero_copy_only=False)
    return null


def decoded(column: Any) -> Any:
    """Return a column with its values in place of their numbers in a dictionary.

    Args:
        column: of a record batch.
    """
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_name(kind: Any) -> bool:
    """Return whether values are texts, or integers, which stand for their digits."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return _is_text(kind) or bool(pa.types.is_integer(values))


def _is_time(kind: Any) -> bool:
    return _is_number(kind) or bool(pa.types.is_timestamp(kind))


def _is_class(kind: Any) -> bool:
    return _is_number(kind) or bool(pa.types.is_boolean(kind))


def _is_number(kind: Any) -> bool:
    return any(
        is_it(kind) for is_it in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    )


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    elif pa.types.is_string_view(kind):
        return _reads_views()
    return any(
        is_it(kind) for is_it in (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    )


@cache
def _reads_views() -> bool:
    """Return whether this pyarrow can cast string views to strings; early ones cannot."""
    try:
        pa.array([], pa.string_view()).cast(pa.large_binary())
    except pa.ArrowNotImplementedError:
        return False
    return True


def _is_struct_of_names(kind: Any) -> bool:
    if pa.types.is_null(kind):
        return True
    return bool(pa.types.is_struct(kind)) and all(_is_name(field.type) for field in kind)
