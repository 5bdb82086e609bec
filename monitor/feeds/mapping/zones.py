"""Times without a zone, by the zone that a mapping names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from monitor.events.columns import Int64Array

_MINUTE_US = 60_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # of a clock on the wall
_EARLIEST_MINUTE = int((datetime(1800, 1, 1) - _EPOCH) / timedelta(minutes=1))  # noqa: DTZ001
_LATEST_MINUTE = int((datetime(2300, 1, 1) - _EPOCH) / timedelta(minutes=1))  # noqa: DTZ001


def aware(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """Return a moment with its own zone, else in a zone.

    An hour that the clock shows twice is the first of the two, unless the moment names the
    second (`fold`); an hour that it skips counts as before the skip.

    Args:
        moment: with a zone or without one.
        zone: of a moment without one; None for UTC.

    >>> str(aware(datetime(2026, 7, 1, 12), ZoneInfo("Europe/Berlin")))
    '2026-07-01 12:00:00+02:00'
    """
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone or UTC)


def utc_microseconds(shown: Int64Array, zone: ZoneInfo) -> Int64Array:
    """Return the UTC times of what clocks in a zone show, as `aware` does.

    Args:
        shown: microseconds since 1970 by the clock, any order.
        zone: of the clocks.

    Returns:
        Epoch microseconds. The offset of a minute is that of its start.
    """
    minutes, which = np.unique(shown // _MINUTE_US, return_inverse=True)
    inside = np.clip(minutes, _EARLIEST_MINUTE, _LATEST_MINUTE).tolist()
    offsets = [_offset_us(_EPOCH + timedelta(minutes=minute), zone) for minute in inside]
    found: Int64Array = shown - np.array(offsets, np.int64)[which]
    return found


def _offset_us(shown: datetime, zone: ZoneInfo) -> int:
    offset = shown.replace(tzinfo=zone).utcoffset() or timedelta()
    return offset // timedelta(microseconds=1)
