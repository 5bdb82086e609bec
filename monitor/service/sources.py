"""What the configured feeds give, whenever there is something.

Files to be read once are one source, merged by time; each followed file is one
of its own. A checkpoint holds the position of each, and a restart resumes there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import xxhash

from monitor.config import Config, Feed, FileFeed, HttpFeed
from monitor.errors import ConfigError, FeedError
from monitor.events import EventBatch
from monitor.feeds import files
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder
from monitor.feeds.decode.lines import count_lines

_PIECE_BYTES = 1_500_000
"""Bytes read from a followed file at a time: about ten thousand events."""
_COMPARED_BYTES = 4096
"""Bytes of a file's start, and of what was read last, by which it is known again."""

Position = Mapping[str, Any]
"""Where a source stands: strings, whole numbers, lists and maps of these."""


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

    @property
    def identity(self) -> str:
        """What its position is kept under: the same after a restart, another for another feed."""
        ...

    def position(self) -> Position:
        """Where it stands: before it lies what `poll` has given, all of it and nothing else.

        Called between two polls, by the thread that polls.
        """
        ...

    def resume(self, position: Position) -> str:
        """Go on from what `position` gave in an earlier process; called before the first poll.

        Returns:
            What is amiss, for a person, and what is done about it; "" where all is well.

        Raises:
            StateError: what came after the position is gone.
        """
        ...

    def settled(self, position: Position) -> None:
        """Never again will an earlier position be resumed: two checkpoints are past it.

        Called between two polls; the position is that of the older checkpoint.
        """
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


def open_sources(config: Config, decoder: Decoder) -> list[Source]:
    """The sources of all configured feeds that are read; for those posted to see `pushed`.

    Args:
        config: of the monitor.
        decoder: of their records.

    Raises:
        ConfigError: there is no feed, or one of a type that this version cannot read.
        FeedError: a file that is to be read once is missing, or is none.
    """
    faults = unavailable_feeds(config)
    if faults:
        raise ConfigError(faults)
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
        self.identity = f"files:{self.name}"
        self.attached = True
        self.ended = False
        self._files = [_print_of_file(Path(path)) for path in paths]
        self._given = 0
        self._batches: Iterator[EventBatch] = iter(files.read(paths, decoder))

    def position(self) -> Position:
        """How many batches were given, and of which files."""
        return {"batches": self._given, "files": self._files}

    def resume(self, position: Position) -> str:
        """Read over what was counted, where the files are the same."""
        if not all(self._files):
            return ""  # a pipe gives what comes now
        if position["files"] != self._files:
            return (
                f"{self.name}: has changed since it was read: is read again from its start; an "
                "event without an id counts again"
            )
        self._given = int(position["batches"])
        self._batches = islice(self._batches, self._given, None)
        return ""

    def settled(self, position: Position) -> None:
        """Files keep what they hold."""

    def poll(self) -> EventBatch | None:
        """The next batch; None at the end."""
        try:
            batch = next(self._batches, None)
        except FeedError:
            self.attached, self.ended = False, True
            raise
        self.ended = batch is None
        self._given += batch is not None
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
        self.identity = f"followed:{self.name}"
        self._path = Path(path)
        self._decoder = decoder
        self._file: BinaryIO | None = None
        self._unfinished = b""
        self._line = 1
        self._begun = 0
        self._expected: Position = {}
        self._attach()

    @property
    def attached(self) -> bool:
        """Whether the file is there."""
        return self._file is not None

    def position(self) -> Position:
        """Bytes of the lines that were given, and by what the file is known again."""
        if self._file is None:
            return self._expected
        prints = _prints(self._file, self._begun)
        return {"offset": self._begun, "line": self._line, "prints": prints}

    def resume(self, position: Position) -> str:
        """Go on behind the lines that were counted, if it is still the same file."""
        self._expected = position
        return self._found_again() if self._file is not None else ""

    def settled(self, position: Position) -> None:
        """A file keeps what it holds."""

    def _found_again(self) -> str:
        """Go to where reading is expected to go on; what is wrong with the file, if anything."""
        assert self._file is not None  # noqa: S101  # its callers saw to it
        expected, self._expected = self._expected, {}
        if not expected:
            return ""
        offset = int(expected["offset"])
        if expected["prints"] != _prints(self._file, offset):
            return (
                f"{self.name}: was replaced or cut while it was not watched: is read from its "
                "start; what had been appended to the old one since is not counted"
            )
        self._file.seek(offset)
        self._begun, self._line = offset, int(expected["line"])
        return ""

    def poll(self) -> EventBatch | None:
        """Events of the lines that were finished since the last call."""
        if self._file is None:
            if not self._attach():
                return None
            self._found_again()  # another file than before is nothing unusual here
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
        self._file, self._unfinished, self._line, self._begun = file, b"", 1, 0
        return True

    def _read(self) -> bytes:
        """Whole lines that were appended; at the end of a file that was replaced, all of it."""
        assert self._file is not None  # noqa: S101  # `poll` saw to it
        data = self._file.read(_PIECE_BYTES)
        if data:
            return self._whole_lines(data)
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)
            self._unfinished, self._line, self._begun = b"", 1, 0
        elif self._replaced():
            rest = self._unfinished + self._file.read()
            self.close()
            return rest
        return b""

    def _whole_lines(self, data: bytes) -> bytes:
        """The finished lines; of an endless one only so much is kept that it is too long."""
        assert self._file is not None  # noqa: S101  # `_read` saw to it
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            whole = self._unfinished + whole + newline
            self._unfinished = b""
            self._begun = self._file.tell() - len(rest)
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


def _prints(file: BinaryIO, offset: int) -> list[str]:
    """By what a file is known again up to an offset: its start, and what lies before that."""
    start = os.pread(file.fileno(), min(offset, _COMPARED_BYTES), 0)
    before = max(0, offset - _COMPARED_BYTES)
    return [
        xxhash.xxh3_64_hexdigest(part)
        for part in (start, os.pread(file.fileno(), offset - before, before))
    ]


def _print_of_file(path: Path) -> list[str]:
    """By what a whole file is known again; nothing where it cannot be read again."""
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return [str(size), *_prints(file, size)]
    except OSError:
        return []


def _reason(error: OSError) -> str:
    return (error.strerror or "unreadable").lower()
