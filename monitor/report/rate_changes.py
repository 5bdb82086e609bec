"""Recall, the false positive rate and positives before and after, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

RatePairs = Mapping[str, tuple[float, float]]
"""`recall` and `false_positive_rate`, each before and after; NaN where one is not known."""

_FOLDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TWOFOLD = 1.75
"""From this quotient on a rate is about twice what it was."""
_FEWEST, _MOST = 2, 4
"""Digits behind the point."""


def both_known(rates: RatePairs) -> bool:
    """Return whether both rates are known on both sides."""
    return len(rates) > 1 and all(math.isfinite(end) for ends in rates.values() for end in ends)


def digits(before: float, after: float) -> int:
    """Return how many digits, from 2 to 4, tell both ends apart and show two figures of each.

    An end of 0 has no figures to show.

    Args:
        before: rate in [0, 1].
        after: rate in [0, 1].
    """
    least = min(filter(None, (before, after)), default=0.0)
    for count in range(_FEWEST, _MOST):
        shown = {f"{end:.{count}f}" for end in (before, after)}
        if len(shown) > 1 and least >= 10.0 ** (1 - count):
            return count
    return _MOST


def short(ratio: float, count: int) -> str:
    """Return a ratio without its leading 0.

    Args:
        ratio: in [0, 1].
        count: digits behind the point.

    >>> short(0.4776, 2), short(1.0, 2)
    ('.48', '1.00')
    """
    return f"{ratio:.{count}f}".removeprefix("0")


def from_to(before: float, after: float) -> str:
    """Return both ends of a change.

    Args:
        before: rate in [0, 1].
        after: rate in [0, 1].

    >>> from_to(0.795, 0.478), from_to(0.0012, 0.0051)
    ('from .80 to .48', 'from .0012 to .0051')
    >>> from_to(0.8031, 0.0)
    'from .80 to .00'
    """
    count = digits(before, after)
    return f"from {short(before, count)} to {short(after, count)}"


def change_text(before: float, after: float) -> str:
    """Return which way a rate moved, and the factor where it rose to about twice or more.

    Args:
        before: rate in [0, 1].
        after: rate in [0, 1].

    >>> change_text(0.0969, 0.6023), change_text(0.795, 0.478), change_text(0.5, 0.6)
    ('rose about sixfold, from .097 to .602', 'fell from .80 to .48', 'rose from .50 to .60')
    """
    ends = from_to(before, after)
    if after < before:
        return f"fell {ends}"
    if before <= 0 or after / before < _TWOFOLD:
        return f"rose {ends}"
    times = round(after / before)
    many = f"about {_FOLDS[times - 2]}fold" if times - 2 < len(_FOLDS) else "more than tenfold"
    return f"rose {many}, {ends}"


def positives_moved(change: float) -> str:
    """Return what became of positives, a clause.

    Args:
        change: of log r.

    >>> positives_moved(-0.7)
    'positives became rarer'
    """
    return f"positives became {'rarer' if change < 0 else 'more frequent'}"
