"""Topics of Kafka where Spark's own connector cannot be had: a Python data source.

Takes the options of Spark's connector that the job gives it (`subscribe`,
`maxOffsetsPerTrigger`, `kafka.` before the names of the client's settings), and reads
with the confluent-kafka library from the earliest record on. Spark keeps the offsets in
its checkpoint: a batch that is computed again reads the same ones. Nothing is
committed to Kafka. Needs Spark 4.2.
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
"""The name of this source in Spark."""

Ends = dict[str, dict[str, int]]
"""Offsets by topic and number of the partition."""

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
        """What `format` is to be given."""
        return FORMAT

    def schema(self) -> str:
        """One column."""
        return "value binary"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: ARG002, N802  # Spark's
        """Its reader."""
        options = {str(name): str(value) for name, value in self.options.items()}
        client = {k.removeprefix(_CLIENT): v for k, v in options.items() if k.startswith(_CLIENT)}
        topics = [topic.strip() for topic in options["subscribe"].split(",")]
        return TopicReader(client | _OWN, topics, int(options.get("maxoffsetspertrigger", 0)))


@dataclass(frozen=True)
class Stretch(InputPartition):
    """Offsets of one partition: what a task reads.

    Attributes:
        topic: its topic.
        number: of the partition.
        first: the first offset.
        end: the one behind the last.
    """

    topic: str
    number: int
    first: int
    end: int

    def __str__(self) -> str:
        """As people name it."""
        return f"{self.topic}[{self.number}]"


class TopicReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches on the driver; `read` is run by tasks.

    Args:
        client: settings of the Kafka client.
        topics: that are read.
        limit: records a batch at most; 0 for no limit.
    """

    def __init__(self, client: dict[str, str], topics: Sequence[str], limit: int = 0) -> None:
        self._client = client
        self._topics = topics
        self._limit = limit
        self._target: Ends | None = None

    def initialOffset(self) -> Ends:  # noqa: N802  # Spark's name
        """The earliest offsets."""
        return self._ends(0)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """The limit of a batch."""
        return ReadMaxRows(self._limit) if self._limit else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """Read no further than what is there now."""
        self._target = self._ends(1)

    def latestOffset(self, start: Ends, limit: ReadLimit) -> Ends:  # noqa: N802  # Spark's name
        """Where the next batch ends.

        Of a limit, each partition gets its share by what it has; at least one record,
        so that none waits for ever.
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

    def partitions(self, start: Ends, end: Ends) -> Sequence[Stretch]:
        """A task for each partition that has something."""
        first = self._first(start, end)
        stretches = [Stretch(*place, first[place], at) for place, at in _flat(end).items()]
        return [one for one in stretches if one.end > one.first]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The values of a stretch, as Arrow batches.

        Raises:
            MonitorError: they are not all there.
        """
        if not isinstance(partition, Stretch):
            raise TypeError(f"not of this reader: {partition!r}")
        with closing(Consumer(self._client)) as consumer:
            consumer.assign([TopicPartition(partition.topic, partition.number, partition.first)])
            for values in _values(consumer, partition):
                yield pa.RecordBatch.from_arrays([pa.array(values, pa.binary())], schema=_SCHEMA)

    def _first(self, start: Ends, end: Ends) -> dict[tuple[str, int], int]:
        """Where partitions begin; those that are new to the job, at their earliest record."""
        known, wanted = _flat(start), _flat(end)
        if not known.keys() >= wanted.keys():
            known = _flat(self._ends(0)) | known
        if anew := [place for place, at in wanted.items() if at < known[place]]:
            topic, number = anew[0]
            raise MonitorError(
                f"kafka {topic}[{number}]: ends before offset {known[anew[0]]}, up to which it was "
                "read: was the topic made anew? Begin with a new --checkpoint"
            )
        return {place: known[place] for place in wanted}

    def _ends(self, which: int) -> Ends:
        """The earliest offsets of all partitions (0), or those behind the last records (1)."""
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
            told = consumer.list_topics(topic, timeout=_ASK_SECONDS).topics[topic]
        except KafkaException as error:
            raise MonitorError(f"kafka {topic}: {error.args[0].str()}") from error
        if told.error is not None:
            raise MonitorError(f"kafka {topic}: {told.error.str()}")
        return sorted(told.partitions)


def _watermarks(consumer: Consumer, place: TopicPartition) -> tuple[int, int]:
    try:
        low, high = consumer.get_watermark_offsets(place, timeout=_ASK_SECONDS)
    except KafkaException as error:
        raise MonitorError(f"kafka {place.topic}: {error.args[0].str()}") from error
    return low, high


def _values(consumer: Consumer, stretch: Stretch) -> Iterator[list[bytes]]:
    """Values of a stretch; offsets without a record, as compaction leaves them, have none."""
    at, silent = stretch.first, 0.0
    while at < stretch.end:
        most = min(_TOGETHER, stretch.end - at)
        came = consumer.consume(most, timeout=_WAIT_SECONDS)  # waits until there are so many
        silent = 0.0 if came else silent + _WAIT_SECONDS
        if silent > _SILENT_SECONDS:
            raise MonitorError(f"kafka {stretch}: silent for {_SILENT_SECONDS:g} s at offset {at}")
        values: list[bytes] = []
        for message in came:
            offset = _offset(message, stretch, at)
            if message.error() is None and offset < stretch.end:
                values.append(message.value() or b"")
            at = max(at, offset + (message.error() is None))
        if values:
            yield values


def _offset(message: Message, stretch: Stretch, at: int) -> int:
    """How far what came has brought us: a record's offset, or the end of the partition."""
    error = message.error()
    if error is None or error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # its name
        return message.offset() or 0
    if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001  # likewise
        raise MonitorError(
            f"kafka {stretch}: offset {at} is not there any more: the cluster deleted it before "
            "it was read; keep records for longer, and begin with a new --checkpoint"
        )
    if error.retriable():
        return at
    raise MonitorError(f"kafka {stretch}: {error.str()}")


def _flat(ends: Ends) -> dict[tuple[str, int], int]:
    return {(topic, int(n)): at for topic, numbers in ends.items() for n, at in numbers.items()}


def _nested(flat: dict[tuple[str, int], int]) -> Ends:
    ends: Ends = {}
    for (topic, number), at in flat.items():
        ends.setdefault(topic, {})[str(number)] = at
    return ends
