"""Formats of times that are text, as of `datetime.strptime`."""

from __future__ import annotations

from datetime import UTC, datetime

_SOME_DAY = datetime(2026, 11, 23, tzinfo=UTC)


def moment_in(text: str, form: str) -> datetime | None:
    """Return the moment that a text writes in a format; without a zone where it has no `%z`.

    Args:
        text: any.
        form: format of `strptime`.

    Returns:
        The moment; None where the text is not of the format.

    >>> str(moment_in("31.12.2026 23:59", "%d.%m.%Y %H:%M"))
    '2026-12-31 23:59:00'
    """
    try:
        return datetime.strptime(text.strip(), form)  # noqa: DTZ007  # the mapping has its zone
    except (ValueError, OverflowError):
        return None


def is_whole(form: str) -> bool:
    """Return whether a format has a year, a month and a day.

    Args:
        form: format of `strptime`.

    Returns:
        False also where `strptime` does not know one of its directives.

    >>> is_whole("%d.%m.%y %H:%M"), is_whole("%d.%m. %H:%M"), is_whole("%d.%m.%Y %Q")
    (True, False, False)
    """
    found = moment_in(_SOME_DAY.strftime(form), form)
    return found is not None and found.date() == _SOME_DAY.date()
