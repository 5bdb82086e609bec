"""Which confusions certainly moved by more than τ, and which shares of classes certainly moved.

`class_confusions` tests counts exactly, and takes the blocks of time as independent. Days are
not: part of a deviation carries over to the next day, and few days show little of their scatter.
What holds back a reference or starts a page is therefore certain by the model of days as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.drift.class_confusions import predicted_worse
from monitor.drift.components import Component
from monitor.drift.share_tests import by_days, cases_of, share_tests, taken_for
from monitor.drift.skill import EQUIVALENCE
from monitor.events.columns import BoolArray, Int64Array


class ClassMoves(NamedTuple):
    """What certainly moved from some days to others.

    Attributes:
        rose: shares of the cases of an actual class, (classes, classes), by predicted and actual
            class.
        fell: the same.
        shares: shares of the actual classes, (classes,).
        had_cases: classes of which there was a case before, (classes,).
    """

    rose: BoolArray
    fell: BoolArray
    shares: BoolArray
    had_cases: BoolArray

    @property
    def worse(self) -> BoolArray:
        """Which classes are certainly predicted worse, and in nothing better, (classes,)."""
        return predicted_worse(self.rose, self.fell, self.had_cases)

    def __bool__(self) -> bool:
        """Whether anything certainly moved."""
        return bool(self.rose.any() or self.fell.any() or self.shares.any())


def class_moves(before: Int64Array, after: Int64Array, *, certain: float) -> ClassMoves:
    """Return what certainly moved from some days to others.

    Args:
        before: labelled predictions by day, predicted and actual class, (days, classes, classes).
        after: the same of other days, at least one.
        certain: p-value that a certain change is below, for all confusions together, and for all
            shares.

    >>> usual = np.array([[[900, 20, 30], [50, 480, 20], [50, 0, 450]]] * 7)
    >>> confused = usual + [[-70, 0, 0], [70, 0, 0], [0, 0, 0]]
    >>> found = class_moves(usual, confused, certain=0.01)
    >>> found.rose[1].tolist(), found.worse.tolist(), found.shares.any().tolist()
    ([True, False, False], [True, True, False], False)
    """
    p_values, deviate = share_tests(before, after)
    found = np.zeros(p_values.shape, dtype=np.bool_)
    for predicted, actual in zip(*np.nonzero(p_values < certain), strict=True):
        sides = (taken_for(side, predicted, actual) for side in (before, after))
        p_value = by_days(*sides, component=Component.RECALL, tolerance=EQUIVALENCE)
        found[predicted, actual] = p_value * found.size < certain
    return ClassMoves(
        rose=found & (deviate > 0),
        fell=found & (deviate < 0),
        shares=_shares(before, after, certain),
        had_cases=np.asarray(before.any(axis=(0, 1))),
    )


def _shares(before: Int64Array, after: Int64Array, certain: float) -> BoolArray:
    """Return which shares of the actual classes certainly moved, (classes,)."""
    p_values, _ = share_tests(*(side.sum(axis=1)[..., None] for side in (before, after)))
    found = np.zeros(len(p_values), dtype=np.bool_)
    for actual in np.flatnonzero(p_values[:, 0] < certain).tolist():
        sides = (cases_of(side, actual) for side in (before, after))
        found[actual] = by_days(*sides, component=Component.CLASS_RATIO) * found.size < certain
    return found
