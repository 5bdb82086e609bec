"""What the configured feeds give, whenever there is something.

Files to be read once are one source, merged by time; each followed file is one
of its own. A checkpoint holds the position of each, and a restart resumes there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

import xxhash

from monitor.clock import Clock
from monitor.config import Config, FileFeed, KafkaFeed
from monitor.errors import ConfigError, FeedError
from monitor.events.columns import EventBatch
from monitor.feeds import files, kafka
from monitor.feeds.decode import Decoder
from monitor.feeds.follow import FollowedFiles
from monitor.feeds.follow.names import matching
from monitor.feeds.standard_input import StandardInput

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


@runtime_checkable
class Journaled(Protocol):
    """A source of which the first polls give what had come before the start."""

    @property
    def restored(self) -> bool:
        """Whether all of that was given."""
        ...

    def shut(self) -> None:
        """Take nothing new; the polls after it give what was taken, and then nothing more."""
        ...


@runtime_checkable
class Shared(Protocol):
    """A source of which others may read parts on, and which can wait."""

    held_back: bool
    """Set while nothing more is to be read."""

    def hand_over_by(self, checkpoint: Callable[[], bool]) -> None:
        """Name what makes durable what was counted, and says whether that worked.

        It is called within `poll` and `close`, before something goes to another reader.
        """
        ...


def open_sources(
    config: Config, decoder: Decoder, clock: Clock, say: Callable[[str], None]
) -> list[Source]:
    """The sources of all configured feeds that are read; for those posted to see `pushed`.

    Args:
        config: of the monitor.
        decoder: of their records.
        clock: measures how long nothing came.
        say: tells a person what happens, a line at a time.

    Raises:
        ConfigError: there is no feed, or what one needs is not installed.
        FeedError: a file that is to be read once is missing, or is none.
    """
    faults = unavailable_feeds(config)
    if faults:
        raise ConfigError(faults)
    feeds = [feed for feed in config.feeds if isinstance(feed, FileFeed)]
    stdin = [feed for feed in feeds if os.fspath(feed.path) == files.STDIN]
    once = [os.fspath(feed.path) for feed in feeds if feed not in stdin and not feed.follow]
    sources: list[Source] = [
        FollowedFiles(feed.path, decoder, clock, say)
        for feed in feeds
        if feed not in stdin and feed.follow
    ]
    for feed in config.feeds:
        if isinstance(feed, KafkaFeed):
            from monitor.feeds.kafka.source import KafkaSource  # noqa: PLC0415  # an extra

            sources.append(KafkaSource(feed, decoder, clock, say))
    if stdin:
        sources.append(StandardInput(decoder))
    return [Recorded(_expanded(once), decoder), *sources] if once else sources


def _expanded(paths: Sequence[str]) -> list[str]:
    """The files that paths and patterns stand for, each once.

    Raises:
        FeedError: a pattern stands for none.
    """
    found: dict[str, None] = {}
    for path in paths:
        these = matching(path)
        if not these:
            raise FeedError(f"{path}: no file is called so; check the pattern")
        found |= dict.fromkeys(these)
    return list(found)


def unavailable_feeds(config: Config) -> tuple[str, ...]:
    """What stands in the way of reading the configured feeds, one line a fault."""
    if not config.feeds:
        return ("feeds: are missing; add one, like {type: file, path: events.ndjson}",)
    return tuple(
        f"feeds[{number}].type: needs a client that is not installed, got {feed.type!r}; "
        "pip install 'precision-monitor[kafka]'"
        for number, feed in enumerate(config.feeds)
        if isinstance(feed, KafkaFeed) and not kafka.is_installed()
    )


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
