"""Databases of configured feeds, read as recorded events: `sql:NAME` in the place of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from monitor.config import Config, SqlFeed
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.sql.database_url import fault_of_url

_PREFIX = "sql:"


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


def tables(paths: Sequence[str], config: Config, decoder: Decoder) -> list[Iterator[EventBatch]]:
    """Return the events of each database that the paths name.

    Args:
        paths: files and databases.
        config: has the feeds.
        decoder: decodes the records.

    Raises:
        FeedError: no sql feed has such a name, or it cannot be read.
    """
    return [_rows(path, config, decoder) for path in paths if is_table(path)]


def _rows(path: str, config: Config, decoder: Decoder) -> Iterator[EventBatch]:
    feeds = {feed.name: feed for feed in config.feeds if isinstance(feed, SqlFeed)}
    name = path.removeprefix(_PREFIX)
    if name not in feeds:
        known = ", ".join(table_names(config)) or "none"
        raise FeedError(
            f"{path}: the configuration has no sql feed of this name, it has {known}; pass the "
            "configuration that has it with -c"
        )
    if fault := fault_of_url(feeds[name].url.get_secret_value()):
        raise FeedError(f"{path}: its url {fault}")
    from monitor.feeds.sql.row_finder import recorded_rows  # noqa: PLC0415  # an extra

    return recorded_rows(feeds[name], decoder)
