"""CloudEvents 1.0 over HTTP, structured, batched and binary, converted to lines.

The `data` of an event is a record of this program; its `id`, `ts` and `type` default to
the event's `id`, `time` and the last part of its `type`. Or it is the payload of an
inference server (see `inference_payloads`), where the event's `type` ends in
`inference.request` or `inference.response`, as KServe's logger sends them.

Source: CloudEvents, HTTP protocol binding 1.0.2.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from monitor.feeds.http.responses import RefusedError

ONE, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"
_VERSION = "1.0"
_REQUIRED = ("id", "source", "type")
_PREFIX = "ce-"
_LONGEST = 256
"""Maximum characters of an attribute that is repeated in every line."""
_REPEATED = ("id", "time", "inferenceservicename")
_OWN_TYPES = ("prediction", "label", "outcome", "counts")
MAX_EVENTS = 100_000
"""Maximum number of events in one request."""


class CloudEvent(NamedTuple):
    """A valid CloudEvent.

    Attributes:
        attributes: the attributes by name, extensions included.
        data: the data as sent, JSON.
    """

    attributes: Mapping[str, str]
    data: bytes

    @property
    def id(self) -> str:
        """Attribute `id`."""
        return self.attributes["id"]

    @property
    def role(self) -> str:
        """`request` or `response` for inference payloads, `record` for anything else."""
        *_, above, last = ["", "", *self.attributes["type"].split(".")]
        return last if above == "inference" and last in ("request", "response") else "record"


class InvalidEvent(NamedTuple):
    """An invalid CloudEvent.

    Attributes:
        data: the bytes as sent.
        fault: what is wrong with it.
    """

    data: bytes
    fault: str

    def line(self) -> bytes:
        """Return the data as a JSON string on one line, which the decoder rejects."""
        return msgspec.json.encode(self.data.decode(errors="replace")) + b"\n"


def read_events(headers: Mapping[str, str], body: bytes) -> Iterator[CloudEvent | InvalidEvent]:
    """Read the events of a request, valid and invalid ones.

    Args:
        headers: headers of the request, names in lower case.
        body: decompressed body.

    Raises:
        RefusedError: the request is not a CloudEvent, its body is not JSON, or it has too
            many events.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == BATCH:
        yield from map(_structured, _batch(body))
    elif kind == ONE:
        yield _structured(_one(body))
    else:
        yield CloudEvent(_from_headers(headers), body)


def record_lines(event: CloudEvent) -> bytes:
    """Convert an event with records of this program to lines, defaults filled in.

    Raises:
        RefusedError: the event has too many records.
    """
    if event.data.count(b"{") > 4 * MAX_EVENTS or event.data.count(b"[") > 4 * MAX_EVENTS:
        raise _too_many_events()
    try:
        data = msgspec.json.decode(event.data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return as_line(event.data)
    if isinstance(data, list) and len(data) > MAX_EVENTS:
        raise _too_many_events()
    records = data if isinstance(data, list) else [data]
    defaults = _defaults(event, alone=not isinstance(data, list))
    lines = (
        msgspec.json.encode({**defaults, **record} if isinstance(record, dict) else record)
        for record in records
    )
    return b"".join(line + b"\n" for line in lines)


def as_line(data: bytes) -> bytes:
    """Put bytes that are not JSON on one line, for the decoder to reject."""
    return (data.replace(b"\r", b" ").replace(b"\n", b" ").strip() or b"null") + b"\n"


def _defaults(event: CloudEvent, *, alone: bool) -> dict[str, str]:
    defaults = {"id": event.id} if alone else {}
    if "time" in event.attributes:
        defaults["ts"] = event.attributes["time"]
    last = event.attributes["type"].rpartition(".")[2]
    return {**defaults, "type": last} if last in _OWN_TYPES else defaults


def _from_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    attributes = {
        name.removeprefix(_PREFIX): unquote(value, errors="replace")
        for name, value in headers.items()
        if name.startswith(_PREFIX)
    }
    fault = _fault(attributes)
    if fault:
        raise RefusedError(400, f"the request is not a CloudEvent: {fault}")
    return attributes


def _fault(attributes: Mapping[str, Any]) -> str | None:
    if attributes.get("specversion") != _VERSION:
        return f"specversion must be {_VERSION}"
    missing = [
        name
        for name in _REQUIRED
        if not (isinstance(attributes.get(name), str) and attributes[name])
    ]
    if missing:
        return f"{missing[0]} is missing"
    long = [name for name in _REPEATED if len(str(attributes.get(name, ""))) > _LONGEST]
    return f"{long[0]} is too long" if long else None


def _batch(body: bytes) -> list[msgspec.Raw]:
    if body.count(b"{") > 50 * MAX_EVENTS:
        raise _too_many_events()
    try:
        found = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RefusedError(400, f"the body is not a JSON array: {error}") from error
    if len(found) > MAX_EVENTS:
        raise _too_many_events()
    return found


def _one(body: bytes) -> msgspec.Raw:
    try:
        return msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RefusedError(400, f"the body is not JSON: {error}") from error


def _structured(raw: msgspec.Raw) -> CloudEvent | InvalidEvent:
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        attributes = {
            name: msgspec.json.decode(value)
            for name, value in fields.items()
            if name not in ("data", "data_base64")
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return InvalidEvent(bytes(raw), f"is not a CloudEvent: {error}")
    fault = _fault(attributes)
    if fault:
        return InvalidEvent(bytes(raw), f"is not a CloudEvent: {fault}")
    texts = {name: value for name, value in attributes.items() if isinstance(value, str)}
    try:
        return CloudEvent(texts, _data(fields))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        return InvalidEvent(bytes(raw), f"data_base64 cannot be read: {error}")


def _data(fields: Mapping[str, msgspec.Raw]) -> bytes:
    if "data_base64" in fields:
        return base64.b64decode(msgspec.json.decode(fields["data_base64"], type=str), validate=True)
    return bytes(fields.get("data", msgspec.Raw(b"")))


def _too_many_events() -> RefusedError:
    text = f"a request must have at most {MAX_EVENTS} events; split it into several"
    return RefusedError(413, text)
