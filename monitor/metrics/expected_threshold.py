"""What a threshold brings on days that it was not chosen on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.out_of_sample import fitted_elsewhere, folds_of_days, ratio_interval
from monitor.metrics.score_intervals import Interval
from monitor.metrics.threshold import best_threshold

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram

_FEWEST_FLAGGED = 100


class ExpectedThreshold(NamedTuple):
    """A threshold for a precision at the class ratio of recent cases.

    Attributes:
        wanted: the precision to reach.
        threshold: predict positive where the score is at least this: the one of highest recall
            among those that reach it.
        precision: out of sample, with its 95 % interval.
        recall: likewise.
        flagged: share of the labelled cases that it predicts positive, in sample.
    """

    wanted: float
    threshold: float
    precision: Interval
    recall: Interval
    flagged: float


def expected_threshold(days: ScoreHistogram, wanted: float) -> ExpectedThreshold | None:
    """Choose the threshold that reaches a precision, and estimate what it will bring.

    For the estimate, the threshold is chosen on some days and counted on others, so that it is
    not optimistic.

    Args:
        days: recent labelled cases by score, (days, bins), in order of time.
        wanted: precision to reach, in (0, 1).

    Returns:
        None with fewer than four days, where no threshold reaches the precision, where fewer
        than 100 labelled cases lie above it, or where none of those chosen on other days flags
        a case.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> days = ScoreHistogram(
    ...     positive=np.tile([10, 20, 70], (5, 1)), negative=np.tile([800, 80, 20], (5, 1)),
    ...     unlabelled=np.zeros((5, 3), dtype=np.int64))
    >>> found = expected_threshold(days, .7)
    >>> round(found.threshold, 3), round(found.precision.estimate, 3), found.recall.estimate
    (0.667, 0.778, 0.7)
    """
    objective = f"precision>={wanted}"
    folds = folds_of_days(days)
    choice = None if folds is None else best_threshold(days.sum(), objective)
    if folds is None or choice is None or choice.observed.predicted_positive < _FEWEST_FLAGGED:
        return None

    def threshold(cases: ScoreHistogram) -> float:
        found = best_threshold(cases, objective)
        return math.inf if found is None else found.threshold

    counted = [
        fold.counts[int(np.searchsorted(fold.thresholds, chosen))]
        for chosen, fold in fitted_elsewhere(folds, threshold)
    ]
    found, flagged, actual = (
        np.array([float(getattr(counts, name)) for counts in counted])
        for name in ("tp", "predicted_positive", "actual_positive")
    )
    if not flagged.any():
        return None
    return ExpectedThreshold(
        wanted=wanted,
        threshold=choice.threshold,
        precision=_within_one(ratio_interval(found, flagged)),
        recall=_within_one(ratio_interval(found, actual)),
        flagged=float(choice.observed.predicted_positive / choice.observed.total),
    )


def _within_one(found: Interval) -> Interval:
    return Interval(found.estimate, max(found.lower, 0.0), min(found.upper, 1.0))
