"""Settings of what connects the monitor to the world: feeds in, the exporter out."""

from typing import Annotated, Literal

from pydantic import Field

from monitor.config import quantities as q
from monitor.config.fields import Broker, Distinct, FilePath, Listen, Name, Section, setting


class FileFeed(Section):
    """Events from a file."""

    type: Literal["file"] = Field(description="A file of events.")
    path: FilePath = Field(
        description="The file, relative to the working directory: NDJSON, CSV, Parquet or Arrow, "
        "by the ending of its name."
    )
    follow: bool = setting(False, "Wait for what is appended to it, as tail -F does.")


class HttpFeed(Section):
    """Events posted to a listener of this program."""

    type: Literal["http"] = Field(description="A listener that events are posted to.")
    listen: Listen = setting("127.0.0.1:9109", "Where it listens, HOST:PORT.")

    @property
    def address(self) -> q.Address:
        """Host and port."""
        return q.parse_address(self.listen)


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


Feed = Annotated[FileFeed | HttpFeed | KafkaFeed, Field(discriminator="type")]
"""Any of the feeds, told apart by `type`."""


class ExporterConfig(Section):
    """Where results can be read."""

    listen: Listen = setting("127.0.0.1:9108", "Where /metrics and the page are served, HOST:PORT.")

    @property
    def address(self) -> q.Address:
        """Host and port."""
        return q.parse_address(self.listen)
