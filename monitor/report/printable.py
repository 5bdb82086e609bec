r"""Text that is safe to show: nothing in it moves a cursor or forges a line.

Names of models and segments come from events, whose senders may put anything into them.
"""

from __future__ import annotations

from collections.abc import Sequence

_LAYOUT = "\n\t"


def printable(text: str) -> str:
    r"""Spell out every character that is not printable, except line ends and tabs.

    >>> print(printable("a\x1b[31mb\u202e"))
    a\x1b[31mb\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _LAYOUT else _spelled(c) for c in text)


def one_line(text: str) -> str:
    r"""Spell out every character that is not printable, line ends and tabs included.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return "".join(c if c.isprintable() else _spelled(c) for c in text)


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first of some names on one line, and how many more there are.

    Args:
        names: of anything.
        most: that are named.

    >>> first_names(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown, more = ", ".join(map(one_line, names[:most])), len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
