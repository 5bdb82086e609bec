"""Columns of an Arrow record batch as NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from monitor.events import BoolArray, FloatArray, Int64Array, KeyArray, keys_of_bytes
from monitor.feeds import table_fields

pa: Any = import_module("pyarrow")
pc: Any = import_module("pyarrow.compute")

_MICROSECONDS = 1e6


class Numbers(NamedTuple):
    """A column of numbers.

    Attributes:
        values: NaN where there is null.
        fit: false where NaN stands in the column itself.
    """

    values: FloatArray
    fit: BoolArray


class Texts(NamedTuple):
    """A column of strings.

    Attributes:
        codes: index into `values`; -1 where there is null.
        values: strings.
    """

    codes: Int64Array
    values: list[str | None]


class Ids(NamedTuple):
    """A column of ids.

    Attributes:
        key: their keys; of no meaning where there is null.
        size: bytes of each; -1 where there is null.
    """

    key: KeyArray
    size: Int64Array


def is_plain(schema: Any, segments: Mapping[str, str]) -> bool:
    """Whether `Columns` can read every column that carries fields of predictions and labels."""
    kinds = {
        **dict.fromkeys(table_fields.TIMES, _is_time),
        **dict.fromkeys(table_fields.CLASSES, _is_class),
        **dict.fromkeys(table_fields.NUMBERS, _is_number),
        **dict.fromkeys(("type", "id", "model", "version", *segments.values()), _is_text),
        "segment": _is_struct_of_texts,
    }
    found = {field.name: field.type for field in schema}
    return all(is_kind(found[name]) for name, is_kind in kinds.items() if name in found)


class Columns:
    """The columns of one record batch; a column that is not there is all null.

    Args:
        batch: of plain columns, see `is_plain`.
        segments: the name of each segment key's column.
    """

    def __init__(self, batch: Any, segments: Mapping[str, str]) -> None:
        self._batch = batch
        self._segments = segments

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def numbers(self, name: str) -> Numbers:
        """Numbers or bools of a column."""
        column = self._column(name)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        return _numbers(column, 1.0)

    def times(self, name: str) -> Numbers:
        """Epoch seconds of a column of these or of timestamps; those without zone are UTC."""
        column = self._column(name)
        if not pa.types.is_timestamp(column.type):
            return _numbers(column, 1.0)
        in_microseconds = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        return _numbers(in_microseconds.cast(pa.int64()), _MICROSECONDS)

    def texts(self, name: str) -> Texts:
        """Strings of a column, each distinct one once."""
        return _texts(self._column(name))

    def segment(self, key: str) -> Texts:
        """Values of a segment key."""
        if key in self._segments:
            return self.texts(self._segments[key])
        whole = self._column("segment")
        if pa.types.is_struct(whole.type) and whole.type.get_field_index(key) >= 0:
            return _texts(pc.struct_field(whole, [key]))
        return _texts(pa.nulls(len(self)))

    def ids(self) -> Ids:
        """Keys of the ids."""
        column = _decoded(self._column("id")).cast(pa.large_binary())
        size = pc.binary_length(column).fill_null(-1).to_numpy(zero_copy_only=False)
        ids = column.fill_null(b"").to_numpy(zero_copy_only=False).tolist()
        return Ids(keys_of_bytes(ids), size)

    def _column(self, name: str) -> Any:
        index = self._batch.schema.get_field_index(name)
        return pa.nulls(len(self)) if index < 0 else self._batch.column(index)


def _numbers(column: Any, unit: float) -> Numbers:
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    null = column.is_null().to_numpy(zero_copy_only=False)
    return Numbers(values if unit == 1 else values / unit, null | ~np.isnan(values))


def _texts(column: Any) -> Texts:
    if pa.types.is_null(column.type):
        return Texts(np.full(len(column), -1), [])
    if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
        column = _decoded(column)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Texts(codes, column.dictionary.to_pylist())


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


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
    return any(
        is_it(kind) for is_it in (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    )


def _is_struct_of_texts(kind: Any) -> bool:
    if pa.types.is_null(kind):
        return True
    return bool(pa.types.is_struct(kind)) and all(_is_text(field.type) for field in kind)
