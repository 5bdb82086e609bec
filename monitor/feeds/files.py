"""Files, standard input and objects of stores, read in chunks and merged by event time."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from monitor.config.fields import is_url
from monitor.config.mapping import MappedRecords
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds import stores
from monitor.feeds.arrow.arrow_files import read_arrow, rows_of_table
from monitor.feeds.blocks import TornArrayError, TornError, blocks, pieces
from monitor.feeds.csv_file import read_csv, rows_of_text
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.lines import BOM
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.decompression import decompressed, is_compressed
from monitor.feeds.input_format import InputFormat, input_format
from monitor.feeds.json_array import array_lines
from monitor.feeds.mapping.guessing import (
    Say,
    mapping_for_lines,
    names_of,
    objects_of,
    to_stderr,
)
from monitor.feeds.mapping.mapped_lines import lines_decoder
from monitor.feeds.merge import merged
from monitor.feeds.no_file import files_to_give, path_to_check
from monitor.feeds.read_bytes import Progress, ReadBytes
from monitor.feeds.zipped import only_member

CHUNK_BYTES = 1_500_000
"""Bytes of lines in a batch: about ten thousand events, the size that decodes fastest."""
NO_MAPPINGS: Mapping[str, MappedRecords] = MappingProxyType({})
"""Of files whose columns are named like the fields of events."""
STDIN = "-"
"""The path that stands for standard input."""


def read(
    paths: Sequence[str | PathLike[str]],
    decoder: Decoder,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Progress | None = None,
    mappings: Mapping[str, MappedRecords] = NO_MAPPINGS,
    say: Say = to_stderr,
    threads: DecoderThreads | None = None,
) -> Iterator[EventBatch]:
    """Read all events of some files, in batches, merged by event time.

    A row with a prediction and its label is one record at the time of the prediction,
    however late the label came. So the same rows count the same in every format.

    Args:
        paths: CSV (`.csv`), values separated by tabs (`.tsv`, `.tab`), JSON (`.json`: an
            array or lines), Parquet (`.parquet`, `.pq`) or Arrow (`.arrow`, `.arrows`,
            `.feather`, `.ipc`) by the ending of the name, else NDJSON; each may be gzip or
            zstd, detected by content, or the only file of a `.zip`; `-` is standard input
            (`input_format`), and a URL an object of a store (`stores`).
        decoder: turns records into columns.
        chunk_bytes: bytes of lines in a batch, for files of lines.
        progress: called after each read, one call at a time, from any thread.
        mappings: which columns hold the fields, by path; a file without one has columns
            that are named like the fields, or leave no doubt; directories of a path may name
            columns, too (`mapping.path_columns`).
        say: prints which columns are taken for which fields, where that is a guess.
        threads: read regular files of NDJSON ahead, and decode them; None for none.

    Raises:
        FeedError: at once if a path is a directory, missing or not readable. While
            reading, after all events before, if a compressed file or an array is damaged or
            ends too early, or a table has no column for the time.
    """
    names = [fspath(path) for path in paths]
    sizes = {name: _size_of(name) for name in names}
    tracker, alone = ReadBytes(sum(sizes.values()), progress), DecoderThreads(1)
    streams = [
        _Reader(
            decoder,
            mappings.get(name),
            chunk_bytes,
            tracker=tracker,
            say=say,
            threads=threads if threads and sizes[name] else alone,  # a pipe may let wait for ever
        ).batches(name)
        for name in names
    ]
    return streams[0] if len(streams) == 1 else merged(streams)


FIRST_ROWS = 2_000
"""Records of a file to look at."""


class FirstRows(NamedTuple):
    """The first records of a file, as they are written.

    Attributes:
        rows: by the name of the column; only what could be read.
        tabular: True for a table, False for records of JSON.
    """

    rows: list[dict[str, Any]]
    tabular: bool


def is_read_once(path: str) -> bool:
    """Return whether a second read finds nothing: standard input, or a pipe.

    Args:
        path: as for `read`.
    """
    return path == STDIN or Path(path).is_fifo()


def first_rows(path: str | PathLike[str], most: int = FIRST_ROWS) -> FirstRows:
    """Return the first records of a file, for looking at them.

    Args:
        path: as for `read`; not what is read once.
        most: records to return at most.

    Raises:
        FeedError: the file cannot be read.
    """
    name = fspath(path)
    with _feed_errors(name), _opened(name) as (stream, form):
        if form in (_Format.PARQUET, _Format.ARROW):
            with _seekable(stream) as whole:
                parquet = form is _Format.PARQUET
                return FirstRows(rows_of_table(whole, name, parquet=parquet, most=most), True)
        plain = decompressed(pieces(stream))
        lines = array_lines(plain) if form is _Format.JSON else plain
        first = next(blocks(lines, CHUNK_BYTES), None)
        text = b"" if first is None else first.data.removeprefix(BOM)
    if form in (_Format.CSV, _Format.TSV):
        separator = "," if form is _Format.CSV else "\t"
        return FirstRows(rows_of_text(name, text, separator, most), True)
    return FirstRows(list(islice(objects_of(text), most)), False)


def columns_of(head: FirstRows) -> list[str]:
    """Return the names of the columns of first records; of JSON nested ones with dots."""
    if head.tabular:
        return list(head.rows[0]) if head.rows else []
    return list(dict.fromkeys(name for row in head.rows for name in names_of(row)))


class _Format(Enum):
    NDJSON = auto()
    JSON = auto()
    CSV = auto()
    TSV = auto()
    PARQUET = auto()
    ARROW = auto()


_ZIPPED = ".zip"
_COMPRESSED = (".gz", ".zst", ".zstd", _ZIPPED)
_FORMATS = {
    ".json": _Format.JSON,
    ".csv": _Format.CSV,
    ".tsv": _Format.TSV,
    ".tab": _Format.TSV,
    ".parquet": _Format.PARQUET,
    ".pq": _Format.PARQUET,
    ".arrow": _Format.ARROW,
    ".arrows": _Format.ARROW,
    ".feather": _Format.ARROW,
    ".ipc": _Format.ARROW,
}
_HELD: dict[InputFormat | None, _Format] = {
    InputFormat.LINES: _Format.NDJSON,
    InputFormat.ARRAY: _Format.JSON,
    InputFormat.TABLE: _Format.CSV,
}


def _format_of(name: str) -> _Format:
    """Return the format by the ending of a name; NDJSON for any other ending.

    >>> _format_of("a.csv.gz").name, _format_of("zip://a.tsv::s3://b/c").name
    ('CSV', 'TSV')
    """
    path = _path_of(name)
    inner = path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path
    return _FORMATS.get(inner.suffix.lower(), _Format.NDJSON)


def _path_of(name: str) -> PurePath:
    """Return the path of a file, or of the member of an archive that a URL names."""
    return PurePath(name.partition("::")[0] if is_url(name) else name)


def _size_of(name: str) -> int:
    """Return the size of a readable file in bytes; 0 for standard input and pipes."""
    if name == STDIN:
        return 0
    with _feed_errors(name):
        if is_url(name):
            return stores.size_of(name)
        found = Path(name).stat()
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not os.access(name, os.R_OK):
            raise PermissionError
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


@contextmanager
def _feed_errors(name: str) -> Iterator[None]:
    try:
        yield
    except IsADirectoryError as error:
        raise FeedError(f"{name}: is a directory; {files_to_give(name)}") from error
    except FileNotFoundError as error:
        raise FeedError(f"{name}: no such file; {path_to_check(name)}") from error
    except PermissionError as error:
        raise FeedError(f"{name}: may not be read by this user; check its mode") from error
    except TornArrayError as error:
        raise FeedError(f"{name}: {error}; all records before it were read") from error
    except TornError as error:
        raise FeedError(f"{name}: {error}; all whole lines before it were read") from error
    except OSError as error:
        raise FeedError(f"{name}: cannot be read: {error}") from error


class _Reader:
    """Reads one file.

    Args:
        decoder: decoder of its records.
        mapping: which columns hold the fields; None where they are named like these.
        chunk_bytes: bytes of lines per batch.
        tracker: counts the bytes read.
        say: prints which columns are taken for which fields, where that is a guess.
        threads: read and decode lines without a mapping.
    """

    def __init__(
        self,
        decoder: Decoder,
        mapping: MappedRecords | None,
        chunk_bytes: int,
        *,
        tracker: ReadBytes,
        say: Say,
        threads: DecoderThreads,
    ) -> None:
        self._decoder = decoder
        self._mapping = mapping
        self._chunk_bytes = chunk_bytes
        self._tracker = tracker
        self._say = say
        self._threads = threads

    def batches(self, name: str) -> Iterator[EventBatch]:
        """Yield the events of the file."""
        source = "stdin" if name == STDIN else name
        with _feed_errors(source), _opened(name) as (stream, form):
            if form in (_Format.PARQUET, _Format.ARROW):
                yield from self._table(stream, source, parquet=form is _Format.PARQUET)
                return
            found = decompressed(self._tracker.counted(pieces(stream)))
            held, plain = input_format(found) if name == STDIN else (None, found)
            if held is InputFormat.TABLE:
                self._say(f"{source}: reads a table, as its first line is no JSON")
            yield from self._plain(plain, source, _HELD.get(held, form))

    def _plain(self, plain: Iterable[bytes], source: str, form: _Format) -> Iterator[EventBatch]:
        if form in (_Format.CSV, _Format.TSV):
            yield from read_csv(
                plain,
                source,
                self._decoder,
                self._chunk_bytes,
                separator="," if form is _Format.CSV else "\t",
                mapping=self._mapping,
                say=self._say,
            )
            return
        yield from self._lines(array_lines(plain) if form is _Format.JSON else plain, source)

    def _lines(self, plain: Iterable[bytes], name: str) -> Iterator[EventBatch]:
        found = blocks(plain, self._chunk_bytes)
        first = next(found, None)
        if first is None:
            return
        mapping = mapping_for_lines(name, first.data, self._mapping, self._say)
        decoder, found = lines_decoder(self._decoder, mapping), chain([first], found)
        if decoder is self._decoder:
            yield from self._threads.batches(found, self._decoder, name)
            return
        for block in found:
            yield decoder.decode_lines(block.data, source=name, first_line=block.first_line)

    def _table(self, stream: BinaryIO, name: str, *, parquet: bool) -> Iterator[EventBatch]:
        size, read = _size_of(name), 0
        with _seekable(stream) as whole:
            opened = read_arrow(
                whole, name, self._decoder, parquet=parquet, mapping=self._mapping, say=self._say
            )
            for batch, share in opened:
                self._tracker.add(int(size * share) - read)
                read = int(size * share)
                yield batch


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Give a file decompressed, in a temporary file if it is compressed."""
    compressed = is_compressed(stream.read(4))
    stream.seek(0)
    if not compressed:
        yield stream
        return
    with TemporaryFile() as whole:
        for piece in decompressed(pieces(stream)):
            whole.write(piece)
        whole.seek(0)
        yield whole


@contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, _Format]]:
    form = _format_of(name)
    if name == STDIN:
        yield sys.stdin.buffer, form
        return
    with stores.opened(name) if is_url(name) else Path(name).open("rb") as stream:
        if _path_of(name).suffix.lower() != _ZIPPED:
            yield stream, form
            return
        with only_member(stream, name) as member:
            inner = _format_of(member.name)
            yield member.stream, form if inner is _Format.NDJSON else inner
