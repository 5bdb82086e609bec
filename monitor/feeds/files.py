"""Files and standard input, read in chunks and merged by event time."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from itertools import chain
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import BinaryIO

from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.arrow.arrow_files import read_arrow
from monitor.feeds.blocks import GZIP_MAGIC, TornError, blocks, inflated, pieces
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder
from monitor.feeds.merge import merged

CHUNK_BYTES = 1_500_000
"""Bytes of lines in a batch: about ten thousand events, the size that decodes fastest."""
STDIN = "-"
"""The path that stands for standard input."""

Progress = Callable[[int, int], None]
"""Called with the bytes read from all files so far, and their total size (0: unknown)."""


def read(
    paths: Sequence[str | PathLike[str]],
    decoder: Decoder,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Progress | None = None,
) -> Iterator[EventBatch]:
    """Read all events of some files, in batches, merged by event time.

    A row with a prediction and its label is one record at the time of the prediction,
    however late the label came. So the same rows count the same in every format.

    Args:
        paths: CSV, Parquet (`.parquet`, `.pq`) or Arrow (`.arrow`, `.arrows`, `.feather`,
            `.ipc`) by the ending of the name, else NDJSON; NDJSON and CSV may be gzip,
            detected by content; `-` is NDJSON on standard input.
        decoder: turns records into columns.
        chunk_bytes: bytes of lines in a batch, for files of lines.
        progress: called after each read.

    Raises:
        FeedError: at once if a path is a directory, missing or not readable. While
            reading, after all events before, if a compressed file is damaged or ends
            too early.
    """
    names = [fspath(path) for path in paths]
    tracker = _Tracker(sum(map(_size_of, names)), progress)
    streams = [_batches(name, decoder, chunk_bytes, tracker) for name in names]
    return streams[0] if len(streams) == 1 else merged(streams)


class _Format(Enum):
    NDJSON = auto()
    CSV = auto()
    PARQUET = auto()
    ARROW = auto()


_FORMATS = {
    ".csv": _Format.CSV,
    ".parquet": _Format.PARQUET,
    ".pq": _Format.PARQUET,
    ".arrow": _Format.ARROW,
    ".arrows": _Format.ARROW,
    ".feather": _Format.ARROW,
    ".ipc": _Format.ARROW,
}


def _format_of(name: str) -> _Format:
    """Return the format by the ending of a name; NDJSON for any other ending.

    >>> _format_of("a.csv.gz"), _format_of("a.log")
    (<_Format.CSV: 2>, <_Format.NDJSON: 1>)
    """
    path = PurePath(name)
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _FORMATS.get(inner.suffix.lower(), _Format.NDJSON)


class _Tracker:
    """Counts the bytes read from all files, and reports them."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done = 0
        self._total = total
        self._progress = progress

    def counted(self, stream: Iterable[bytes]) -> Iterator[bytes]:
        for piece in stream:
            self.add(len(piece))
            yield piece

    def add(self, length: int) -> None:
        self._done += length
        if self._progress:
            self._progress(self._done, self._total)


def _size_of(name: str) -> int:
    """Return the size of a readable file in bytes; 0 for standard input and pipes."""
    if name == STDIN:
        return 0
    with _feed_errors(name):
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
        raise FeedError(f"{name}: is a directory; give a file") from error
    except FileNotFoundError as error:
        raise FeedError(f"{name}: no such file; check the path") from error
    except PermissionError as error:
        raise FeedError(f"{name}: may not be read by this user; check its mode") from error
    except TornError as error:
        raise FeedError(f"{name}: {error}; all whole lines before it were read") from error
    except OSError as error:
        raise FeedError(f"{name}: cannot be read: {error}") from error


def _batches(
    name: str, decoder: Decoder, chunk_bytes: int, tracker: _Tracker
) -> Iterator[EventBatch]:
    source, form = "stdin" if name == STDIN else name, _format_of(name)
    with _feed_errors(source), _opened(name) as stream:
        if form in (_Format.PARQUET, _Format.ARROW):
            yield from _tables(stream, source, decoder, tracker)
            return
        plain = _plain(tracker.counted(pieces(stream)))
        if form is _Format.CSV:
            yield from read_csv(plain, source, decoder, chunk_bytes)
            return
        for block in blocks(plain, chunk_bytes):
            yield decoder.decode_lines(block.data, source=source, first_line=block.first_line)


def _tables(
    stream: BinaryIO, name: str, decoder: Decoder, tracker: _Tracker
) -> Iterator[EventBatch]:
    parquet, size, read = _format_of(name) is _Format.PARQUET, _size_of(name), 0
    for batch, share in read_arrow(stream, name, decoder, parquet=parquet):
        tracker.add(int(size * share) - read)
        read = int(size * share)
        yield batch


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as stream:
            yield stream


def _plain(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Return the stream, decompressed if it is gzip."""
    first = next(stream, b"")
    whole = chain([first], stream)
    return inflated(whole) if first.startswith(GZIP_MAGIC) else whole
