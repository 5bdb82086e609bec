"""Classes by their names: numbers that stand for names in columns.

A label does not name its model, and each model has classes of its own. So a label carries
a number of its class's name, the same in every process and under every configuration, until
it meets its prediction. A prediction carries the number of the class in its model's list; where
its model learns its classes, it carries a number of the name as well, until the model has one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.events.columns import RETRACTED, BoolArray, Int64Array
from monitor.events.keys import keys_of

FIRST_CLASS = RETRACTED + 1
"""Label value of the first class of a model of many classes; the others follow in order."""

_NAMED = np.uint64(1 << 62)


def name_numbers(names: Sequence[str]) -> Int64Array:
    """Return the label values that stand for names of classes.

    Args:
        names: of classes.

    Returns:
        Numbers above every other label value; hashes, of which two of a model's are the same
        with probability 2e-16.

    >>> numbers = name_numbers(["card", "loan", "card"])
    >>> bool(numbers[0] == numbers[2] != numbers[1]), bool(numbers.min() > FIRST_CLASS)
    (True, True)
    """
    return ((keys_of(names) >> np.uint64(2)) | _NAMED).astype(np.int64)


def are_name_numbers(values: Int64Array) -> BoolArray:
    """Return which values stand for names of classes.

    Args:
        values: of labels, or numbers of classes.
    """
    return np.asarray(values >= np.int64(_NAMED))
