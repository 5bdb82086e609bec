"""Looks for the packages that Kafka feeds need, extras."""

from importlib.util import find_spec

from monitor.config.kafka_values import ValueFormat

SCHEMAS_EXTRA = "kafka-schemas"
"""The extra that brings what Avro and Protobuf values need."""
_CLIENT_OF_REGISTRY = ("authlib", "cachetools")
_NEEDED = {
    ValueFormat.JSON: (),
    ValueFormat.AVRO: (*_CLIENT_OF_REGISTRY, "fastavro"),
    ValueFormat.PROTOBUF: (*_CLIENT_OF_REGISTRY, "google.protobuf"),
}


def is_installed() -> bool:
    """Return whether confluent-kafka is installed, without importing it."""
    return find_spec("confluent_kafka") is not None


def reads(form: ValueFormat) -> bool:
    """Return whether values of a format can be read, without importing what that needs."""
    return all(_is_there(package) for package in _NEEDED[form])


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package around it
        return False
