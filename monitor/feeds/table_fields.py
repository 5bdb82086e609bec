"""What the columns of a table mean, whatever kind of table it is.

Columns carry the names of the fields of events. `type` may be left out where
the columns tell; a segment key has its own column, `segment.region` or plainly
`region`, or stands in a column `segment`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from monitor.errors import FeedError

CLASSES = ("prediction", "label")
TIMES = ("ts", "label_ts", "watermark")
NUMBERS = ("score", "sampling_probability")
COUNTS = ("tp", "fp", "fn", "tn", "predicted_positive", "predicted_negative", "late")
TEXTS = ("type", "id", "model", "version", "source", "batch")
FIELDS = (*TEXTS, *TIMES, *CLASSES, *NUMBERS, *COUNTS, "segment")
"""All names that a column may have, segment keys aside."""


def type_of_rows(columns: Collection[str]) -> str:
    """What the rows of a table are where no column `type` says it.

    >>> type_of_rows(["id", "ts", "score", "label"]), type_of_rows(["id", "ts", "label"])
    ('outcome', 'label')
    """
    if "tp" in columns:
        return "counts"
    if "label" not in columns:
        return "prediction"
    return "outcome" if "prediction" in columns or "score" in columns else "label"


def check_columns(name: str, columns: Sequence[str]) -> None:
    """Refuses a table that cannot hold events.

    Raises:
        FeedError: no column `ts`, or two columns of one name.
    """
    if "ts" not in columns:
        shown = ", ".join(columns[:8]) or "none"
        raise FeedError(
            f"{name}: has no column 'ts', got {shown}; name the columns as the fields of events"
        )
    for column in columns:
        if columns.count(column) > 1:
            raise FeedError(f"{name}: has the column {column!r} twice; name each once")


def segment_columns(columns: Collection[str], keys: Sequence[str]) -> dict[str, str]:
    """The column of each segment key that has one.

    >>> segment_columns(["ts", "segment.region", "channel", "model"], ["region", "channel"])
    {'region': 'segment.region', 'channel': 'channel'}
    """
    found = {key: _segment_column(columns, key) for key in keys}
    return {key: column for key, column in found.items() if column}


def _segment_column(columns: Collection[str], key: str) -> str | None:
    if f"segment.{key}" in columns:
        return f"segment.{key}"
    return key if key in columns and key not in FIELDS else None
