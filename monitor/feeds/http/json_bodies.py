"""NDJSON, a JSON array, one object, feedback: all become lines."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.feeds.decode.lines import BLANK, BOM, count_lines
from monitor.feeds.http.record_limit import MAX_RECORDS, too_many
from monitor.feeds.http.responses import RefusedError

_JSON = "application/json"
_LINES = frozenset(
    ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
)
_BY_CONTENT = frozenset(
    (
        "",
        _JSON,
        "text/plain",
        "application/octet-stream",
        "application/x-www-form-urlencoded",  # what curl --data-binary says by default
    )
)
_FLATTENED = bytes.maketrans(b"\r\n", b"  ")
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)


def event_lines(body: bytes, content_type: str) -> bytes:
    r"""The records of a body, one a line; what cannot be used among them is for the decoder.

    Args:
        body: NDJSON, a JSON array of records, or one record over any number of lines.
        content_type: of the request, parameters included. One that says NDJSON is
            taken at its word; with others the content decides.

    Raises:
        RefusedError: of another type (415), no JSON (400), too many records (413).

    >>> event_lines(b'[{"id": "a"},\n {"id":\n "b"}]', "application/json")
    b'{"id": "a"}\n{"id":  "b"}\n'
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in _LINES | _BY_CONTENT:
        raise RefusedError(
            415, f"Content-Type must be NDJSON, JSON or an Arrow stream, got {media_type[:80]!r}"
        )
    body = body.removeprefix(BOM)
    found = None if media_type in _LINES else _records(body, media_type)
    lines = body if found is None else b"\n".join(record.translate(_FLATTENED) for record in found)
    return _bounded(lines if not lines or lines.endswith(b"\n") else lines + b"\n")


def feedback_lines(body: bytes, content_type: str, *, now: float) -> bytes:
    r"""Labels in short: id and label, and a time if it is not now.

    Args:
        body: as of `event_lines`.
        content_type: likewise.
        now: epoch seconds; the `ts` of those that have none.

    Raises:
        RefusedError: as of `event_lines`.

    >>> feedback_lines(b'{"id": "a", "label": 1}', "application/json", now=60.0)
    b'{"id":"a","label":1,"ts":60.0,"type":"label"}\n'
    """
    lines = event_lines(body, content_type)
    return b"".join(_as_label(line, now) + b"\n" for line in lines.split(b"\n") if line.strip())


def _records(body: bytes, media_type: str) -> list[bytes] | None:
    """The records of an array, or one object; None where it is lines."""
    start = body.lstrip(BLANK)[:1]
    if start == b"[":
        if body.count(b"{") > 2 * MAX_RECORDS:
            raise too_many()
        try:
            return [bytes(record) for record in _ARRAY.decode(body)]
        except (msgspec.MsgspecError, RecursionError) as error:
            raise RefusedError(400, f"the body is no JSON array: {error}") from error
    if start == b"{":
        return _one(body)
    if start and media_type == _JSON:
        raise RefusedError(400, "the body must be NDJSON, a JSON array of objects, or one object")
    return None


def _one(body: bytes) -> list[bytes] | None:
    try:
        return [bytes(_ONE.decode(body))]
    except (msgspec.MsgspecError, RecursionError):
        return None  # lines, or damaged: the decoder says which


def _as_label(line: bytes, now: float) -> bytes:
    """The line as a label; as it is, where it is no object: the decoder says so."""
    try:
        fields: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return line
    if not isinstance(fields, dict):
        return line
    given = {name: value for name, value in fields.items() if value is not None or name == "label"}
    return msgspec.json.encode({**given, "ts": given.get("ts", now), "type": "label"})


def _bounded(lines: bytes) -> bytes:
    if count_lines(lines) > MAX_RECORDS:
        raise too_many()
    return lines
