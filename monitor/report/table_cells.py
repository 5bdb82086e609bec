"""Cells of tables in text: numbers, changes of them, and times; a dash where undefined."""

from __future__ import annotations

import math
from datetime import UTC, datetime

UNDEFINED = "—"


def ratio_text(value: float) -> str:
    """Return a ratio, or a number of its size, with three digits after the point.

    >>> ratio_text(0.5), ratio_text(math.nan)
    ('0.500', '—')
    """
    return f"{value:.3f}" if math.isfinite(value) else UNDEFINED


def signed(value: float, digits: int = 3) -> str:
    """Return a change with its sign.

    Args:
        value: the change.
        digits: digits after the point.

    >>> signed(0.5), signed(-0.5, 1), signed(math.inf)
    ('+0.500', '-0.5', '—')
    """
    return f"{value:+.{digits}f}" if math.isfinite(value) else UNDEFINED


def minute(milliseconds: int) -> str:
    """Return a time in UTC, to the minute.

    Args:
        milliseconds: since 1970.

    >>> minute(0)
    '1970-01-01 00:00'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M")
