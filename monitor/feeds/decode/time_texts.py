"""Times that texts write: RFC 3339, and the other forms of ISO 8601."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from monitor.feeds.decode.records import Time
from monitor.feeds.table_fields import TIMES

_UTC = " UTC"
"""In the place of Z, as BigQuery writes it."""
_SHORTEST, _COLON = len("2026-07-01T10:00:00Z"), len("2026-07-01T10:00")
"""Of RFC 3339, which always has seconds."""
_SHORT = 64
"""Characters of texts that are remembered."""


def moment_of(text: str) -> datetime | None:
    """Return the moment that a text writes; without a zone where the text names none.

    Args:
        text: any.

    Returns:
        The moment; None where the text is no time of ISO 8601, as `datetime.fromisoformat`
        reads it.

    >>> str(moment_of("2026-07-01T10:00+02")), str(moment_of("20260701T1000Z"))
    ('2026-07-01 10:00:00+02:00', '2026-07-01 10:00:00+00:00')
    >>> moment_of("13/07/2026 10:00") is None
    True
    """
    try:
        return datetime.fromisoformat(text.strip().upper().replace(_UTC, "Z"))
    except ValueError:
        return None


def seconds_of_text(text: str) -> float | None:
    """Return the epoch seconds of a text that names its zone; None where it is no such time.

    >>> seconds_of_text("1970-01-01T01:01+01:00")
    60.0
    """
    found, _ = _read(text)
    return found.timestamp() if found is not None and found.tzinfo is not None else None


def with_rfc_3339(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record with RFC 3339 in place of times that ISO 8601 writes in another form.

    Args:
        fields: of the record; returned where nothing changes.

    >>> with_rfc_3339({"ts": "2026-07-01T10:00+02", "label_ts": "2026-07-01T10:00:00Z"})
    {'ts': '2026-07-01T08:00:00+00:00', 'label_ts': '2026-07-01T10:00:00Z'}
    """
    texts = {name: text for name in TIMES if isinstance(text := fields.get(name), str)}
    other = {name: _rfc_3339(text) for name, text in texts.items()}
    return fields if other == texts else {**fields, **other}


def _rfc_3339(text: str) -> str:
    found, is_rfc_3339 = _read(text)
    if is_rfc_3339 or found is None or found.tzinfo is None:
        return text
    try:
        return found.astimezone(UTC).isoformat()
    except OverflowError:  # of the years 1 and 9999
        return text


def _read(text: str) -> tuple[datetime | None, bool]:
    """Return the moment that a text writes, as `moment_of`, and whether it is RFC 3339."""
    return _read_short(text) if len(text) <= _SHORT else _read_any(text)


def _read_any(text: str) -> tuple[datetime | None, bool]:
    if len(text) >= _SHORTEST and text[_COLON] == ":":  # any other form costs an exception
        try:
            return msgspec.convert(text, Time), True
        except (msgspec.ValidationError, UnicodeEncodeError):  # also of a lone surrogate
            return moment_of(text), False
    return moment_of(text), False


_read_short = lru_cache(1024)(_read_any)
"""A record's times are read twice: to find faults, and to convert it."""
