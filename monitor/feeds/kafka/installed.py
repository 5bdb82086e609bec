"""Whether the client library of Kafka feeds, an extra, is installed."""

import importlib.util


def is_installed() -> bool:
    """Return whether confluent-kafka is installed, without importing it."""
    return importlib.util.find_spec("confluent_kafka") is not None
