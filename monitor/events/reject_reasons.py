"""Reasons for which a record is rejected."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

_JSON = json.JSONDecoder()
_MUST_BE, _GOT = ": must be ", ", got "


class RejectReason(StrEnum):
    """Reason to reject a record. A closed set: each has a counter from the start."""

    MALFORMED = "malformed"
    """No JSON object, no valid UTF-8, a row that does not fit the header, a torn line."""
    MISSING_FIELD = "missing_field"
    """A required field of this type of event is missing."""
    BAD_VALUE = "bad_value"
    """A field has an invalid value: wrong type, out of range, NaN."""
    UNKNOWN_TYPE = "unknown_type"
    """The type is none of prediction, label, outcome, counts."""
    UNKNOWN_MODEL = "unknown_model"
    """The configuration lists its models, and this is none of them."""
    TOO_LARGE = "too_large"
    """An id or a whole record is longer than allowed."""
    TIMESTAMP_OUT_OF_RANGE = "timestamp_out_of_range"
    """Outside 1900 to 2200, or far ahead of the clock on a push feed."""
    TIMESTAMP_IN_MILLISECONDS = "timestamp_in_milliseconds"
    """Read as seconds it lies out of range, read as milliseconds (or finer) it fits."""


class UnknownClass(NamedTuple):
    """A record that names a class which its model does not have.

    Attributes:
        model: name of the model.
        time: `ts` of the record, epoch milliseconds.
    """

    model: str
    time: int


class Rejection(NamedTuple):
    """One rejected record.

    Attributes:
        reason: why it was rejected.
        position: its position as `source:line` (line or row, from 1).
        detail: readable description of the error, behind the field and a colon.
        record: first bytes of the record, at most 1 KiB.
        unknown_class: the model that lacks the class which the record names; None where that is
            not why, or the model is not known, as of a label beside several models.
    """

    reason: RejectReason
    position: str
    detail: str
    record: bytes
    unknown_class: UnknownClass | None = None

    @property
    def field(self) -> str:
        """The field at fault; "record" or "row" where it is the record as a whole."""
        return self.detail.partition(":")[0]

    @property
    def allowed(self) -> str:
        """What the field must be, in words; "" where the detail does not say so.

        >>> Rejection(RejectReason.BAD_VALUE, "f:1", "id: must be text, got 5", b"").allowed
        'text'
        """
        return self.detail.partition(_MUST_BE)[2].partition(_GOT)[0]

    @property
    def value(self) -> Any:
        """The value that the detail shows; None where it shows none, or only its beginning.

        >>> Rejection(RejectReason.BAD_VALUE, "f:1", "id: must be text, got 5; write it", b"").value
        5
        """
        try:
            return _JSON.raw_decode(self.detail.partition(_GOT)[2])[0]
        except ValueError:
            return None
