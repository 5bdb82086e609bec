"""The schema registry: its client, and the schemas that values refer to, fetched once each."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

from confluent_kafka.schema_registry import (
    RegisteredSchema,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
    dual_schema_id_deserializer,
)
from confluent_kafka.schema_registry.serde import SchemaId
from confluent_kafka.serialization import SerializationError

from monitor.config.kafka_values import SchemaRegistryConfig
from monitor.errors import ConfigError
from monitor.feeds.kafka.properties import read_properties
from monitor.feeds.kafka.value_lines import RegistryAwayError, UnreadableValueError

_TIMEOUT_SECONDS = 10.0
_UNKNOWN = range(40_401, 40_404)
"""Codes of the registry for subjects, versions and schemas that it does not have."""
_Found = TypeVar("_Found")


class Framed(NamedTuple):
    """A value without the prefix that names its schema.

    Attributes:
        schema_id: number of the schema in the registry.
        indexes: place of the message in a Protobuf schema; empty for other formats.
        payload: the bytes behind the prefix.
    """

    schema_id: int
    indexes: tuple[int, ...]
    payload: bytes


def make_client(registry: SchemaRegistryConfig, topic: str) -> SchemaRegistryClient:
    """Create a client, which does not repeat requests by itself.

    Args:
        registry: its settings.
        topic: for messages.

    Raises:
        ConfigError: the client refuses a setting.
    """
    settings = {
        **{name: value.get_secret_value() for name, value in registry.properties.items()},
        **read_properties(registry.properties_file),
        "url": registry.url,
        "timeout": _TIMEOUT_SECONDS,
        "max.retries": 0,
    }
    try:
        return SchemaRegistryClient(settings)
    except (TypeError, ValueError, OSError) as error:
        fault = f"kafka {topic}: value.schema_registry: refused by the client: {error}"
        raise ConfigError((fault,)) from error


def unframed(value: bytes, schema_type: str) -> Framed:
    """Return a value without the prefix that names its schema.

    Args:
        value: as a serializer wrote it.
        schema_type: `AVRO` or `PROTOBUF`.

    Raises:
        UnreadableValueError: there is no such prefix.
    """
    found = SchemaId(schema_type)
    try:
        payload = dual_schema_id_deserializer(value, None, found).read()
    except (SerializationError, EOFError, ValueError, struct.error) as error:
        raise UnreadableValueError(f"does not begin with the id of a schema: {error}") from error
    if found.id is None:
        raise UnreadableValueError("names its schema by a GUID, which is not supported")
    return Framed(found.id, tuple(found.message_indexes or ()), payload)


class Schemas:
    """Schemas by their ids, and those that these refer to.

    Args:
        client: asks the registry.
        schema_type: `AVRO` or `PROTOBUF`; a schema of another type makes a value unreadable.
        form: form of Protobuf schemas, `serialized`; None for Avro.
    """

    def __init__(
        self, client: SchemaRegistryClient, schema_type: str, form: str | None = None
    ) -> None:
        self._client = client
        self._type = schema_type
        self._form = form
        self._found: dict[int, Schema] = {}

    def of(self, schema_id: int) -> Schema:
        """Return a schema; whatever it refers to is in the client's cache then.

        Raises:
            RegistryAwayError: the registry does not answer, or refuses to.
            UnreadableValueError: it has no such schema, or it is of another type.
        """
        if schema_id not in self._found:
            schema = _asked(lambda: self._client.get_schema(schema_id, fmt=self._form))
            if schema.schema_type != self._type:
                raise UnreadableValueError(
                    f"is of schema {schema_id}, which is {schema.schema_type}, not {self._type}"
                )
            self._walk(schema)
            self._found[schema_id] = schema
        return self._found[schema_id]

    def referred(self, schema: Schema) -> list[tuple[str, Schema]]:
        """Return the schemas that one refers to, with the names by which it does.

        Raises:
            RegistryAwayError: the registry does not answer, or refuses to.
            UnreadableValueError: it has no such schema.
        """
        references = schema.references or []
        return [(str(r.name), self._version(str(r.subject), r.version)) for r in references]

    def _version(self, subject: str, version: int | None) -> Schema:
        number: int | Literal["latest"] = version or "latest"
        found: RegisteredSchema = _asked(
            lambda: self._client.get_version(subject, number, deleted=True, fmt=self._form)
        )
        return found.schema

    def _walk(self, schema: Schema) -> None:
        for _, other in self.referred(schema):
            self._walk(other)


def _asked(ask: Callable[[], _Found]) -> _Found:
    """Return the registry's answer; its errors by what they mean for a value."""
    try:
        return ask()
    except SchemaRegistryError as error:
        if error.error_code in _UNKNOWN:
            raise UnreadableValueError(f"has a schema that the registry lacks: {error}") from error
        raise RegistryAwayError(str(error)) from error
    except Exception as error:  # its HTTP client, accounts and answers have errors of their own
        raise RegistryAwayError(f"{type(error).__name__}: {error}") from error
