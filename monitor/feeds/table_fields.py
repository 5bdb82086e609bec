"""Meaning of the columns of a table: CSV, Parquet or Arrow.

Columns are named like the fields of events. `type` is optional where the other columns
imply it. A segment key has its own column, `segment.region` or just `region`, or is
part of a column `segment`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from monitor.config.mapping import FIELDS, NAMES
from monitor.errors import ColumnError, FeedError

CLASSES = ("prediction", "label", "audit")
TIMES = ("ts", "label_ts", "watermark")
NUMBERS = ("score", "sampling_probability")
COUNTS = ("tp", "fp", "fn", "tn", "predicted_positive", "predicted_negative", "late")
TEXTS = ("type", *NAMES)


def type_of_rows(columns: Collection[str]) -> str:
    """Return the event type of the rows of a table without a column `type`.

    >>> type_of_rows(["id", "ts", "score", "label"]), type_of_rows(["id", "ts", "label"])
    ('outcome', 'label')
    >>> type_of_rows(["id", "ts", "scores.card", "scores.loan", "scores.other", "label"])
    'outcome'
    """
    if "tp" in columns:
        return "counts"
    if "label" not in columns:
        return "prediction"
    decides = ("prediction", "score", "scores")
    scored = (name in decides or name.startswith("scores.") for name in columns)
    return "outcome" if any(scored) else "label"


def require_time(name: str, columns: Sequence[str], instead: str = "") -> None:
    """Refuse a table none of whose columns is known to hold the time.

    Args:
        name: name of the table in messages.
        columns: names of the columns.
        instead: what to write for columns of other names; "" where they must have these.

    Raises:
        ColumnError: there is no column `ts`.
    """
    if "ts" not in columns:
        shown = ", ".join(columns[:8]) or "none"
        raise ColumnError(
            f"{name}: has no column 'ts', got {shown}; name the columns like the fields of "
            f"events{instead}"
        )


def check_distinct(name: str, columns: Sequence[str]) -> None:
    """Refuse a table with two columns of the same name.

    Args:
        name: name of the table in messages.
        columns: names of the columns.

    Raises:
        FeedError: two columns have the same name.
    """
    for column in columns:
        if columns.count(column) > 1:
            raise FeedError(f"{name}: has column {column!r} twice; rename one of them")


def check_columns(name: str, columns: Sequence[str]) -> None:
    """Validate the columns of a table whose columns are named like the fields of events.

    Args:
        name: name of the table in messages.
        columns: names of the columns.

    Raises:
        FeedError: there is no column `ts`, or two columns have the same name.
    """
    require_time(name, columns)
    check_distinct(name, columns)


def segment_columns(columns: Collection[str], keys: Sequence[str]) -> dict[str, str]:
    """Return the column of each segment key that has a column.

    Args:
        columns: names of the columns.
        keys: segment keys to look for.

    >>> segment_columns(["ts", "segment.region", "channel", "model"], ["region", "channel"])
    {'region': 'segment.region', 'channel': 'channel'}
    """
    found = {key: _segment_column(columns, key) for key in keys}
    return {key: column for key, column in found.items() if column}


def _segment_column(columns: Collection[str], key: str) -> str | None:
    if f"segment.{key}" in columns:
        return f"segment.{key}"
    return key if key in columns and key not in FIELDS else None
