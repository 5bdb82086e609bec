"""The partitions that are ours: assigned, given away, lost, committed."""

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
from monitor.feeds.kafka.messages import Place
from monitor.feeds.kafka.offsets import Offsets
from monitor.feeds.kafka.partition import UNKNOWN, Partition

ASK_SECONDS = 10.0
"""How long an answer of the cluster is waited for while partitions are assigned."""
OWN_SECONDS = 1.0
"""The same where it is asked again a second later."""


class Share:
    """Of the topics, what this monitor reads.

    Args:
        feed: its settings.
        clock: measures how long nothing came.
        say: tells a person what happens, a line at a time.

    Attributes:
        partitions: that are ours now.
        begun: whether the group, or the configuration, has said which are ours.
        rebalances: how often the group has assigned partitions.
        checkpoint: makes durable what was counted, and says whether that worked;
            None where nothing can. Asked before a partition is given away.
    """

    def __init__(self, feed: KafkaFeed, clock: Clock, say: Callable[[str], None]) -> None:
        self.partitions: dict[Place, Partition] = {}
        self.begun = False
        self.rebalances = 0
        self.checkpoint: Callable[[], bool] | None = None
        self._feed = feed
        self._clock = clock
        self._say = say
        self._start = OFFSET_END if feed.start is KafkaStart.LATEST else OFFSET_BEGINNING
        self._offsets = Offsets()
        self._committed: dict[Place, int] = {}

    def join(self, consumer: Consumer) -> None:
        """Become a member of the group, unless the configuration says which partitions are ours."""
        if not self._feed.partitions:
            consumer.subscribe(
                list(self._feed.topics),
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_lost,
            )

    def take_own(self, consumer: Consumer) -> None:
        """Take the partitions of the configuration, if there are any and they are not taken yet.

        Raises:
            KafkaException: the cluster has not answered.
        """
        if self.begun or not self._feed.partitions:
            return
        places = [(topic, n) for topic in self._feed.topics for n in self._feed.partitions]
        asked = list(map(topic_partition, places))
        for topic in self._feed.topics:  # else the client finds the leaders a second later
            consumer.list_topics(topic, timeout=OWN_SECONDS)
        committed = consumer.committed(asked, timeout=OWN_SECONDS)
        consumer.incremental_assign(self._beginning(committed, self._start))
        self.begun = True

    def position(self) -> dict[str, Any]:
        """The offsets behind what was given, of all partitions that ever were ours."""
        for partition in self.partitions.values():
            self._note(partition)
        return self._offsets.position()

    def resume(self, position: Mapping[str, Any]) -> None:
        """Go on from those offsets, whenever their partitions are ours."""
        self._offsets.resume(position)

    def commit(self, consumer: Consumer, position: Mapping[str, Any]) -> None:
        """Tell the group offsets that will never be gone back behind.

        Raises:
            KafkaException: it could not be told; the next commit will.
        """
        settled = Offsets()
        settled.resume(position)
        offsets = {place: settled.at(place) for place in self.partitions}
        if told := self._to_tell({place: at for place, at in offsets.items() if at is not None}):
            self._committed |= {(one.topic, one.partition): one.offset for one in told}
            consumer.commit(offsets=told, asynchronous=True)  # its end is told to `on_commit`

    def on_commit(self, error: KafkaError | None, told: list[TopicPartition]) -> None:
        """How a commit that nobody waited for has ended: what failed is told again next time."""
        for one in told:
            if error is not None or one.error is not None:
                self._committed.pop((one.topic, one.partition), None)

    def _on_assign(self, consumer: Consumer, added: list[TopicPartition]) -> None:
        self.begun = True
        self.rebalances += 1
        unknown = self._start
        try:
            committed = consumer.committed(added, timeout=ASK_SECONDS) if added else []
        except KafkaException:
            committed, unknown = added, OFFSET_STORED  # the client itself asks again and again
        consumer.incremental_assign(self._beginning(committed, unknown))

    def _on_revoke(self, consumer: Consumer, gone: list[TopicPartition]) -> None:
        """Who reads them next begins behind what is durable here.

        Told in any case: a commit before, that nobody waited for, may yet be refused.
        """
        places = [(one.topic, one.partition) for one in gone]
        ours = [self.partitions[place] for place in places if place in self.partitions]
        if ours and self.checkpoint is not None and self.checkpoint():
            offsets = {one.place: one.given for one in ours if one.given != UNKNOWN}
            if offsets:
                try:
                    consumer.commit(offsets=self._named(offsets), asynchronous=False)
                except KafkaException as error:
                    self._say_repeated(places, f"the commit failed: {error.args[0].str()}")
        self._drop(places)
        consumer.incremental_unassign(gone)

    def _on_lost(self, consumer: Consumer, gone: list[TopicPartition]) -> None:
        places = [(one.topic, one.partition) for one in gone]
        if places:
            self._say_repeated(places, "the group has not heard of us in time")
        self._drop(places)
        consumer.incremental_unassign(gone)

    def _say_repeated(self, places: Iterable[Place], why: str) -> None:
        named = ", ".join(f"{topic}[{number}]" for topic, number in places)
        self._say(
            f"kafka {self._feed.group}: gave away {named}, and {why}; what was counted since the "
            "last commit may be counted by the next reader too"
        )

    def _drop(self, places: Iterable[Place]) -> None:
        for place in places:
            self._committed.pop(place, None)
            if (partition := self.partitions.pop(place, None)) is not None:
                self._note(partition)

    def _note(self, partition: Partition) -> None:
        if partition.given != UNKNOWN:
            self._offsets.note(partition.place, partition.given)

    def _beginning(self, asked: Iterable[TopicPartition], unknown: int) -> list[TopicPartition]:
        """Partitions with the offsets at which they begin here; `unknown` where nobody knows."""
        found = []
        for one in asked:
            place = (one.topic, one.partition)
            member = (one.metadata or "").rpartition(" ")[2]
            offset = self._offsets.next_of(place, one.offset, member)
            at = UNKNOWN if offset is None else offset
            self.partitions[place] = Partition(place, at, at, self._clock.monotonic())
            found.append(topic_partition(place, unknown if offset is None else offset))
        return found

    def _to_tell(self, offsets: Mapping[Place, int]) -> list[TopicPartition]:
        """What of these offsets the group was not told yet, as far as is known."""
        known = self._committed
        return self._named(
            {place: at for place, at in offsets.items() if at > known.get(place, -1)}
        )

    def _named(self, offsets: Mapping[Place, int]) -> list[TopicPartition]:
        """Offsets with whose they are."""
        text = f"precision-monitor {self._offsets.member}"
        return [TopicPartition(*place, at, metadata=text) for place, at in offsets.items()]


def topic_partition(place: Place, offset: int = OFFSET_INVALID) -> TopicPartition:
    """A place as the client names it, with an offset."""
    return TopicPartition(*place, offset)
