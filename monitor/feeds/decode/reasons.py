"""Why a record cannot be used: one of the closed set of reasons, and words for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from monitor.events.reject_reasons import RejectReason, UnknownClass
from monitor.feeds.decode.lines import not_utf8
from monitor.feeds.decode.named_values import size_in_utf8

Fields = Mapping[str, Any]
"""A record by the names of its fields."""

LONE_SURROGATE = "contains a lone surrogate, which is not a valid character"
"""What is wrong with text that UTF-8 cannot hold."""
_MAX_SHOWN = 60
_MOST_DIGITS = len(str(2**64))


class Fault(NamedTuple):
    """Fault of a record.

    Attributes:
        reason: one of the closed set.
        detail: the field and its fault, for a person.
        unknown_class: as of `Rejection`.
    """

    reason: RejectReason
    detail: str
    unknown_class: UnknownClass | None = None


class NotARecordError(ValueError):
    """The bytes are no JSON object; the message gives the cause."""


def parse(record: bytes) -> dict[str, Any]:
    """Parse a record as text; NaN and infinities are accepted here.

    Raises:
        NotARecordError: the bytes are no UTF-8, no JSON, no object, or hold half a
            surrogate pair.
    """
    value: Any = None
    try:
        value = _READER.decode(record.decode())
        if b"\\u" in record:  # else no text of it can be half a surrogate pair
            msgspec.json.encode(value)
    except UnicodeDecodeError as error:
        raise NotARecordError(not_utf8(error)) from error
    except UnicodeEncodeError as error:
        raise NotARecordError(f"{LONE_SURROGATE}{_with_surrogates(value)}") from error
    except RecursionError as error:
        raise NotARecordError("is nested too deeply") from error
    except ValueError as error:
        raise NotARecordError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NotARecordError(no_object(value))
    return value


def no_object(value: object) -> str:
    """Return what is wrong with JSON that is no object.

    Args:
        value: what it is.
    """
    return f"must be a JSON object, got {shown(value)}"


def _with_surrogates(value: Any) -> str:
    """Return the fields of a record that have lone surrogates, as the end of a sentence."""
    fields = value if isinstance(value, dict) else {}
    texts = ((n, n + (one if isinstance(one, str) else _json(one))) for n, one in fields.items())
    found = [shown(n) for n, text in texts if size_in_utf8(text) is None]
    return f", in {', '.join(found)}" if found else ""


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_READER = json.JSONDecoder(parse_int=_integer)
_WRITER = json.JSONEncoder(ensure_ascii=False, check_circular=False, default=str)
"""One for all: a body may have 100,000 values to show."""


def shown(value: object) -> str:
    """Return a value as a message shows it: as JSON, cut after 60 characters."""
    text = _json(value)
    if not text.isascii():  # a lone surrogate cannot be printed
        text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def _json(value: object) -> str:
    """Return a value as JSON; an integer without the encoder, whose every call is a new one."""
    return int.__repr__(value) if type(value) is int else _WRITER.encode(value)


def missing(name: str, hint: str = "") -> Fault:
    """Return the fault of a field that is missing.

    Args:
        name: of the field.
        hint: what else would do, or what to write; "" for none.
    """
    return Fault(RejectReason.MISSING_FIELD, f"{name}: is missing" + (f"; {hint}" if hint else ""))


def bad(name: str, allowed: str, value: object, hint: str = "") -> Fault:
    """Return the fault of a field with an invalid value.

    Args:
        name: of the field.
        allowed: what it must be.
        value: what it is.
        hint: what to write; "" for none.
    """
    detail = f"{name}: {allowed}, got {shown(value)}" + (f"; {hint}" if hint else "")
    return Fault(RejectReason.BAD_VALUE, detail)
