"""Record batches with a mapping as ones whose columns are named and typed like the fields."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from monitor.config.mapping import SEGMENT, MappedRecords
from monitor.feeds import table_fields
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.mapping.class_texts import class_of_text
from monitor.feeds.mapping.field_sources import Sources, place_in_list
from monitor.feeds.mapping.values import ClassReader, Reader, TimeReader
from monitor.feeds.mapping.zones import utc_microseconds

pa: Any = import_module("pyarrow")
pc: Any = import_module("pyarrow.compute")

_DAY = r"^\d{4}-\d\d-\d\d"
_WITH_ZONE = _DAY + r"[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)$"
_WITHOUT_ZONE = _DAY + r"([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_UUIDS = "arrow.uuid"
_DIGITS = 76
"""Digits of the widest decimal."""
_UNFIT_CLASS = 2
"""Stands for a value that is no class: its row is then read, and rejected, on its own."""


class CanonicalBatches:
    """Renames and converts the columns of record batches, whole columns at a time.

    A column that cannot be converted whole stays as it is; its rows are then read one by one.

    Args:
        sources: the column of each field.
        mapping: how classes and times are written.
        tally: notes which values of classes come.
    """

    def __init__(self, sources: Sources, mapping: MappedRecords, tally: ClassTally) -> None:
        self._sources = sources
        self._time = TimeReader(mapping.time)
        self._classes: dict[str, Reader] = {}
        for field, values in mapping.values.items():
            reader = ClassReader(field, values, tally)
            self._classes[str(field)] = reader if values.positive else _with_texts(reader)

    def of(self, batch: Any) -> Any:
        """Return the batch with columns named like the fields of events."""
        columns = {
            field: self._converted(field, nested(batch, column))
            for field, column in self._sources.columns.items()
        }
        for key, column in self._sources.segments.items():
            columns[f"{SEGMENT}{key}"] = _names(nested(batch, column))
        for field, value in self._sources.constants.items():
            columns[field] = self._converted(field, pa.repeat(value, batch.num_rows))
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _converted(self, field: str, column: Any) -> Any:
        if field in table_fields.TEXTS:
            return _names(column)
        if pa.types.is_dictionary(column.type) and field not in table_fields.CLASSES:
            column = column.dictionary_decode()
        if field in table_fields.TIMES:
            return self._times(column)
        if field in table_fields.NUMBERS:
            return _numbers(column)
        if field in self._classes:
            return _classes(column, self._classes[field])
        if field in table_fields.CLASSES and _is_text(column.type):
            return _classes(column, class_of_text)
        return column

    def _times(self, column: Any) -> Any:
        zone, kind = self._time.zone, column.type
        if self._time.format is not None and (_is_text(kind) or pa.types.is_integer(kind)):
            return self._formatted(column)
        if _is_text(kind):
            return self._parsed(column)
        if pa.types.is_date(kind):
            column, kind = column.cast(pa.timestamp("us")), pa.timestamp("us")
        if pa.types.is_timestamp(kind):
            return column if kind.tz is not None or zone is None else self._in_zone(column)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            seconds = column.cast(pa.float64(), safe=False)
            return pc.divide(seconds, self._time.per_second)
        return column

    def _formatted(self, column: Any) -> Any:
        """Times that a format writes; the column where one is written otherwise."""
        found = [self._time(value) for value in column.to_pylist()]
        written = all(one is None or isinstance(one, float) for one in found)
        return pa.array(found, pa.float64()) if written else column

    def _parsed(self, column: Any) -> Any:
        """Times of texts that are all written alike; the texts where they are not."""
        if _all_match(column, _NUMBER):
            return self._times(column.cast(pa.float64()))
        try:
            if _all_match(column, _WITH_ZONE):
                return column.cast(pa.timestamp("us", "UTC"))
            if self._time.zone is not None and _all_match(column, _WITHOUT_ZONE):
                return self._in_zone(column.cast(pa.timestamp("us")))
        except pa.ArrowInvalid:
            pass  # the 31st of February: the row says what is wrong
        return column

    def _in_zone(self, column: Any) -> Any:
        """Times by clocks in the mapping's zone, as times in UTC."""
        zone = self._time.zone
        assert zone is not None  # noqa: S101  # asked for by both callers
        null = column.is_null().to_numpy(zero_copy_only=False)
        in_microseconds = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        shown = np.asarray(in_microseconds.fill_null(0))
        return pa.array(utc_microseconds(shown, zone), pa.timestamp("us", "UTC"), mask=null)


def nested(batch: Any, column: str) -> Any:
    """Return a column, or a field of structs or place of lists by a name with dots.

    It is null where there is none.

    String views, which few functions of Arrow take, become plain strings.

    Args:
        batch: a record batch.
        column: its name.
    """
    index = batch.schema.get_field_index(column)
    if index >= 0:
        return _without_views(batch.column(index))
    root, *path = column.split(".")
    index = batch.schema.get_field_index(root)
    found: Any = None if index < 0 else batch.column(index)
    for name in path:
        found = None if found is None else _inside(found, name)
    return pa.nulls(batch.num_rows) if found is None else _without_views(found)


def _inside(column: Any, name: str) -> Any | None:
    """Return a field of structs, or the values at a place of lists; None where there is none."""
    kind, place = column.type, place_in_list(name)
    if pa.types.is_struct(kind):
        return pc.struct_field(column, name) if kind.get_field_index(name) >= 0 else None
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if place is None or not (is_list or pa.types.is_fixed_size_list(kind)):
        return None
    try:
        return pc.list_element(column, place)
    except pa.ArrowInvalid:  # some lists are shorter
        cells = column.to_pylist()
        at = [None if one is None or place >= len(one) else one[place] for one in cells]
        return pa.array(at, kind.value_type)


def _without_views(column: Any) -> Any:
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _names(column: Any) -> Any:
    """UUIDs, and decimals that are all whole, as text; texts and integers as they are."""
    if pa.types.is_decimal(column.type):
        return _whole(column)
    if getattr(column.type, "extension_name", "") != _UUIDS:
        return column
    texts = [None if value is None else str(value) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _whole(column: Any) -> Any:
    """Return decimals as text, which warehouses keep integers as; as they are if one is not."""
    kind = pa.decimal256(_DIGITS, 0)
    try:
        return column.cast(kind).cast(pa.string())
    except pa.ArrowInvalid:
        return column


def _numbers(column: Any) -> Any:
    kind = column.type
    if pa.types.is_decimal(kind) or (_is_text(kind) and _all_match(column, _NUMBER)):
        return column.cast(pa.float64())
    return column


def _with_texts(reader: Reader) -> Reader:
    """Return a reader that takes the texts that another one leaves as classes."""

    def read(value: Any) -> Any:
        found = reader(value)
        return class_of_text(found) if isinstance(found, str) else found

    return read


def _classes(column: Any, read: Reader) -> Any:
    """Classes by the distinct values of a column."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    found = [read(value) for value in column.dictionary.to_pylist()]
    codes = [
        code if code is None else int(code) if code in (0, 1) else _UNFIT_CLASS for code in found
    ]
    return pa.array(codes, pa.int8()).take(column.indices)


def _all_match(column: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
