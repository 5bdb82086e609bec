"""Segment keys that recorded events could be split by, for messages."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from monitor.config.mapping import FIELDS, SEGMENT

_LOOKED_AT = 1_000
"""Records whose keys are looked at."""


def segment_columns_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a table that are no fields of events, as segment keys.

    >>> segment_columns_of(["ts", "segment.region", "channel"])
    ('region', 'channel')
    """
    return tuple(c.removeprefix(SEGMENT) for c in columns if c and c not in FIELDS)


def segment_keys_of(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return the keys of `segment` in records, each once.

    Args:
        lines: NDJSON; only the first thousand are read.

    >>> segment_keys_of([b'{"segment": {"region": "eu"}}', b"no record"])
    ('region',)
    """
    found: dict[str, None] = {}
    for _, line in zip(range(_LOOKED_AT), lines, strict=False):
        try:
            record = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        segment = record.get("segment") if isinstance(record, dict) else None
        if isinstance(segment, dict):
            found |= dict.fromkeys(segment)
    return tuple(found)
