"""Creates a consumer of the library confluent-kafka from a feed's settings."""

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
"""Fetched messages that the client may buffer; a quarter of the library's default."""

_DEFAULTS = {
    "client.id": "precision-monitor",
    "queued.max.messages.kbytes": PREFETCH_KILOBYTES,
    "session.timeout.ms": 45_000,
}


def make_consumer(feed: KafkaFeed, on_error: OnError, on_commit: OnCommit) -> Consumer:
    """Create a consumer that neither chooses nor commits offsets by itself.

    Args:
        feed: settings of the feed.
        on_error: called with errors, after which the client retries by itself.
        on_commit: called with the result of an asynchronous commit.

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
        fault = f"kafka {feed.group}: properties: refused by the client: {error.args[0].str()}"
        raise ConfigError((fault,)) from error


def _silent() -> logging.Logger:
    """Logger that discards the client's log; relevant messages come as errors, too."""
    logger = logging.getLogger("precision-monitor.kafka")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger
