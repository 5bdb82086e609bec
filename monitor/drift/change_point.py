"""When recall and the false-positive rate changed: a moment with its interval.

The hours are divided at each of them in turn, and each part has rates of its own. The likeliest
division is the change point. Divisions that are hardly less likely make up its interval. Rows
of a day are not independent: the likelihood is divided by their dispersion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import FloatArray

_LEVEL = 0.95
_LOSS = -2 * float(np.log(1 - np.sqrt(_LEVEL)))
"""Loss of twice the likelihood within which the change lies in 95 % of cases."""


class ChangePoint(NamedTuple):
    """A change point, as numbers of steps.

    Attributes:
        step: first step after the change.
        earliest: lower limit of its 95 % interval.
        latest: upper limit of its 95 % interval.
    """

    step: int
    earliest: int
    latest: int


def change_point(
    steps: ConfusionCounts,
    before: ConfusionCounts,
    *,
    recall_dispersion: float = 1.0,
    false_positive_dispersion: float = 1.0,
) -> ChangePoint | None:
    """Return where the rates of some steps of time changed.

    Args:
        steps: outcomes of successive steps, one axis.
        before: outcomes from before the first step, a scalar; they count to the first part.
        recall_dispersion: variance of recall over that of independent rows, at least 1.
        false_positive_dispersion: the same of the false-positive rate.

    Returns:
        The likeliest change, whether it is certain or not; None without outcomes.

    Source:
        Siegmund 1988 (intervals of change points by likelihood).

    >>> steps = ConfusionCounts(tp=[80] * 9 + [69] * 5, fn=[20] * 9 + [31] * 5, fp=50, tn=850)
    >>> change_point(steps, ConfusionCounts(tp=800, fp=500, fn=200, tn=8500))
    ChangePoint(step=9, earliest=8, latest=10)
    """
    positive = np.stack([steps.tp, steps.fn], axis=-1).astype(np.float64)
    negative = np.stack([steps.fp, steps.tn], axis=-1).astype(np.float64)
    if not len(positive) or not (positive.sum() + negative.sum()):
        return None
    likelihood = (
        _likelihood(positive, np.array([before.tp, before.fn])) / recall_dispersion
        + _likelihood(negative, np.array([before.fp, before.tn])) / false_positive_dispersion
    )
    within = np.flatnonzero(2 * (likelihood.max() - likelihood) <= _LOSS)
    return ChangePoint(int(likelihood.argmax()), int(within[0]), int(within[-1]))


def _likelihood(cases: FloatArray, before: FloatArray) -> FloatArray:
    """Log-likelihood of cases divided at each step, (steps,); the cells along the last axis."""
    earlier = np.cumsum(cases, axis=0) - cases + before
    later = before + cases.sum(axis=0) - earlier
    return np.asarray(_part(earlier) + _part(later))


def _part(cells: FloatArray) -> FloatArray:
    return np.asarray(xlogy(cells, cells).sum(-1) - xlogy(cells.sum(-1), cells.sum(-1)))
