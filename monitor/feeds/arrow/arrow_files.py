"""Parquet and Arrow files (IPC file and stream), read with pyarrow, an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO

from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds import table_fields
from monitor.feeds.decode import Decoder

BATCH_ROWS = 20_000
"""Rows decoded at a time; a row may hold a prediction and its label."""
IPC_FILE_MAGIC = b"ARROW1"
EXTRA = "pip install 'precision-monitor[parquet]'"


def read_arrow(
    stream: BinaryIO, name: str, decoder: Decoder, *, parquet: bool
) -> Iterator[tuple[EventBatch, float]]:
    """Read the events of a Parquet or Arrow file.

    Args:
        stream: the file; seekable, since Parquet and IPC files are read from the end.
        name: prefix of positions, which are `name:row`, rows numbered from 1 on.
        decoder: turns records into columns.
        parquet: whether the file is Parquet, else Arrow.

    Yields:
        A batch, and the share of the file read so far, 0 to 1; always 0 for an IPC stream.

    Raises:
        FeedError: pyarrow is not installed, or the file is not of the format of its name.
    """
    with _arrow_errors(name):
        decoding = import_module("monitor.feeds.arrow.decoding")
        opened = _parquet(stream, name, decoder) if parquet else _ipc(stream)
        first_row = 1
        table: Any = None
        for batch, share in opened:
            if table is None:
                table = decoding.ArrowDecoder(name, batch.schema, decoder)
            for start in range(0, batch.num_rows, BATCH_ROWS):
                part = batch.slice(start, BATCH_ROWS)
                yield table.decode(part, first_row), share
                first_row += part.num_rows


@contextmanager
def _arrow_errors(name: str) -> Iterator[None]:
    try:
        lib = import_module("pyarrow.lib")
    except ImportError as error:
        raise FeedError(f"{name}: needs pyarrow to be read; {EXTRA}") from error
    try:
        yield
    except lib.ArrowException as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FeedError(f"{name}: cannot be read: {first}") from error


def _parquet(stream: BinaryIO, name: str, decoder: Decoder) -> Iterator[tuple[Any, float]]:
    file = import_module("pyarrow.parquet").ParquetFile(stream)
    table_fields.check_columns(name, file.schema_arrow.names)
    columns = _used_columns(file.schema_arrow.names, decoder)
    rows, read = max(file.metadata.num_rows, 1), 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns):
        read += batch.num_rows
        yield batch, read / rows


def _ipc(stream: BinaryIO) -> Iterator[tuple[Any, float]]:
    ipc = import_module("pyarrow.ipc")
    magic = stream.read(len(IPC_FILE_MAGIC))
    stream.seek(0)
    if magic != IPC_FILE_MAGIC:
        yield from ((batch, 0.0) for batch in ipc.open_stream(stream))
        return
    file = ipc.open_file(stream)
    for i in range(file.num_record_batches):
        yield file.get_batch(i), (i + 1) / file.num_record_batches


def _used_columns(names: list[str], decoder: Decoder) -> list[str]:
    keys = table_fields.segment_columns(names, decoder.settings.segment_keys)
    wanted = {*table_fields.FIELDS, *keys.values()}
    return [name for name in names if name in wanted]
