"""Formats of times to propose, by values that are no ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.config.time_format import moment_in

_DAY_OR_MONTH_FIRST = re.compile(
    r"\s*\d{1,2}(?P<separator>[./-])(?P<middle>\d{1,2}|[A-Za-z]{3,9})(?P=separator)"
    r"(?P<year>\d{4}|\d\d)"
    r"(?:(?P<gap>,? |T)(?P<hour>\d{1,2}):\d\d(?P<second>:\d\d)?(?P<fraction>\.\d{1,6})?"
    r"(?P<half> ?[AaPp][Mm])?)?\s*"
)
_ABBREVIATED = 3
"""Letters of the name of a month that is cut."""


def proposed_formats(texts: Sequence[object]) -> list[str]:
    """Return the formats in which all texts write a date with the year last.

    Args:
        texts: values that are no times of ISO 8601.

    Returns:
        At most two: with the day first, and with the month first; none where one of the values
        is written otherwise.

    >>> proposed_formats(["07/08/2026 10:00"])
    ['%d/%m/%Y %H:%M', '%m/%d/%Y %H:%M']
    >>> proposed_formats(["07.08.2026", "13.08.2026"]), proposed_formats(["7-Aug-26 1:05 PM"])
    (['%d.%m.%Y'], ['%d-%b-%y %I:%M %p'])
    >>> proposed_formats(["tomorrow"]), proposed_formats([])
    ([], [])
    """
    written = next((_written(text) for text in texts[:1] if isinstance(text, str)), None)
    if written is None:
        return []
    return [
        form
        for form in written
        if all(isinstance(t, str) and moment_in(t, form) is not None for t in texts)
    ]


def _written(text: str) -> list[str] | None:
    found = _DAY_OR_MONTH_FIRST.fullmatch(text)
    if found is None:
        return None
    part = found.groupdict(default="")
    year = "%Y" if len(part["year"]) > len("26") else "%y"
    clock = ""
    if part["hour"]:
        clock = f"{part['gap']}{'%I' if part['half'] else '%H'}:%M"
        clock += (":%S" if part["second"] else "") + (".%f" if part["fraction"] else "")
        clock += part["half"][:-2] + "%p" if part["half"] else ""
    if part["middle"].isdecimal():
        orders = [("%d", "%m"), ("%m", "%d")]
    else:
        orders = [("%d", "%b" if len(part["middle"]) == _ABBREVIATED else "%B")]
    return [part["separator"].join((*order, year)) + clock for order in orders]
