"""Segment keys that recorded events could be split by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.config.mapping import FIELDS, SEGMENT, MappedRecords
from monitor.feeds.mapping.field_sources import sources_of_records


def segment_keys(
    rows: Sequence[Mapping[str, Any]], mapping: MappedRecords | None, *, tabular: bool
) -> tuple[str, ...]:
    """Return the keys of a mapping and of `segment`, and the columns of a table that are no fields.

    Args:
        rows: some records by the name of the column.
        mapping: which columns hold the fields; None where they are named like these.
        tabular: True for rows of a table.

    >>> segment_keys([{"ts": 0, "segment.region": "eu", "channel": "web"}], None, tabular=True)
    ('region', 'channel')
    >>> segment_keys([{"ts": 0, "segment": {"region": "eu"}, "note": "x"}], None, tabular=False)
    ('region',)
    >>> mapping = MappedRecords(fields={"ts": "time", "segment.region": "addr.region"})
    >>> segment_keys([{"time": 0, "addr": {"region": "eu"}, "note": "x"}], mapping, tabular=True)
    ('region', 'note')
    """
    named = () if mapping is None else mapping.fields
    found = {name.removeprefix(SEGMENT): None for name in named if name.startswith(SEGMENT)}
    used = {*FIELDS, *sources_of_records(mapping, list(found)).used}
    for row in rows:
        inside = row.get("segment")
        if isinstance(inside, Mapping):
            found |= dict.fromkeys(inside)
        names = row if tabular else [name for name in row if name.startswith(SEGMENT)]
        found |= {name.removeprefix(SEGMENT): None for name in names if name not in used}
    return tuple(found)
