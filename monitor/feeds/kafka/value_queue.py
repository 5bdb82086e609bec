"""Messages and events of the client that wait, in their order, until values are decoded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import NamedTuple, TypeGuard

from confluent_kafka import KafkaError

from monitor.clock import Clock
from monitor.config import KafkaFeed
from monitor.config.kafka_values import ValueFormat
from monitor.feeds.kafka.messages import MessageBuffer, PartitionKey
from monitor.feeds.kafka.partition import Partition
from monitor.feeds.kafka.value_lines import ReadRecord, RegistryAwayError, Value, line_of

RETRY_SECONDS = 5.0
"""Time after which a registry that does not answer is asked again."""
MOST_WAITING = 20_000
"""Messages that may wait; above it, nothing more is fetched."""


class ClientEvent(NamedTuple):
    """An event that the client delivers in place of a message.

    Attributes:
        key: the partition.
        offset: as the client gives it.
        error: what happened.
    """

    key: PartitionKey
    offset: int
    error: KafkaError


class Arrived(NamedTuple):
    """Messages or an event, with the partition as it was assigned at their arrival.

    Attributes:
        partition: None if it was not assigned.
        item: what arrived.
    """

    partition: Partition | None
    item: MessageBuffer | ClientEvent


class ValueQueue:
    """Decodes values on a thread of its own; a registry that is away stalls the queue.

    Without a decoder everything passes at once.

    Args:
        name: of the feed, for messages.
        read: reads the records of values; None for values of JSON.
        clock: measures the time between two requests.
        log: writes one line for a person.
        worker: decodes; a thread of its own if None.
    """

    def __init__(
        self,
        name: str,
        read: ReadRecord | None,
        clock: Clock,
        log: Callable[[str], None],
        worker: Executor | None = None,
    ) -> None:
        self._name = name
        self._read = read
        self._clock = clock
        self._log = log
        self._worker = worker
        if read is not None and worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="kafka-values")
        self._waiting: deque[Arrived] = deque()
        self._decoding: tuple[list[MessageBuffer], Future[_Decoded]] | None = None
        self._due = clock.monotonic()
        self._away = ""

    @property
    def full(self) -> bool:
        """True while nothing more should be fetched."""
        waiting = sum(len(buffer.offsets) for buffer in self._undecoded())
        return bool(self._away) or waiting >= MOST_WAITING

    def add(self, arrived: Arrived) -> None:
        """Append messages or an event."""
        self._waiting.append(arrived)

    def ready(self) -> Iterator[Arrived]:
        """Yield what arrived, in order, up to the first messages that are not decoded."""
        self._collect()
        self._begin()
        self._collect()
        while self._waiting and not self._is_undecoded(self._waiting[0].item):
            yield self._waiting.popleft()

    def close(self) -> None:
        """Stop decoding; what waits was not delivered, and is read again by the next reader."""
        self._waiting.clear()
        if self._worker is not None:
            self._worker.shutdown(wait=False, cancel_futures=True)

    def _undecoded(self) -> list[MessageBuffer]:
        items = (arrived.item for arrived in self._waiting)
        return [item for item in items if self._is_undecoded(item)]

    def _is_undecoded(self, item: MessageBuffer | ClientEvent) -> TypeGuard[MessageBuffer]:
        return self._read is not None and isinstance(item, MessageBuffer) and not item.decoded

    def _begin(self) -> None:
        """Let the worker decode all messages that wait."""
        if self._decoding is not None or self._clock.monotonic() < self._due:
            return
        buffers = self._undecoded()
        if buffers and self._worker is not None and self._read is not None:
            raw = [buffer.raw for buffer in buffers]
            self._decoding = buffers, self._worker.submit(_decoded, raw, self._read)

    def _collect(self) -> None:
        """Take what the worker has decoded, and note whether the registry is away."""
        if self._decoding is None or not self._decoding[1].done():
            return
        (buffers, done), self._decoding = self._decoding, None
        decoded = done.result()
        for buffer, values in zip(buffers, decoded.values, strict=False):
            buffer.decode(values)
        if decoded.away:
            self._due = self._clock.monotonic() + RETRY_SECONDS
        if decoded.away and not self._away:
            self._log(
                f"{self._name}: the schema registry does not answer: {decoded.away}; reading "
                "waits, retrying"
            )
        elif self._away and not decoded.away:
            self._log(f"{self._name}: the schema registry answers again")
        self._away = decoded.away


class _Decoded(NamedTuple):
    """Decoded values, of as many messages as could be decoded.

    Attributes:
        values: by buffer; fewer than were given if the registry is away.
        away: why the registry did not answer; "" if it did.
    """

    values: list[list[Value]]
    away: str


def _decoded(raw: list[list[bytes]], read: ReadRecord) -> _Decoded:
    found: list[list[Value]] = []
    try:
        for values in raw:
            found.append([line_of(value, read) for value in values])  # noqa: PERF401  # up to an error
    except RegistryAwayError as error:
        return _Decoded(found, str(error))
    return _Decoded(found, "")


def value_reader(feed: KafkaFeed) -> ReadRecord | None:
    """Return what reads the records of a feed's values; None where they are JSON.

    Args:
        feed: settings of the feed.

    Raises:
        ConfigError: the client of the registry refuses a setting.
    """
    registry = feed.value.schema_registry
    if registry is None:
        return None
    from monitor.feeds.kafka.schema_registry import make_client  # noqa: PLC0415  # an extra

    client = make_client(registry, feed.topics[0])
    if feed.value.format is ValueFormat.AVRO:
        from monitor.feeds.kafka.avro_values import AvroValues  # noqa: PLC0415  # likewise

        return AvroValues(client)
    from monitor.feeds.kafka.protobuf_values import ProtobufValues  # noqa: PLC0415  # likewise

    return ProtobufValues(client)
