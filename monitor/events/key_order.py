"""Columns of numbers as keys: their order, and where each distinct one begins."""

from __future__ import annotations

from math import prod

import numpy as np

from monitor.events.columns import Int64Array

_WORD = 1 << 63


def ordered(keys: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the order of the columns of some numbers, and where in it each distinct one begins.

    Args:
        keys: (numbers, columns), at least one column; ordered by the first number, then the next.

    >>> order, first = ordered(np.array([[2, 1, 2], [0, 5, 0]]))
    >>> order.tolist()[0], first.tolist()
    (1, [0, 1])
    """
    low = keys.min(axis=1)
    span = (keys.max(axis=1) - low + 1).tolist()
    if prod(span) >= _WORD:
        order = np.lexsort(keys[::-1])
        return order, beginnings(keys[:, order])
    word = np.zeros(keys.shape[1], dtype=np.int64)
    for row, least, size in zip(keys, low, span, strict=True):
        word = word * size + (row - least)
    order = np.argsort(word)
    return order, beginnings(word[order][np.newaxis])


def beginnings(keys: Int64Array) -> Int64Array:
    """Return where columns begin that differ from the one before.

    Args:
        keys: (numbers, columns).
    """
    differs = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return np.flatnonzero(np.append(np.ones(min(keys.shape[1], 1), dtype=np.bool_), differs))
