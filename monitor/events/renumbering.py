"""State as plain values, which `state()` of each part returns and `restore()` accepts.

Each part has its own state; the engine combines them, and `monitor.state` writes the
whole to disk. Numbers of models, series and groups may change when the state is
restored, since a model may have been removed from the configuration: `Numbers` holds
those that are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array

State = Mapping[str, Any]
"""Arrays, numbers, texts, truth values and None, and lists and maps of these; keys are texts."""

GONE = -1
"""The new number of a model, a series or a group that is not left."""


class Numbers(NamedTuple):
    """The old numbers that are left, in order; the index of each is its new number.

    Attributes:
        models: of models.
        series: of series.
        groups: of groups.
    """

    models: Int64Array
    series: Int64Array
    groups: Int64Array


def new_numbers(left: Int64Array) -> Int64Array:
    """Return the new number of each old one, `GONE` if not left; and a `GONE` at the end.

    >>> new_numbers(np.array([0, 2])).tolist()
    [0, -1, 1, -1]
    """
    new = np.full(int(left.max(initial=-1)) + 2, GONE, dtype=np.int64)
    new[left] = np.arange(len(left))
    return new


def renumbered(numbers: Int64Array, left: Int64Array) -> Int64Array:
    """Replace old numbers by new ones, `GONE` if not left.

    Args:
        numbers: old numbers.
        left: the old numbers that are left, in order.
    """
    new = new_numbers(left)
    return np.asarray(new[np.minimum(numbers, len(new) - 1)])
