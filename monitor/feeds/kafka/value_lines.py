"""Values of messages that are not JSON, as lines of JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple


class RegistryAwayError(Exception):
    """The schema registry does not answer; a value may be decoded later."""


class UnreadableValueError(Exception):
    """A value cannot be decoded, now or later; the message says why."""


class Unreadable(NamedTuple):
    """A value that cannot be decoded.

    Attributes:
        detail: why, for a person.
        raw: the value.
    """

    detail: str
    raw: bytes


Value = bytes | Unreadable
"""Lines of JSON, or what could not be decoded."""

ReadRecord = Callable[[bytes], Any]
"""Returns the record of a value; raises `RegistryAwayError` and `UnreadableValueError`."""


def line_of(value: bytes, read: ReadRecord) -> Value:
    """Return a value as a line of JSON; an empty value, as log compaction uses it, stays empty.

    Args:
        value: of a message.
        read: reads its record.

    Raises:
        RegistryAwayError: the schema registry does not answer.
    """
    if not value:
        return value
    try:
        return json.dumps(read(value), default=_plain).encode()
    except UnreadableValueError as error:
        return Unreadable(f"value: {error}", value)


def _plain(value: Any) -> Any:
    """Return a value of a logical type as JSON has it: times as text, decimals as numbers."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
