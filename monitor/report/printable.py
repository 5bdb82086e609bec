r"""Text as it can be shown to a person: nothing in it moves a cursor or forges a line.

Names of models and segments come out of events, and whoever sends events may put
anything into them.
"""

_LAYOUT = "\n\t"


def printable(text: str) -> str:
    r"""The same text, with every character that is not shown as itself spelled out.

    Ends of lines and tabs stay.

    >>> print(printable("a\x1b[31mb\u202e"))
    a\x1b[31mb\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _LAYOUT else _spelled(c) for c in text)


def one_line(text: str) -> str:
    r"""The same as `printable`, ends of lines and tabs spelled out too.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return "".join(c if c.isprintable() else _spelled(c) for c in text)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
