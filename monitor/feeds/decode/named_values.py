"""Values of fields that may name a class, or score it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any, TypeGuard

from monitor.config.classes import MOST_CLASS_BYTES
from monitor.events.class_names import name_numbers

NAME_ALLOWED = f"the name of a class, at most {MOST_CLASS_BYTES} bytes of UTF-8, without NUL"
"""What may name a class that a model learns, for a person."""


def name_of(value: Any) -> str | None:
    """Return the name of a class that a model may learn; None for what is none.

    Args:
        value: text, or a whole number.

    >>> name_of("loan"), name_of(7), name_of(7.0), name_of("7.0"), name_of(0.5), name_of("")
    ('loan', '7', '7', '7', None, None)
    """
    if is_integer(value):
        return str(value)
    if not isinstance(value, str | float):
        return None
    name = whole_digits(value) or (value if isinstance(value, str) else "")
    return name if name and _fits(name) else None


def _fits(name: str) -> bool:
    """Return whether text is short enough and of characters that a series can have."""
    size = size_in_utf8(name)
    return size is not None and size <= MOST_CLASS_BYTES and "\0" not in name


def size_in_utf8(text: str) -> int | None:
    r"""Return the bytes of a text in UTF-8; None where a lone surrogate makes it no such text.

    >>> size_in_utf8("ü"), size_in_utf8("\ud800")
    (2, None)
    """
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return None


def best_name(scores: Any) -> str | None:
    """Return the name of the class with the highest score; the first of equal ones.

    Args:
        scores: by name.

    Returns:
        None unless all are finite numbers, and by names that classes may have.

    >>> best_name({"card": 0.2, "loan": 0.8}), best_name([0.2, 0.8])
    ('loan', None)
    """
    if not isinstance(scores, Mapping) or not scores or not are_finite([*scores.values()]):
        return None
    return name_of(max(scores, key=scores.__getitem__))


@lru_cache(1 << 14)
def number_of_name(name: str) -> int:
    """Return the number that stands for the name of a class in columns."""
    return int(name_numbers([name])[0])


def whole_digits(value: str | float) -> str:
    """Return the digits of a whole number that is written with a zero after its point, else "".

    >>> whole_digits(7.0), whole_digits(-0.0), whole_digits("7.5")
    ('7', '0', '')
    """
    digits, _, rest = str(value).partition(".")
    if rest != "0" or not digits.removeprefix("-").isdecimal():
        return ""
    return "0" if digits == "-0" else digits


def is_integer(value: Any) -> TypeGuard[int]:
    """Return whether a value is an integer, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def are_finite(scores: Sequence[Any]) -> bool:
    """Return whether all are finite numbers."""
    return all(
        (is_integer(score) or isinstance(score, float)) and isfinite(score) for score in scores
    )
