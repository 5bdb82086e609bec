"""What to write where records are rejected, by the reason and the field."""

from __future__ import annotations

from collections import Counter

from monitor.events.reject_reasons import RejectReason
from monitor.feeds import table_fields

Faults = Counter[tuple[RejectReason, str]]
"""Numbers of rejected records by reason and field."""

_SHOWN = 3
_WHOLE = ("record", "row")
"""In the place of a field: the fault is one of the record."""

_HINTS = {
    RejectReason.MALFORMED: "write one JSON object a line, or end the name in .csv, .json, "
    ".parquet or .arrow",
    RejectReason.UNKNOWN_TYPE: "leave `type` out, or map it: --constant type=prediction",
    RejectReason.UNKNOWN_MODEL: "add the model to the configuration, or map it: --constant "
    "model=NAME",
    RejectReason.TOO_LARGE: "check the delimiter of lines, and max_record_bytes",
    RejectReason.TIMESTAMP_IN_MILLISECONDS: "give the unit of times: --unit ms",
}
"""Advice where the field does not matter."""

_CLASS = "say which values are of the positive class: --positive {field}=VALUE"
_TIME = (
    "give the zone of times that name none, --zone Europe/Berlin; others are epoch seconds or "
    "RFC 3339 (2026-07-01T12:00:00Z)"
)
_VALUES = {
    "prediction": _CLASS,
    "label": _CLASS,
    **dict.fromkeys(table_fields.TIMES, _TIME),
    "score": "scores lie from 0 to 1: name the column that holds them, --field score=COLUMN",
    "scores": "write a number for each of the model's classes",
    "sampling_probability": "write the probability with which the case was drawn, above 0 and at "
    "most 1",
    **dict.fromkeys(table_fields.COUNTS, "write counts as integers"),
    "audit": "write audit: true in labels of a second look, and leave it out of all others",
    "segment": "write segment as an object, or name the column of each key, --field "
    "segment.KEY=COLUMN",
    **dict.fromkeys(_WHOLE, "write each field once, and finite numbers"),
}
"""Advice where a value does not fit, by field; all others are names."""
_NAME = "write {field} as text or an integer, or name the column that holds it"


def hint(reason: RejectReason, faults: Faults) -> str:
    """Return the advice for the most frequent reason.

    Args:
        reason: the most frequent one.
        faults: of all rejected records.

    >>> hint(RejectReason.BAD_VALUE, Counter({(RejectReason.BAD_VALUE, "score"): 3}))
    'scores lie from 0 to 1: name the column that holds them, --field score=COLUMN'
    """
    fields = [field for (why, field), _ in faults.most_common() if why is reason]
    if reason is RejectReason.MISSING_FIELD:
        shown = fields[:_SHOWN]
        options = " ".join(f"--field {field}=COLUMN" for field in shown)
        instead = ", or give the model a threshold" if "prediction" in shown else ""
        return f"say which column holds {' and '.join(shown)}: {options}{instead}"
    first = fields[0] if fields else ""
    if reason is RejectReason.BAD_VALUE:
        return _VALUES.get(first, _NAME).format(field=first)
    if reason is RejectReason.TIMESTAMP_OUT_OF_RANGE:
        return f"check which column holds the time: --field {first}=COLUMN"
    if reason is RejectReason.MALFORMED and first == "row":
        return "check the separator (.csv for commas, .tsv for tabs) and the quotes of the rows"
    if reason is RejectReason.TOO_LARGE and first not in _WHOLE:
        return f"shorten {first}, as by a hash, to at most 256 bytes"
    return _HINTS[reason]
