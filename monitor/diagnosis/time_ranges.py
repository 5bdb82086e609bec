"""Stretches of time as people write them: `2013-07-01..2013-08-01`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config.quantities import format_duration, format_time, parse_time
from monitor.errors import UsageError

JUDGED_MS = 7 * DAY_MS
"""Length of what is judged in recorded events where no range is asked for."""
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ALLOWED = (
    "write A..B for [A, B) in UTC, such as 2013-07-01..2013-08-01 or "
    "2013-07-01T06:00:00Z..2013-07-01T18:00:00Z, or one month, 2013-07, or one day, 2013-07-01"
)


class TimeRange(NamedTuple):
    """A stretch of event time, [opens, closes).

    Attributes:
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
    """

    opens: int
    closes: int

    def __str__(self) -> str:
        return f"{format_time(self.opens)}..{format_time(self.closes)}"


def parse_time_range(option: str, text: str) -> TimeRange:
    """A range of dates or times, or one whole month or day; UTC where no zone is named.

    Args:
        option: where it was written, for the error.
        text: what was written.

    Raises:
        UsageError: no range, a reversed or an empty one.

    >>> str(parse_time_range("--before", "2013-12"))
    '2013-12-01T00:00:00Z..2014-01-01T00:00:00Z'
    >>> str(parse_time_range("--before", "2013-07-01..2013-07-01T06:00:00+02:00"))
    '2013-07-01T00:00:00Z..2013-07-01T04:00:00Z'
    """
    whole = _whole(option, text)
    if whole is not None:
        return whole
    first, separator, second = text.partition("..")
    if not (first and separator and second):
        raise UsageError(f"{option}: must be a range, got {text!r}; {_ALLOWED}")
    found = TimeRange(*(_moment(option, text, end) for end in (first, second)))
    if found.closes < found.opens:
        raise UsageError(f"{option}: ends before it begins, got {text!r}; swap its ends")
    if found.closes == found.opens:
        raise UsageError(f"{option}: is empty, got {text!r}; the end is exclusive")
    return found


def check_apart(before: TimeRange, after: TimeRange, *, prefix: str = "--") -> None:
    """Refuse ranges that cannot be compared.

    Args:
        before: what to compare with.
        after: what to judge.
        prefix: of the names of both, for the error.

    Raises:
        UsageError: they overlap, or stand in the wrong order.
    """
    first, second = f"{prefix}before", f"{prefix}after"
    overlap = min(before.closes, after.closes) - max(before.opens, after.opens)
    if overlap > 0:
        raise UsageError(
            f"{first} and {second}: overlap by {format_duration(overlap)}, got {before} and "
            f"{after}; give ranges that do not overlap"
        )
    if before.opens > after.opens:
        raise UsageError(f"{first}: lies after {second}, got {before} and {after}; swap them")


def _whole(option: str, text: str) -> TimeRange | None:
    """A month or a day by itself."""
    month = _MONTH.fullmatch(text)
    if month is not None:
        opens = _moment(option, text, f"{text}-01")
        year, following = int(month[1]) + int(month[2]) // 12, int(month[2]) % 12 + 1
        closes = datetime(year, following, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return TimeRange(opens, closes // timedelta(milliseconds=1))
    if _DAY.fullmatch(text):
        opens = _moment(option, text, text)
        return TimeRange(opens, opens + DAY_MS)
    return None


def _moment(option: str, text: str, end: str) -> int:
    """Epoch milliseconds of one end; a time without a zone is UTC."""
    for candidate in (end, f"{end}Z"):
        try:
            return parse_time(candidate)
        except ValueError:
            continue
    got = "" if end == text else f", got {text!r}"
    raise UsageError(f"{option}: {end!r} is no time{got}; {_ALLOWED}")
