"""Settings of feeds: files, HTTP listeners, Kafka topics, and databases (`sql_feed`)."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    ValidationInfo,
    field_validator,
)

from monitor.config import quantities as q
from monitor.config.fields import (
    Broker,
    Distinct,
    FileLocation,
    FilePath,
    Listen,
    Name,
    PositiveDuration,
    Size,
    is_url,
    setting,
)
from monitor.config.inference import InferenceConfig
from monitor.config.kafka_values import KafkaValue, PropertyValue
from monitor.config.mapping import MappedFeed
from monitor.config.sql_feed import SqlFeed

_TABLES = {".csv", ".tsv", ".tab", ".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"}


def _without_gz(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


class FileFeed(MappedFeed):
    """Events from a file."""

    type: Literal["file"] = Field(description="A file of events.")
    path: FileLocation = Field(
        description="Path of the file, relative to the working directory: NDJSON, JSON, CSV, TSV, "
        "Parquet or Arrow, by its extension; a pattern like logs/*.ndjson for several; - for "
        "standard input; a URL like s3://bucket/events.parquet for an object of a store."
    )
    follow: bool = setting(
        False,
        "Wait for appended lines, as tail -F does, across rotations; NDJSON only.",
    )

    @property
    def summary(self) -> str:
        """The type and place of the feed, in a few words."""
        place = q.without_account(str(self.path))
        return f"file {place}" + (" (followed)" if self.follow else "")

    @field_validator("follow")
    @classmethod
    def _follow_needs_lines(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001  # a setting
        path = info.data.get("path", Path())
        if value and is_url(str(path)):
            raise q.unfit("cannot be true for objects of a store", "leave it out")
        ending = _without_gz(Path(path)).suffix.lower()
        if value and ending in _TABLES:
            raise q.unfit(f"cannot be true for {ending} files", "leave it out, or write NDJSON")
        return value


class HttpFeed(MappedFeed):
    """Events posted to an HTTP listener of the monitor."""

    type: Literal["http"] = Field(description="A listener that clients post events to.")
    listen: Listen = setting("127.0.0.1:9109", "Address to listen on, HOST:PORT.")
    token_files: Annotated[tuple[FilePath, ...], Distinct] = setting(
        (),
        "Files of bearer tokens, one per line; every request must carry one of them. Without "
        "token_files and users, anyone who can reach the listener may post.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    web_config: FilePath | None = setting(
        None,
        "Web configuration file in the format of Prometheus's exporters: TLS, users with bcrypt "
        "passwords, response headers.",
    )
    max_connections: PositiveInt = setting(1024, "Connections served at a time; others wait.")
    max_body_bytes: Size = setting(
        "8MiB", "Requests with a larger body are refused; applies before and after decompression."
    )
    max_queue_bytes: Size = setting(
        "64MiB", "Total size of bodies waiting to be counted; above it, clients get 429."
    )
    max_events_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = setting(
        None,
        "Maximum rate of records for each client, identified by its token, user or address; above "
        "it, the client gets 429. null for no limit.",
    )
    inference: InferenceConfig | None = setting(
        None, "How to extract predictions from the payloads that inference servers log (KServe)."
    )
    header_timeout: PositiveDuration = setting(
        "5s", "Connections that take longer to send headers, or idle longer, are closed."
    )
    body_timeout: PositiveDuration = setting(
        "30s", "Requests whose body takes longer to arrive are refused with 408."
    )

    @field_validator("max_queue_bytes")
    @classmethod
    def _queue_holds_a_body(cls, value: int, info: ValidationInfo) -> int:
        least = info.data.get("max_body_bytes", 0)
        if value < least:
            size = q.format_size(least)
            raise q.unfit(
                f"must be at least max_body_bytes ({size})", "raise it or lower max_body_bytes"
            )
        return value

    @property
    def summary(self) -> str:
        """The type and place of the feed, in a few words."""
        return f"http on {self.listen}"

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
"""Settings of the Kafka client that the monitor sets itself."""


def _allowed(name: str) -> str:
    if name in KAFKA_OWN_PROPERTIES:
        raise q.unfit("is set by the monitor", "remove it")
    return name


PropertyName = Annotated[Name, AfterValidator(_allowed)]


class KafkaStart(StrEnum):
    """Where to start in a partition without a known offset."""

    EARLIEST = "earliest"
    LATEST = "latest"


class KafkaFeed(MappedFeed):
    """Events from Kafka topics."""

    type: Literal["kafka"] = Field(description="Topics of a Kafka cluster.")
    brokers: Annotated[tuple[Broker, ...], Distinct] = Field(
        min_length=1, description="Bootstrap brokers, each HOST:PORT."
    )
    topics: Annotated[tuple[Name, ...], Distinct] = Field(
        min_length=1, description="Topics to read; predictions and labels may share one."
    )
    group: Name = setting("precision-monitor", "Consumer group.")
    partitions: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Distinct] = setting(
        (),
        "Numbers of the partitions to read from every topic, where several monitors share the "
        "topics. Default: the consumer group assigns them.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    start: KafkaStart = setting(
        "earliest",
        "Where to start in a partition that has no offset in the state or the group, or whose next "
        "offset no longer exists: earliest or latest.",
    )
    properties: dict[PropertyName, PropertyValue] = setting(
        {}, "Further settings of the client (librdkafka), as for TLS and SASL; values stay hidden."
    )
    properties_file: FilePath | None = setting(
        None, "File of further settings of the client, one key=value per line, for secrets."
    )
    value: KafkaValue = setting({}, "How the values of messages are written.")

    @property
    def summary(self) -> str:
        """The type and place of the feed, in a few words."""
        return f"kafka topics {', '.join(self.topics)}"


Feed = Annotated[FileFeed | HttpFeed | KafkaFeed | SqlFeed, Field(discriminator="type")]
"""Any feed, discriminated by `type`."""

FEED_TYPES: tuple[str, ...] = tuple(
    get_args(feed.model_fields["type"].annotation)[0] for feed in get_args(get_args(Feed)[0])
)
"""Values of `type`."""
