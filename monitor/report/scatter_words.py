"""The words for the days that the scatter of days in errors is learned from."""

from __future__ import annotations

from monitor.config.quantities import format_time
from monitor.diagnosis.model_scatter import ScatterDays

_WORDS = {
    "reference": "the reference's days and those since",
    "level": "the days of the model's level and those since",
    "ranges": "both ranges alone",
}
_DATE = len("2013-03-01")


def scatter_sentence(days: ScatterDays | None) -> str:
    """Return which days the scatter of days is that of, in one sentence; "" for None.

    Args:
        days: which they are.

    >>> day = 86_400_000
    >>> scatter_sentence(ScatterDays("days", 15_765 * day, 16_071 * day))
    'The scatter of days is that of all days from 2013-03-01 to 2013-12-31 (UTC).'
    >>> scatter_sentence(ScatterDays("days", 0, 9 * day, faulty=1))[31:]
    'all days from 1970-01-01 to 1970-01-09 (UTC) but 1 whose labels are faulty.'
    >>> scatter_sentence(ScatterDays("ranges"))
    'The scatter of days is that of both ranges alone.'
    """
    if days is None:
        return ""
    words = _WORDS.get(days.source)
    if words is None and days.opens is not None and days.closes is not None:
        first, last = (format_time(end)[:_DATE] for end in (days.opens, days.closes - 1))
        words = f"all days from {first} to {last} (UTC)"
        if days.faulty:
            words = f"{words} but {days.faulty} whose labels are faulty"
    return f"The scatter of days is that of {words}."
