"""What a choice made on some days brings on others: folds of neighbouring days.

Whatever is fitted to cases, as a threshold or a calibration, looks better on these cases than on
new ones. Here it is fitted to all folds but one and measured on that one, each in turn. A fold
is a run of neighbouring days, since these resemble each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.special import stdtrit

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from monitor.metrics.ratio import FloatArray

_Fitted = TypeVar("_Fitted")

MOST_FOLDS = 10
FEWEST_FOLDS = 4
"""With fewer, the scatter between folds is not known."""


def folds_of_days(days: ScoreHistogram) -> ScoreHistogram | None:
    """Merge neighbouring days into folds of about equally many cases.

    Args:
        days: labelled cases by score, (days, bins), in order of time.

    Returns:
        At most ten folds, each with labelled cases, (folds, bins); None with fewer than four
        days that have labelled cases.

    >>> day = ScoreHistogram.from_scores(positive=[.9], negative=[.2])
    >>> twelve = ScoreHistogram(
    ...     positive=np.tile(day.positive, (12, 1)), negative=np.tile(day.negative, (12, 1)),
    ...     unlabelled=np.zeros((12, 1000), dtype=np.int64))
    >>> folds_of_days(twelve).negative.sum(axis=-1).tolist()
    [1, 1, 2, 1, 1, 1, 1, 2, 1, 1]
    """
    cases = (days.positive + days.negative).sum(axis=-1)
    held = np.flatnonzero(cases)
    if len(held) < FEWEST_FOLDS:
        return None
    folds = min(len(held), MOST_FOLDS)
    middle = (np.cumsum(cases[held]) - cases[held] / 2) * folds / cases.sum()
    fold = np.minimum(middle.astype(np.int64), folds - 1)
    _, first = np.unique(fold, return_index=True)
    if len(first) < FEWEST_FOLDS:
        first = np.arange(folds) * len(held) // folds
    return ScoreHistogram(
        positive=np.add.reduceat(days.positive[held], first),
        negative=np.add.reduceat(days.negative[held], first),
        unlabelled=np.add.reduceat(days.unlabelled[held], first),
    )


def ratio_interval(
    part: FloatArray | NDArray[np.int64],
    whole: FloatArray | NDArray[np.int64],
    level: float = 0.95,
) -> Interval:
    """Return the ratio of two sums over folds, with its interval between folds.

    Args:
        part: what is counted in each fold, (folds,).
        whole: what it is a share of, (folds,).
        level: coverage, in (0, 1).

    Returns:
        The ratio; its limits are of the delete-one-fold jackknife with Student's t. NaN where
        all of `whole`, or all but one fold of it, is 0.

    Source:
        Efron 1982 (jackknife); Cochran 1977, section 6.9 (ratios).

    >>> ratio_interval(np.array([1., 2., 1., 2.]), np.array([4., 4., 4., 4.])).estimate
    0.375
    """
    estimate = _ratio(float(part.sum()), float(whole.sum()))
    left_out = [
        _ratio(float(part.sum() - p), float(whole.sum() - w))
        for p, w in zip(part, whole, strict=True)
    ]
    folds, values = len(left_out), np.array(left_out)
    spread = (folds - 1) / folds * float(((values - values.mean()) ** 2).sum())
    half = float(stdtrit(folds - 1, (1 + level) / 2)) * spread**0.5
    return Interval(estimate, estimate - half, estimate + half)


def fitted_elsewhere(
    folds: ScoreHistogram, fit: Callable[[ScoreHistogram], _Fitted]
) -> list[tuple[_Fitted, ScoreHistogram]]:
    """Return each fold with what is fitted to all others.

    Args:
        folds: labelled cases by score, (folds, bins).
        fit: fits one histogram.
    """
    whole = folds.sum()
    rows = zip(folds.positive, folds.negative, folds.unlabelled, strict=True)
    each = [ScoreHistogram(positive=p, negative=n, unlabelled=u) for p, n, u in rows]
    return [(fit(_without(whole, fold)), fold) for fold in each]


def _without(whole: ScoreHistogram, fold: ScoreHistogram) -> ScoreHistogram:
    return ScoreHistogram(
        positive=whole.positive - fold.positive,
        negative=whole.negative - fold.negative,
        unlabelled=whole.unlabelled - fold.unlabelled,
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
