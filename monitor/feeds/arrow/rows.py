"""Decodes rows of an Arrow record batch one by one, and shows them as values of Python."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from monitor.events.columns import EventBatch, Int64Array
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.reasons import Fault
from monitor.feeds.mapping.record_reader import RecordReader

pa: Any = import_module("pyarrow")


class RowReader:
    """Decodes single rows of a table.

    Args:
        name: name of the table, for the positions of records.
        decoder: decodes the fields of each row.
        reader: reads the fields of each row.
    """

    def __init__(self, name: str, decoder: Decoder, reader: RecordReader) -> None:
        self._name = name
        self._decoder = decoder
        self._reader = reader

    def decode(self, batch: Any, rows: Int64Array, first_row: int) -> EventBatch:
        """Return the events of some rows of a record batch.

        Args:
            batch: the record batch.
            rows: indices of the rows.
            first_row: number of the batch's first row in the table, from 1 on.
        """
        found = [_read(batch.slice(row, 1)) for row in rows.tolist()]
        return self._decoder.decode_fields(
            [row if isinstance(row, Fault) else self._reader.fields(row) for row in found],
            position=lambda i: f"{self._name}:{first_row + int(rows[i])}",
            record=lambda i: _as_text(found[i]),
        )


def shown(batch: Any) -> list[dict[str, Any]]:
    """Return the rows of a record batch by column, for looking at them.

    Args:
        batch: the record batch.

    Returns:
        A dictionary a row. Times with a zone are in UTC; a cell is None where Python has no such
        value: a date of the year 10000, or what PostgreSQL exports of `infinity`.

    Raises:
        KeyError: pyarrow has no class for the type of a column.
    """
    columns = [_shown(column) for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _shown(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    try:
        found: list[Any] = _microseconds(column).to_pylist()
    except (OverflowError, ValueError):  # pyarrow's own errors of values are of the latter
        found = [_shown_cell(cell) for cell in column]
    return found


def _shown_cell(cell: Any) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return None


def _read(row: Any) -> dict[str, Any] | Fault:
    found: dict[str, Any] = {}
    name = ""
    try:
        for name in row.schema.names:
            found[name] = _microseconds(row.column(name))[0].as_py()
    except (OverflowError, pa.ArrowInvalid):  # a Python date has at most four digits in its year
        detail = f"{name}: must lie in 1900 to 2200"
        return Fault(RejectReason.TIMESTAMP_OUT_OF_RANGE, detail)
    except KeyError:  # what pyarrow raises for types that it has no class for
        kind = row.schema.field(name).type
        return Fault(RejectReason.MALFORMED, f"{name}: is of type {kind}, which cannot be read")
    except UnicodeDecodeError as error:
        detail = f"row: is not UTF-8: {error.reason} at byte {error.start} of a cell"
        return Fault(RejectReason.MALFORMED, detail)
    return found


def _microseconds(column: Any) -> Any:
    if not pa.types.is_timestamp(column.type):
        return column
    exact = column.type.unit != "ns"  # a larger unit may not fit, and would wrap around
    return column.cast(pa.timestamp("us", column.type.tz), safe=exact)


def _as_text(row: dict[str, Any] | Fault) -> bytes:
    if isinstance(row, Fault):
        return b""
    return json.dumps(row, ensure_ascii=False, default=str).encode(errors="replace")
