"""Records of Protobuf values, by the schemas of the registry: no generated code is needed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry import protobuf as _  # noqa: F401  # registers its own types
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import Default, DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from monitor.feeds.kafka.schema_registry import Schemas, unframed
from monitor.feeds.kafka.value_lines import RegistryAwayError, UnreadableValueError

_TIMESTAMP = "google.protobuf.Timestamp"
_WELL_KNOWN = "google.protobuf."
_MAIN = "value.proto"


class ProtobufValues:
    """Reads Protobuf values by descriptors that the registry gives (`format=serialized`).

    Args:
        client: asks the registry.
    """

    def __init__(self, client: SchemaRegistryClient) -> None:
        self._schemas = Schemas(client, "PROTOBUF", "serialized")
        self._pools: dict[int, DescriptorPool] = {}
        self._classes: dict[tuple[int, tuple[int, ...]], type[Message]] = {}

    def __call__(self, value: bytes) -> dict[str, Any]:
        """Return the record of a value.

        Raises:
            RegistryAwayError: the registry does not answer, or gives no descriptors.
            UnreadableValueError: the value cannot be decoded.
        """
        framed = unframed(value, "PROTOBUF")
        key = (framed.schema_id, framed.indexes)
        if key not in self._classes:
            self._classes[key] = GetMessageClass(self._descriptor(*key))
        try:
            return _record(self._classes[key].FromString(framed.payload))
        except (DecodeError, json_format.Error, ValueError, TypeError, OverflowError) as error:
            raise UnreadableValueError(  # TypeError: an Any of a type that is not known
                f"does not fit its schema {framed.schema_id}: {error}"
            ) from error

    def _descriptor(self, schema_id: int, indexes: Sequence[int]) -> Descriptor:
        """Return the message of a schema at a place: its number, and those within it."""
        if schema_id not in self._pools:
            pool = DescriptorPool()
            self._add(pool, _MAIN, self._schemas.of(schema_id))
            self._pools[schema_id] = pool
        file = self._pools[schema_id].FindFileByName(_MAIN)
        written = FileDescriptorProto()
        file.CopyToProto(written)
        try:
            if min(indexes) < 0:
                raise IndexError  # noqa: TRY301  # Python would count from the end
            first, *inner = indexes
            name = written.message_type[first].name
            message = written.message_type[first]
            for index in inner:
                message = message.nested_type[index]
                name = f"{name}.{message.name}"
        except (IndexError, ValueError) as error:
            raise UnreadableValueError(
                f"is message {list(indexes)} of schema {schema_id}, which has no such message"
            ) from error
        full = f"{written.package}.{name}" if written.package else name
        return self._pools[schema_id].FindMessageTypeByName(full)

    def _add(self, pool: DescriptorPool, name: str, schema: Schema) -> None:
        """Add a schema to a pool, behind those that it refers to."""
        try:
            file = FileDescriptorProto.FromString(base64.b64decode(schema.schema_str or ""))
        except (DecodeError, binascii.Error, ValueError) as error:
            raise RegistryAwayError(
                "it gives Protobuf schemas as text; the monitor needs format=serialized"
            ) from error
        for other, referred in self._schemas.referred(schema):
            self._add(pool, other, referred)
        for dependency in file.dependency:
            _add_known(pool, dependency)
        file.name = name
        try:
            pool.Add(file)
        except TypeError as error:
            raise UnreadableValueError(f"has a schema that cannot be used: {error}") from error


def _add_known(pool: DescriptorPool, name: str) -> None:
    """Add a file that comes with the libraries, unless the pool has one of its name."""
    try:
        pool.FindFileByName(name)
    except KeyError:
        try:
            known = Default().FindFileByName(name)
        except KeyError as error:
            raise UnreadableValueError(
                f"has a schema that imports {name!r} without a reference"
            ) from error
        for dependency in known.dependencies:
            _add_known(pool, dependency.name)
        file = FileDescriptorProto()
        known.CopyToProto(file)
        pool.Add(file)


def _record(message: Message) -> dict[str, Any]:
    """Return a message by the names of its fields, without those that are known to be unset."""
    fields: Sequence[Any] = message.DESCRIPTOR.fields
    return {
        field.name: _value(getattr(message, field.name), field)
        for field in fields
        if not field.has_presence or message.HasField(field.name)
    }


def _value(value: Any, field: FieldDescriptor) -> Any:
    """Return the value of a field: single, a list, or a map."""
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        inner = kind.fields_by_name["value"]
        return {str(key): _single(one, inner) for key, one in value.items()}
    if isinstance(value, Mapping | str | bytes) or not isinstance(value, Sequence):
        return _single(value, field)
    return [_single(one, field) for one in value]


def _single(value: Any, field: FieldDescriptor) -> Any:
    kind = field.message_type
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return value if named is None else named.name
    if kind is None:
        return value
    if kind.full_name == _TIMESTAMP:
        return value.ToDatetime(tzinfo=UTC)
    if kind.full_name.startswith(_WELL_KNOWN):
        return json_format.MessageToDict(value, preserving_proto_field_name=True)
    return _record(value)
