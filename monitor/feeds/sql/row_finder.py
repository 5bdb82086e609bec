"""Finds the rows of a query that were not read before, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.config import SqlFeed
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.sql.cursor import Cursor, CursorError, NewRows, new_rows
from monitor.feeds.sql.row_decoder import RowDecoder
from monitor.feeds.sql.row_query import FailedQuery, QueryError, ReadPage, RowQuery

PAGE_ROWS = 5_000
"""Rows of a page, decoded in about 50 ms; a page is larger if more rows share one cursor."""


class FoundRows(NamedTuple):
    """Result of a query.

    Attributes:
        columns: names of the columns.
        fresh: the rows that were not read before.
        more: True if there may be more rows.
    """

    columns: list[str]
    fresh: NewRows
    more: bool


def find_rows(read: ReadPage, column: str, at: Cursor, most: int) -> FoundRows:
    """Query the rows behind a place, with a larger page where too many have its cursor.

    Args:
        read: reads a page.
        column: of the cursor.
        at: the place.
        most: rows of a page.

    Raises:
        QueryError: the query failed.
        CursorError: a row has no usable cursor.
    """
    while True:
        page = read(at.value, most)
        fresh = new_rows(page.rows, column, at, full=page.full)
        if fresh is not None:
            return FoundRows(page.columns, fresh, page.full)
        most *= 2


def recorded_rows(feed: SqlFeed, decoder: Decoder) -> Iterator[EventBatch]:
    """Yield the events of all rows that the database has now, in the order of the cursor.

    Args:
        feed: settings of the feed.
        decoder: decodes the records.

    Raises:
        FeedError: the database cannot be read.
    """
    name = f"sql {feed.name}"
    read, rows = RowQuery(feed).read, RowDecoder(name, feed, decoder)
    at, more = Cursor(feed.start, {}), True
    while more:
        try:
            found = find_rows(read, feed.cursor, at, PAGE_ROWS)
            batch = rows.decode(found.columns, found.fresh.rows)
        except (QueryError, CursorError, FeedError) as error:
            reason = error.reason if isinstance(error, QueryError) else FailedQuery.COLUMNS
            text = str(error).removeprefix(f"{name}: ")
            raise FeedError(reason.advised(f"{name}: {text}")) from error
        at, more = found.fresh.following, found.more
        if batch.records:
            yield batch
