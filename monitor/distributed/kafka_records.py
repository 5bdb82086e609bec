"""Kafka topics as a Spark data source in Python, without Spark's own connector.

Takes those options of Spark's connector that the job uses (`subscribe`,
`maxOffsetsPerTrigger`, `kafka.` before the names of client settings), and reads with
the confluent-kafka library from the earliest record on. Spark keeps the offsets in its
checkpoint, so a batch computed again reads the same records. Nothing is committed to
Kafka. Needs Spark 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from monitor.errors import MonitorError

pa: Any = import_module("pyarrow")

FORMAT = "precision-monitor-kafka"
"""Name of this source in Spark."""

Ends = dict[str, dict[str, int]]
"""Offsets by topic and partition number."""

_CLIENT = "kafka."
_TOGETHER = 10_000
_ASK_SECONDS = 30.0
_WAIT_SECONDS, _SILENT_SECONDS = 0.25, 120.0
_OWN = {
    "group.id": "precision-monitor-spark",
    "enable.auto.commit": "false",
    "enable.partition.eof": "true",
    "auto.offset.reset": "error",
    "log_level": "3",
}
_SCHEMA = pa.schema([("value", pa.binary())])


class KafkaRecords(DataSource):
    """Values of records, in the column `value`."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return FORMAT

    def schema(self) -> str:
        """Return the schema: one column."""
        return "value binary"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: ARG002, N802  # Spark's
        """Return the reader for the options."""
        options = {str(name): str(value) for name, value in self.options.items()}
        client = {k.removeprefix(_CLIENT): v for k, v in options.items() if k.startswith(_CLIENT)}
        topics = [topic.strip() for topic in options["subscribe"].split(",")]
        return TopicReader(client | _OWN, topics, int(options.get("maxoffsetspertrigger", 0)))


@dataclass(frozen=True)
class PartitionOffsets(InputPartition):
    """A range of offsets of one partition, read by one task.

    Attributes:
        topic: topic of the partition.
        number: number of the partition.
        first: first offset.
        end: offset behind the last.
    """

    topic: str
    number: int
    first: int
    end: int

    def __str__(self) -> str:
        """Return the partition as `topic[number]`."""
        return f"{self.topic}[{self.number}]"


class TopicReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches on the driver; tasks run `read`.

    Args:
        client: settings of the Kafka client.
        topics: topics to read.
        limit: maximum number of records in a batch; 0 for no limit.
    """

    def __init__(self, client: dict[str, str], topics: Sequence[str], limit: int = 0) -> None:
        self._client = client
        self._topics = topics
        self._limit = limit
        self._target: Ends | None = None

    def initialOffset(self) -> Ends:  # noqa: N802  # Spark's name
        """Return the earliest offsets."""
        return self._ends(0)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """Return the limit of a batch."""
        return ReadMaxRows(self._limit) if self._limit else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """Read no further than the current ends."""
        self._target = self._ends(1)

    def latestOffset(self, start: Ends, limit: ReadLimit) -> Ends:  # noqa: N802  # Spark's name
        """Return the end of the next batch.

        Each partition gets a share of the limit in proportion to its records, and at
        least one record.

        Args:
            start: offsets where the batch begins.
            limit: limit of the batch.
        """
        latest = self._target or self._ends(1)
        if not isinstance(limit, ReadMaxRows):
            return latest
        first = self._first(start, latest)
        there = {place: end - first[place] for place, end in _flat(latest).items()}
        share = min(1.0, limit.max_rows / max(1, sum(there.values())))
        reached = {
            place: first[place] + min(left, max(1, int(left * share)))
            for place, left in there.items()
        }
        return _nested(reached)

    def partitions(self, start: Ends, end: Ends) -> Sequence[PartitionOffsets]:
        """Return a task for each partition with new records.

        Args:
            start: offsets where the batch begins.
            end: offsets where it ends.
        """
        first = self._first(start, end)
        tasks = [PartitionOffsets(*place, first[place], at) for place, at in _flat(end).items()]
        return [one for one in tasks if one.end > one.first]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the values in a range of offsets, as Arrow batches.

        Raises:
            MonitorError: some records are missing.
        """
        if not isinstance(partition, PartitionOffsets):
            raise TypeError(f"not of this reader: {partition!r}")
        with closing(Consumer(self._client)) as consumer:
            consumer.assign([TopicPartition(partition.topic, partition.number, partition.first)])
            for values in _values(consumer, partition):
                yield pa.RecordBatch.from_arrays([pa.array(values, pa.binary())], schema=_SCHEMA)

    def _first(self, start: Ends, end: Ends) -> dict[tuple[str, int], int]:
        """Return where partitions begin; those new to the job begin at their earliest record."""
        known, wanted = _flat(start), _flat(end)
        if not known.keys() >= wanted.keys():
            known = _flat(self._ends(0)) | known
        if recreated := [place for place, at in wanted.items() if at < known[place]]:
            topic, number = recreated[0]
            raise MonitorError(
                f"kafka {topic}[{number}]: ends before offset {known[recreated[0]]}, already read; "
                "the topic was probably recreated; start with a new --checkpoint"
            )
        return {place: known[place] for place in wanted}

    def _ends(self, which: int) -> Ends:
        """Return the earliest offsets of all partitions (0), or their ends (1)."""
        found: Ends = {}
        with closing(Consumer(self._client)) as consumer:
            for topic in self._topics:
                numbers = self._numbers(consumer, topic)
                places = [TopicPartition(topic, number) for number in numbers]
                ends = [_watermarks(consumer, place)[which] for place in places]
                found[topic] = {str(n): at for n, at in zip(numbers, ends, strict=True)}
        return found

    def _numbers(self, consumer: Consumer, topic: str) -> list[int]:
        try:
            metadata = consumer.list_topics(topic, timeout=_ASK_SECONDS).topics[topic]
        except KafkaException as error:
            raise MonitorError(f"kafka {topic}: {error.args[0].str()}") from error
        if metadata.error is not None:
            raise MonitorError(f"kafka {topic}: {metadata.error.str()}")
        return sorted(metadata.partitions)


def _watermarks(consumer: Consumer, place: TopicPartition) -> tuple[int, int]:
    try:
        low, high = consumer.get_watermark_offsets(place, timeout=_ASK_SECONDS)
    except KafkaException as error:
        raise MonitorError(f"kafka {place.topic}: {error.args[0].str()}") from error
    return low, high


def _values(consumer: Consumer, offsets: PartitionOffsets) -> Iterator[list[bytes]]:
    """Yield the values in a range; offsets without a record, as after compaction, are skipped."""
    at, silent = offsets.first, 0.0
    while at < offsets.end:
        most = min(_TOGETHER, offsets.end - at)
        came = consumer.consume(most, timeout=_WAIT_SECONDS)  # waits for so many
        silent = 0.0 if came else silent + _WAIT_SECONDS
        if silent > _SILENT_SECONDS:
            raise MonitorError(f"kafka {offsets}: silent for {_SILENT_SECONDS:g} s at offset {at}")
        values: list[bytes] = []
        for message in came:
            offset = _offset(message, offsets, at)
            if message.error() is None and offset < offsets.end:
                values.append(message.value() or b"")
            at = max(at, offset + (message.error() is None))
        if values:
            yield values


def _offset(message: Message, offsets: PartitionOffsets, at: int) -> int:
    """Return the offset of a message, or the end of its partition."""
    error = message.error()
    if error is None or error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # its name
        return message.offset() or 0
    if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001  # likewise
        raise MonitorError(
            f"kafka {offsets}: offset {at} was deleted before it was read; lengthen the "
            "retention of the topic, and start with a new --checkpoint"
        )
    if error.retriable():
        return at
    raise MonitorError(f"kafka {offsets}: {error.str()}")


def _flat(ends: Ends) -> dict[tuple[str, int], int]:
    return {(topic, int(n)): at for topic, numbers in ends.items() for n, at in numbers.items()}


def _nested(flat: dict[tuple[str, int], int]) -> Ends:
    ends: Ends = {}
    for (topic, number), at in flat.items():
        ends.setdefault(topic, {})[str(number)] = at
    return ends
