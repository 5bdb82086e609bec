"""What is wrong with a time of a record."""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import TypeGuard

from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode.field_columns import millisecond
from monitor.feeds.decode.reasons import Fault, bad, missing, shown
from monitor.feeds.decode.time_texts import seconds_of_text
from monitor.feeds.decode.time_units import NAMES, unit_that_fits

_NUMBERS = (int, float)


def time_fault(name: str, value: object, latest: int | None) -> Fault | None:
    """Return what is wrong with a time; None where nothing is.

    Args:
        name: of the field.
        value: of the field.
        latest: latest accepted time, epoch milliseconds; None for no bound.
    """
    if value is None:
        return missing(name)
    seconds = seconds_of(value)
    if seconds is None:
        return bad(name, "must be epoch seconds or ISO 8601 with Z or an offset", value)
    return None if _is_in_time(seconds, latest) else _out_of_range(name, seconds, value)


def _out_of_range(name: str, seconds: float, value: object) -> Fault:
    if unit := unit_that_fits(seconds):
        is_unit = f"got {shown(value)}, which is {NAMES[unit]}"
        detail = f"{name}: must be in epoch seconds, {is_unit}"
        return Fault(RejectReason.TIMESTAMP_IN_MILLISECONDS, detail)
    inside = EARLIEST_MS / 1000 <= seconds < LATEST_MS / 1000
    allowed = "is too far ahead of the clock" if inside else "must lie in 1900 to 2200"
    detail = f"{name}: {allowed}, got {shown(value)}"
    return Fault(RejectReason.TIMESTAMP_OUT_OF_RANGE, detail)


def seconds_of(value: object) -> float | None:
    """Return the epoch seconds of a number, an aware datetime or a text of ISO 8601; else None.

    Args:
        value: of a field.
    """
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        return seconds_of_text(value)
    return float(value) if is_number(value) and isfinite(value) else None


def _is_in_time(seconds: float, latest_ms: int | None) -> bool:
    if not EARLIEST_MS / 1000 <= seconds < LATEST_MS / 1000:
        return False
    time = millisecond(seconds)
    return time < LATEST_MS and (latest_ms is None or time <= latest_ms)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number as records have them, and no bool.

    Args:
        value: of a field.
    """
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)
