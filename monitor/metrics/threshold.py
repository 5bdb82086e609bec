"""Choice of the threshold that is best for an objective at a class ratio.

Every bin edge of a score histogram is tried, with its counts carried to the class ratio.
The best by point estimate is chosen, and among equals the highest, which predicts the
fewest positives. The threshold is chosen and evaluated on the same cases, so that its value
is optimistic where they are few. `ThresholdChoice.certain` tells whether the whole interval
is within the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.metrics.confusion_summary import ScalarEstimate
from monitor.metrics.intervals import intervals
from monitor.metrics.objective import Limit, ThresholdObjective, parse_objective
from monitor.metrics.precision import precision_at
from monitor.metrics.rates import class_ratio as observed_class_ratio
from monitor.metrics.rates import recall
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray


class ThresholdChoice(NamedTuple):
    """The best threshold for an objective, with the expected outcomes.

    Attributes:
        threshold: predict positive where the score is at least this; ∞ where predicting
            no positives is best.
        objective: the objective as written.
        sought: name of the metric that the objective maximises or minimises.
        value: value of that metric at the class ratio.
        class_ratio: r0, positives per negative, that the threshold is chosen for.
        counts: outcomes expected at that class ratio, of as many cases as are labelled;
            fractional.
        observed: outcomes of the labelled cases at this threshold.
        precision: precision at the class ratio, with its 95 % interval.
        recall: recall, with its 95 % interval.
        limited: the metric that the objective bounds, at the class ratio, with its 95 %
            interval; None without a bound.
        certain: True where the whole interval is within the bound, False where only the
            point is; None without a bound.
    """

    threshold: float
    objective: str
    sought: str
    value: float
    class_ratio: float
    counts: ConfusionCounts
    observed: ConfusionCounts
    precision: ScalarEstimate
    recall: ScalarEstimate
    limited: ScalarEstimate | None = None
    certain: bool | None = None


def best_threshold(
    histogram: ScoreHistogram, objective: str, *, class_ratio: float | None = None
) -> ThresholdChoice | None:
    """Choose the best threshold for an objective at a class ratio.

    Args:
        histogram: labelled cases by score; one histogram, without axes before the bins.
        objective: one line of text, see `monitor.metrics.objective`.
        class_ratio: r0 that the threshold is chosen for, in (0, ∞); None for that of the
            labelled cases.

    Returns:
        The choice; None where no threshold fulfils the objective, or where a class has no
        labelled cases.

    Raises:
        UsageError: the text is not an objective.
        ValueError: the class ratio is out of range, or there is more than one histogram.

    Source:
        Kuhn & Johnson 2013, section 16.4 (alternate cutoffs); Elkan 2001
        (costs); Williams 2021 (another class ratio).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(
    ...     positive=[.95, .9, .7, .6, .3], negative=[.8, .4, .2, .1, .1])
    >>> choice = best_threshold(scores, "precision>=0.75")
    >>> print(choice.threshold, choice.value)
    0.6 0.8
    >>> best_threshold(scores, "precision>=0.75", class_ratio=.25).threshold
    0.9
    """
    if histogram.positive.ndim != 1:
        raise ValueError(
            f"best_threshold: one histogram is scanned, got shape {histogram.positive.shape}; "
            "merge them by sum()"
        )
    goal = parse_objective(objective)
    observed = histogram.counts
    odds = observed_class_ratio(observed[0]) if class_ratio is None else class_ratio
    expected = observed if class_ratio is None else at_class_ratio(observed, class_ratio)
    best = _best(goal, expected) if _has_both_classes(observed) else None
    if best is None:
        return None
    limited = _limited(goal.limit, expected[best], observed[best], float(odds))
    return ThresholdChoice(
        threshold=float(histogram.thresholds[best]),
        objective=goal.text,
        sought=goal.sought,
        value=float(goal.value(expected[best])),
        class_ratio=float(odds),
        counts=expected[best],
        observed=observed[best],
        precision=_precision(observed[best], float(odds)),
        recall=_recall(observed[best]),
        limited=limited,
        certain=_certain(goal.limit, limited),
    )


def at_class_ratio(counts: ConfusionCounts, class_ratio: ArrayLike) -> ConfusionCounts:
    """Return the outcomes expected of the same number of cases at another class ratio.

    Args:
        counts: outcomes of any shape.
        class_ratio: r0, positives per negative, in [0, ∞).

    Returns:
        Fractional counts with the same total, recall and false-positive rate; a class
        without cases stays empty.

    Raises:
        ValueError: a class ratio is NaN, negative or infinite.

    Source:
        Williams 2021, eq. 2.

    >>> at_class_ratio(ConfusionCounts(tp=40, fp=5, fn=10, tn=45), .25)
    ConfusionCounts(tp=16.0, fp=8.0, fn=4.0, tn=72.0)
    """
    odds = at_least_zero("at_class_ratio: class_ratio", class_ratio)
    share = odds / (1 + odds)
    positive = _factor(counts.total * share, counts.actual_positive)
    negative = _factor(counts.total * (1 - share), counts.actual_negative)
    return ConfusionCounts(
        tp=counts.tp * positive,
        fp=counts.fp * negative,
        fn=counts.fn * positive,
        tn=counts.tn * negative,
    )


def _factor(wanted: FloatArray, cases: CountArray) -> FloatArray:
    return np.where(np.equal(cases, 0), 0.0, ratio(wanted, cases))


def _has_both_classes(counts: ConfusionCounts) -> bool:
    return bool(counts.actual_positive.any() and counts.actual_negative.any())


def _best(goal: ThresholdObjective, counts: ConfusionCounts) -> int | None:
    """Index of the best threshold within the limit, the highest among equals."""
    merit = -goal.value(counts) if goal.smaller_is_better else goal.value(counts)
    if goal.limit:
        merit = np.where(goal.limit.holds(counts), merit, np.nan)
    if np.isnan(merit).all():
        return None
    return int(merit.size - 1 - np.nanargmax(merit[::-1]))


def _precision(counts: ConfusionCounts, class_ratio: float) -> ScalarEstimate:
    lower, upper = intervals(counts, "precision_at", class_ratio=class_ratio)
    value = precision_at(counts, class_ratio=class_ratio)
    return ScalarEstimate(float(value), float(lower), float(upper))


def _recall(counts: ConfusionCounts) -> ScalarEstimate:
    lower, upper = intervals(counts, "recall")
    return ScalarEstimate(float(recall(counts)), float(lower), float(upper))


def _limited(
    limit: Limit | None, expected: ConfusionCounts, observed: ConfusionCounts, class_ratio: float
) -> ScalarEstimate | None:
    """The bounded metric at the class ratio, with its interval from the labelled cases."""
    if limit is None:
        return None
    if limit.name == "precision":
        return _precision(observed, class_ratio)
    if limit.name != "predicted_positive_rate":
        lower, upper = intervals(observed, limit.name)
        return ScalarEstimate(float(limit.metric(observed)), float(lower), float(upper))
    # With both rates at their limits at once the interval is conservative.
    rates = [intervals(observed, name) for name in ("recall", "false_positive_rate")]
    ends = [
        float(class_ratio * true + false) / (1 + class_ratio)
        for true, false in zip(*rates, strict=True)
    ]
    return ScalarEstimate(float(limit.metric(expected)), *ends)


def _certain(limit: Limit | None, limited: ScalarEstimate | None) -> bool | None:
    if limit is None or limited is None:
        return None
    if limit.at_least:
        return bool(limited.lower >= limit.bound)
    return bool(limited.upper <= limit.bound)
