"""Settings of what connects the monitor to the world: feeds in, the exporter out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PositiveInt,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from monitor.config import quantities as q
from monitor.config.fields import (
    Broker,
    Distinct,
    FilePath,
    Listen,
    Name,
    PositiveDuration,
    Section,
    Size,
    setting,
)
from monitor.config.inference import InferenceConfig

_TABLES = {".csv", ".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"}


def _without_gz(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


class FileFeed(Section):
    """Events from a file."""

    type: Literal["file"] = Field(description="A file of events.")
    path: FilePath = Field(
        description="The file, relative to the working directory: NDJSON, CSV, Parquet or Arrow, "
        "by the ending of its name; a pattern like logs/*.ndjson for many; - for standard input."
    )
    follow: bool = setting(
        False,
        "Wait for what is appended to it, as tail -F does, through rotations; of NDJSON alone.",
    )

    @field_validator("follow")
    @classmethod
    def _followed_has_lines(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001  # the key's
        ending = _without_gz(info.data.get("path", Path())).suffix.lower()
        if value and ending in _TABLES:
            raise q.unfit(f"cannot be true for {ending} files", "leave it out, or write NDJSON")
        return value


class HttpFeed(Section):
    """Events posted to a listener of this program."""

    type: Literal["http"] = Field(description="A listener that events are posted to.")
    listen: Listen = setting("127.0.0.1:9109", "Where it listens, HOST:PORT.")
    token_files: Annotated[tuple[FilePath, ...], Distinct] = setting(
        (),
        "Files of bearer tokens, one a line, of which every request must carry one; with none, "
        "anybody who reaches the listener may post.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    web_config: FilePath | None = setting(
        None,
        "A web configuration file as of Prometheus's exporters: TLS, users with bcrypt "
        "passwords, headers.",
    )
    max_connections: PositiveInt = setting(
        1024, "Connections served at a time; others wait, as many at most."
    )
    max_body_bytes: Size = setting(
        "8MiB", "A request with a larger body is refused, compressed or not."
    )
    max_queue_bytes: Size = setting(
        "64MiB", "Bodies that may wait to be counted; beyond it clients are told to come later."
    )
    max_events_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = setting(
        None,
        "Records that each client, by its token, user or address, may send; above it, it is told "
        "to come later. null for any number.",
    )
    inference: InferenceConfig | None = setting(
        None, "How predictions are taken out of what inference servers log (KServe)."
    )
    header_timeout: PositiveDuration = setting(
        "5s", "A client that takes longer for its headers, or is idle for longer, is dropped."
    )
    body_timeout: PositiveDuration = setting(
        "30s", "A client that takes longer for the body of a request is dropped."
    )

    @field_validator("max_queue_bytes")
    @classmethod
    def _queue_holds_a_body(cls, value: int, info: ValidationInfo) -> int:
        least = info.data.get("max_body_bytes", 0)
        if value < least:
            size = q.format_size(least)
            raise q.unfit(f"must be at least max_body_bytes ({size})", "raise it or lower that")
        return value

    @property
    def address(self) -> q.Address:
        """Host and port."""
        return q.parse_address(self.listen)


KAFKA_OWN_PROPERTIES = frozenset(
    {
        "bootstrap.servers",
        "metadata.broker.list",
        "group.id",
        "group.protocol",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "enable.partition.eof",
        "auto.offset.reset",
        "partition.assignment.strategy",
    }
)
"""Settings of the Kafka client that the monitor needs to be as they are."""


def _allowed(name: str) -> str:
    if name in KAFKA_OWN_PROPERTIES:
        raise q.unfit("is set by the monitor", "remove it")
    return name


def _as_text(value: Any) -> Any:
    """Text, numbers and truths as the client writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


PropertyName = Annotated[Name, AfterValidator(_allowed)]
PropertyValue = Annotated[SecretStr, BeforeValidator(_as_text)]


class KafkaStart(StrEnum):
    """Where to begin in a partition of which nothing is known."""

    EARLIEST = "earliest"
    LATEST = "latest"


class KafkaFeed(Section):
    """Events from Kafka topics."""

    type: Literal["kafka"] = Field(description="Topics of a Kafka cluster.")
    brokers: Annotated[tuple[Broker, ...], Distinct] = Field(
        min_length=1, description="Brokers to ask first, each HOST:PORT."
    )
    topics: Annotated[tuple[Name, ...], Distinct] = Field(
        min_length=1, description="Topics to read: predictions and labels in one or in several."
    )
    group: Name = setting("precision-monitor", "Consumer group.")
    partitions: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Distinct] = setting(
        (),
        "Numbers of the partitions to read, of every topic, where several monitors share the "
        "topics; with none, the group assigns them.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    start: KafkaStart = setting(
        "earliest",
        "Where to begin in a partition that neither the state nor the group knows, or whose next "
        "offset is gone: earliest or latest.",
    )
    properties: dict[PropertyName, PropertyValue] = setting(
        {}, "Further settings of the client (librdkafka), for TLS and SASL; values are never shown."
    )
    properties_file: FilePath | None = setting(
        None, "A file of further settings of the client, one key=value a line, for secrets."
    )


Feed = Annotated[FileFeed | HttpFeed | KafkaFeed, Field(discriminator="type")]
"""Any of the feeds, told apart by `type`."""


class ExporterConfig(Section):
    """Where results can be read."""

    listen: Listen = setting("127.0.0.1:9108", "Where /metrics and the page are served, HOST:PORT.")
    web_config: FilePath | None = setting(
        None,
        "A web configuration file as of Prometheus's exporters: TLS, users with bcrypt "
        "passwords, headers.",
    )
    max_connections: PositiveInt = setting(
        1024, "Connections served at a time; others wait, as many at most."
    )
    allow_reload: bool = setting(
        False, "Whether POST /-/reload reads the configuration again, as SIGHUP does."
    )

    @property
    def address(self) -> q.Address:
        """Host and port."""
        return q.parse_address(self.listen)
