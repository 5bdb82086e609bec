"""What a threshold brings on days that it was not chosen on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.corrected_scores import actual_classes
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.out_of_sample import fitted_elsewhere, folds_of_days, ratio_interval
from monitor.metrics.possible_rates import possible_at_thresholds
from monitor.metrics.score_intervals import Interval
from monitor.metrics.threshold import best_threshold

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

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
        corrected: for wrong labels, taken to be as frequent at every score.
    """

    wanted: float
    threshold: float
    precision: Interval
    recall: Interval
    flagged: float
    corrected: bool = False


def expected_threshold(
    days: ScoreHistogram, wanted: float, errors: ErrorRates = NO_ERRORS
) -> ExpectedThreshold | None:
    """Choose the threshold that reaches a precision, and estimate what it will bring.

    For the estimate, the threshold is chosen on some days and counted on others, so that it is
    not optimistic.

    Args:
        days: recent labelled cases by score, (days, bins), in order of time.
        wanted: precision to reach, in (0, 1).
        errors: rates of wrong labels; of ranges, the threshold is chosen at the middle, and
            intervals hold at all ends.

    Returns:
        None with fewer than four days, where no threshold reaches the precision, where fewer
        than 100 labelled cases lie above it, where none of those chosen on other days flags
        a case, and where a class has no cases, corrected for wrong labels.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> days = ScoreHistogram(
    ...     positive=np.tile([10, 20, 70], (5, 1)), negative=np.tile([800, 80, 20], (5, 1)),
    ...     unlabelled=np.zeros((5, 3), dtype=np.int64))
    >>> found = expected_threshold(days, .7)
    >>> round(found.threshold, 3), round(found.precision.estimate, 3), found.recall.estimate
    (0.667, 0.778, 0.7)
    """
    objective = f"precision>={wanted}"
    errors = possible_at_thresholds(errors, days.sum().counts)
    folds = folds_of_days(days)
    choice = None if folds is None else best_threshold(days.sum(), objective, errors=errors)
    if folds is None or choice is None or choice.observed.predicted_positive < _FEWEST_FLAGGED:
        return None

    def threshold(cases: ScoreHistogram) -> float:
        found = best_threshold(cases, objective, errors=errors)
        return math.inf if found is None else found.threshold

    chosen = fitted_elsewhere(folds, threshold)

    def counted(rates: ErrorRates) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return true positives, flagged cases and actual positives of each fold."""
        found = []
        for least, fold in chosen:
            positive, negative = actual_classes(fold, rates).at_least
            at = int(np.searchsorted(fold.thresholds, least))
            found.append((positive[at], positive[at] + negative[at], positive[0]))
        tp, flagged, actual = np.array(found, dtype=np.float64).T
        return tp, flagged, actual

    if not counted(errors)[1].any():
        return None
    at_rates = [counted(rates) for rates in (errors, *errors.corners)]
    return ExpectedThreshold(
        wanted=wanted,
        threshold=choice.threshold,
        precision=_widest([ratio_interval(tp, flagged) for tp, flagged, _ in at_rates]),
        recall=_widest([ratio_interval(tp, actual) for tp, _, actual in at_rates]),
        flagged=float(choice.observed.predicted_positive / choice.observed.total),
        corrected=any(errors),
    )


def _widest(at_rates: list[Interval]) -> Interval:
    """Return the first estimate with the outermost limits, all within 0 and 1."""
    lower, upper = ([getattr(one, end) for one in at_rates] for end in ("lower", "upper"))
    estimate = min(max(at_rates[0].estimate, 0.0), 1.0)
    return Interval(estimate, max(min(lower), 0.0), min(max(upper), 1.0))
