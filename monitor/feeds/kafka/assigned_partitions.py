"""Partitions assigned to this monitor: assignment, revocation, loss and commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    OFFSET_STORED,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from monitor.clock import Clock
from monitor.config import KafkaFeed
from monitor.config.feeds import KafkaStart
from monitor.feeds.kafka.messages import PartitionKey
from monitor.feeds.kafka.offsets import Offsets
from monitor.feeds.kafka.partition import UNKNOWN, Partition

ASK_SECONDS = 10.0
"""Timeout of requests to the cluster while partitions are assigned."""
OWN_SECONDS = 1.0
"""Timeout of requests that are repeated a second later."""


class AssignedPartitions:
    """The partitions that this monitor reads now.

    Args:
        feed: settings of the feed.
        clock: measures how long a partition is silent.
        log: writes one line for a person.

    Attributes:
        partitions: the assigned partitions.
        begun: True once the group, or the configuration, has assigned partitions.
        rebalances: number of assignments by the group.
        checkpoint: writes a checkpoint and returns whether that succeeded; None if the
            monitor has no state directory. Called before a partition is given up.
    """

    def __init__(self, feed: KafkaFeed, clock: Clock, log: Callable[[str], None]) -> None:
        self.partitions: dict[PartitionKey, Partition] = {}
        self.begun = False
        self.rebalances = 0
        self.checkpoint: Callable[[], bool] | None = None
        self._feed = feed
        self._clock = clock
        self._log = log
        self._start = OFFSET_END if feed.start is KafkaStart.LATEST else OFFSET_BEGINNING
        self._offsets = Offsets()
        self._committed: dict[PartitionKey, int] = {}
        self._began: dict[PartitionKey, int] = {}

    def join(self, consumer: Consumer) -> None:
        """Join the consumer group, unless the configuration lists partitions."""
        if not self._feed.partitions:
            consumer.subscribe(
                list(self._feed.topics),
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_lost,
            )

    def assign_configured(self, consumer: Consumer) -> None:
        """Assign the partitions that the configuration lists, if that is not done yet.

        Raises:
            KafkaException: the cluster did not answer in time.
        """
        if self.begun or not self._feed.partitions:
            return
        keys = [(topic, n) for topic in self._feed.topics for n in self._feed.partitions]
        requested = list(map(topic_partition, keys))
        for topic in self._feed.topics:  # otherwise the client finds the leaders a second later
            consumer.list_topics(topic, timeout=OWN_SECONDS)
        committed = consumer.committed(requested, timeout=OWN_SECONDS)
        consumer.incremental_assign(self._starting(committed, self._start))
        self.begun = True

    def settle(self, consumer: Consumer) -> None:
        """Ask again for the committed offsets that were not known at an assignment, and read on.

        Raises:
            KafkaException: the cluster did not answer in time; the next call asks again.
        """
        waiting = [key for key, one in self.partitions.items() if one.unsettled]
        if not waiting:
            return
        committed = consumer.committed(list(map(topic_partition, waiting)), timeout=OWN_SECONDS)
        for start in self._starting(committed, self._start):
            where = [topic_partition((start.topic, start.partition))]
            consumer.incremental_unassign(where)  # without a position, seek fails
            consumer.incremental_assign([start])
            consumer.resume(where)

    def position(self) -> dict[str, Any]:
        """Return the offsets after the delivered messages, of all partitions ever assigned."""
        for partition in self.partitions.values():
            self._note(partition)
        return self._offsets.position()

    def resume(self, position: Mapping[str, Any]) -> None:
        """Resume at these offsets, once their partitions are assigned."""
        self._offsets.resume(position)

    def commit(self, consumer: Consumer, position: Mapping[str, Any]) -> None:
        """Commit offsets that the monitor will never return to a smaller one of.

        Args:
            consumer: the consumer.
            position: a result of `position` that is in a checkpoint.

        Raises:
            KafkaException: the commit failed; the next one includes its offsets.
        """
        settled = Offsets()
        settled.resume(position)
        offsets = {
            key: settled.at(key) for key, one in self.partitions.items() if not one.unsettled
        }
        known = {key: at for key, at in offsets.items() if at is not None}
        if advanced := self._uncommitted(known):
            self._committed |= {(one.topic, one.partition): one.offset for one in advanced}
            consumer.commit(offsets=advanced, asynchronous=True)  # `on_commit` gets the result

    def on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        """Handle the result of an asynchronous commit: offsets that failed are retried later.

        Args:
            error: error of the whole commit; None if it succeeded.
            partitions: the offsets, each with an error of its own.
        """
        for one in partitions:
            if error is not None or one.error is not None:
                self._committed.pop((one.topic, one.partition), None)

    def _on_assign(self, consumer: Consumer, added: list[TopicPartition]) -> None:
        self.begun = True
        self.rebalances += 1
        try:
            committed = consumer.committed(added, timeout=ASK_SECONDS) if added else []
        except KafkaException:
            starting = self._starting(added, OFFSET_STORED)
            for one in added:
                self.partitions[one.topic, one.partition].unsettled = True
        else:
            starting = self._starting(committed, self._start)
        consumer.incremental_assign(starting)

    def _on_revoke(self, consumer: Consumer, gone: list[TopicPartition]) -> None:
        """Commit the checkpointed offsets, at which the next reader begins.

        Offsets that were committed before are included: an asynchronous commit may yet fail.
        """
        keys = [(one.topic, one.partition) for one in gone]
        known = [self.partitions[key] for key in keys if key in self.partitions]
        revoked = [one for one in known if not one.unsettled]
        if revoked and self.checkpoint is not None and self.checkpoint():
            offsets = {one.key: one.delivered for one in revoked if one.delivered != UNKNOWN}
            if offsets:
                try:
                    consumer.commit(offsets=self._with_member(offsets), asynchronous=False)
                except KafkaException as error:
                    self._log_loss(keys, f"revoked, and the commit failed: {error.args[0].str()}")
        self._drop(keys)
        consumer.incremental_unassign(gone)

    def _on_lost(self, consumer: Consumer, gone: list[TopicPartition]) -> None:
        keys = [(one.topic, one.partition) for one in gone]
        if keys:
            self._log_loss(keys, "lost, because the group got no heartbeat in time")
        self._drop(keys)
        consumer.incremental_unassign(gone)

    def _log_loss(self, keys: Iterable[PartitionKey], why: str) -> None:
        named = ", ".join(f"{topic}[{number}]" for topic, number in keys)
        self._log(
            f"kafka {self._feed.group}: {named}: {why}; messages counted since the last "
            "commit may be counted again by the next reader"
        )

    def _drop(self, keys: Iterable[PartitionKey]) -> None:
        for key in keys:
            self._committed.pop(key, None)
            if (partition := self.partitions.pop(key, None)) is not None:
                self._note(partition)

    def _note(self, partition: Partition) -> None:
        if partition.delivered != UNKNOWN:
            self._offsets.set(partition.key, partition.delivered)

    def _starting(self, committed: Iterable[TopicPartition], unknown: int) -> list[TopicPartition]:
        """Add partitions; return them with their first offsets, `unknown` where none is known."""
        found = []
        for one in committed:
            key = (one.topic, one.partition)
            member = (one.metadata or "").rpartition(" ")[2]
            offset = self._offsets.next_of(key, one.offset, member)
            at = UNKNOWN if offset is None else offset
            self.partitions[key] = Partition(key, at, at, self._clock.monotonic())
            self._began[key] = max(at, one.offset)
            found.append(topic_partition(key, unknown if offset is None else offset))
        return found

    def _uncommitted(self, offsets: Mapping[PartitionKey, int]) -> list[TopicPartition]:
        """Those of the offsets that are larger than the committed ones, as far as known.

        An older checkpoint may have a smaller one than the assignment began with, which the group
        has committed since: committed again, another reader would count what is in between twice.
        """
        known, began = self._committed, self._began
        return self._with_member(
            {
                key: at
                for key, at in offsets.items()
                if at > known.get(key, -1) and at >= began.get(key, 0)
            }
        )

    def _with_member(self, offsets: Mapping[PartitionKey, int]) -> list[TopicPartition]:
        """Offsets with the member that commits them."""
        text = f"precision-monitor {self._offsets.member}"
        return [TopicPartition(*key, at, metadata=text) for key, at in offsets.items()]


def topic_partition(key: PartitionKey, offset: int = OFFSET_INVALID) -> TopicPartition:
    """Convert a partition key to the client's type.

    Args:
        key: the partition.
        offset: offset to set; invalid by default.
    """
    return TopicPartition(*key, offset)
