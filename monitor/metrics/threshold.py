"""Which threshold serves an objective best at today's class ratio.

The scan tries every bin edge of a score histogram, carries its counts to the
class ratio asked for, and takes the best by point estimate; of equals the
highest, which flags fewest. The choice is made on the cases it is judged by:
where they are few, expect less of it than it shows. Whether a bound is kept for
certain is said beside it.
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
    """The best threshold and what it would give.

    Attributes:
        threshold: predict positive where the score is at least this; ∞ means
            that flagging nothing serves the objective best.
        objective: as it was written.
        sought: name of what the objective maximises, or minimises.
        value: of it, at the class ratio.
        class_ratio: r0, positives per negative, that all this is about.
        counts: outcomes to expect at that class ratio among as many cases as
            are labelled; fractional.
        observed: outcomes of the labelled cases at this threshold.
        precision: at the class ratio, with its 95 % interval.
        recall: with its 95 % interval.
        limited: what the objective bounds, at the class ratio, with its 95 %
            interval; None where it bounds nothing.
        certain: the whole interval keeps the bound, and not only the point;
            None where there is no bound.
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
    """The threshold that serves the objective best at a class ratio.

    Args:
        histogram: labelled cases by score; one, without axes before the bins.
        objective: a line of text, see `objective`.
        class_ratio: r0 that the threshold is to work at, in (0, ∞); None
            takes that of the labelled cases.

    Returns:
        The choice; None where no threshold fulfils the objective, or where a
        class has no labelled cases.

    Raises:
        UsageError: the objective cannot be read.
        ValueError: the class ratio is out of its range, or there is more
            than one histogram.

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
    place = _best(goal, expected) if _has_both_classes(observed) else None
    if place is None:
        return None
    limited = _limited(goal.limit, expected[place], observed[place], float(odds))
    return ThresholdChoice(
        threshold=float(histogram.thresholds[place]),
        objective=goal.text,
        sought=goal.sought,
        value=float(goal.value(expected[place])),
        class_ratio=float(odds),
        counts=expected[place],
        observed=observed[place],
        precision=_precision(observed[place], float(odds)),
        recall=_recall(observed[place]),
        limited=limited,
        certain=_certain(goal.limit, limited),
    )


def at_class_ratio(counts: ConfusionCounts, class_ratio: ArrayLike) -> ConfusionCounts:
    """Outcomes to expect of as many cases at another class ratio.

    Args:
        counts: outcomes of any shape.
        class_ratio: r0, positives per negative, in [0, ∞).

    Returns:
        Fractional counts of the same total, recall and false-positive rate.
        A class without cases stays empty.

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


def _factor(wanted: FloatArray, there: CountArray) -> FloatArray:
    return np.where(np.equal(there, 0), 0.0, ratio(wanted, there))


def _has_both_classes(counts: ConfusionCounts) -> bool:
    return bool(counts.actual_positive.any() and counts.actual_negative.any())


def _best(goal: ThresholdObjective, counts: ConfusionCounts) -> int | None:
    """Place of the best allowed threshold, the highest of equals."""
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
    """What is bounded, at the class ratio, with its interval from the labelled cases."""
    if limit is None:
        return None
    if limit.name == "precision":
        return _precision(observed, class_ratio)
    if limit.name != "predicted_positive_rate":
        lower, upper = intervals(observed, limit.name)
        return ScalarEstimate(float(limit.metric(observed)), float(lower), float(upper))
    # Both rates at once at their limits: rather too wide.
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
