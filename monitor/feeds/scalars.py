"""Single values of Python and NumPy, as the fields of records hold them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own value, and anything else as it is.

    >>> plain(np.int64(1)), plain(np.str_("web")), plain(None)
    (1, 'web', None)
    """
    return value.item() if isinstance(value, np.generic) else value


def plain_class(value: Any) -> Any:
    """Return a class as an integer where it is 0.0 or 1.0, and anything else as `plain` does.

    >>> plain_class(np.float64(1)), plain_class(np.bool_(True)), plain_class(0.5)
    (1, True, 0.5)
    """
    value = plain(value)
    return int(value) if isinstance(value, float) and value in (0.0, 1.0) else value


def plain_id(value: Any) -> Any:
    """Return an id as text where it is an integer, and anything else as it is.

    >>> plain_id(17), plain_id(np.uint8(17)), plain_id(True)
    ('17', '17', True)
    """
    if isinstance(value, str):
        return value
    value = plain(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def plain_time(value: Any) -> Any:
    """Return an aware `datetime` or a `datetime64` (UTC) as epoch seconds.

    Pandas' `Timestamp` is a `datetime`. One without a zone becomes its text, which no record
    takes: the hour it stands for is not known.

    >>> from datetime import UTC
    >>> plain_time(datetime(1970, 1, 2, tzinfo=UTC)), plain_time(np.datetime64("1970-01-02"))
    (86400.0, 86400.0)
    """
    if isinstance(value, datetime):
        return value.timestamp() if value.tzinfo is not None else value.isoformat()
    if isinstance(value, np.datetime64):
        return _seconds(value)
    return plain(value)


def _seconds(value: np.datetime64) -> float | None:
    """Epoch seconds, exact to the microsecond; None for NaT."""
    if np.isnat(value):
        return None
    whole = value.astype("datetime64[s]")
    rest = (value - whole).astype("timedelta64[us]").astype(np.int64)
    return float(whole.astype(np.int64)) + float(rest) / 1e6
