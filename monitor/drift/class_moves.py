"""Which confusions certainly moved by more than τ, and which shares of classes certainly moved.

`class_confusions` tests counts exactly, and takes the blocks of time as independent. Days are
not: part of a deviation carries over to the next day, and few days show little of their scatter.
What holds back a reference or starts a page is therefore certain by the model of days as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from monitor.counts import ConfusionCounts
from monitor.drift.class_confusions import share_tests
from monitor.drift.component_changes import Changes, changes
from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter, days_behind
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
        """Which classes are certainly predicted worse, and in nothing better, (classes,).

        Cases of another class are mistaken for it more often, or its own are recognised less
        often. Where the threshold of a class slides, the one becomes better as the other becomes
        worse. A class without a case before is predicted neither worse nor better than before: if
        it takes cases of another class, that one is recognised less often.
        """
        own = np.eye(len(self.rose), dtype=np.bool_)
        worse = np.where(own, self.fell, self.rose).any(axis=1)
        better = np.where(own, self.rose, self.fell).any(axis=1)
        return np.asarray(worse & ~better & self.had_cases)

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
        moved = _changes(*(taken_for(side, predicted, actual) for side in (before, after)))
        found[predicted, actual] = _beyond_tolerance(moved) * found.size < certain
    return ClassMoves(
        rose=found & (deviate > 0),
        fell=found & (deviate < 0),
        shares=_shares(before, after, certain),
        had_cases=np.asarray(before.any(axis=(0, 1))),
    )


def taken_for(matrix: Int64Array, predicted: int, actual: int) -> ConfusionCounts:
    """Return the cases of a class that are predicted as another (tp), and its others (fn).

    Args:
        matrix: by predicted and actual class, (..., classes, classes).
        predicted: number of the predicted class.
        actual: number of the actual one.
    """
    taken = matrix[..., predicted, actual]
    cases = matrix[..., :, actual].sum(axis=-1)
    return ConfusionCounts(tp=taken, fp=0, fn=cases - taken, tn=0)


def cases_of(matrix: Int64Array, actual: int) -> ConfusionCounts:
    """Return the cases of a class as positives (tp), and those of the others as negatives (tn).

    Args:
        matrix: by predicted and actual class, (..., classes, classes).
        actual: number of the class.
    """
    own = matrix[..., :, actual].sum(axis=-1)
    return ConfusionCounts(tp=own, fp=0, fn=0, tn=matrix.sum(axis=(-2, -1)) - own)


def _shares(before: Int64Array, after: Int64Array, certain: float) -> BoolArray:
    """Return which shares of the actual classes certainly moved, (classes,)."""
    p_values, _ = share_tests(*(side.sum(axis=1)[..., None] for side in (before, after)))
    found = np.zeros(len(p_values), dtype=np.bool_)
    for actual in np.flatnonzero(p_values[:, 0] < certain).tolist():
        moved = _changes(*(cases_of(side, actual) for side in (before, after)))
        p_value = 2 * float(ndtr(-abs(moved.z[Component.CLASS_RATIO])))
        found[actual] = p_value * found.size < certain
    return found


def _changes(before: ConfusionCounts, after: ConfusionCounts) -> Changes:
    """Return the changes of the components, with errors of rows and of days."""
    behind = (days_behind(side.total, 1) for side in (before, after))
    between = DayScatter.learn([before, after]).between(*behind)
    return changes(before.sum(), after.sum(), between=between)


def _beyond_tolerance(found: Changes) -> float:
    """Return the p-value of a change of recall by more than τ, two-sided."""
    beyond = np.maximum(np.abs(found.change) - EQUIVALENCE, 0.0)
    return 2 * float(ndtr(-replace(found, change=beyond).z[Component.RECALL]))
