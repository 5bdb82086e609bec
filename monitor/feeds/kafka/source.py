"""Kafka topics as a source with a position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from monitor.clock import SECOND_MS, Clock
from monitor.config import KafkaFeed
from monitor.config.feeds import KafkaStart
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import LineDecoder
from monitor.feeds.kafka.assigned_partitions import ASK_SECONDS, AssignedPartitions, topic_partition
from monitor.feeds.kafka.client import OnCommit, OnError, make_consumer
from monitor.feeds.kafka.messages import MessageBuffer, PartitionKey, decode_messages, runs_of
from monitor.feeds.kafka.partition import UNKNOWN, Partition
from monitor.feeds.kafka.schedule import due, is_full
from monitor.feeds.kafka.value_queue import Arrived, ClientEvent, ValueQueue, value_reader

BATCH_MESSAGES = 10_000
"""Maximum number of messages in a batch, in whole chunks."""
READ_MESSAGES = 5_000
"""Maximum number of messages taken from the client at a time."""
CHUNK_MESSAGES = 500
"""Messages of one partition that are delivered together, regardless of other partitions."""
REFRESH_SECONDS = 1.0
"""Interval at which figures are refreshed and unanswered requests are repeated."""


class PartitionFigures(NamedTuple):
    """Telemetry of a partition.

    Attributes:
        topic: name of the topic.
        partition: number of the partition.
        lag: number of offsets from the last delivered message to the end, with a message
            or not.
        skipped: number of offsets without a message.
        deleted: number of the skipped offsets whose messages were deleted before they
            were read.
        paused_seconds: total time that fetching was paused because of a backlog.
    """

    topic: str
    partition: int
    lag: int
    skipped: int
    deleted: int
    paused_seconds: float


class KafkaSource:
    """Messages of Kafka topics, each delivered once, by partition in the order of offsets.

    Reads the configured partitions; without any, the consumer group assigns them. A
    partition starts at the offset that belongs to the counters in memory, see `Offsets`.

    Args:
        feed: settings of the feed.
        decoder: decodes the records.
        clock: measures how long a partition is silent.
        log: writes one line for a person.
        make: creates the consumer.
        worker: decodes values that are not JSON; a thread of its own if None.

    Attributes:
        figures: telemetry of each assigned partition, at most a second old; may be read
            from any thread.
        held_back: while it is true, nothing is fetched; set by the caller.

    Raises:
        ConfigError: a client refuses a setting.
    """

    ended = False

    def __init__(
        self,
        feed: KafkaFeed,
        decoder: LineDecoder,
        clock: Clock,
        log: Callable[[str], None],
        *,
        make: Callable[[KafkaFeed, OnError, OnCommit], Consumer] = make_consumer,
        worker: Executor | None = None,
    ) -> None:
        self.name = f"kafka {', '.join(feed.topics)}"
        self.identity = f"kafka:{feed.group}:{','.join(sorted(feed.topics))}"
        self.group = feed.group
        self.figures: tuple[PartitionFigures, ...] = ()
        self.held_back = False
        self._latest = feed.start is KafkaStart.LATEST
        self._decoder = decoder
        self._clock = clock
        self._log = log
        self._fatal = ""
        self._logged = ""
        self._out_of_range: set[PartitionKey] = set()
        self._refreshed = float("-inf")
        self._flow_checked = clock.monotonic()
        self._values = ValueQueue(self.name, value_reader(feed), clock, log, worker)
        self._assigned = AssignedPartitions(feed, clock, log)
        self._consumer = make(feed, self._on_error, self._assigned.on_commit)
        self._assigned.join(self._consumer)

    @property
    def attached(self) -> bool:
        """True once partitions have been assigned."""
        return self._assigned.begun

    @property
    def rebalances(self) -> int:
        """Number of assignments by the group."""
        return self._assigned.rebalances

    def checkpoint_before_handover(self, checkpoint: Callable[[], bool]) -> None:
        """Set the function that writes a checkpoint and returns whether that succeeded.

        `poll` and `close` call it before a partition is given to another reader.
        """
        self._assigned.checkpoint = checkpoint

    def poll(self) -> EventBatch | None:
        """Return the events of new messages, oldest first; None if there are none.

        Raises:
            FeedError: the client failed for good, for example because it was fenced.
        """
        self._refresh()
        self._read()
        self._pause_or_resume()
        if self._fatal:
            self._assigned.begun = False
            raise FeedError(f"{self.name}: {self._fatal}")
        partitions = self._assigned.partitions.values()
        messages = list(due(partitions, self._clock.monotonic(), BATCH_MESSAGES))
        if not messages:
            return None
        arrived = round(self._clock.now() * SECOND_MS)
        return decode_messages(messages, self._decoder).arrived([(0, arrived)])

    def position(self) -> Mapping[str, Any]:
        """Return the offsets after the delivered messages, by topic and partition."""
        return self._assigned.position()

    def resume(self, position: Mapping[str, Any]) -> str:
        """Resume at these offsets, once their partitions are assigned."""
        self._assigned.resume(position)
        return ""

    def commit(self, position: Mapping[str, Any]) -> None:
        """Commit these offsets, which are in a checkpoint."""
        with self._logging_errors():
            self._assigned.commit(self._consumer, position)

    def close(self) -> None:
        """Leave the group, which reassigns the partitions without delay."""
        self._consumer.close()
        self._values.close()
        self._assigned.partitions.clear()
        self._assigned.begun = False
        self.figures = ()

    def _read(self) -> None:
        """Take messages from the client, whose callbacks buffer here, too."""
        messages: list[Message] = []
        with self._logging_errors():
            messages = self._consumer.consume(READ_MESSAGES, timeout=0)
        buffers: dict[PartitionKey, MessageBuffer] = {}
        for key, run in runs_of(messages):
            if (error := run[0].error()) is not None:
                if key in buffers:
                    self._arrive(buffers.pop(key))
                self._arrive(ClientEvent(key, run[0].offset() or 0, error))
                continue
            while run:
                buffer = buffers.setdefault(key, MessageBuffer(key))
                room = CHUNK_MESSAGES - len(buffer.offsets)
                buffer.extend(run[:room])
                run = run[room:]  # noqa: PLW2901  # what does not fit into the chunk
                if len(buffer.offsets) == CHUNK_MESSAGES:
                    self._arrive(buffers.pop(key))
        for buffer in buffers.values():
            self._arrive(buffer)
        self._take_decoded()

    def _take_decoded(self) -> None:
        """Hold messages whose values are decoded, and handle the events between them."""
        for arrived in self._values.ready():
            partition = self._assigned.partitions.get(arrived.item.key)
            if arrived.partition is not partition:
                continue  # of an assignment that ended while it waited
            if partition is not None and partition.unsettled:
                continue  # it is read again from where it is settled
            if isinstance(arrived.item, ClientEvent):
                self._handle_event(*arrived.item)
            elif arrived.partition is not None:
                self._hold(arrived.item, arrived.partition)

    def _arrive(self, item: MessageBuffer | ClientEvent) -> None:
        self._values.add(Arrived(self._assigned.partitions.get(item.key), item))

    def _hold(self, buffer: MessageBuffer, partition: Partition) -> None:
        """Hold new messages of a partition that is still assigned."""
        buffer.drop_before(partition.following)
        if buffer.offsets:
            partition.hold(buffer.messages(), buffer.last_ms, self._clock.monotonic())
            self._logged = ""

    def _handle_event(self, key: PartitionKey, offset: int, error: KafkaError) -> None:
        """Handle an event that the client delivers in place of a message."""
        partition = self._assigned.partitions.get(key)
        code = error.code()
        if code == KafkaError._PARTITION_EOF:  # noqa: SLF001  # public in the library's documentation
            if partition is not None:
                partition.reach_end(offset, self._clock.monotonic())
        elif code == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001  # likewise
            self._out_of_range.add(key)
            self._reposition(key)
        else:
            self._on_error(error)

    def _reposition(self, key: PartitionKey) -> None:
        """Continue at an offset that exists, because the expected one does not, and log it."""
        partition = self._assigned.partitions.get(key)
        if partition is None:
            self._out_of_range.discard(key)
            return
        with self._logging_errors():
            where = topic_partition(key)
            low, high = self._consumer.get_watermark_offsets(where, timeout=ASK_SECONDS)
            expected = partition.following
            was_deleted = UNKNOWN < expected < low
            offset = high if self._latest and not was_deleted else low
            self._consumer.incremental_unassign([where])  # without a position, seek fails
            self._consumer.incremental_assign([topic_partition(key, offset)])
            if expected != UNKNOWN:
                self._log(
                    f"{self.name}: {key[0]}[{key[1]}]: offset {expected} does not exist, available "
                    f"are {low} to {high}; continues at {offset}"
                )
            partition.skip_to(offset)
            self._out_of_range.discard(key)

    def _refresh(self) -> None:
        """Repeat unanswered requests and refresh the figures, at intervals."""
        now = self._clock.monotonic()
        if now - self._refreshed < REFRESH_SECONDS:
            return
        self._refreshed = now
        with self._logging_errors():
            self._assigned.assign_configured(self._consumer)
            self._assigned.settle(self._consumer)
        for key in tuple(self._out_of_range):
            self._reposition(key)
        self.figures = tuple(map(self._figures_of, self._assigned.partitions.values()))

    def _figures_of(self, partition: Partition) -> PartitionFigures:
        with suppress(KafkaException):  # the end may not be known yet
            where = topic_partition(partition.key)
            _, high = self._consumer.get_watermark_offsets(where, cached=True)
            partition.end = max(partition.end, high)
        return PartitionFigures(
            *partition.key,
            partition.lag,
            partition.skipped,
            partition.deleted,
            partition.paused_seconds,
        )

    def _pause_or_resume(self) -> None:
        """Pause partitions that hold too much, or all while held back; resume the others."""
        now = self._clock.monotonic()
        passed, self._flow_checked = now - self._flow_checked, now
        partitions = self._assigned.partitions
        held_back = self.held_back or self._values.full
        for partition in partitions.values():
            partition.paused_seconds += passed * partition.paused
            wanted = held_back or partition.unsettled or is_full(partition, len(partitions))
            if wanted is not partition.paused and (wanted or not partition.held):
                where = [topic_partition(partition.key)]
                (self._consumer.pause if wanted else self._consumer.resume)(where)
                partition.paused = wanted

    def _on_error(self, error: KafkaError) -> None:
        """Log an error, unless it repeats before a message comes; store a fatal one."""
        if error.fatal():
            self._fatal = error.str()
        elif self._logged != error.name():
            self._logged = error.name()
            self._log(f"{self.name}: {error.str()}; retrying")

    @contextmanager
    def _logging_errors(self) -> Iterator[None]:
        """Log errors of the client instead of raising them."""
        try:
            yield
        except KafkaException as error:
            self._on_error(error.args[0])
