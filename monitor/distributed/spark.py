"""The job on Spark Structured Streaming: labels meet predictions in keyed state with timers.

    lines or rows ─▶ decode, packets by bucket ─▶ page of each bucket ─▶ counts of the batch
    (Spark)          (`mapInArrow`)               (`transformWithState`)  (`foreachBatch`)

Needs Spark 4.1 or later with Java 17, and the extra `spark`. Event time is the
third-highest that any task has read, so that a stray record from the future drags
nothing along; Spark's watermark carries it from a batch to the next.

`foreachBatch` is at-least-once: a batch is computed again after a crash, from the
same input, the same state and the same watermark, and carries the same name; what
takes counts replaces it (see `monitor.join.external_counts`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import msgspec
from pyspark import TaskContext, __version__
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from monitor.config import Config
from monitor.distributed.delivery import Delivery, Say
from monitor.distributed.packets import packets_of
from monitor.distributed.pages import Page, Rules
from monitor.distributed.tallies import events_of, merged, packed, unpacked
from monitor.errors import MonitorError
from monitor.events.columns import EventBatch
from monitor.events.watermark import Watermark
from monitor.feeds.arrow.decoding import ArrowDecoder
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

pa: Any = import_module("pyarrow")

_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PACKETS = "bucket int, clock timestamp, packet binary"
_PACKET_SCHEMA = pa.schema(
    [("bucket", pa.int32()), ("clock", pa.timestamp("us", "UTC")), ("packet", pa.binary())]
)
_OWN = f"{MonitorError.__module__}.{MonitorError.__qualname__}: "
_TALLY_SCHEMA = pa.schema([("tally", pa.binary())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Where events are read from.

    Attributes:
        directory: of NDJSON or Parquet files, any path that Spark reads; "" for Kafka.
        parquet: the files are Parquet.
        files_per_batch: files a micro-batch at most; 0 for no limit.
        brokers: of Kafka.
        topics: of Kafka.
        records_per_batch: of Kafka, a micro-batch at most; 0 for no limit.
        connector: whether Spark's own connector reads Kafka, and not `monitor.distributed.kafka`.
        client: more settings of the Kafka client that reads.
    """

    directory: str = ""
    parquet: bool = False
    files_per_batch: int = 0
    brokers: str = ""
    topics: str = ""
    records_per_batch: int = 0
    connector: bool = True
    client: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a job is to do.

    Attributes:
        config: models, pane and clocks.
        input: where events are read from.
        checkpoint: directory of Spark's checkpoints, of one job alone.
        source: name that its counts carry.
        buckets: among how many ids are divided; fixed for the life of a checkpoint.
        every: wall time between two batches, as Spark reads it; "" ends at the end of the input.
        partitions: tasks that keep state; fixed for the life of a checkpoint.
        master: Spark master; "" for that of `spark-submit`, or all cores of this machine.
    """

    config: Config
    input: Input
    checkpoint: str
    source: str
    buckets: int
    every: str
    partitions: int
    master: str = ""


def run(job: Job, deliveries: Sequence[Delivery], say: Say) -> None:
    """Run a job: for good, or to the end of its input.

    Raises:
        MonitorError: it failed; started again, it goes on where it was.
    """
    session = _session(job)
    try:
        query = _started(session, job, deliveries, say)
        query.awaitTermination()
    except (AnalysisException, StreamingQueryException) as error:
        raise MonitorError(f"spark: {_explained(str(error), job)}") from error
    finally:
        session.stop()


def _session(job: Job) -> SparkSession:
    builder = SparkSession.builder.appName(f"precision-monitor {job.source}")
    settings = {
        "spark.sql.streaming.stateStore.providerClass": _STORE,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(job.partitions),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.showConsoleProgress": "false",
        # Between JVM and Python: a stray request to a TCP port of Spark's ends the job, as its
        # first bytes are read as a length ("Java heap space").
        "spark.python.unix.domain.socket.enabled": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    if job.master:
        builder = builder.master(job.master)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")  # it warns of every new page
    return session


def _started(
    session: SparkSession, job: Job, deliveries: Sequence[Delivery], say: Say
) -> StreamingQuery:
    rules, reading = Rules(job.config, job.buckets), _Reading(job)
    tallies = (
        _input(session, job.input)
        .mapInArrow(reading, _PACKETS)
        .withWatermark("clock", "0 seconds")
        .drop("clock")
        .groupBy("bucket")
        .transformWithState(
            _Pages(rules), "tally binary", outputMode="update", timeMode="eventTime"
        )
    )
    sink = _Sink(job, deliveries, say)
    writer = (
        tallies.writeStream.foreachBatch(sink)
        .outputMode("update")
        .option("checkpointLocation", job.checkpoint)
        .queryName(f"precision-monitor {job.source}")
    )
    once = not job.every
    writer = writer.trigger(availableNow=True) if once else writer.trigger(processingTime=job.every)
    query = writer.start()
    sink.start(query.id)
    say(f"reading {job.input.directory or job.input.topics} on {session.sparkContext.master}")
    return query


def _input(session: SparkSession, source: Input) -> DataFrame:
    """Rows of a Parquet table, or lines as bytes in the column `line`."""
    reader = session.readStream
    if source.brokers:
        given = {f"kafka.{name}": value for name, value in source.client.items()}
        given["kafka.bootstrap.servers"] = source.brokers
        reader = reader.format("kafka" if source.connector else _own_kafka(session)).options(
            **given, subscribe=source.topics, startingOffsets="earliest"
        )
        if source.records_per_batch:
            reader = reader.option("maxOffsetsPerTrigger", source.records_per_batch)
        return reader.load().selectExpr("value AS line")
    if source.files_per_batch:
        reader = reader.option("maxFilesPerTrigger", source.files_per_batch)
    if source.parquet:
        schema = session.read.parquet(source.directory).schema
        return reader.schema(schema).parquet(source.directory)
    lines = reader.text(source.directory, lineSep="\n")
    return lines.selectExpr("CAST(value AS BINARY) AS line")


def _own_kafka(session: SparkSession) -> str:
    """The format of the Kafka source of this program, made known to Spark.

    Raises:
        MonitorError: something that it needs is not there.
    """
    try:
        from monitor.distributed.kafka import FORMAT, KafkaRecords  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise MonitorError(
            f"--kafka-client confluent: {error}; needs Spark 4.2 and "
            "pip install 'precision-monitor[kafka]'"
        ) from error
    session.dataSource.register(KafkaRecords)
    return FORMAT


class _Reading:
    """Decodes what a task reads, and puts it together by bucket."""

    def __init__(self, job: Job) -> None:
        self._config = job.config
        self._buckets = job.buckets
        self._name = job.input.directory or job.input.topics
        self._table = job.input.parquet
        self._place = self._name

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        decoder = Decoder(DecodeSettings.from_config(self._config))
        task = TaskContext.get()
        self._place = f"{self._name} task {task.partitionId() if task else 0}"
        clock, row = Watermark(), 1
        for batch in batches:
            events = self._decoded(decoder, batch, row)
            row += batch.num_rows
            clock.advance(events)
            yield self._packets(events, clock.time)

    def _decoded(self, decoder: Decoder, batch: Any, row: int) -> EventBatch:
        if self._table:
            return ArrowDecoder(self._place, batch.schema, decoder).decode(batch, row)
        lines = b"\n".join(line or b"" for line in batch.column(0).to_pylist())
        return decoder.decode_lines(lines, source=self._place, first_line=row)

    def _packets(self, events: EventBatch, time: int | None) -> Any:
        sent = [*packets_of(events, self._config, self._buckets, time)]
        clock = None if time is None else time * 1000
        return pa.RecordBatch.from_arrays(
            [
                pa.array([one.bucket for one in sent], pa.int32()),
                pa.array([clock] * len(sent), pa.timestamp("us", "UTC")),
                pa.array([one.data for one in sent], pa.binary()),
            ],
            schema=_PACKET_SCHEMA,
        )


class _Pages(StatefulProcessor):
    """Keeps the page of each bucket."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make the state known to Spark."""
        self._handle = handle
        self._state = handle.getValueState("page", "page binary")

    def handleInputRows(  # noqa: N802  # Spark's name
        self,
        key: Any,  # noqa: ARG002
        rows: Any,
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Take a batch's packets of one bucket."""
        watermark = _time_of(timerValues)
        page = self._page()
        tally = page.take((bytes(row.packet) for row in rows), watermark)
        self._keep(page, watermark)
        yield Row(tally=packed(tally))

    def handleExpiredTimer(  # noqa: N802  # Spark's name
        self,
        key: Any,  # noqa: ARG002
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Forget what is over."""
        watermark = _time_of(timerValues)
        page = self._page()
        tally = page.expire(watermark)
        self._keep(page, watermark)
        yield Row(tally=packed(tally))

    def close(self) -> None:
        """Nothing to give back."""

    def _page(self) -> Page:
        stored = self._state.get()
        return Page(self._rules, None if stored is None else bytes(stored[0]))

    def _keep(self, page: Page, watermark: int) -> None:
        due = page.next_due(watermark)
        if due is not None:
            self._handle.registerTimer(due)
        if len(page):
            self._state.update((page.pack(),))
        else:
            self._state.clear()


class _Sink:
    """Adds up a batch on the driver and delivers it."""

    def __init__(self, job: Job, deliveries: Sequence[Delivery], say: Say) -> None:
        self._job = job
        self._deliveries = deliveries
        self._say = say
        self._run = ""
        self._named = threading.Event()

    def start(self, identity: Any) -> None:
        """The checkpoint's own name, under which its batches count."""
        self._run = str(identity)[:8]
        self._named.set()

    def __call__(self, frame: DataFrame, number: int) -> None:
        rows = frame.mapInArrow(_merged, "tally binary").collect()
        self._named.wait()
        whole = merged(unpacked(bytes(row.tally)) for row in rows)
        batch = f"{self._run}-{number}"
        events = events_of(whole, self._job.config, self._job.source, batch)
        if events:
            lines = [msgspec.json.encode(event) for event in events]
            for delivery in self._deliveries:
                delivery.deliver(number, lines)
        self._tell(number, len(events), whole.records, whole.rejected | whole.books)
        for position, reason, detail in whole.samples:
            self._say(f"{position}: {reason}: {detail}")

    def _tell(self, number: int, sent: int, records: int, books: dict[str, int]) -> None:
        shown = ", ".join(f"{name} {count}" for name, count in sorted(books.items()) if count)
        said = f"; {shown}" if shown else ""
        self._say(f"batch {number}: {records} records, {sent} counts sent{said}")


def _time_of(timers: TimerValues) -> int:
    """Spark's watermark; it says 0 before there is one."""
    return timers.getCurrentWatermarkInMs() or BEFORE_ALL


def _merged(batches: Iterator[Any]) -> Iterator[Any]:
    tallies = (unpacked(data) for batch in batches for data in batch.column(0).to_pylist())
    whole = packed(merged(tallies))
    yield pa.RecordBatch.from_arrays([pa.array([whole], pa.binary())], schema=_TALLY_SCHEMA)


def _explained(text: str, job: Job) -> str:
    """Spark's words without its stack, and what to do where that is known."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line.partition(_OWN)[2] for line in lines if line.startswith(_OWN)]
    told = next(iter([*own, *lines]), "failed")
    if job.input.brokers and "data source: kafka" in text:
        connector = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
        told += f"; start it with spark-submit --packages {connector}, or --kafka-client confluent"
    return told
