"""Records of Avro values, by the deserializer of confluent-kafka."""

from __future__ import annotations

from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer

from monitor.feeds.kafka.schema_registry import Schemas, unframed
from monitor.feeds.kafka.value_lines import UnreadableValueError


class AvroValues:
    """Reads Avro values; logical types become times, decimals and UUIDs.

    Args:
        client: asks the registry.
    """

    def __init__(self, client: SchemaRegistryClient) -> None:
        self._schemas = Schemas(client, "AVRO")
        self._read = AvroDeserializer(client)

    def __call__(self, value: bytes) -> Any:
        """Return the record of a value.

        Raises:
            RegistryAwayError: the registry does not answer.
            UnreadableValueError: the value cannot be decoded.
        """
        schema_id = unframed(value, "AVRO").schema_id
        self._schemas.of(schema_id)  # the deserializer finds it in the client's cache
        try:
            return self._read(value)
        except Exception as error:  # fastavro raises whatever bytes lead to
            raise UnreadableValueError(
                f"does not fit its schema {schema_id}: {type(error).__name__}: {error}"
            ) from error
