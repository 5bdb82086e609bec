"""Parquet and Arrow files (IPC file and stream), read with pyarrow, an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO

from monitor.config.mapping import MappedRecords
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.extras import install_command
from monitor.feeds.decode import Decoder
from monitor.feeds.mapping.field_sources import sources_of_table
from monitor.feeds.mapping.guessing import Say, mapping_for_file, to_stderr
from monitor.feeds.table_fields import check_distinct

_LOOKED_AT = 2_000
"""Rows to look at for columns to propose."""
BATCH_ROWS = 20_000
"""Rows decoded at a time; a row may hold a prediction and its label."""
IPC_FILE_MAGIC = b"ARROW1"
EXTRA = "parquet"
"""The extra that brings pyarrow."""


def read_arrow(
    stream: BinaryIO,
    name: str,
    decoder: Decoder,
    *,
    parquet: bool,
    mapping: MappedRecords | None = None,
    say: Say = to_stderr,
) -> Iterator[tuple[EventBatch, float]]:
    """Yield the events of a Parquet or Arrow file in batches.

    Args:
        stream: the file; Parquet and IPC files are read from the end.
        name: for positions, which are `name:row`, rows counted from 1 on.
        decoder: has the settings, and decodes single rows.
        parquet: True for Parquet, False for Arrow.
        mapping: which columns hold the fields; None where they are named like these.
        say: prints which columns are taken for which fields, where that is a guess.

    Yields:
        A batch, and the share of the file that is read with it, in [0, 1].

    Raises:
        FeedError: pyarrow is not installed, the file is not what its name says, or no
            column holds the time.
    """
    with _arrow_errors(name):
        decoding = import_module("monitor.feeds.arrow.decoding")
        opened = _Parquet(stream, name) if parquet else _Ipc(stream)
        names = opened.schema.names
        look = opened.first_rows if isinstance(opened, _Parquet) else tuple
        mapping = mapping_for_file(name, names, mapping, say, look)
        table = decoding.ArrowDecoder(name, opened.schema, decoder, mapping)
        keys = decoder.settings.segment_keys
        used = sources_of_table(name, names, mapping, keys).used
        first_row = 1
        for batch, share in opened.batches([column for column in names if column in used]):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                part = batch.slice(start, BATCH_ROWS)
                yield table.decode(part, first_row), share
                first_row += part.num_rows


def rows_of_table(stream: BinaryIO, name: str, *, parquet: bool, most: int) -> list[dict[str, Any]]:
    """Return the first rows of a file by column, for looking at them.

    Args:
        stream: the file.
        name: of the file, for messages.
        parquet: True for Parquet, False for Arrow.
        most: rows to return at most.

    Raises:
        FeedError: pyarrow is not installed, the file is not what its name says, or two of its
            columns have the same name.
    """
    with _arrow_errors(name):
        opened = _Parquet(stream, name) if parquet else _Ipc(stream)
        check_distinct(name, opened.schema.names)
        for batch, _ in opened.batches(opened.schema.names):
            import_module("monitor.feeds.arrow.soundness").is_utf8(batch, name)
            return _rows(batch.slice(0, most), name)
    return []


def _rows(batch: Any, name: str) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = import_module("monitor.feeds.arrow.rows").shown(batch)
    except KeyError as error:  # what pyarrow raises for types that it has no class for
        types = ", ".join(f"{field.name} {field.type}" for field in batch.schema)
        raise FeedError(f"{name}: has a column that pyarrow cannot read: {types}") from error
    return rows


@contextmanager
def _arrow_errors(name: str) -> Iterator[None]:
    try:
        lib = import_module("pyarrow.lib")
    except ImportError as error:
        raise FeedError(f"{name}: needs pyarrow to be read; {install_command(EXTRA)}") from error
    try:
        yield
    except (lib.ArrowException, UnicodeDecodeError) as error:  # names may be no UTF-8
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FeedError(f"{name}: cannot be read: {first}") from error


class _Parquet:
    """A Parquet file."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._name = name
        self._file = import_module("pyarrow.parquet").ParquetFile(stream)
        self.schema = self._file.schema_arrow

    def first_rows(self) -> list[dict[str, Any]]:
        """Return rows to look at; reading begins at the first one again."""
        for batch in self._file.iter_batches(batch_size=_LOOKED_AT):
            return _rows(batch, self._name)
        return []

    def batches(self, columns: list[str]) -> Iterator[tuple[Any, float]]:
        """Yield batches of some columns, and the share of the rows read with each."""
        rows, read = max(self._file.metadata.num_rows, 1), 0
        for batch in self._file.iter_batches(batch_size=BATCH_ROWS, columns=columns):
            read += batch.num_rows
            yield batch, read / rows


class _Ipc:
    """An Arrow file or stream."""

    def __init__(self, stream: BinaryIO) -> None:
        ipc = import_module("pyarrow.ipc")
        magic = stream.read(len(IPC_FILE_MAGIC))
        stream.seek(0)
        self._is_file = magic == IPC_FILE_MAGIC
        self._opened = ipc.open_file(stream) if self._is_file else ipc.open_stream(stream)
        self.schema = self._opened.schema

    def batches(self, columns: list[str]) -> Iterator[tuple[Any, float]]:
        """Yield batches of some columns, and the share of the batches read with each."""
        if not self._is_file:
            yield from ((batch.select(columns), 0.0) for batch in self._opened)
            return
        count = self._opened.num_record_batches
        for number in range(count):
            yield self._opened.get_batch(number).select(columns), (number + 1) / count
