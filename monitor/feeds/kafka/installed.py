"""Looks for the client library of Kafka feeds, an extra."""

import importlib.util


def is_installed() -> bool:
    """Return whether confluent-kafka is installed, without importing it."""
    return importlib.util.find_spec("confluent_kafka") is not None
