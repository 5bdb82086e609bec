"""Series of the Kafka feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from monitor.feeds.source import Source
from monitor.prometheus.feed_series import (
    KAFKA_DELETED,
    KAFKA_LAG,
    KAFKA_PAUSED,
    KAFKA_REBALANCES,
    KAFKA_SKIPPED,
)
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription

_COLUMNS = {
    KAFKA_LAG: "lag",
    KAFKA_SKIPPED: "skipped",
    KAFKA_DELETED: "deleted",
    KAFKA_PAUSED: "paused_seconds",
}


class _Figures(Protocol):
    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...


class _KafkaSource(Protocol):
    """The attributes of a Kafka source read here; its class needs an optional dependency."""

    @property
    def group(self) -> str: ...
    @property
    def figures(self) -> Sequence[_Figures]: ...
    @property
    def rebalances(self) -> int: ...


def kafka_readings(
    sources: Sequence[Source],
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of Kafka feeds, and how each is read.

    Args:
        sources: all sources; those of other kinds have no such series.
    """
    from_kafka: list[_KafkaSource] = [
        source  # type: ignore[misc]  # recognized by its identity, without importing the client
        for source in sources
        if source.identity.startswith("kafka:")
    ]

    def column(name: str) -> Callable[[], NumberByLabels]:
        return lambda: {
            (source.group, figures.topic, str(figures.partition)): float(getattr(figures, name))
            for source in from_kafka
            for figures in source.figures
        }

    def rebalances() -> NumberByLabels:
        return {(source.group,): float(source.rebalances) for source in from_kafka}

    return {series: column(name) for series, name in _COLUMNS.items()} | {
        KAFKA_REBALANCES: rebalances
    }
