"""State as plain values: what each part gives by `state()` and takes by `restore()`.

Every part knows its own state and nobody else's; the engine puts them together,
and `monitor.state` writes the whole to disk. Numbers of models, series and groups
may be others when the state is taken again, since the configuration may have lost
a model: `Numbers` says which are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array

State = Mapping[str, Any]
"""Arrays, numbers, texts, truth values and None, and lists and maps of these; keys are texts."""

GONE = -1
"""The new number of what is no more."""


class Numbers(NamedTuple):
    """The old numbers that are left, in their order; the place of each is its new number.

    Attributes:
        models: of models.
        series: of series.
        groups: of groups.
    """

    models: Int64Array
    series: Int64Array
    groups: Int64Array


def new_numbers(left: Int64Array) -> Int64Array:
    """The new number of each old one, `GONE` where it is not left; one more at the end is `GONE`.

    >>> new_numbers(np.array([0, 2])).tolist()
    [0, -1, 1, -1]
    """
    new = np.full(int(left.max(initial=-1)) + 2, GONE, dtype=np.int64)
    new[left] = np.arange(len(left))
    return new


def renumbered(numbers: Int64Array, left: Int64Array) -> Int64Array:
    """Old numbers as new ones, `GONE` where they are not left."""
    new = new_numbers(left)
    return np.asarray(new[np.minimum(numbers, len(new) - 1)])
