"""A Kafka cluster and its client library, driven by chance in one thread.

    producer ─▶ Topic ─▶ Client ─▶ KafkaSource
                  ▲ commits │
    another member of the group, which reads and commits, too

The client has the methods of `confluent_kafka.Consumer` that the monitor calls. While the cluster
is not calm, partitions are revoked, lost and assigned, requests fail or their answers are lost,
messages come in any portion and some come again.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    OFFSET_STORED,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from simulator.ledger import Delivery

from monitor.feeds.source import Position

TOPIC, PARTITIONS = "events", 3
FEED = {"type": "kafka", "brokers": ["localhost:9092"], "topics": [TOPIC]}
_OTHER = "precision-monitor another"
_TIMESTAMP_OF_CREATION = 1


class Record(NamedTuple):
    """A message that a partition stores.

    Attributes:
        value: lines of events.
        time_ms: when it was produced.
        delivery: what must be counted of it.
    """

    value: bytes
    time_ms: int
    delivery: Delivery


class Message(NamedTuple):
    """A message, or an event, as the client library gives it."""

    number: int
    at: int
    record: Record | None
    fault: KafkaError | None = None

    def topic(self) -> str:
        return TOPIC

    def partition(self) -> int:
        return self.number

    def offset(self) -> int:
        return self.at

    def value(self) -> bytes | None:
        return self.record.value if self.record else None

    def timestamp(self) -> tuple[int, int]:
        return _TIMESTAMP_OF_CREATION, self.record.time_ms if self.record else 0

    def error(self) -> KafkaError | None:
        return self.fault


class Topic:
    """A topic of some partitions, and the offsets and owners of the group; it outlives clients.

    Args:
        chance: decides.
        forget: called with what another member has read in the place of this one.

    Attributes:
        damaged: whether a checkpoint was damaged: a start may go on from the one before, of which
            more was committed when a partition was given up.
        calm: whether all requests succeed and this member gets all partitions.
        position: returns the position of the source that reads.
        stored: returns its position in the newest checkpoint.
        logs: the messages of each partition.
        committed: offset of each partition that the group committed.
        rebalances: number of them.
    """

    def __init__(self, chance: Random, forget: Callable[[Delivery], None]) -> None:
        self.chance, self._forget = chance, forget
        self.damaged = self.calm = False
        self.position: Callable[[], Position] = dict
        self.stored: Callable[[], Position] = dict
        self.logs: list[list[Record]] = [[] for _ in range(PARTITIONS)]
        self.committed: dict[int, TopicPartition] = {}
        self.client: Client | None = None
        self.rebalances = 0
        self._read_by_other: dict[int, tuple[int, int]] = {}
        self._forgotten: set[tuple[int, int]] = set()

    def produce(self, value: bytes, time_ms: int, delivery: Delivery) -> None:
        """Append a message to a partition."""
        self.chance.choice(self.logs).append(Record(value, time_ms, delivery))

    def make(self, _feed: Any, on_error: Any, on_commit: Any) -> Client:
        """Create a client, as `monitor.feeds.kafka.client.make_consumer` does."""
        self.client = Client(self, on_error, on_commit)
        return self.client

    def end_process(self) -> None:
        """The process is dead: its client answers no more."""
        if self.client is not None:
            self.client.assigned = {}
            self.client = None

    @property
    def is_read(self) -> bool:
        """Whether everything was handed over."""
        return all(self.own(number) == len(log) for number, log in enumerate(self.logs))

    def own(self, number: int) -> int:
        """Return the offset up to which the monitor has counted a partition."""
        return _offset(self.position(), number)

    def assert_nothing_committed_early(self) -> None:
        """What this monitor committed is in the state that a start has."""
        for number, one in self.committed.items():
            if one.metadata != _OTHER and not self.damaged:
                assert one.offset <= self.own(number), f"partition {number}: committed {one}"

    def take_commit(self, offsets: list[TopicPartition]) -> None:
        """This monitor commits: nothing that no checkpoint has, and never less than before."""
        for one in offsets:
            assert one.offset <= _offset(self.stored(), one.partition), f"committed early: {one}"
            before = self.committed.get(one.partition)
            assert before is None or before.offset <= one.offset, f"{before}, and then {one}"
            self.committed[one.partition] = one

    def read_by_other(self, number: int) -> None:
        """Another member reads some messages from the committed offset on, and commits."""
        begin = self.committed[number].offset if number in self.committed else 0
        end = self.chance.randint(begin, len(self.logs[number]))
        if end > begin:
            first, last = self._read_by_other.get(number, (begin, begin))
            self._read_by_other[number] = (first if last == begin else begin, end)
            self.committed[number] = TopicPartition(TOPIC, number, end, metadata=_OTHER)

    def returns(self, number: int) -> None:
        """A partition comes back: what the other member has read, and this one not, is not ours."""
        begin, end = self._read_by_other.get(number, (0, 0))
        own = self.own(number)
        if end <= own:
            return
        assert begin <= own or self.damaged, f"{number}: {own} to {begin} are lost"
        for offset in range(own, end):
            if (number, offset) not in self._forgotten:
                self._forgotten.add((number, offset))
                self._forget(self.logs[number][offset].delivery)


class Client:
    """A member of the group, in the place of `confluent_kafka.Consumer`.

    Args:
        topic: the topic.
        on_error: called with errors.
        on_commit: called with results of commits.

    Attributes:
        assigned: next offset of each partition that is assigned.
    """

    def __init__(self, topic: Topic, on_error: Any, on_commit: Any) -> None:
        self.assigned: dict[int, int] = {}
        self._topic, self._chance = topic, topic.chance
        self._on_error, self._on_commit = on_error, on_commit
        self._answers: list[tuple[KafkaError | None, list[TopicPartition]]] = []
        self._paused: set[int] = set()
        self._ended: set[int] = set()

    def subscribe(
        self, _topics: list[str], *, on_assign: Any, on_revoke: Any, on_lost: Any
    ) -> None:
        self._on_assign, self._on_revoke, self._on_lost = on_assign, on_revoke, on_lost

    def consume(self, most: int, timeout: float) -> list[Message]:
        assert timeout == 0, "the loop does not wait"
        answers, self._answers = self._answers, []
        for answer in answers:
            self._on_commit(*answer)
        self._rebalance()
        if self._happens(8):
            self._on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN))
            return []
        found: list[Message] = []
        for number in self._chance.sample([*self.assigned], len(self.assigned)):
            if number not in self._paused:
                found += self._fetched(number, most - len(found))
        return found

    def _fetched(self, number: int, most: int) -> list[Message]:
        log, at = self._topic.logs[number], self.assigned[number]
        if at == OFFSET_BEGINNING:
            at = 0
        if at == OFFSET_STORED:
            if number not in self._topic.committed:
                reset = KafkaError(KafkaError._AUTO_OFFSET_RESET)
                return [Message(number, OFFSET_INVALID, None, reset)]
            at = self._topic.committed[number].offset
        assert 0 <= at <= len(log), at
        if self._happens(6):
            at = self._chance.randint(max(0, at - 3), at)  # some come again
        end = len(log) if self._topic.calm else self._chance.randint(at, len(log))
        end = min(end, at + most)
        self.assigned[number] = max(self.assigned[number], end)
        found = [Message(number, offset, log[offset]) for offset in range(at, end)]
        if found:
            self._ended.discard(number)
        if end == len(log) and number not in self._ended:
            self._ended.add(number)
            found.append(Message(number, end, None, KafkaError(KafkaError._PARTITION_EOF)))
        return found

    def committed(self, parts: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        assert timeout
        if self._happens(6):
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return [
            self._topic.committed.get(one.partition, TopicPartition(TOPIC, one.partition))
            for one in parts
        ]

    def commit(self, offsets: list[TopicPartition], *, asynchronous: bool) -> None:
        assert offsets
        is_fenced = any(one.partition not in self.assigned for one in offsets)
        fails = is_fenced or self._happens(5)
        if not is_fenced and (not fails or self._chance.randrange(2)):  # the answer may be lost
            self._topic.take_commit(offsets)
        error = KafkaError(KafkaError._TIMED_OUT) if fails else None
        if asynchronous:
            self._answers.append((error, offsets))
        elif error is not None:
            raise KafkaException(error)

    def incremental_assign(self, parts: list[TopicPartition]) -> None:
        for one in parts:
            assert one.partition not in self.assigned
            self.assigned[one.partition] = one.offset
            self._ended.discard(one.partition)

    def incremental_unassign(self, parts: list[TopicPartition]) -> None:
        for one in parts:
            del self.assigned[one.partition]
            self._paused.discard(one.partition)

    def pause(self, parts: list[TopicPartition]) -> None:
        self._paused |= {one.partition for one in parts}

    def resume(self, parts: list[TopicPartition]) -> None:
        self._paused -= {one.partition for one in parts}

    def get_watermark_offsets(self, part: TopicPartition, **_: Any) -> tuple[int, int]:
        return 0, len(self._topic.logs[part.partition])

    def close(self) -> None:
        if self.assigned:
            self._on_revoke(self, _partitions(self.assigned))

    def _rebalance(self) -> None:
        free = [n for n in range(PARTITIONS) if n not in self.assigned]
        if self._topic.calm or self._happens(4):
            added = free if self._topic.calm else [n for n in free if self._chance.randrange(2)]
            if added:
                self._topic.rebalances += 1
                for number in added:
                    self._topic.returns(number)
                self._on_assign(self, _partitions(added))
        if self.assigned and self._happens(10):
            gone = [n for n in self.assigned if self._chance.randrange(2)]
            (self._on_lost if self._happens(4) else self._on_revoke)(self, _partitions(gone))
        for number in free:
            if number not in self.assigned and self._happens(6):
                self._topic.read_by_other(number)

    def _happens(self, once_in: int) -> bool:
        return not self._topic.calm and self._chance.randrange(once_in) == 0


def _offset(position: Position, number: int) -> int:
    return position["offsets"].get(TOPIC, {}).get(str(number), 0)


def _partitions(numbers: Any) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, number) for number in numbers]
