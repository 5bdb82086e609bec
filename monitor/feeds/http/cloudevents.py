"""CloudEvents 1.0 over HTTP: structured, batched and binary, and what they carry as lines.

An event carries one of this program's own records in `data`, whose `id`, `ts` and
`type` may be left to the event's `id`, `time` and the end of its `type`; or the
payload of an inference server, see `payloads`, with `inference.request` or
`inference.response` at the end of its `type`, as KServe's logger sends them.

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
_NEEDED = ("id", "source", "type")
_PREFIX = "ce-"
_LONGEST = 256
"""Characters of an attribute that goes into every line."""
_REPEATED = ("id", "time", "inferenceservicename")
_OWN_TYPES = ("prediction", "label", "outcome", "counts")
MAX_EVENTS = 100_000
"""That one batch may hold."""


class CloudEvent(NamedTuple):
    """One event.

    Attributes:
        attributes: by name, extensions included.
        data: as it came, JSON.
    """

    attributes: Mapping[str, str]
    data: bytes

    @property
    def id(self) -> str:
        """Its id."""
        return self.attributes["id"]

    @property
    def role(self) -> str:
        """What it is: `request`, `response`, or `record` for anything else."""
        *_, above, last = ["", "", *self.attributes["type"].split(".")]
        return last if above == "inference" and last in ("request", "response") else "record"


class NoEvent(NamedTuple):
    """What should be an event, and is none.

    Attributes:
        data: as it came.
        fault: what is wrong with it.
    """

    data: bytes
    fault: str

    def line(self) -> bytes:
        """For the decoder to reject, whatever it holds: text in a line of its own."""
        return msgspec.json.encode(self.data.decode(errors="replace")) + b"\n"


def read_events(headers: Mapping[str, str], body: bytes) -> Iterator[CloudEvent | NoEvent]:
    """The events of a request, and what of it is none.

    Args:
        headers: of the request, names in lower case.
        body: unpacked.

    Raises:
        RefusedError: the request is no CloudEvent, or its body no JSON.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == BATCH:
        yield from map(_structured, _batch(body))
    elif kind == ONE:
        yield _structured(_one(body))
    else:
        yield CloudEvent(_from_headers(headers), body)


def record_lines(event: CloudEvent) -> bytes:
    """An event of this program's own as lines: its data, with what it left to the event."""
    if event.data.count(b"{") > 4 * MAX_EVENTS or event.data.count(b"[") > 4 * MAX_EVENTS:
        raise _too_many()
    try:
        data = msgspec.json.decode(event.data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return as_line(event.data)
    if isinstance(data, list) and len(data) > MAX_EVENTS:
        raise _too_many()
    records = data if isinstance(data, list) else [data]
    given = _given(event, alone=not isinstance(data, list))
    lines = (
        msgspec.json.encode({**given, **record} if isinstance(record, dict) else record)
        for record in records
    )
    return b"".join(line + b"\n" for line in lines)


def as_line(data: bytes) -> bytes:
    """Bytes that are no record, for the decoder to say so."""
    return (data.replace(b"\r", b" ").replace(b"\n", b" ").strip() or b"null") + b"\n"


def _given(event: CloudEvent, *, alone: bool) -> dict[str, str]:
    given = {"id": event.id} if alone else {}
    if "time" in event.attributes:
        given["ts"] = event.attributes["time"]
    last = event.attributes["type"].rpartition(".")[2]
    return {**given, "type": last} if last in _OWN_TYPES else given


def _from_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    attributes = {
        name.removeprefix(_PREFIX): unquote(value, errors="replace")
        for name, value in headers.items()
        if name.startswith(_PREFIX)
    }
    fault = _fault(attributes)
    if fault:
        raise RefusedError(400, f"the request is no CloudEvent: {fault}")
    return attributes


def _fault(attributes: Mapping[str, Any]) -> str | None:
    if attributes.get("specversion") != _VERSION:
        return f"specversion must be {_VERSION}"
    missing = [
        name for name in _NEEDED if not (isinstance(attributes.get(name), str) and attributes[name])
    ]
    if missing:
        return f"{missing[0]} is missing"
    long = [name for name in _REPEATED if len(str(attributes.get(name, ""))) > _LONGEST]
    return f"{long[0]} is too long" if long else None


def _batch(body: bytes) -> list[msgspec.Raw]:
    if body.count(b"{") > 50 * MAX_EVENTS:
        raise _too_many()
    try:
        found = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON array: {error}") from error
    if len(found) > MAX_EVENTS:
        raise _too_many()
    return found


def _one(body: bytes) -> msgspec.Raw:
    try:
        return msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON: {error}") from error


def _structured(raw: msgspec.Raw) -> CloudEvent | NoEvent:
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        attributes = {
            name: msgspec.json.decode(value)
            for name, value in fields.items()
            if name not in ("data", "data_base64")
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return NoEvent(bytes(raw), f"is no CloudEvent: {error}")
    fault = _fault(attributes)
    if fault:
        return NoEvent(bytes(raw), f"is no CloudEvent: {fault}")
    texts = {name: value for name, value in attributes.items() if isinstance(value, str)}
    try:
        return CloudEvent(texts, _data(fields))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        return NoEvent(bytes(raw), f"data_base64 cannot be read: {error}")


def _data(fields: Mapping[str, msgspec.Raw]) -> bytes:
    if "data_base64" in fields:
        return base64.b64decode(msgspec.json.decode(fields["data_base64"], type=str), validate=True)
    return bytes(fields.get("data", msgspec.Raw(b"")))


def _too_many() -> RefusedError:
    return RefusedError(413, f"a request must hold at most {MAX_EVENTS} events; send it in parts")
