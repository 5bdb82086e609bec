"""Reasons for which a record is rejected."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class RejectReason(StrEnum):
    """Why a record could not be used. A closed set: each has a counter from the start."""

    MALFORMED = "malformed"
    """No JSON object, no valid UTF-8, a row that does not fit the header, a torn line."""
    MISSING_FIELD = "missing_field"
    """A field that this type of event needs is not there."""
    BAD_VALUE = "bad_value"
    """A field is there and not what it may be: wrong type, out of range, NaN."""
    UNKNOWN_TYPE = "unknown_type"
    """The type is none of prediction, label, outcome, counts."""
    UNKNOWN_MODEL = "unknown_model"
    """The configuration names its models and this is none of them."""
    TOO_LARGE = "too_large"
    """An id or a whole record is longer than allowed."""
    TIMESTAMP_OUT_OF_RANGE = "timestamp_out_of_range"
    """Outside 1900 to 2200, or far ahead of the clock on a feed that is pushed."""
    TIMESTAMP_IN_MILLISECONDS = "timestamp_in_milliseconds"
    """Read as seconds it lies out of range, read as milliseconds (or finer) it fits."""


class Rejection(NamedTuple):
    """One record that could not be used.

    Attributes:
        reason: out of the closed set.
        position: where it stood, as `source:line` (line or row from 1 on).
        detail: what was wrong, for a person.
        record: the start of the record as it came, at most 1 KiB.
    """

    reason: RejectReason
    position: str
    detail: str
    record: bytes
