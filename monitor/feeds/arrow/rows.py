"""Rows of an Arrow record batch as fields of records, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

from monitor.events.columns import EventBatch, Int64Array
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import table_fields
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.reasons import Fault, Fields

pa: Any = import_module("pyarrow")


class RowReader:
    """Decodes single rows of one table.

    Args:
        name: of the table, for positions.
        decoder: decodes the fields of each row.
        row_type: type of event of a row whose `type` is missing.
        segments: the name of each segment key's column.
    """

    def __init__(
        self, name: str, decoder: Decoder, row_type: str, segments: Mapping[str, str]
    ) -> None:
        self._name = name
        self._decoder = decoder
        self._type = row_type
        self._segments = segments

    def decode(self, batch: Any, rows: Int64Array, first_row: int) -> EventBatch:
        """Decode some rows of a record batch.

        Args:
            batch: of any columns.
            rows: their indices in it.
            first_row: number of its first row in the table, for positions.
        """
        found = [_read(batch.slice(row, 1)) for row in rows.tolist()]
        return self._decoder.decode_fields(
            [row if isinstance(row, Fault) else self._fields(row) for row in found],
            position=lambda i: f"{self._name}:{first_row + int(rows[i])}",
            record=lambda i: _as_text(found[i]),
        )

    def _fields(self, row: Mapping[str, Any]) -> Fields:
        fields = {
            name: _CONVERT.get(name, _same)(value)
            for name, value in row.items()
            if name == "label" or value is not None
        }
        fields.setdefault("type", self._type)
        keyed = {key: row[name] for key, name in self._segments.items()}
        if keyed and isinstance(fields.setdefault("segment", {}), dict):
            fields["segment"] |= keyed
        return fields


def _read(row: Any) -> dict[str, Any] | Fault:
    found: dict[str, Any] = {}
    name = ""
    try:
        for name in row.schema.names:
            found[name] = _microseconds(row.column(name))[0].as_py()
    except OverflowError:  # a Python date has at most four digits in its year
        detail = f"{name}: must lie in 1900 to 2200"
        return Fault(RejectReason.TIMESTAMP_OUT_OF_RANGE, detail)
    except UnicodeDecodeError as error:
        detail = f"row: is not UTF-8: {error.reason} at byte {error.start} of a cell"
        return Fault(RejectReason.MALFORMED, detail)
    return found


def _microseconds(column: Any) -> Any:
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("us", column.type.tz), safe=False)


def _as_text(row: dict[str, Any] | Fault) -> bytes:
    if isinstance(row, Fault):
        return b""
    return json.dumps(row, ensure_ascii=False, default=str).encode(errors="replace")


def _same(value: Any) -> Any:
    return value


def _time(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return _number(value)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _integer(value: Any) -> Any:
    value = _number(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _segment(value: Any) -> Any:
    """Return an object from a struct, from the pairs of a map, or from JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else dict(value)
    except (ValueError, TypeError, RecursionError):
        return value


_CONVERT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(table_fields.TIMES, _time),
    **dict.fromkeys(table_fields.NUMBERS, _number),
    **dict.fromkeys((*table_fields.CLASSES, *table_fields.COUNTS), _integer),
    "segment": _segment,
}
