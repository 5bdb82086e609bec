"""Formats of times to propose, by values that are no ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.config.time_format import moment_in

_ZONE_FORM = "Europe/Berlin"
"""A zone to replace by that of the times."""
_UTC = ("UTC", "GMT")

_MONTH = r"(?P<month>[A-Za-z]{3,9})"
_DAY = r"\d{1,2}"
_YEAR = r"(?P<year>\d{4}|\d\d)"
_BETWEEN = r"(?P<between>[./-])"
_DATES = {
    rf"{_DAY}{_BETWEEN}{_DAY}(?P=between){_YEAR}": (
        "%d{between}%m{between}{year}",
        "%m{between}%d{between}{year}",
    ),
    rf"{_DAY}(?P<between>[./ -]){_MONTH}(?P=between){_YEAR}": (
        "%d{between}{month}{between}{year}",
    ),
    rf"{_MONTH} {_DAY}(?P<between>,? ){_YEAR}": ("{month} %d{between}{year}",),
    rf"(?P<year>\d{{4}})(?P<between>[./]){_DAY}(?P=between){_DAY}": (
        "{year}{between}%m{between}%d",
    ),
}
"""How texts write a date, and the formats of it."""
_CLOCK = (
    r"(?P<gap>,? @? ?|T|:)\d{1,2}(?P<colon>[:.])\d\d"
    r"(?P<seconds>(?P=colon)\d\d(?P<fraction>\.\d{1,6})?)?(?P<half> ?[AaPp][Mm])?"
)
_ZONE = r"(?P<zone> ?[+-]\d\d:?\d\d| UTC| GMT)"
_TIMES = {
    re.compile(rf"\s*(?P<weekday>[A-Za-z]{{3}},? )?{date}({_CLOCK}{_ZONE}?)?\s*"): formats
    for date, formats in _DATES.items()
}
_DIGITS = {12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_ABBREVIATED = 3
"""Letters of the name of a month that is cut."""


def proposed_formats(texts: Sequence[object]) -> list[str]:
    """Return the formats in which all texts write a date.

    Args:
        texts: values that are no times of ISO 8601; numbers of 12 or 14 digits may be times, too.

    Returns:
        At most two: with the day first, and with the month first; none where one of the values
        is written otherwise.

    >>> proposed_formats(["07/08/2026 10:00"])
    ['%d/%m/%Y %H:%M', '%m/%d/%Y %H:%M']
    >>> proposed_formats(["07.08.2026", "13.08.2026"]), proposed_formats(["7-Aug-26 1:05 PM"])
    (['%d.%m.%Y'], ['%d-%b-%y %I:%M %p'])
    >>> proposed_formats(["Fri, 07 Aug 2026 10:00:00 GMT"]), proposed_formats([20260807100000.0])
    (['%a, %d %b %Y %H:%M:%S GMT'], ['%Y%m%d%H%M%S'])
    >>> proposed_formats(["tomorrow"]), proposed_formats(["2026-08-07"]), proposed_formats([])
    ([], [], [])
    """
    written = [_text(value) for value in texts]
    return [
        form
        for form in (_forms(written[0]) if written else ())
        if all(moment_in(text, form) is not None for text in written)
    ]


def time_settings(form: str) -> dict[str, str]:
    """Return the settings of times in a format, with a zone to replace where it names none.

    Args:
        form: as of `proposed_formats`.

    >>> time_settings("%d.%m.%Y"), time_settings("%d.%m.%Y %H:%M %z")
    ({'format': '%d.%m.%Y', 'zone': 'Europe/Berlin'}, {'format': '%d.%m.%Y %H:%M %z'})
    """
    if form.endswith("%z"):
        return {"format": form}
    return {"format": form, "zone": "UTC" if form.endswith(_UTC) else _ZONE_FORM}


def _text(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _forms(text: str) -> list[str]:
    if text.isdecimal():
        return [_DIGITS[len(text)]] if len(text) in _DIGITS else []
    for pattern, dates in _TIMES.items():
        if found := pattern.fullmatch(text):
            part = found.groupdict(default="")
            before = f"%a{part['weekday'][3:]}" if part["weekday"] else ""
            after = _clock(part) + _zone(part["zone"])
            names = {"between": part["between"], **_names(part)}
            return [before + date.format(**names) + after for date in dates]
    return []


def _names(part: dict[str, str]) -> dict[str, str]:
    is_cut = len(part.get("month", "")) == _ABBREVIATED
    is_whole = len(part["year"]) > len("26")
    return {"month": "%b" if is_cut else "%B", "year": "%Y" if is_whole else "%y"}


def _clock(part: dict[str, str]) -> str:
    colon = part["colon"]
    if not colon:
        return ""
    clock = f"{part['gap']}{'%I' if part['half'] else '%H'}{colon}%M"
    clock += (f"{colon}%S" if part["seconds"] else "") + (".%f" if part["fraction"] else "")
    return clock + (part["half"][:-2] + "%p" if part["half"] else "")


def _zone(zone: str) -> str:
    if zone.strip() in ("", *_UTC):
        return zone
    return " %z" if zone.startswith(" ") else "%z"
