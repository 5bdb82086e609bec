"""Topics of a Kafka cluster as a source with a position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from monitor.clock import Clock
from monitor.config import KafkaFeed
from monitor.config.servers import KafkaStart
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.kafka.client import OnCommit, OnError, make_consumer
from monitor.feeds.kafka.messages import Place, Run, decoded, place_of
from monitor.feeds.kafka.partition import UNKNOWN, Partition
from monitor.feeds.kafka.schedule import due, is_full
from monitor.feeds.kafka.share import ASK_SECONDS, Share, topic_partition

ENOUGH_MESSAGES = 10_000
"""Messages that are given at a time."""
READ_MESSAGES = 5_000
"""Messages that are taken from the client at a time."""
CHUNK_MESSAGES = 500
"""Messages of one partition that are given together, whatever times the others have."""
LOOK_EVERY_SECONDS = 1.0
"""How often figures are refreshed, and what the cluster did not answer is asked again."""


class PartitionFigures(NamedTuple):
    """What is told of a partition.

    Attributes:
        topic: its topic.
        partition: its number.
        lag: messages that are there and were not counted; offsets without one count too.
        skipped: offsets for which no message came.
        deleted: of these, offsets whose messages were deleted before they were read.
        paused_seconds: time during which none of it was fetched, as too much was waiting.
    """

    topic: str
    partition: int
    lag: int
    skipped: int
    deleted: int
    paused_seconds: float


class KafkaSource:
    """Messages of some topics, each given once, in the order of their offsets.

    With `partitions` configured these are read, whoever else reads; else the
    consumer group assigns them. A partition begins at the offset that belongs to
    the counters held here, see `Offsets`.

    Args:
        feed: its settings.
        decoder: of the records.
        clock: measures how long nothing came.
        say: tells a person what happens, a line at a time.
        make: gives the consumer.

    Attributes:
        figures: of each partition that is ours, as of a second ago; read it from any thread.
        held_back: set it while nothing more is to be read.

    Raises:
        ConfigError: the client refuses a setting.
    """

    ended = False

    def __init__(
        self,
        feed: KafkaFeed,
        decoder: Decoder,
        clock: Clock,
        say: Callable[[str], None],
        *,
        make: Callable[[KafkaFeed, OnError, OnCommit], Consumer] = make_consumer,
    ) -> None:
        self.name = f"kafka {', '.join(feed.topics)}"
        self.identity = f"kafka:{feed.group}:{','.join(sorted(feed.topics))}"
        self.group = feed.group
        self.figures: tuple[PartitionFigures, ...] = ()
        self.held_back = False
        self._latest = feed.start is KafkaStart.LATEST
        self._decoder = decoder
        self._clock = clock
        self._say = say
        self._fatal = ""
        self._said = ""
        self._adrift: set[Place] = set()
        self._looked = float("-inf")
        self._flowed = clock.monotonic()
        self._share = Share(feed, clock, say)
        self._consumer = make(feed, self._on_error, self._share.on_commit)
        self._share.join(self._consumer)

    @property
    def attached(self) -> bool:
        """Whether it is known which partitions are ours."""
        return self._share.begun

    @property
    def rebalances(self) -> int:
        """How often the group has assigned partitions."""
        return self._share.rebalances

    def checkpoint_before_handover(self, checkpoint: Callable[[], bool]) -> None:
        """Name what makes durable what was counted, and says whether that worked.

        It is called within `poll` and `close`, before a partition goes to another reader.
        """
        self._share.checkpoint = checkpoint

    def poll(self) -> EventBatch | None:
        """Events of messages that came, those that were produced first before the others.

        Raises:
            FeedError: the cluster will not have us any more.
        """
        self._look()
        self._read()
        self._flow()
        if self._fatal:
            self._share.begun = False
            raise FeedError(f"{self.name}: {self._fatal}")
        ours = self._share.partitions.values()
        given = list(due(ours, self._clock.monotonic(), ENOUGH_MESSAGES))
        return decoded(given, self._decoder) if given else None

    def position(self) -> Mapping[str, Any]:
        """The offsets behind what was given, by topic and partition."""
        return self._share.position()

    def resume(self, position: Mapping[str, Any]) -> str:
        """Go on from those offsets, whenever their partitions are ours."""
        self._share.resume(position)
        return ""

    def commit(self, position: Mapping[str, Any]) -> None:
        """Commit those offsets."""
        with self._telling_errors():
            self._share.commit(self._consumer, position)

    def close(self) -> None:
        """Leave the group; what is ours goes to others without delay."""
        self._consumer.close()
        self._share.partitions.clear()
        self._share.begun = False
        self.figures = ()

    def _read(self) -> None:
        """Take what the client holds; rebalances come in here too."""
        came: list[Message] = []
        with self._telling_errors():
            came = self._consumer.consume(READ_MESSAGES, timeout=0)
        runs: dict[Place, Run] = {}
        for message in came:
            place = place_of(message)
            error = message.error()
            if error is None:
                if place not in runs:
                    runs[place] = Run(place)
                runs[place].add(message)
            if place in runs and (error or len(runs[place].offsets) >= CHUNK_MESSAGES):
                self._keep(runs.pop(place))
            if error is not None:
                self._note(place, message.offset() or 0, error)
        for run in runs.values():
            self._keep(run)

    def _keep(self, run: Run) -> None:
        """Hold what was read of a partition, where that is still ours and it is new."""
        partition = self._share.partitions.get(run.place)
        if partition is None:
            return
        run.drop_before(partition.following)
        if run.offsets:
            partition.keep(run.messages(), run.last_ms, self._clock.monotonic())
            self._said = ""

    def _note(self, place: Place, offset: int, error: KafkaError) -> None:
        """What came of a partition in the place of a message."""
        partition = self._share.partitions.get(place)
        code = error.code()
        if code == KafkaError._PARTITION_EOF:  # noqa: SLF001  # the library's own name for it
            if partition is not None:
                partition.reach_end(offset, self._clock.monotonic())
        elif code == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001  # likewise
            self._adrift.add(place)
            self._go_on(place)
        else:
            self._on_error(error)

    def _go_on(self, place: Place) -> None:
        """The offset that was expected is not there: find one, and say so."""
        partition = self._share.partitions.get(place)
        if partition is None:
            self._adrift.discard(place)
            return
        with self._telling_errors():
            where = topic_partition(place)
            low, high = self._consumer.get_watermark_offsets(where, timeout=ASK_SECONDS)
            expected = partition.following
            was_deleted = UNKNOWN < expected < low
            offset = high if self._latest and not was_deleted else low
            self._consumer.incremental_unassign([where])  # a partition adrift cannot seek
            self._consumer.incremental_assign([topic_partition(place, offset)])
            if expected != UNKNOWN:
                self._say(
                    f"{self.name}: {place[0]}[{place[1]}]: offset {expected} is not there, what is "
                    f"there is {low} to {high}; goes on at {offset}"
                )
            partition.go_on_at(offset)
            self._adrift.discard(place)

    def _look(self) -> None:
        """Now and then: ask again what the cluster did not answer, and refresh the figures."""
        now = self._clock.monotonic()
        if now - self._looked < LOOK_EVERY_SECONDS:
            return
        self._looked = now
        with self._telling_errors():
            self._share.take_own(self._consumer)
        for place in tuple(self._adrift):
            self._go_on(place)
        self.figures = tuple(map(self._figures_of, self._share.partitions.values()))

    def _figures_of(self, partition: Partition) -> PartitionFigures:
        with suppress(KafkaException):  # the end is not known yet
            where = topic_partition(partition.place)
            _, high = self._consumer.get_watermark_offsets(where, cached=True)
            partition.end = max(partition.end, high)
        return PartitionFigures(
            *partition.place,
            partition.lag,
            partition.skipped,
            partition.deleted,
            partition.paused_seconds,
        )

    def _flow(self) -> None:
        """Pause what is too far ahead, or all of it; go on with what is not any more."""
        now = self._clock.monotonic()
        passed, self._flowed = now - self._flowed, now
        ours = self._share.partitions
        for partition in ours.values():
            partition.paused_seconds += passed * partition.paused
            wanted = self.held_back or is_full(partition, len(ours))
            if wanted is not partition.paused and (wanted or not partition.held):
                where = [topic_partition(partition.place)]
                (self._consumer.pause if wanted else self._consumer.resume)(where)
                partition.paused = wanted

    def _on_error(self, error: KafkaError) -> None:
        """What goes wrong is said once, until something comes again."""
        if error.fatal():
            self._fatal = error.str()
        elif self._said != error.name():
            self._said = error.name()
            self._say(f"{self.name}: {error.str()}; tried again")

    @contextmanager
    def _telling_errors(self) -> Iterator[None]:
        """Say an error of the client, instead of raising it."""
        try:
            yield
        except KafkaException as error:
            self._on_error(error.args[0])
