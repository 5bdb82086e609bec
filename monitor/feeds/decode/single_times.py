"""Times of single records, as `field_columns` reads whole columns of them."""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import TypeGuard

import msgspec
import numpy as np

from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.feeds.decode.field_columns import milliseconds
from monitor.feeds.decode.records import Time


def epoch_seconds(value: object) -> float | None:
    """Return seconds since 1970 of a number, an aware datetime or an RFC 3339 string; else None.

    >>> epoch_seconds("1970-01-02T00:00:00Z"), epoch_seconds(True)
    (86400.0, None)
    """
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        return _seconds_of_text(value)
    return float(value) if is_number(value) and isfinite(value) else None


def _seconds_of_text(text: str) -> float | None:
    try:
        found = msgspec.convert(text, Time)
    except msgspec.ValidationError:
        return None
    return found.timestamp() if isinstance(found, datetime) else found


def is_in_time(seconds: float, latest_ms: int | None) -> bool:
    """Tell whether a time is accepted.

    Args:
        seconds: since 1970.
        latest_ms: the latest accepted time, epoch milliseconds; None for no bound.
    """
    if not EARLIEST_MS / 1000 <= seconds < LATEST_MS / 1000:
        return False
    time = int(milliseconds(np.array(seconds)))
    return time < LATEST_MS and (latest_ms is None or time <= latest_ms)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
