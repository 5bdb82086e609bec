"""Columns that a text takes in a terminal: two for a wide character, none for a mark on another."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_WIDE = frozenset("WF")
_ON_ANOTHER = frozenset({"Mn", "Me"})
_CUT_OFF = "…"


def columns_of(text: str) -> int:
    """Return how many columns a text takes, without line ends and tabs.

    >>> columns_of("fraud"), columns_of("欺诈"), columns_of("e\N{COMBINING ACUTE ACCENT}")
    (5, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """Return a text with spaces behind it.

    Args:
        text: one line.
        width: columns that it takes with them.

    >>> padded("欺诈", 6) + "|"
    '欺诈  |'
    """
    return text + " " * (width - columns_of(text))


def at_right(text: str, width: int) -> str:
    """Return a text with spaces before it.

    Args:
        text: one line.
        width: columns that it takes with them.
    """
    return " " * (width - columns_of(text)) + text


def cut(text: str, most: int) -> str:
    """Return a text, shortened with an ellipsis where it takes more columns than some.

    Args:
        text: one line.
        most: columns that it may take, at least 1.

    >>> cut("fraud", 5), cut("fraudulent", 5), cut("欺诈检测", 6)
    ('fraud', 'frau…', '欺诈…')
    """
    if columns_of(text) <= most:
        return text
    shown = ""
    for character in text:
        if columns_of(shown + character) > most - len(_CUT_OFF):
            break
        shown += character
    return shown + _CUT_OFF


def _columns(character: str) -> int:
    if category(character) in _ON_ANOTHER:
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1
