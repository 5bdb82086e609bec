"""A consumer of the confluent-kafka library, by the settings of a feed."""

from __future__ import annotations

import logging
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from monitor.config import KafkaFeed
from monitor.errors import ConfigError
from monitor.feeds.kafka.properties import read_properties

OnError = Callable[[KafkaError], None]
OnCommit = Callable[[KafkaError | None, list[TopicPartition]], None]

PREFETCH_KILOBYTES = 16_384
"""Messages that the client may hold before it stops fetching; the library's default is four times
as much."""

_DEFAULTS = {
    "client.id": "precision-monitor",
    "queued.max.messages.kbytes": PREFETCH_KILOBYTES,
    "session.timeout.ms": 45_000,
}


def make_consumer(feed: KafkaFeed, on_error: OnError, on_commit: OnCommit) -> Consumer:
    """A consumer that leaves it to us which offsets are read and committed.

    Args:
        feed: its settings.
        on_error: told what goes wrong, which the client tries again by itself.
        on_commit: told how a commit that nobody waited for has ended.

    Raises:
        ConfigError: the client refuses a setting.
    """
    settings = {
        **_DEFAULTS,
        **{name: value.get_secret_value() for name, value in feed.properties.items()},
        **read_properties(feed.properties_file),
        "bootstrap.servers": ",".join(feed.brokers),
        "group.id": feed.group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "partition.assignment.strategy": "cooperative-sticky",
        "error_cb": on_error,
        "on_commit": on_commit,
    }
    try:
        return Consumer(settings, logger=_silent())
    except KafkaException as error:
        said = error.args[0].str()
        raise ConfigError((f"kafka {feed.group}: properties: the client says: {said}",)) from error


def _silent() -> logging.Logger:
    """The client's own log: what matters of it comes as an error."""
    logger = logging.getLogger("precision-monitor.kafka")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger
