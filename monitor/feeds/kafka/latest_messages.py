"""The messages that topics hold now, for looking at them; joins no group and commits nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from monitor.config import KafkaFeed
from monitor.errors import FeedError
from monitor.feeds.kafka.client import make_consumer
from monitor.feeds.kafka.messages import lines_of

_ASK_SECONDS = 10.0
_SILENT_SECONDS = 30.0
_WAIT_SECONDS = 0.5
_READ_MESSAGES = 5_000


def latest_lines(feed: KafkaFeed, most: int) -> list[bytes]:
    """Return the records of the latest messages as lines of JSON, in the order of production.

    Args:
        feed: brokers, topics and properties.
        most: messages to return at most, about as many of each partition.

    Raises:
        ConfigError: the client refuses a property.
        FeedError: the cluster does not answer, or has no such topic.
    """
    with closing(make_consumer(feed, lambda _: None, lambda *_: None)) as consumer:
        try:
            messages = list(_messages(consumer, feed.topics, most))
        except KafkaException as error:
            brokers = ", ".join(feed.brokers)
            raise FeedError(f"kafka {brokers}: {error.args[0].str()}; check the address") from error
    messages.sort(key=lambda message: message.timestamp()[1])
    return [line for message in messages for line in lines_of(message.value() or b"")]


def _messages(consumer: Consumer, topics: Sequence[str], most: int) -> Iterator[Message]:
    """Yield the latest messages of each partition up to its end as of now."""
    bounds = {
        (topic, number): consumer.get_watermark_offsets(
            TopicPartition(topic, number), timeout=_ASK_SECONDS
        )
        for topic in topics
        for number in _partitions(consumer, topic)
    }
    each = -(-most // len(bounds))
    starts = {key: max(low, high - each) for key, (low, high) in bounds.items()}
    left = {key for key, (_, high) in bounds.items() if starts[key] < high}
    consumer.assign([TopicPartition(*key, starts[key]) for key in left])
    silent = 0
    while left:
        # consume() returns once it has that many messages, or after this time.
        came = consumer.consume(_READ_MESSAGES, timeout=_WAIT_SECONDS)
        silent = 0 if came else silent + 1
        if silent * _WAIT_SECONDS >= _SILENT_SECONDS:
            raise FeedError(
                f"kafka {', '.join(topics)}: no message came for {_SILENT_SECONDS:.0f} s; check "
                "that its brokers can be reached under the names that they announce"
            )
        for message in came:
            key = (str(message.topic()), int(message.partition() or 0))
            error, high = message.error(), bounds[key][1]
            if error is None and (message.offset() or 0) < high:
                yield message
            elif error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001  # public in the library's documentation
                raise KafkaException(error)
            if error is not None or (message.offset() or 0) >= high - 1:
                left.discard(key)


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    found = consumer.list_topics(topic, timeout=_ASK_SECONDS).topics[topic]
    if found.error is not None:
        raise FeedError(f"kafka topic {topic}: {found.error.str()}; check its name")
    return sorted(found.partitions)
