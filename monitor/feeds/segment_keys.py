"""Segment keys that recorded events could be split by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.config.mapping import FIELDS, SEGMENT


def segment_keys(rows: Sequence[Mapping[str, Any]], *, tabular: bool) -> tuple[str, ...]:
    """Return the keys of `segment` in records, and the columns of a table that are no fields.

    Args:
        rows: some records by the name of the column.
        tabular: True for rows of a table.

    >>> segment_keys([{"ts": 0, "segment.region": "eu", "channel": "web"}], tabular=True)
    ('region', 'channel')
    >>> segment_keys([{"ts": 0, "segment": {"region": "eu"}, "note": "x"}], tabular=False)
    ('region',)
    """
    found: dict[str, None] = {}
    for row in rows:
        inside = row.get("segment")
        if isinstance(inside, Mapping):
            found |= dict.fromkeys(inside)
        columns = row if tabular else [name for name in row if name.startswith(SEGMENT)]
        found |= {name.removeprefix(SEGMENT): None for name in columns if name not in FIELDS}
    return tuple(found)
