"""The series of feeds that only the running process knows: Kafka, followed files, databases."""

from monitor.prometheus.process_series import SeriesDescription

_PARTITION = ("group", "topic", "partition")
KAFKA_LAG = SeriesDescription(
    name="precision_monitor_kafka_lag_messages",
    kind="gauge",
    labels=_PARTITION,
    meaning="Messages of the partition not counted yet; includes offsets without a message.",
)
KAFKA_SKIPPED = SeriesDescription(
    name="precision_monitor_kafka_skipped_offsets_total",
    kind="counter",
    labels=_PARTITION,
    meaning="Offsets for which no message came: compacted, aborted or deleted.",
)
KAFKA_DELETED = SeriesDescription(
    name="precision_monitor_kafka_deleted_offsets_total",
    kind="counter",
    labels=_PARTITION,
    meaning="Offsets that the cluster deleted before they were read: events that are lost.",
)
KAFKA_PAUSED = SeriesDescription(
    name="precision_monitor_kafka_paused_seconds_total",
    kind="counter",
    labels=_PARTITION,
    meaning="Time in which the partition was not fetched, because too much of it waited.",
)
KAFKA_REBALANCES = SeriesDescription(
    name="precision_monitor_kafka_rebalances_total",
    kind="counter",
    labels=("group",),
    meaning="Times that the consumer group assigned partitions to this monitor.",
)

FOLLOWED_FAULTS = SeriesDescription(
    name="precision_monitor_followed_faults_total",
    kind="counter",
    labels=("feed", "kind"),
    meaning="Followed files whose lines may be lost or counted twice: gone before they were read "
    "to the end, unclear whether they were read before, or torn (gzip that ends early).",
)

SQL_FAILED = SeriesDescription(
    name="precision_monitor_sql_failed_queries_total",
    kind="counter",
    labels=("feed", "reason"),
    meaning="Queries of a database that failed and are repeated, by reason: connect (it cannot be "
    "reached), query (it answers with an error), columns (the rows cannot be read as events).",
)
SQL_LAST_SUCCESS = SeriesDescription(
    name="precision_monitor_sql_last_success_timestamp_seconds",
    kind="gauge",
    labels=("feed",),
    meaning="Wall time when the last query of a database was answered; absent before the first.",
)

FEED_SERIES = (
    KAFKA_LAG,
    KAFKA_SKIPPED,
    KAFKA_DELETED,
    KAFKA_PAUSED,
    KAFKA_REBALANCES,
    FOLLOWED_FAULTS,
    SQL_FAILED,
    SQL_LAST_SUCCESS,
)
"""Families of feeds."""
