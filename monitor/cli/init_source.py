"""The input of `init`: a file, topics of Kafka, or a recorded file behind a link or in a store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from pydantic import ValidationError

from monitor.cli.output import tell
from monitor.cli.recorded_tables import is_table
from monitor.config import KafkaFeed
from monitor.config.quantities import count_of, without_account
from monitor.errors import ConfigError, FeedError, UsageError
from monitor.extras import install_command
from monitor.feeds.files import is_read_once
from monitor.feeds.kafka import installed
from monitor.feeds.stores import AS_DATABASE

MOST_MESSAGES = 500_000
"""Messages of Kafka to look at, at most; the latest of each partition."""

_LINKS = ("http", "https")
_SECONDS = 30.0


class Looked(NamedTuple):
    """Events to look at.

    Attributes:
        name: of where they are, for messages.
        path: of a file that holds them while `init` runs.
        feed: settings of the feed that reads them, without its mapping.
        comment: what to know about that feed; "" for nothing.
    """

    name: str
    path: str
    feed: Mapping[str, Any]
    comment: str


@contextmanager
def looked_at(place: str, properties: str | None) -> Iterator[Looked]:
    """Give the events at a place, in a file.

    Args:
        place: a path, `kafka://BROKER[,BROKER]/TOPIC[,TOPIC]`, a link to a file, or the URL
            of an object in a store.
        properties: file with settings of the Kafka client; None for none.

    Raises:
        UsageError: the place is not valid.
        ConfigError: the Kafka client or a setting of it is missing or invalid.
        FeedError: it cannot be read.
    """
    scheme = urlsplit(place).scheme if "://" in place else ""
    if properties is not None and scheme != "kafka":
        raise UsageError(
            f"--properties: is for kafka://BROKERS/TOPICS, got {without_account(place)!r}; "
            "leave it out"
        )
    if is_read_once(place):
        raise UsageError(
            f"{place}: init reads events more than once; write them to a file, and name it"
        )
    if is_table(place):
        raise UsageError(f"{place}: is a database, {AS_DATABASE}")
    if scheme not in ("kafka", *_LINKS):
        comment = "" if scheme else "follow: true reads a file of lines as it grows"
        yield Looked(place, place, {"type": "file", "path": place}, comment)
        return
    with TemporaryDirectory() as folder:
        yield (_topics if scheme == "kafka" else _link)(place, Path(folder), properties)


def _link(place: str, folder: Path, _: str | None) -> Looked:
    name = unquote(PurePosixPath(urlsplit(place).path).name) or "events.ndjson"
    path = folder / Path(name).name
    try:
        with urlopen(place, timeout=_SECONDS) as answer, path.open("wb") as out:  # noqa: S310  # http or https
            shutil.copyfileobj(answer, out)
    except HTTPError as error:
        fault = f"answered {error.code} {error.reason}"
        raise FeedError(f"{without_account(place)}: {fault}; check the link") from error
    except (OSError, HTTPException, ValueError) as error:
        fault = f"cannot be read: {without_account(str(error))}"
        raise FeedError(f"{without_account(place)}: {fault}; check the link") from error
    comment = f"from {without_account(place)}; download it there first"
    return Looked(without_account(place), str(path), {"type": "file", "path": name}, comment)


def _topics(place: str, folder: Path, properties: str | None) -> Looked:
    feed = _kafka_feed(place, properties)
    if not installed.is_installed():
        raise ConfigError(
            (f"{place}: needs a client that is not installed; {install_command('kafka')}",)
        )
    from monitor.feeds.kafka.latest_messages import latest_lines  # noqa: PLC0415  # an extra

    path = folder / "messages.ndjson"
    lines = latest_lines(feed, MOST_MESSAGES)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    tell(f"{place}: {count_of(len(lines), 'record')} looked at")
    settings: dict[str, Any] = {"type": "kafka", "brokers": feed.brokers, "topics": feed.topics}
    if properties is not None:
        settings["properties_file"] = properties
    return Looked(place, str(path), settings, "")


def _kafka_feed(place: str, properties: str | None) -> KafkaFeed:
    parts = urlsplit(place)
    try:
        return KafkaFeed.model_validate(
            {
                "type": "kafka",
                "brokers": parts.netloc.split(","),
                "topics": parts.path.strip("/").split(","),
                "group": "precision-monitor-init",
                "properties_file": properties,
            }
        )
    except ValidationError as error:
        raise UsageError(
            "init: must be kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC], "
            f"got {without_account(place)!r}"
        ) from error
