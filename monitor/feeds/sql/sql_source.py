"""The rows of a database as a source with a position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from monitor.clock import SECOND_MS, Clock
from monitor.config import SqlFeed
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.sql.cursor import Cursor, CursorError
from monitor.feeds.sql.row_decoder import RowDecoder
from monitor.feeds.sql.row_finder import PAGE_ROWS, FoundRows, find_rows
from monitor.feeds.sql.row_query import FailedQuery, QueryError, ReadPage, RowQuery

RETRY_SECONDS = 10.0
"""Time after which a failed query is repeated, at the latest."""


class SqlSource:
    """Rows of a database, each delivered once, in the order of the cursor.

    A thread of its own runs the query. A failed query is counted, logged once, and repeated.

    Args:
        feed: settings of the feed.
        decoder: decodes the records.
        clock: wall and monotonic time.
        log: writes one line for a person.
        read: reads a page of rows; the feed's query by default.
        worker: runs the query; a thread of its own if None.
        page_rows: rows of a page.

    Attributes:
        feed_name: the name of the feed in series.
        failed: number of failed queries since the start, by reason.
        last_success: wall time when the last query was answered, epoch seconds; None
            before the first.
    """

    ended = False

    def __init__(
        self,
        feed: SqlFeed,
        decoder: Decoder,
        clock: Clock,
        log: Callable[[str], None],
        *,
        read: ReadPage | None = None,
        worker: Executor | None = None,
        page_rows: int = PAGE_ROWS,
    ) -> None:
        self.feed_name = feed.name
        self.name = f"sql {feed.name}"
        self.identity = f"sql:{feed.name}"
        self.failed: Counter[FailedQuery] = Counter()
        self.last_success: float | None = None
        self._column = feed.cursor
        self._every = feed.every / SECOND_MS
        self._rows = RowDecoder(self.name, feed, decoder)
        self._clock = clock
        self._log = log
        self._read = RowQuery(feed).read if read is None else read
        self._worker = worker or ThreadPoolExecutor(1, thread_name_prefix="sql")
        self._page_rows = page_rows
        self._at = Cursor(feed.start, {})
        self._due = clock.monotonic()
        self._asked: Future[FoundRows] | None = None
        self._logged = ""

    @property
    def attached(self) -> bool:
        """True once a query has been answered."""
        return self.last_success is not None

    def poll(self) -> EventBatch | None:
        """Return the events of new rows once the query has them; None if there are none."""
        if self._asked is None and self._clock.monotonic() >= self._due:
            self._asked = self._worker.submit(
                find_rows, self._read, self._column, self._at, self._page_rows
            )
        if self._asked is None or not self._asked.done():
            return None
        asked, self._asked = self._asked, None
        try:
            found = asked.result()
            batch = self._rows.decode(found.columns, found.fresh.rows)
        except (QueryError, CursorError, FeedError) as error:
            self._fail(error)
            return None
        self._succeed(found)
        if not batch.records:
            return None
        return batch.arrived([(0, round(self._clock.now() * SECOND_MS))])

    def position(self) -> Mapping[str, Any]:
        """Return the cursor behind the delivered rows."""
        return {"column": self._column, **self._at.to_position()}

    def resume(self, position: Mapping[str, Any]) -> str:
        """Continue behind the rows that an earlier process delivered.

        With another cursor column, reading begins at the feed's start.
        """
        if position["column"] != self._column:
            return (
                f"{self.name}: the cursor is {self._column!r} now and was {position['column']!r}; "
                "reading from the start, rows without an id count twice"
            )
        self._at = Cursor.from_position(position)
        return ""

    def commit(self, position: Mapping[str, Any]) -> None:
        """Do nothing: the rows stay in the database."""

    def close(self) -> None:
        """Stop asking; a query that still runs is left to end by itself."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _succeed(self, found: FoundRows) -> None:
        self._at = found.fresh.following
        self.last_success = self._clock.now()
        self._due = self._clock.monotonic() + (0 if found.more else self._every)
        if self._logged:
            self._log(f"{self.name}: answers again")
            self._logged = ""

    def _fail(self, error: Exception) -> None:
        """Count a failed query, log it unless it repeats, and schedule the next one."""
        reason = error.reason if isinstance(error, QueryError) else FailedQuery.COLUMNS
        self.failed[reason] += 1
        self._due = self._clock.monotonic() + min(self._every, RETRY_SECONDS)
        text = str(error).removeprefix(f"{self.name}: ")
        if self._logged != text:
            self._logged = text
            self._log(reason.advised(f"{self.name}: {reason}: {text}; retrying"))
