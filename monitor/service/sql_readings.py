"""Series of the feeds of databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from monitor.feeds.source import Source
from monitor.prometheus.feed_series import SQL_FAILED, SQL_LAST_SUCCESS
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription


class _SqlSource(Protocol):
    """The attributes of an SQL source read here; its class needs an optional dependency."""

    @property
    def feed_name(self) -> str: ...
    @property
    def failed(self) -> Mapping[str, int]: ...
    @property
    def last_success(self) -> float | None: ...


def sql_readings(
    sources: Sequence[Source],
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of SQL feeds, and how each is read.

    Args:
        sources: all sources; those of other kinds have no such series.
    """
    from_sql: list[_SqlSource] = [
        source  # type: ignore[misc]  # recognized by its identity, without importing SQLAlchemy
        for source in sources
        if source.identity.startswith("sql:")
    ]

    def failed() -> NumberByLabels:
        return {
            (source.feed_name, str(reason)): float(number)
            for source in from_sql
            for reason, number in tuple(source.failed.items())
        }

    def last_success() -> NumberByLabels:
        return {
            (source.feed_name,): source.last_success
            for source in from_sql
            if source.last_success is not None
        }

    return {SQL_FAILED: failed, SQL_LAST_SUCCESS: last_success}
