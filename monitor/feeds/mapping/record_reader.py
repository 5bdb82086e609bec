"""Records as fields of events, one by one: JSON objects, and rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.feeds import table_fields
from monitor.feeds.decode.reasons import Fields
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import Sources, place_in_list
from monitor.feeds.mapping.values import Reader, constant_fields
from monitor.feeds.scalars import plain_name

_ABSENT = object()


class RecordReader:
    """Reads the fields of records.

    Args:
        sources: where they are.
        readers: how they are written, by field.
        class_texts: reads classes that are text; None where these stay as they are.
        record_type: type of a record that does not name its own; None to derive it from
            the fields of each.
        mapped: read by a mapping: empty text stands for null.
    """

    def __init__(
        self,
        sources: Sources,
        readers: Mapping[str, Reader],
        record_type: str | None = None,
        *,
        class_texts: ClassTexts | None,
        mapped: bool = True,
    ) -> None:
        self._type, self._class_texts = record_type, class_texts
        self._blank = "" if mapped else None
        self._fixed = constant_fields(sources.constants, readers)
        self._fixed_segments = self._fixed.pop("segment", {})
        self._parts = [(f, column, readers.get(f)) for f, column in sources.columns.items()]
        self._segments = [(key, column) for key, column in sources.segments.items()]

    def fields(self, record: Mapping[str, Any]) -> Fields:
        """Return the fields of one record; what is empty or null is left out, but for a label."""
        fields = self._fixed.copy()
        for name, column, read in self._parts:
            value = _at(record, column)
            if value is _ABSENT:
                continue
            if value is not None and value != self._blank and read is not None:
                value = read(value)
            if value is not None and value != self._blank:
                fields[name] = value
            elif name == "label":
                fields[name] = None
        if self._class_texts:
            self._class_texts.read(fields)
        if "type" not in fields:
            fields["type"] = self._type or table_fields.type_of_rows(fields)
        if self._segments or self._fixed_segments:
            self._add_segments(fields, record)
        return fields

    def _add_segments(self, fields: dict[str, Any], record: Mapping[str, Any]) -> None:
        given = fields.setdefault("segment", {})
        if not isinstance(given, dict):
            return
        found = dict(given)
        for key, column in self._segments:
            value = _at(record, column)
            if value is not _ABSENT:
                found[key] = None if value == self._blank else plain_name(value)
        fields["segment"] = found | self._fixed_segments


def _at(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column, or of nested objects and lists by a name with dots."""
    value = record.get(column, _ABSENT)
    if value is not _ABSENT or "." not in column:
        return value
    value = record
    for name in column.split("."):
        if isinstance(value, Mapping):
            value = value.get(name, _ABSENT)
        else:
            place = place_in_list(name)
            is_there = isinstance(value, list) and place is not None and place < len(value)
            value = value[place] if is_there else _ABSENT
    return value
