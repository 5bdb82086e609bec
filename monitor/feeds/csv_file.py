"""Reads CSV: the first line names the columns, each further line is one record.

An empty cell omits the field, except for `label`, where it is null. Cells may be quoted,
but must not contain line breaks, so that a stray quote invalidates one record and not
the rest of the file.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import table_fields
from monitor.feeds.blocks import blocks
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder
from monitor.feeds.decode.lines import BLANK, BOM
from monitor.feeds.decode.reasons import Fault, Fields

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_CLASSES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}


def read_csv(
    stream: Iterable[bytes], name: str, decoder: Decoder, chunk_bytes: int
) -> Iterator[EventBatch]:
    """Yield the events of a CSV file in batches.

    Args:
        stream: content of the file, in pieces of any size.
        name: name of the file, for the positions of records.
        decoder: converts records to columns.
        chunk_bytes: bytes of lines per batch.

    Raises:
        FeedError: the first line is no valid header.
        TornError: the stream is truncated or damaged.
    """
    table: _Rows | None = None
    for block in blocks(stream, chunk_bytes):
        lines = block.data.split(b"\n")
        skipped = 0
        if table is None:
            table = _Rows(name, lines[0].removeprefix(BOM).removesuffix(b"\r"), decoder)
            skipped = 1
        yield table.decode(lines[skipped:], block.first_line + skipped)


class _Rows:
    """Decodes rows under a header."""

    def __init__(self, name: str, header: bytes, decoder: Decoder) -> None:
        self._name = name
        self._decoder = decoder
        try:
            self._columns = [column.strip() for column in _cells(header)]
        except (UnicodeDecodeError, csv.Error) as error:
            raise FeedError(f"{name}: line 1 is not a header: {error}") from error
        table_fields.check_columns(name, self._columns)
        keys = decoder.settings.segment_keys
        index_of = {column: index for index, column in enumerate(self._columns)}
        segments = table_fields.segment_columns(self._columns, keys)
        self._segments = [(key, index_of[column]) for key, column in segments.items()]
        self._readers = [
            (field, index_of[field], read) for field, read in _READERS.items() if field in index_of
        ]
        self._common: dict[str, Any] = {"type": table_fields.type_of_rows(self._columns)}
        if "label" in index_of:
            self._common["label"] = None

    def decode(self, lines: list[bytes], first_line: int) -> EventBatch:
        numbered = [
            (number, line.removesuffix(b"\r"))
            for number, line in enumerate(lines, first_line)
            if line.strip(BLANK)
        ]
        return self._decoder.decode_fields(
            [self._fields_or_fault(line) for _, line in numbered],
            position=lambda row: f"{self._name}:{numbered[row][0]}",
            record=lambda row: numbered[row][1],
        )

    def _fields_or_fault(self, line: bytes) -> Fields | Fault:
        if len(line) > MAX_RECORD_BYTES:
            return Fault(RejectReason.TOO_LARGE, f"row: must be at most {MAX_RECORD_BYTES} bytes")
        try:
            cells = _cells(line)
        except (UnicodeDecodeError, csv.Error) as error:
            return Fault(RejectReason.MALFORMED, f"row: {error}")
        if len(cells) != len(self._columns):
            detail = f"row: must have {len(self._columns)} cells like the header, got {len(cells)}"
            return Fault(RejectReason.MALFORMED, detail)
        return self._fields(cells)

    def _fields(self, cells: list[str]) -> Fields:
        fields = self._common.copy()
        for name, index, read in self._readers:
            if cells[index]:
                fields[name] = read(cells[index])
        if self._segments and isinstance(fields.setdefault("segment", {}), dict):
            fields["segment"] |= {key: cells[index] or None for key, index in self._segments}
        return fields


def _cells(line: bytes) -> list[str]:
    text = line.decode()
    return next(csv.reader([text], strict=True), []) if '"' in text else text.split(",")


def _class(cell: str) -> int | str:
    found = _CLASSES.get(cell)
    return _CLASSES.get(cell.strip().lower(), cell) if found is None else found


def _number(cell: str) -> float | str:
    return float(cell) if _NUMBER.fullmatch(cell.strip()) else cell


def _integer(cell: str) -> int | str:
    return int(cell) if _INTEGER.fullmatch(cell.strip()) else cell


def _object(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(table_fields.TEXTS, str),
    **dict.fromkeys(table_fields.CLASSES, _class),
    **dict.fromkeys((*table_fields.TIMES, *table_fields.NUMBERS), _number),
    **dict.fromkeys(table_fields.COUNTS, _integer),
    "segment": _object,
}
