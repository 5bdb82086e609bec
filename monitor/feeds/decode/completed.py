"""Records without a type, or with an integer id, as every format may write them."""

from __future__ import annotations

from typing import Any

from monitor.feeds.scalars import plain_id
from monitor.feeds.table_fields import type_of_rows


def completed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the type that its fields imply, and with its id as text.

    Args:
        fields: of the record as it came; null is the same as a missing field.

    >>> completed({"id": 17, "ts": 0, "label": 1})
    {'id': '17', 'ts': 0, 'label': 1, 'type': 'label'}
    """
    changed = dict(fields)
    if "id" in fields:
        changed["id"] = plain_id(fields["id"])
    if fields.get("type") is None:
        given = {name for name, value in fields.items() if value is not None or name == "label"}
        changed["type"] = type_of_rows(given)
    return changed
