"""Records as every format may write them.

These lack a type, or have names that are integers, or classes 0.0 and 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.config.mapping import NAMES
from monitor.feeds.scalars import plain_class, plain_name, plain_segment
from monitor.feeds.table_fields import CLASSES, type_of_rows


def completed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the type that its fields imply, its names as text, and whole classes.

    Args:
        fields: of the record as it came, JSON; null is the same as a missing field. They are
            returned where nothing changes.

    >>> completed({"id": 17, "ts": 0, "label": 1})
    {'id': '17', 'ts': 0, 'label': 1, 'type': 'label'}
    >>> completed({"type": "prediction", "version": 7, "segment": {"shop": 3}})
    {'type': 'prediction', 'version': '7', 'segment': {'shop': '3'}}
    """
    changed = {
        name: plain_class(value)
        for name in CLASSES
        if type(value := fields.get(name)) is float and value in (0.0, 1.0)
    }
    for name in NAMES:
        if type(value := fields.get(name)) is int:
            changed[name] = plain_name(value)
    if (segment := fields.get("segment")) is not None:
        plain = plain_segment(segment)
        if plain != segment:
            changed["segment"] = plain
    if fields.get("type") is None:
        given = {name for name, value in fields.items() if value is not None or name == "label"}
        changed["type"] = type_of_rows(given)
    return {**fields, **changed} if changed else fields


def with_whole_classes(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with 0 and 1 in place of predictions and labels 0.0 and 1.0.

    Args:
        fields: of the record.

    >>> with_whole_classes({"label": 1.0, "score": 1.0})
    {'label': 1, 'score': 1.0}
    """
    return {**fields, **{name: plain_class(fields[name]) for name in CLASSES if name in fields}}
