"""Converts JSON bodies (NDJSON, an array, one object, feedback) to lines."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.feeds.decode.lines import BLANK, BOM, count_lines
from monitor.feeds.http.record_limit import MAX_RECORDS, too_many_records
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
        "application/x-www-form-urlencoded",  # the default of curl --data-binary
    )
)
_FLATTENED = bytes.maketrans(b"\r\n", b"  ")
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NULL = b"null"


def event_lines(body: bytes, content_type: str) -> bytes:
    r"""Convert a body to lines, one record each; the decoder rejects invalid records.

    Args:
        body: NDJSON, a JSON array of records, or one record over any number of lines.
        content_type: header of the request, parameters included. A body of a type for
            NDJSON is read as such; for other types the content decides.

    Raises:
        RefusedError: the type is not supported (415), the body is not JSON (400), or it has
            too many records (413).

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
    return _within_limit(lines if not lines or lines.endswith(b"\n") else lines + b"\n")


def feedback_lines(body: bytes, content_type: str, *, now: float) -> bytes:
    r"""Convert feedback to lines of label events; a record has an id, a label and maybe a time.

    Args:
        body: as for `event_lines`.
        content_type: as for `event_lines`.
        now: epoch seconds; the `ts` of records without one.

    Raises:
        RefusedError: as for `event_lines`.

    >>> feedback_lines(b'{"id": "a", "label": 1}', "application/json", now=60.0)
    b'{"id":"a","label":1,"ts":60.0,"type":"label"}\n'
    """
    lines = event_lines(body, content_type)
    return b"".join(_as_label(line, now) + b"\n" for line in lines.split(b"\n") if line.strip())


def _records(body: bytes, media_type: str) -> list[bytes] | None:
    """Records of an array, or the single object; None if the body is lines."""
    start = body.lstrip(BLANK)[:1]
    if start == b"[":
        if body.count(b"{") > 2 * MAX_RECORDS:
            raise too_many_records()
        try:
            found = _ARRAY.decode(body)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise RefusedError(400, f"the body is not a JSON array: {error}") from error
        if len(found) > MAX_RECORDS:
            raise too_many_records()
        return [bytes(record) for record in found]
    if start == b"{":
        return _one(body)
    if start and media_type == _JSON:
        raise RefusedError(400, "the body must be NDJSON, a JSON array of objects, or one object")
    return None


def _one(body: bytes) -> list[bytes] | None:
    try:
        return [bytes(_ONE.decode(body))]
    except (msgspec.MsgspecError, RecursionError):
        return None  # lines, or damaged: the decoder finds out which


def _as_label(line: bytes, now: float) -> bytes:
    """Complete a line to a label event; a line that is not an object is left to the decoder."""
    try:
        fields: dict[str, Any] = _FIELDS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return line
    given = {name: raw for name, raw in fields.items() if bytes(raw) != _NULL or name == "label"}
    return msgspec.json.encode({**given, "ts": given.get("ts", now), "type": "label"})


def _within_limit(lines: bytes) -> bytes:
    if count_lines(lines) > MAX_RECORDS:
        raise too_many_records()
    return lines
