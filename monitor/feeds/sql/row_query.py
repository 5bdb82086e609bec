"""Runs the query of a feed for one page of rows, sorted by the cursor."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import (
    NullPool,
    Select,
    bindparam,
    column,
    create_engine,
    literal_column,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from monitor.config import SqlFeed
from monitor.feeds.sql.cursor import Row
from monitor.feeds.sql.database_url import absent_file, without_secrets


class FailedQuery(StrEnum):
    """Why a query gave no rows that can be counted."""

    CONNECT = "connect"
    QUERY = "query"
    COLUMNS = "columns"

    def advised(self, text: str) -> str:
        """Return what happened, and what to do about it.

        Args:
            text: what happened, without a full stop.
        """
        return f"{text}{'' if text.endswith('?') else '.'} Next: {_ADVICE[self]}"


_ADVICE = {
    FailedQuery.CONNECT: "check the feed's url, and that its database answers this machine",
    FailedQuery.QUERY: "correct the feed's query or cursor, and try it with precision-monitor "
    "check-config",
    FailedQuery.COLUMNS: "correct the feed's fields or cursor, and try them with "
    "precision-monitor check-config",
}


class QueryError(Exception):
    """A query failed; the message has no secrets.

    Args:
        reason: what failed.
        detail: the first line of the driver's message.

    Attributes:
        reason: what failed.
    """

    def __init__(self, reason: FailedQuery, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class RowPage(NamedTuple):
    """Rows of a query, sorted by the cursor.

    Attributes:
        columns: names of the columns.
        rows: the rows.
        full: True if there may be more rows behind them.
    """

    columns: list[str]
    rows: list[Row]
    full: bool


ReadPage = Callable[[Any, int], RowPage]
"""Returns at most so many rows from a cursor on; raises `QueryError`."""


class RowQuery:
    """The query of a feed, run for a page at a time, each on a connection of its own.

    Args:
        feed: settings of the feed.
    """

    def __init__(self, feed: SqlFeed) -> None:
        self._url = feed.url.get_secret_value()
        self._engine = create_engine(self._url, poolclass=NullPool, hide_parameters=True)
        # Without a type the driver sends the value as the database gave it.
        # A query may end in a comment, which ends with the line.
        bound = text(f"{feed.query}\n").bindparams(bindparam("cursor", type_=NullType()))
        rows = bound.columns(column(feed.cursor)).subquery("rows_of_feed")
        place = rows.c[feed.cursor]
        self._select: Select[Any] = (
            select(literal_column("*")).select_from(rows).where(place.is_not(None)).order_by(place)
        )

    def read(self, cursor: Any, most: int) -> RowPage:
        """Return the first rows from a cursor on.

        Args:
            cursor: value of `:cursor`.
            most: number of rows at most.

        Raises:
            QueryError: the database cannot be reached, or answers with an error.
        """
        reason = FailedQuery.CONNECT
        if absent := absent_file(self._url):
            raise QueryError(reason, f"no such file: {absent!r}; check the url")
        try:
            with self._engine.connect() as connection:
                reason = FailedQuery.QUERY
                result = connection.execute(self._select.limit(most), {"cursor": cursor})
                columns = list(result.keys())
                rows: list[Row] = [dict(zip(columns, row, strict=True)) for row in result]
        except Exception as error:  # drivers raise errors of their own, also at values they read
            raise QueryError(reason, without_secrets(_first_line(error), self._url)) from error
        return RowPage(columns, rows, len(rows) == most)


def _first_line(error: Exception) -> str:
    """Return the first line of an error, of the driver's where there is one."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
