"""What the configured feeds give, whenever there is something.

Files to be read once are one source, merged by time; each followed file is one
of its own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from monitor.config import Config, Feed, FileFeed, HttpFeed
from monitor.errors import ConfigError, FeedError
from monitor.events import EventBatch
from monitor.feeds import files
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder, DecodeSettings
from monitor.feeds.decode.lines import count_lines

_PIECE_BYTES = 1_500_000
"""Bytes read from a followed file at a time: about ten thousand events."""


class Source(Protocol):
    """Something to read events from without waiting."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def attached(self) -> bool:
        """Whether it can be read."""
        ...

    @property
    def ended(self) -> bool:
        """Whether nothing will ever come from it again."""
        ...

    def poll(self) -> EventBatch | None:
        """What has come since the last call; None if nothing has.

        Raises:
            FeedError: it cannot be read any more.
        """
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


def open_sources(config: Config) -> list[Source]:
    """The sources of all configured feeds that are read; for those posted to see `pushed`.

    Raises:
        ConfigError: there is no feed, or one of a type that this version cannot read.
        FeedError: a file that is to be read once is missing, or is none.
    """
    faults = unavailable_feeds(config)
    if faults:
        raise ConfigError(faults)
    decoder = Decoder(DecodeSettings.from_config(config))
    feeds = [feed for feed in config.feeds if isinstance(feed, FileFeed)]
    once = [os.fspath(feed.path) for feed in feeds if not feed.follow]
    sources: list[Source] = [Followed(feed.path, decoder) for feed in feeds if feed.follow]
    return [Recorded(once, decoder), *sources] if once else sources


def unavailable_feeds(config: Config) -> tuple[str, ...]:
    """What stands in the way of reading the configured feeds, one line a fault."""
    if not config.feeds:
        return ("feeds: are missing; add one, like {type: file, path: events.ndjson}",)
    return tuple(
        f"feeds[{number}].type: is not available in this version, got {feed.type!r}; "
        "write file or http"
        for number, feed in enumerate(config.feeds)
        if not _available(feed)
    )


def _available(feed: Feed) -> bool:
    return isinstance(feed, FileFeed | HttpFeed)


class Recorded:
    """Files that are read once, merged by time.

    Args:
        paths: the files.
        decoder: of their records.

    Raises:
        FeedError: one is missing or cannot be read.
    """

    def __init__(self, paths: Sequence[str], decoder: Decoder) -> None:
        self.name = ", ".join(paths)
        self.attached = True
        self.ended = False
        self._batches: Iterator[EventBatch] = iter(files.read(paths, decoder))

    def poll(self) -> EventBatch | None:
        """The next batch; None at the end."""
        try:
            batch = next(self._batches, None)
        except FeedError:
            self.attached, self.ended = False, True
            raise
        self.ended = batch is None
        return batch

    def close(self) -> None:
        """Nothing is kept open beyond the end of the files."""


class Followed:
    """A file of lines that grows, and may be replaced or cut, as `tail -F` reads it.

    A line counts once its newline is there. When another file takes the name,
    the rest of the old one is read first. A file that is not there yet is waited for.

    Args:
        path: the file, NDJSON.
        decoder: of its lines.

    Raises:
        FeedError: the path is a directory or cannot be opened.
    """

    ended = False

    def __init__(self, path: str | os.PathLike[str], decoder: Decoder) -> None:
        self.name = os.fspath(path)
        self._path = Path(path)
        self._decoder = decoder
        self._file: BinaryIO | None = None
        self._unfinished = b""
        self._line = 1
        self._attach()

    @property
    def attached(self) -> bool:
        """Whether the file is there."""
        return self._file is not None

    def poll(self) -> EventBatch | None:
        """Events of the lines that were finished since the last call."""
        if self._file is None and not self._attach():
            return None
        data = self._read()
        return self._decoded(data) if data else None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _attach(self) -> bool:
        try:
            regular = stat.S_ISREG(self._path.stat().st_mode)  # to open a pipe would wait
            file = self._path.open("rb") if regular else None
        except FileNotFoundError:
            return False
        except OSError as error:
            raise FeedError(f"{self.name}: cannot be followed: {_reason(error)}") from error
        if file is None:
            raise FeedError(f"{self.name}: cannot be followed: is no regular file")
        self._file, self._unfinished, self._line = file, b"", 1
        return True

    def _read(self) -> bytes:
        """Whole lines that were appended; at the end of a file that was replaced, all of it."""
        assert self._file is not None  # noqa: S101  # `poll` saw to it
        data = self._file.read(_PIECE_BYTES)
        if data:
            return self._whole_lines(data)
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)
            self._unfinished, self._line = b"", 1
        elif self._replaced():
            rest = self._unfinished + self._file.read()
            self.close()
            return rest
        return b""

    def _whole_lines(self, data: bytes) -> bytes:
        """The finished lines; of an endless one only so much is kept that it is too long."""
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            whole = self._unfinished + whole + newline
            self._unfinished = b""
        self._unfinished = (self._unfinished + rest)[: MAX_RECORD_BYTES + 1]
        return whole

    def _replaced(self) -> bool:
        assert self._file is not None  # noqa: S101  # `_read` saw to it
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _decoded(self, lines: bytes) -> EventBatch:
        batch = self._decoder.decode_lines(lines, source=self.name, first_line=self._line)
        self._line += count_lines(lines)
        return batch


def _reason(error: OSError) -> str:
    return (error.strerror or "unreadable").lower()
