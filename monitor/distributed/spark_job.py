"""The job on Spark Structured Streaming: keyed state with timers joins labels and predictions.

    lines or rows ─▶ decode, packets by task ─▶ pages of each task ──▶ counts of the batch
    (Spark)          (`mapInArrow`)             (`transformWithState`)  (`foreachBatch`)

Needs Spark 4.1 or later with Java 17, and the extra `spark`. Event time is the
third-highest that any task has read, so that a stray record from the future does not
advance it; Spark's watermark carries it from batch to batch. How far models are behind it is part
of the state of each task (`monitor.distributed.model_clocks`).

`foreachBatch` is at-least-once: after a crash a batch is computed again from the same
input, state and watermark, and has the same name, so the receiver of the counts
replaces it (see `monitor.join.external_counts`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pyspark import __version__
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.config import Config
from monitor.config.quantities import count_of
from monitor.distributed.delivery import Delivery, Say
from monitor.distributed.layout import Layout
from monitor.distributed.page_rules import PageRules, mark_of, mismatch
from monitor.distributed.sizing import Load, check_pages, pages_for, why_so_many
from monitor.distributed.spark_faults import own_error, reason_of
from monitor.distributed.spark_layout import JobLayout, store_layout, stored_layout
from monitor.distributed.spark_query import (
    FAULTS,
    STOP_TIMEOUT,
    QueryRun,
    hush,
    parquet_schema,
    stack_of,
    started,
)
from monitor.distributed.spark_tasks import (
    PACKETS,
    TALLY,
    PacketReader,
    PageProcessor,
    TallyJoiner,
    groups_of,
    in_one_column,
)
from monitor.distributed.tallies import events_of, merged, unpacked
from monitor.errors import MonitorError
from monitor.extras import install_command

_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInput:
    """Source of the events.

    Attributes:
        directory: directory of NDJSON or Parquet files, any path that Spark reads; "" for Kafka.
        parquet: the files are Parquet.
        files_per_batch: maximum number of files in a micro-batch; 0 for no limit.
        brokers: Kafka brokers.
        topics: Kafka topics.
        records_per_batch: maximum number of Kafka records in a micro-batch; 0 for no limit.
        connector: read Kafka by Spark's own connector, not by `monitor.distributed.kafka_records`.
        client: more settings of the Kafka client.
    """

    directory: str = ""
    parquet: bool = False
    files_per_batch: int = 0
    brokers: str = ""
    topics: str = ""
    records_per_batch: int = 0
    connector: bool = True
    client: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Directory or topics, for messages."""
        return self.directory or self.topics


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkJob:
    """Settings of a job.

    Attributes:
        config: models, pane and clocks.
        input: source of the events.
        checkpoint: directory of Spark's checkpoints, of this job only.
        source: name of the job in its counts.
        buckets: number of pages that ids are divided among, fixed for the life of a checkpoint; 0
            for that of the checkpoint, or for a new one by `load`.
        load: what the job is expected to hold.
        rate_given: a person has given the rate of the load.
        every: interval between two batches, as Spark writes it; "" to stop at the end of the input.
        partitions: number of stateful tasks; fixed for the life of a checkpoint.
        master: Spark master; "" for that of `spark-submit`, or all cores of this machine.
    """

    config: Config
    input: JobInput
    checkpoint: str
    source: str
    buckets: int
    load: Load
    every: str
    partitions: int
    master: str = ""
    rate_given: bool = False


def run(job: SparkJob, deliveries: Sequence[Delivery], say: Say) -> int:
    """Run a job until a signal stops it, or to the end of its input.

    Args:
        job: settings of the job.
        deliveries: targets of the counts.
        say: prints a message for the operator.

    Returns:
        0 at the end of the input, or the number of the signal.

    Raises:
        MonitorError: the job failed; restarted, it continues where it stopped.
    """
    say("starting Spark, which takes half a minute or so")
    sink = _Sink(job, deliveries, say)
    session, stopped = started(lambda: _session(job))
    if session is None:
        say("stopped before it read anything; the next start begins where this one would have")
        return stopped
    try:
        with QueryRun(session, say) as query:
            stopped = query.ended(lambda: _started(session, job, sink, say))
    except FAULTS as error:
        if own_error(str(error)) is None and (stack := stack_of(error)):
            say(stack)
        raise MonitorError(f"spark: {_explained(str(error), job)}") from error
    finally:
        session.stop()
    if stopped:
        say(f"stopped {sink.reached}; the next start continues there")
    return stopped


def _session(job: SparkJob) -> SparkSession:
    builder = SparkSession.builder.appName(f"precision-monitor {job.source}")
    settings = {
        "spark.sql.streaming.stateStore.providerClass": _STORE,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(job.partitions),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.showConsoleProgress": "false",
        # Spark searches the fault of a batch that is broken off by a pattern that takes a frame of
        # the stack for each character.
        "spark.driver.defaultJavaOptions": "-Xss64m",
        "spark.sql.streaming.stopTimeout": STOP_TIMEOUT,
        # A stray request to a TCP port between JVM and Python would end the job: its first bytes
        # are read as a length ("Java heap space").
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.daemon.module": "monitor.distributed.spark_daemon",
        # Spark gives other workers to tasks with another environment. With its default, that of
        # `mapInArrow` has a variable that the environment of `transformWithState` has not.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    if job.master:
        builder = builder.master(job.master)
    session: SparkSession = builder.getOrCreate()
    hush(session)
    return session


def _started(session: SparkSession, job: SparkJob, sink: _Sink, say: Say) -> StreamingQuery:
    rows = _input(session, job.input, say)  # before the choice of pages is printed
    layout, keys, *_ = _layout(session, job, say)
    reader = PacketReader(
        job.config, job.input.name, layout=layout, keys=keys, table=job.input.parquet
    )
    tallies = (
        rows.mapInArrow(reader, PACKETS)
        .withWatermark("clock", "0 seconds")
        .drop("clock")
        .groupBy("task")
        .transformWithState(
            PageProcessor(PageRules(job.config, layout), keys),
            f"{TALLY} binary",
            outputMode="update",
            timeMode="eventTime",
        )
    )
    if groups := groups_of(job.partitions):
        tallies = tallies.repartition(groups).mapInArrow(TallyJoiner(), f"{TALLY} binary")
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
    say(
        f"reading {job.input.name} on {session.sparkContext.master}; the first batch takes a "
        "minute or so, as workers start and code is compiled"
    )
    return query


def _layout(session: SparkSession, job: SparkJob, say: Say) -> JobLayout:
    """Return the layout of the checkpoint, or choose one for a new one."""
    wanted = Layout.of(pages=job.buckets, tasks=job.partitions) if job.buckets else None
    found, seed = stored_layout(session, job.checkpoint, wanted), mark_of(job.config)
    if found is None:
        check_pages(job.buckets, job.partitions)
        if job.config.id_secret is None:
            say(
                "id_secret is missing in the configuration: who sends events can choose ids that "
                "collide. Give it to a new --checkpoint, 16 characters or more; this one goes on "
                "without"
            )
        chosen = wanted or _chosen(job, say)
        found = store_layout(session, job.checkpoint, chosen, job.source, seed)
        if job.buckets not in (0, found.layout.pages):
            say(
                f"--buckets {job.buckets}: the checkpoint gets {found.layout.pages} pages, as many "
                f"in each of --partitions {job.partitions}"
            )
        unused = "the number of pages is given by --buckets" if job.buckets else ""
    else:
        unused = f"the checkpoint has {found.layout.pages} pages already, fixed for its life"
    if job.rate_given and unused:
        say(f"--rate is not used: {unused}")
    found.check(job.source, seed)
    if found.layout.tasks != job.partitions:
        raise MonitorError(mismatch(found.layout, found.layout._replace(tasks=job.partitions)))
    return found


def _chosen(job: SparkJob, say: Say) -> Layout:
    """Return the layout for the load; say why."""
    chosen = Layout.of(pages=pages_for(job.load, job.partitions), tasks=job.partitions)
    assumed = [] if job.rate_given else ["the rate is the default, not measured: give --rate"]
    if not job.every:
        assumed.append(f"batches of {job.load.batch / 60:g}m are assumed with --once")
    say(why_so_many(job.load, chosen.pages, "".join(f"; {one}" for one in assumed)))
    return chosen


def _input(session: SparkSession, source: JobInput, say: Say) -> DataFrame:
    """Return the rows of Parquet files in one column, or lines as bytes in the column `line`."""
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
        schema = parquet_schema(session, source.directory, say)
        return in_one_column(reader.schema(schema).parquet(source.directory))
    lines = reader.text(source.directory, lineSep="\n")
    return lines.selectExpr("CAST(value AS BINARY) AS line")


def _own_kafka(session: SparkSession) -> str:
    """Register the Kafka source of this program with Spark; return its format.

    Raises:
        MonitorError: a dependency is missing.
    """
    try:
        from monitor.distributed.kafka_records import (  # noqa: PLC0415  # an extra
            FORMAT,
            KafkaRecords,
        )
    except ImportError as error:
        raise MonitorError(
            f"--kafka-client confluent: {error}; needs Spark 4.2, and confluent-kafka; "
            f"{install_command('kafka')}"
        ) from error
    session.dataSource.register(KafkaRecords)
    return FORMAT


class _Sink:
    """Sums a batch on the driver and delivers it; `reached` says how far this run has come."""

    def __init__(self, job: SparkJob, deliveries: Sequence[Delivery], say: Say) -> None:
        self._job = job
        self._deliveries = deliveries
        self._say = say
        self._run = ""
        self._named = threading.Event()
        self.reached = "before the end of a batch"

    def start(self, identity: Any) -> None:
        """Set the name of the checkpoint, which the names of its batches contain."""
        self._run = str(identity)[:8]
        self._named.set()

    def __call__(self, frame: DataFrame, number: int) -> None:
        rows = frame.collect()
        self._named.wait()
        whole = merged(unpacked(bytes(row.tally)) for row in rows)
        batch = f"{self._run}-{number}"
        events = events_of(whole, self._job.config, self._job.source, batch)
        encode = msgspec.json.Encoder().encode
        lines = [encode(event) for event in events]
        if lines:
            for delivery in self._deliveries:
                delivery.deliver(number, lines)
        self.reached = f"after batch {number}"
        self._tell(number, len(lines), whole.records, whole.rejected | whole.books)
        for position, reason, detail in whole.samples:
            self._say(f"{position}: {reason}: {detail}")

    def _tell(self, number: int, sent: int, records: int, books: dict[str, int]) -> None:
        shown = ", ".join(f"{name} {count}" for name, count in sorted(books.items()) if count)
        details = f"; {shown}" if shown else ""
        self._say(
            f"batch {number}: {count_of(records, 'record')}, {count_of(sent, 'count')} sent"
            f"{details}"
        )


def _explained(text: str, job: SparkJob) -> str:
    """Return what went wrong in one line, with advice where there is any."""
    message = reason_of(text)
    if job.input.brokers and "data source: kafka" in text:
        connector = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
        message += f"; use spark-submit --packages {connector}, or --kafka-client confluent"
    return message
