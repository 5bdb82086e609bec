"""Records without a type, or with names that are integers, as every format may write them."""

from __future__ import annotations

from typing import Any

from monitor.config.mapping import NAMES
from monitor.feeds.scalars import plain_name, plain_segment
from monitor.feeds.table_fields import type_of_rows


def completed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the type that its fields imply, and with its names as text.

    Args:
        fields: of the record as it came; null is the same as a missing field.

    >>> completed({"id": 17, "ts": 0, "label": 1})
    {'id': '17', 'ts': 0, 'label': 1, 'type': 'label'}
    >>> completed({"type": "prediction", "version": 7, "segment": {"shop": 3}})
    {'type': 'prediction', 'version': '7', 'segment': {'shop': '3'}}
    """
    changed = fields | {name: plain_name(fields[name]) for name in NAMES if name in fields}
    if "segment" in fields:
        changed["segment"] = plain_segment(fields["segment"])
    if fields.get("type") is None:
        given = {name for name, value in fields.items() if value is not None or name == "label"}
        changed["type"] = type_of_rows(given)
    return changed
