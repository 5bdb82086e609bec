"""Columns from Python values, and which rows do not fit.

These functions work on whole columns. They only mark a row that does not fit;
`reasons` finds what is wrong with it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import datetime
from math import nan
from typing import Any, cast

import numpy as np

from monitor.events.columns import (
    EARLIEST_MS,
    LATEST_MS,
    MAX_ID_BYTES,
    BoolArray,
    FloatArray,
    Int64Array,
)

LEFT_OUT = -1
"""The class of a record whose class is missing or null."""


def milliseconds(seconds: FloatArray) -> Int64Array:
    """Convert epoch seconds to epoch milliseconds: round to the microsecond, then floor.

    A float of today's epoch seconds is exact to a quarter of a microsecond, so numbers
    with up to six decimals convert exactly: 1.001 becomes 1001 although the nearest
    float lies below it, and 59.999999 stays in its minute.

    Args:
        seconds: any shape; at most about 9e9 either way (the year 2255).

    >>> milliseconds(np.array([1.001, 59.999999, -0.0005]))
    array([ 1001, 59999,    -1])
    """
    microseconds = np.rint(np.asarray(seconds) * 1e6).astype(np.int64)
    result: Int64Array = microseconds // 1000
    return result


def millisecond(seconds: float) -> int:
    """Convert one number of epoch seconds as `milliseconds` does, without NumPy's cost a call.

    Args:
        seconds: as there.

    >>> millisecond(1.001), millisecond(59.999999), millisecond(-0.0005)
    (1001, 59999, -1)
    """
    return round(seconds * 1e6) // 1000


def within_years(seconds: FloatArray, latest_ms: int | None) -> tuple[Int64Array, BoolArray]:
    """Convert to epoch milliseconds, and check the range of event times.

    Args:
        seconds: epoch seconds, any finite value or NaN.
        latest_ms: the latest accepted time, epoch milliseconds; None for no bound but
            `LATEST_MS`.

    Returns:
        Epoch milliseconds; and which of them are valid event times.
    """
    earliest, end = EARLIEST_MS / 1000, LATEST_MS / 1000
    inside = (seconds >= earliest) & (seconds < end)
    if not inside.all():
        seconds = np.where(inside, seconds, 0.0)
    time = milliseconds(seconds)
    inside &= time < LATEST_MS
    if latest_ms is not None:
        inside &= time <= latest_ms
    return time, inside


def seconds_of(values: Sequence[float | datetime]) -> FloatArray:
    """Return the epoch seconds of numbers and of aware datetimes."""
    try:
        return _floats(values)
    except struct.error:
        return _floats([v.timestamp() if isinstance(v, datetime) else v for v in values])


def optional_numbers(values: list[float | None]) -> FloatArray:
    """Return numbers as an array, with NaN for None.

    >>> optional_numbers([.5, None])
    array([0.5, nan])
    """
    try:
        return _floats(values)
    except struct.error:
        if values.count(None) == len(values):
            return np.full(len(values), nan)
        return _floats([nan if value is None else value for value in values])


def classes(values: list[int | None]) -> Int64Array:
    """Return classes 0 and 1 as an array, with `LEFT_OUT` for None.

    >>> classes([True, 0, None])
    array([ 1,  0, -1])
    """
    try:
        return np.frombuffer(bytearray(cast("list[int]", values)), np.uint8).astype(np.int64)
    except TypeError:
        return np.array([LEFT_OUT if value is None else value for value in values], np.int64)


def _floats(values: Sequence[Any]) -> FloatArray:
    """Return numbers as an array, twice as fast as NumPy converts Python floats.

    Raises:
        struct.error: one of them is no number.
    """
    found = np.empty(len(values))
    struct.pack_into(f"{len(values)}d", found.data, 0, *values)
    return found


def ids_fit(ids: Sequence[str], longest: int | None = None) -> BoolArray:
    """Return which ids are short enough in bytes.

    Args:
        ids: short enough in characters.
        longest: upper bound of the records' size as JSON, bytes, which also bounds their
            ids in UTF-8; None if unknown.
    """
    short = longest is not None and longest <= MAX_ID_BYTES
    if short or "".join(ids).isascii():
        return np.ones(len(ids), np.bool_)
    return np.fromiter((len(i.encode()) <= MAX_ID_BYTES for i in ids), np.bool_, len(ids))
