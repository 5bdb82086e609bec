"""Converts a body that is an Arrow IPC stream to lines, within the size limit of bodies.

A few bytes of Arrow can expand to gigabytes, by compressed buffers, dictionaries or
columns of nulls. The expanded size is therefore computed before anything expands, and
offsets are validated before they are followed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import msgspec

from monitor.config.mapping import FIELDS
from monitor.errors import FeedError
from monitor.feeds import table_fields
from monitor.feeds.arrow.arrow_files import EXTRA
from monitor.feeds.http.record_limit import MAX_RECORDS, too_many_records
from monitor.feeds.http.responses import RefusedError

MEDIA_TYPE = "application/vnd.apache.arrow.stream"

_SLICE = 1_000
_MAX_COLUMNS = 200
_SEGMENT = "segment."
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_HEADER_TYPE, _HEADER = 1, 2
_DATA, _COMPRESSION = 1, 3
_UNREADABLE = (UnicodeDecodeError, OverflowError)
"""Names that are not UTF-8, and times that no Python date has."""


def arrow_lines(body: bytes, max_bytes: int) -> bytes:
    """Convert the rows of a stream to lines, one record each.

    Columns have the same names as in files, see `monitor.feeds.table_fields`; a column of
    any other name is a segment key.

    Args:
        body: Arrow IPC stream with uncompressed buffers.
        max_bytes: maximum size of the expanded rows.

    Raises:
        RefusedError: pyarrow is not installed (415); the body is not an Arrow stream, has no
            column `ts`, or a column of an unsupported type (400); it has too many bytes or
            rows (413).
    """
    try:
        lib = import_module("pyarrow.lib")
    except ImportError as error:
        text = f"Arrow bodies need the extra {EXTRA!r} on the monitor's host; or send NDJSON"
        raise RefusedError(415, text) from error
    try:
        _refuse_compressed(body)
        return b"".join(_lines(body, max_bytes))
    except (lib.ArrowException, OSError, struct.error, FeedError, *_UNREADABLE) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise RefusedError(400, f"the body is not an Arrow stream of events: {first}") from error


def _lines(body: bytes, max_bytes: int) -> Iterator[bytes]:
    ipc = import_module("pyarrow.ipc")
    reader = ipc.open_stream(body)
    names = reader.schema.names
    table_fields.check_columns("columns", names)
    if len(names) > _MAX_COLUMNS:
        raise FeedError(f"must have at most {_MAX_COLUMNS} columns, got {len(names)}")
    for field in reader.schema:
        _check_type(field.name, field.type)
    named = sum(map(len, names))
    row_type = table_fields.type_of_rows(names)
    encode = msgspec.json.Encoder().encode
    rows = size = 0
    for batch in reader:
        batch.validate(full=True)
        rows += batch.num_rows
        size += batch.num_rows * named + sum(map(_expanded_bytes, batch.columns))
        if rows > MAX_RECORDS:
            raise too_many_records()
        if size > max_bytes:
            raise RefusedError(
                413, f"the expanded rows must be at most {max_bytes} bytes; send fewer"
            )
        plain = [_plain(column) for column in batch.columns]
        for start in range(0, batch.num_rows, _SLICE):
            columns = [column.slice(start, _SLICE).to_pylist() for column in plain]
            for row in zip(*columns, strict=True):
                yield encode(_record(names, row, row_type)) + b"\n"


def _record(names: list[str], row: tuple[Any, ...], row_type: str) -> dict[str, Any]:
    given = {
        name: _value(value)
        for name, value in zip(names, row, strict=True)
        if value is not None or name == "label"
    }
    fields = {name: given.pop(name) for name in FIELDS if name in given}
    fields.setdefault("type", row_type)
    if given:
        segment = fields.setdefault("segment", {})
        if isinstance(segment, dict):
            segment |= {name.removeprefix(_SEGMENT): value for name, value in given.items()}
    return fields


def _value(value: Any) -> Any:
    """Convert a value for JSON: times without a zone are UTC, as in files."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def _check_type(name: str, kind: Any) -> None:
    """Raise for a type that no field of an event has, before any value is read."""
    types = import_module("pyarrow.types")
    if types.is_struct(kind):
        for field in kind:
            _check_type(f"{name}.{field.name}", field.type)
        return
    simple = (types.is_boolean, types.is_integer, types.is_floating, types.is_timestamp)
    text = _is_text(kind.value_type if types.is_dictionary(kind) else kind)
    if not (text or types.is_null(kind) or any(fits(kind) for fits in simple)):
        raise FeedError(f"column {name!r} has type {kind}; send text, numbers, booleans or times")


def _expanded_bytes(column: Any) -> int:
    """Size of a column with its dictionary decoded."""
    types = import_module("pyarrow.types")
    if types.is_struct(column.type):
        return sum(map(_expanded_bytes, column.flatten()))
    size = int(column.nbytes)
    if not types.is_dictionary(column.type):
        return size
    compute = import_module("pyarrow.compute")
    lengths = compute.take(compute.binary_length(column.dictionary), column.indices)
    return int(compute.sum(lengths).as_py() or 0) + size


def _is_text(kind: Any) -> bool:
    types = import_module("pyarrow.types")
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _plain(column: Any) -> Any:
    """Convert a column to plain values: decode dictionaries, round times to microseconds."""
    types = import_module("pyarrow.types")
    if types.is_dictionary(column.type):
        return column.dictionary_decode()
    if types.is_timestamp(column.type):
        microseconds = import_module("pyarrow").timestamp("us", column.type.tz)
        return column.cast(microseconds, safe=column.type.unit != "ns")  # no time wraps around
    return column


def _refuse_compressed(body: bytes) -> None:
    """Refuse compressed buffers, whose size is known only after decompression.

    Reads the headers of the messages, which are flatbuffers described in Arrow's Message.fbs.
    """
    for message in import_module("pyarrow.ipc").MessageReader.open_stream(body):
        header = memoryview(message.metadata)
        root = struct.unpack_from("<I", header)[0]
        kind = _field(header, root, _HEADER_TYPE)
        at = _field(header, root, _HEADER)
        if kind is None or at is None or header[kind] not in (_DICTIONARY_BATCH, _RECORD_BATCH):
            continue
        batch: int | None = _target(header, at)
        if header[kind] == _DICTIONARY_BATCH:
            data = _field(header, _target(header, at), _DATA)
            batch = None if data is None else _target(header, data)
        if batch is not None and _field(header, batch, _COMPRESSION) is not None:
            text = "compressed buffers are not supported; compress the body, Content-Encoding: zstd"
            raise RefusedError(400, text)


def _field(header: memoryview, table: int, number: int) -> int | None:
    """Position of a field in a flatbuffer's table; None if the table omits it."""
    vtable = table - struct.unpack_from("<i", header, table)[0]
    size = struct.unpack_from("<H", header, vtable)[0]
    entry = 4 + 2 * number
    offset = struct.unpack_from("<H", header, vtable + entry)[0] if entry + 2 <= size else 0
    return table + offset if offset else None


def _target(header: memoryview, at: int) -> int:
    """Position that a flatbuffer's reference points to."""
    return at + int(struct.unpack_from("<I", header, at)[0])
