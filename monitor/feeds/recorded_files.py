"""Source of files that are read once, merged by time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import xxhash

from monitor.config.fields import is_url
from monitor.config.mapping import MappedRecords
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds import files, stores
from monitor.feeds.decode import Decoder
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.mapping.guessing import Say, to_stderr
from monitor.feeds.source import Position

_COMPARED_BYTES = 4096
"""Bytes at the start and at the end of a file that its fingerprint covers."""


class RecordedFiles:
    """Files that are read once, merged by time.

    Args:
        paths: paths of the files.
        decoder: decoder of their records.
        mappings: which columns hold the fields, by path; see `files.read`.
        say: prints which columns are taken for which fields, where that is a guess.
        threads: read and decode ahead; None for none.

    Raises:
        FeedError: a file is missing or cannot be read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        decoder: Decoder,
        *,
        mappings: Mapping[str, MappedRecords] = files.NO_MAPPINGS,
        say: Say = to_stderr,
        threads: DecoderThreads | None = None,
    ) -> None:
        self.name = ", ".join(paths)
        self.identity = f"files:{self.name}"
        self.attached = True
        self.ended = False
        self._files = [_fingerprint(path) for path in paths]
        self._returned = 0
        batches = files.read(paths, decoder, mappings=mappings, say=say, threads=threads)
        self._batches: Iterator[EventBatch] = iter(batches)

    def position(self) -> Position:
        """Return the number of batches read, and the fingerprints of the files."""
        return {"batches": self._returned, "files": self._files}

    def resume(self, position: Position) -> str:
        """Skip the batches counted before, if the files are unchanged; else read from the start."""
        if not all(self._files):
            return ""  # a pipe cannot be read again from its start
        if position["files"] != self._files:
            return (
                f"{self.name}: changed since the last run; reading it again from its start, events "
                "without an id count twice"
            )
        self._returned = int(position["batches"])
        self._batches = islice(self._batches, self._returned, None)
        return ""

    def commit(self, position: Position) -> None:
        """Do nothing: files stay as they are."""

    def poll(self) -> EventBatch | None:
        """Return the next batch; None at the end.

        Raises:
            FeedError: a file cannot be read any more.
        """
        try:
            batch = next(self._batches, None)
        except FeedError:
            self.attached, self.ended = False, True
            raise
        self.ended = batch is None
        self._returned += batch is not None
        return batch

    def close(self) -> None:
        """Do nothing: each file is closed at its end."""


def _fingerprints(file: BinaryIO, offset: int) -> list[str]:
    """Return hashes of the start of a file and of the bytes before an offset."""
    start = os.pread(file.fileno(), min(offset, _COMPARED_BYTES), 0)
    before = max(0, offset - _COMPARED_BYTES)
    return [
        xxhash.xxh3_64_hexdigest(part)
        for part in (start, os.pread(file.fileno(), offset - before, before))
    ]


def _fingerprint(path: str) -> list[str]:
    return stores.fingerprint(path) if is_url(path) else _file_fingerprint(Path(path))


def _file_fingerprint(path: Path) -> list[str]:
    """Return the size and hashes of a whole file; empty where it cannot be read twice."""
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return [str(size), *_fingerprints(file, size)]
    except OSError:
        return []
