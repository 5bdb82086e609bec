"""Opens the sources of the configured feeds.

Files that are read once form one source, merged by time. Each followed file, each
Kafka feed and each database is a source of its own. Checkpoints store the position of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from monitor.clock import Clock
from monitor.config import Config, Feed, FileFeed, KafkaFeed, SqlFeed
from monitor.config.fields import is_url
from monitor.config.mapping import MappedRecords
from monitor.errors import ConfigError, FeedError
from monitor.extras import install_command
from monitor.feeds import files
from monitor.feeds.decode import Decoder
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.follow import FollowedFiles
from monitor.feeds.follow.names import matching
from monitor.feeds.kafka import installed
from monitor.feeds.mapping.mapped_lines import lines_decoder
from monitor.feeds.recorded_files import RecordedFiles
from monitor.feeds.source import Source
from monitor.feeds.sql.database_url import fault_of_url
from monitor.feeds.standard_input import StandardInput
from monitor.feeds.stores import fault_of_store, matching_objects


def open_sources(
    config: Config, decoder: Decoder, clock: Clock, say: Callable[[str], None]
) -> list[Source]:
    """Open the sources of all feeds but those of type http.

    `posted.PostedFeeds` is the source of the HTTP feeds.

    Args:
        config: the configuration.
        decoder: decoder of the records.
        clock: wall and monotonic time.
        say: prints a one-line message for the operator.

    Raises:
        ConfigError: no feed is configured, or the client of one is not installed.
        FeedError: a file to be read once is missing, or is not a file.
    """
    faults = unavailable_feeds(config)
    if faults:
        raise ConfigError(faults)
    feeds = [feed for feed in config.feeds if isinstance(feed, FileFeed)]
    stdin = [feed for feed in feeds if os.fspath(feed.path) == files.STDIN]
    once = _expanded([feed for feed in feeds if feed not in stdin and not feed.follow])
    threads = DecoderThreads(config.decoders)
    sources: list[Source] = [
        FollowedFiles(feed.path, lines_decoder(decoder, feed), clock, say, threads)
        for feed in feeds
        if feed not in stdin and feed.follow
    ]
    for feed in config.feeds:
        if isinstance(feed, KafkaFeed):
            from monitor.feeds.kafka.source import KafkaSource  # noqa: PLC0415  # an extra

            sources.append(KafkaSource(feed, lines_decoder(decoder, feed), clock, say))
        if isinstance(feed, SqlFeed):
            from monitor.feeds.sql.sql_source import SqlSource  # noqa: PLC0415  # an extra

            sources.append(SqlSource(feed, decoder, clock, say))
    if stdin:
        sources.append(StandardInput(lines_decoder(decoder, stdin[0])))
    if once:
        recorded = RecordedFiles(list(once), decoder, mappings=once, say=say, threads=threads)
        sources.insert(0, recorded)
    return sources


def _expanded(feeds: Sequence[FileFeed]) -> dict[str, MappedRecords]:
    """Return the files that the paths and patterns match, each with its mapping.

    Raises:
        FeedError: a pattern matches no file, or the store of one cannot be read.
    """
    found: dict[str, MappedRecords] = {}
    for feed in feeds:
        path = os.fspath(feed.path)
        matches = matching_objects(path) if is_url(path) else matching(path)
        if not matches:
            raise FeedError(f"{path}: no file matches; check the pattern")
        for match in matches:
            found.setdefault(match, feed)
    return found


def missing_files(config: Config) -> tuple[str, ...]:
    """Return the configured files that must be there when reading starts and are not.

    A file to follow may appear later. Objects of stores are not looked for.

    Args:
        config: with the feeds.
    """
    return tuple(
        f"feeds[{number}].path: no such file, got {os.fspath(feed.path)!r}; check the path, or set "
        "follow: true to wait for it"
        for number, feed in enumerate(config.feeds)
        if isinstance(feed, FileFeed) and not feed.follow
        if os.fspath(feed.path) != files.STDIN and not is_url(os.fspath(feed.path))
        if not any(map(os.path.exists, matching(os.fspath(feed.path))))
    )


def unavailable_feeds(config: Config) -> tuple[str, ...]:
    """Return why the configured feeds cannot be read, one line a fault."""
    if not config.feeds:
        return ("feeds: none is configured; add one, such as {type: file, path: events.ndjson}",)
    faults = ((number, _unavailable(feed)) for number, feed in enumerate(config.feeds))
    return tuple(f"feeds[{number}].{fault}" for number, fault in faults if fault)


def _unavailable(feed: Feed) -> str:
    """Return why a feed cannot be read, with its key; "" where nothing is known."""
    if isinstance(feed, KafkaFeed) and not installed.is_installed():
        return (
            f"type: needs a client that is not installed, got {feed.type!r}; "
            f"{install_command('kafka')}"
        )
    if isinstance(feed, KafkaFeed) and not installed.reads(feed.value.format):
        return (
            f"value: {feed.value.format} needs packages that are not installed; "
            f"{install_command(installed.SCHEMAS_EXTRA)}"
        )
    if isinstance(feed, FileFeed) and is_url(path := os.fspath(feed.path)):
        return f"path: {fault}" if (fault := fault_of_store(path)) else ""
    if isinstance(feed, SqlFeed) and (fault := fault_of_url(feed.url.get_secret_value())):
        return f"url: {fault}"
    return ""
