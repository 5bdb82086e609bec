"""Targets of a job's `counts`. A batch delivered twice is the same batch."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from monitor.config.quantities import count_of
from monitor.distributed.counts_events import CELL_NAMES
from monitor.errors import MonitorError
from monitor.extras import install_command
from monitor.feeds.acknowledgement import (
    NOT_A_FEED,
    Acknowledgement,
    acknowledgement,
    direct_opener,
)

_CHUNK_BYTES = 1 << 20
_TIMEOUT_S = 30.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_COME_AGAIN = {429, 500, 502, 503, 504}

Say = Callable[[str], None]


class Delivery(Protocol):
    """Delivers the events of a batch; returns once they are durable."""

    def deliver(self, batch: int, lines: Sequence[bytes]) -> None:
        """Deliver a batch.

        Args:
            batch: number of the batch.
            lines: its events, a JSON object each.

        Raises:
            MonitorError: the batch could not be delivered; the job ends, and delivers it
                after a restart.
        """


def delivery_to(target: str, *, token_file: str | None, patience: float, say: Say) -> Delivery:
    """Return the delivery to a target.

    Args:
        target: `http://HOST:PORT` of a monitor's feed, `kafka://BROKER[,BROKER]/TOPIC`,
            or a directory.
        token_file: file with the bearer token of a feed in its first line.
        patience: seconds to retry a monitor that does not answer.
        say: prints a one-line message for the operator.

    Raises:
        MonitorError: the target is not valid.
    """
    scheme, host = urlsplit(target).scheme, urlsplit(target).hostname
    if scheme in ("http", "https"):
        if not host:
            raise MonitorError(f"--to {target}: has no host; write it like http://HOST:PORT")
        token = None if token_file is None else _token(token_file)
        return HttpDelivery(target, token=token, patience=patience, say=say)
    if scheme == "kafka":
        return KafkaDelivery(target)
    if scheme in ("", "file"):
        return DirectoryDelivery(Path(urlsplit(target).path))
    raise MonitorError(f"--to {target}: must be http://…, kafka://…, or a directory")


class DirectoryDelivery:
    """Writes one file per batch to a directory, each atomically.

    Args:
        directory: the directory; created if missing.

    Raises:
        MonitorError: it cannot be created.
    """

    def __init__(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MonitorError(f"--to {directory}: cannot be created: {error}") from error
        self._directory = directory
        self._checked = False

    def deliver(self, batch: int, lines: Sequence[bytes]) -> None:
        """Write or replace `batch-NUMBER.ndjson`.

        Args:
            batch: number of the batch.
            lines: its events, a JSON object each.

        Raises:
            MonitorError: the file cannot be written, or holds counts of another source; or the
                directory has counts of the same source from another checkpoint.
        """
        path = self._directory / f"batch-{batch:09d}.ndjson"
        ours = _named(lines[0]) if lines else _NOBODY
        if not self._checked and ours.source is not None:
            for other in sorted(self._directory.glob("batch-*.ndjson")):
                self._check(other, ours)
            self._checked = True
        there = _named_in(path)
        if None not in (there.source, ours.source) and there.source != ours.source:
            raise MonitorError(
                f"{path}: has counts of the source {there.source!r}, and would be replaced by "
                f"those of {ours.source!r}; give each job a directory of its own"
            )
        fresh = path.with_suffix(".partial")
        try:
            with fresh.open("wb") as file:
                file.writelines(line + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as error:
            with suppress(OSError):  # of a full disk, it would hold the last bytes
                fresh.unlink(missing_ok=True)
            raise MonitorError(f"{path}: cannot be written: {error}") from error

    def _check(self, path: Path, ours: _Named) -> None:
        """Refuse a file of the same source that another checkpoint has written."""
        there = _named_in(path)
        if there.source == ours.source and there.run != ours.run:
            raise MonitorError(
                f"{path}: has counts of the source {there.source!r} from another checkpoint, which "
                "would count beside those of this one; give a new directory, or remove its files"
            )


class _Named(NamedTuple):
    """Names in an event.

    Attributes:
        source: of the job; None where the event names none.
        run: of the checkpoint, from the name of the batch.
    """

    source: str | None = None
    run: str = ""


_NOBODY = _Named()


def _named_in(path: Path) -> _Named:
    """Return the names in the first event of a file; none without it."""
    try:
        with path.open("rb") as file:
            return _named(file.readline())
    except FileNotFoundError:
        return _NOBODY


def _named(line: bytes) -> _Named:
    """Return the names in an event."""
    try:
        event = json.loads(line)
    except ValueError:
        return _NOBODY
    if not isinstance(event, dict):
        return _NOBODY
    return _Named(event.get("source"), str(event.get("batch", "")).rpartition("-")[0])


class HttpDelivery:
    """Posts to the HTTP feed of a monitor, which answers once a batch is on disk.

    Args:
        url: base URL of the feed.
        token: bearer token; None without one.
        patience: seconds to retry a monitor that does not answer.
        say: prints a one-line message for the operator.
    """

    def __init__(self, url: str, *, token: str | None, patience: float, say: Say) -> None:
        self._url = url.rstrip("/") + "/v1/events"
        self._headers = {"Content-Type": "application/x-ndjson"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._patience = patience
        self._say = say
        self._opener = direct_opener()

    def deliver(self, batch: int, lines: Sequence[bytes]) -> None:
        """Post a batch in parts of at most 1 MiB; retry if the monitor is away or busy.

        Args:
            batch: number of the batch.
            lines: its events, a JSON object each.

        Raises:
            MonitorError: the monitor refuses the batch, or does not answer in time; or it
                rejects counts, after all parts were posted.
        """
        rejected: Counter[str] = Counter()
        faults: list[str] = []
        for body in _bodies(lines):
            taken = self._posted(body)
            rejected.update(taken.rejected)
            faults += [fault.detail for fault in taken.faults]
        if not rejected:
            return
        shown = ", ".join(f"{reason} {number}" for reason, number in sorted(rejected.items()))
        text = f"batch {batch}: the monitor rejected {count_of(rejected.total(), 'count')}: {shown}"
        text += f"; such as: {faults[0]}" if faults else ""
        if any(map(_changes, lines)):
            raise MonitorError(
                f"{self._url}: {text}; correct the monitor's configuration and start the job "
                "again: it delivers the whole batch again, and nothing counts twice"
            )
        self._say(text)

    def _posted(self, body: bytes) -> Acknowledgement:
        deadline, pause = time.monotonic() + self._patience, _FIRST_PAUSE_S
        while True:
            fault, again = self._try(body)
            if isinstance(fault, Acknowledgement):
                return fault
            if not again or time.monotonic() + pause > deadline:
                raise MonitorError(f"{self._url}: {fault}; the batch was not delivered")
            self._say(f"{self._url}: {fault}; retrying in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _try(self, body: bytes) -> tuple[Acknowledgement | str, bool]:
        """Return the answer, or what went wrong and True if a retry may help."""
        request = urllib.request.Request(self._url, body, self._headers)  # noqa: S310  # the operator's
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                return acknowledgement(answer.read()) or NOT_A_FEED, False
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read(500).decode(errors="replace").strip()
            return f"answered {error.code} {detail}".rstrip(), error.code in _COME_AGAIN
        except (OSError, HTTPException, ValueError) as error:
            return f"cannot be reached: {str(error) or type(error).__name__}", True


def _changes(line: bytes) -> bool:
    """Return whether counts change any; those that change none only say how far time has come."""
    event = json.loads(line)
    return any(event[name] for name in CELL_NAMES)


class KafkaDelivery:
    """Produces to a Kafka topic; all replicas acknowledge a batch.

    Args:
        target: `kafka://BROKER[,BROKER]/TOPIC`.

    Raises:
        MonitorError: the target is not valid, or the Kafka client is not installed.
    """

    def __init__(self, target: str) -> None:
        try:
            kafka: Any = import_module("confluent_kafka")
        except ImportError as error:
            raise MonitorError(
                f"--to kafka://…: needs confluent-kafka; {install_command('kafka')}"
            ) from error
        parts = urlsplit(target)
        self._topic = parts.path.strip("/")
        if not parts.netloc or not self._topic:
            raise MonitorError(f"--to {target}: must be kafka://HOST:PORT[,HOST:PORT]/TOPIC")
        self._target = target
        settings = {"bootstrap.servers": parts.netloc, "enable.idempotence": True, "acks": "all"}
        self._producer = kafka.Producer(settings)
        self._error = kafka.KafkaException

    def deliver(self, batch: int, lines: Sequence[bytes]) -> None:
        """Produce a batch to one partition, chosen by its number.

        Args:
            batch: number of the batch.
            lines: its events, a JSON object each.

        Raises:
            MonitorError: some events are not acknowledged.
        """
        faults: list[str] = []

        def done(error: Any, _: Any) -> None:
            if error is not None:
                faults.append(str(error))

        try:
            for line in lines:
                self._producer.produce(self._topic, line, str(batch), on_delivery=done)
                self._producer.poll(0)
            left = self._producer.flush(_TIMEOUT_S)
        except (self._error, BufferError) as error:
            raise MonitorError(f"{self._target}: {error}; the batch was not delivered") from error
        if left or faults:
            fault = (
                faults[0]
                if faults
                else f"{count_of(left, 'event')} {'was' if left == 1 else 'were'} not acknowledged"
            )
            raise MonitorError(f"{self._target}: {fault}; the batch was not delivered")


def _bodies(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield bodies of joined lines, each of at most a chunk."""
    body: list[bytes] = []
    size = 0
    for line in lines:
        if body and size + len(line) > _CHUNK_BYTES:
            yield b"\n".join(body)
            body, size = [], 0
        body.append(line)
        size += len(line) + 1
    if body:
        yield b"\n".join(body)


def _token(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").split("\n", 1)[0].strip()
    except OSError as error:
        raise MonitorError(f"--token-file {path}: cannot be read: {error}") from error
