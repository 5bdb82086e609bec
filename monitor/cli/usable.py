"""Exit code and last line of a command whose records could not be used."""

from __future__ import annotations

from monitor.cli.failures import UNREADABLE
from monitor.cli.output import tell
from monitor.events.reject_reasons import RejectReason
from monitor.snapshot import Snapshot

_HINTS = {
    RejectReason.MALFORMED: "write one JSON object a line, or end the name in .csv, .json, "
    ".parquet or .arrow",
    RejectReason.MISSING_FIELD: "say which column is which, as in --field ts=COLUMN --field "
    "prediction=COLUMN --field label=COLUMN",
    RejectReason.BAD_VALUE: "say how values are written, as in --positive label=VALUE or --zone "
    "Europe/Berlin",
    RejectReason.UNKNOWN_TYPE: "leave `type` out, or map it: --constant type=prediction",
    RejectReason.UNKNOWN_MODEL: "add the model to the configuration, or map it: --constant "
    "model=NAME",
    RejectReason.TOO_LARGE: "check the delimiter of lines, and max_record_bytes",
    RejectReason.TIMESTAMP_OUT_OF_RANGE: "check which column holds the time: --field ts=COLUMN",
    RejectReason.TIMESTAMP_IN_MILLISECONDS: "give the unit of times: --unit ms",
}
"""Advice by the most frequent reason."""
NO_RECORDS = "no records to read: the input is empty; check the file, or what writes it"


def rejected_text(snapshot: Snapshot) -> str:
    """Return how many records were rejected, why, and what to write; "" if none was.

    Args:
        snapshot: after all records.
    """
    rejected = {reason: n for reason, n in snapshot.rejected.items() if n}
    if not rejected:
        return ""
    most = max(rejected, key=lambda reason: rejected[reason])
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in rejected.items())
    total = sum(rejected.values())
    return f"{total:,} of {snapshot.records:,} records were rejected: {reasons}; {_HINTS[most]}"


def usable(snapshot: Snapshot) -> int:
    """Print a last line where most records were rejected, or none came; return the exit code.

    Args:
        snapshot: after all records.

    Returns:
        3 if no record could be used, else 0.
    """
    if not snapshot.records:
        tell(f"error: {NO_RECORDS}")
        return UNREADABLE
    total = sum(snapshot.rejected.values())
    if total * 2 > snapshot.records:
        tell(f"{'error' if total == snapshot.records else 'warning'}: {rejected_text(snapshot)}")
    return UNREADABLE if total == snapshot.records else 0
