"""Settings of Kafka messages' values: JSON, or Avro and Protobuf with a schema registry."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from monitor.config import quantities as q
from monitor.config.fields import BaseUrl, FilePath, Name, Section, setting

REGISTRY_OWN_PROPERTIES = frozenset({"url", "timeout", "max.retries"})
"""Settings of the registry's client that the monitor sets itself."""


def _as_text(value: Any) -> Any:
    """Write numbers and booleans as the client expects them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _allowed(name: str) -> str:
    if name in REGISTRY_OWN_PROPERTIES:
        raise q.unfit("is set by the monitor", "remove it")
    return name


PropertyValue = Annotated[SecretStr, BeforeValidator(_as_text)]
"""Value of a setting of a client, which stays hidden."""


class ValueFormat(StrEnum):
    """Formats of values."""

    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"


class SchemaRegistryConfig(Section):
    """The schema registry that values refer to."""

    url: BaseUrl = Field(description="URL of the registry, such as https://registry:8081.")
    properties: Mapping[Annotated[Name, AfterValidator(_allowed)], PropertyValue] = setting(
        {},
        "Further settings of its client (confluent-kafka), such as basic.auth.user.info and "
        "ssl.ca.location; values stay hidden.",
    )
    properties_file: FilePath | None = setting(
        None, "File of further settings of its client, one key=value per line, for secrets."
    )


class KafkaValue(Section):
    """How the values of messages are written."""

    format: ValueFormat = setting(
        "json",
        "json; or avro or protobuf, as the serializers of a schema registry write them. Fields of "
        "records are mapped like those of JSON.",
    )
    schema_registry: SchemaRegistryConfig | None = setting(
        None, "Where their schemas are; needed with avro and protobuf."
    )

    @model_validator(mode="after")
    def _registry_for_schemas(self) -> Self:
        if self.format is ValueFormat.JSON and self.schema_registry is not None:
            raise q.unfit("has a schema_registry and values of json", "write format: avro")
        if self.format is not ValueFormat.JSON and self.schema_registry is None:
            raise q.unfit(
                "needs a schema_registry", "add schema_registry: {url: https://HOST:PORT}"
            )
        return self
