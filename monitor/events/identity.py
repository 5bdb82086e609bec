"""Identity of events: a key that is the same where an event is delivered again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import (
    CountDeltas,
    KeyArray,
    Labels,
    Outcomes,
    Predictions,
    Rows,
)
from monitor.events.score_bins import score_bins

AnyColumns = Predictions | Labels | Outcomes | CountDeltas

_MIX = np.uint64(0x9E3779B97F4A7C15)


def event_keys(columns: AnyColumns, rows: Rows) -> KeyArray:
    """Return the key of the id of each event, or of all its fields where it has no id.

    Args:
        columns: of one kind of event.
        rows: of these columns.
    """
    if isinstance(columns, Outcomes):
        chosen = columns.take(rows)
        called = chosen.predicted_positive * 2 + chosen.actual_positive
        return _mixed([chosen.label_time, chosen.group, score_bins(chosen.score), called])
    if isinstance(columns, CountDeltas):
        counted = columns.take(rows)
        return _mixed([counted.batch_key, counted.group, counted.label_time, *counted.cells.T])
    return columns.key[rows]


def _mixed(parts: Sequence[NDArray[Any]]) -> KeyArray:
    """One 64-bit key of several columns."""
    found = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        found = (found ^ part.astype(np.uint64)) * _MIX
        found ^= found >> np.uint64(29)
    return found
