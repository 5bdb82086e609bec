"""Databases of configured feeds, read as recorded events: `sql:NAME` in the place of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from monitor.config import Config, SqlFeed
from monitor.config.mapping import MappedRecords
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.sql.database_url import fault_of_url

_PREFIX = "sql:"
_NAMED = "sql "
"""Before the name of a feed, in the positions of its rows."""


def table_names(config: Config) -> list[str]:
    """Return how commands name the databases of the configured feeds.

    >>> feed = {"type": "sql", "name": "labels", "url": "sqlite:///a", "cursor": "n"}
    >>> feed["query"] = "SELECT * FROM labels WHERE n >= :cursor"
    >>> table_names(Config(feeds=[feed]))
    ['sql:labels']
    """
    return [f"{_PREFIX}{feed.name}" for feed in config.feeds if isinstance(feed, SqlFeed)]


def is_table(path: str) -> bool:
    """Return whether a path stands for a database; a file of such a name is a file."""
    return path.startswith(_PREFIX) and not os.path.exists(path)  # noqa: PTH110  # a text, maybe no path


def is_of(position: str, path: str) -> bool:
    """Return whether a record is of a file or a database.

    Args:
        position: of the record.
        path: of the file, or what stands for the database.

    >>> is_of("a.csv:7", "a.csv"), is_of("sql labels@2026-07-01 10:00", "sql:labels")
    (True, True)
    """
    if is_table(path):
        return position.startswith(f"{_NAMED}{path.removeprefix(_PREFIX)}@")
    return position.rpartition(":")[0] == path


def feed_of(path: str, config: Config) -> SqlFeed | None:
    """Return the configured feed of a database; None for another path, or without such a feed.

    Args:
        path: what stands for the database.
        config: has the feeds.
    """
    feeds = (feed for feed in config.feeds if isinstance(feed, SqlFeed)) if is_table(path) else ()
    return next((feed for feed in feeds if f"{_PREFIX}{feed.name}" == path), None)


def tables(
    paths: Sequence[str],
    config: Config,
    decoder: Decoder,
    mappings: Mapping[str, MappedRecords],
) -> list[Iterator[EventBatch]]:
    """Return the events of each database that the paths name.

    Args:
        paths: files and databases.
        config: has the feeds.
        decoder: decodes the records.
        mappings: by path, that of the feed with what options say besides.

    Raises:
        FeedError: no sql feed has such a name, or it cannot be read.
    """
    return [
        _rows(path, config, decoder, mappings.get(path, MappedRecords()))
        for path in paths
        if is_table(path)
    ]


def _rows(
    path: str, config: Config, decoder: Decoder, mapping: MappedRecords
) -> Iterator[EventBatch]:
    feed = feed_of(path, config)
    if feed is None:
        known = ", ".join(table_names(config)) or "none"
        raise FeedError(
            f"{path}: the configuration has no sql feed of this name, it has {known}; pass the "
            "configuration that has it with -c"
        )
    if fault := fault_of_url(feed.url.get_secret_value()):
        raise FeedError(f"{path}: its url {fault}")
    from monitor.feeds.sql.row_finder import recorded_rows  # noqa: PLC0415  # an extra

    read = {name: getattr(mapping, name) for name in MappedRecords.model_fields}
    return recorded_rows(feed.model_copy(update=read), decoder)
