"""Choice of the threshold that is best for an objective at a class ratio.

Every bin edge of a score histogram is tried, with its counts carried to the class ratio.
The best by point estimate is chosen, and among equals the highest, which predicts the
fewest positives. The threshold is chosen and evaluated on the same cases, so that its value
is optimistic where they are few. `ThresholdChoice.certain` tells whether the whole interval
is within the bound.

Where labels have errors, the outcomes at each threshold are corrected as those of a window are
(`monitor.metrics.sampled`): of the cases on either side of it, the share of actual positives
follows from that of positive labels. That takes labels to be wrong at rates that depend on the
actual class alone, not on the score. Rates within ranges are taken at their middle for the choice,
and at all ends for the intervals, as far as the labels at all thresholds allow them. A threshold is
not chosen where cells lie below 0 before they are cut off there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from monitor.counts import ConfusionCounts
from monitor.metrics.confusion_summary import ScalarEstimate
from monitor.metrics.intervals import intervals
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.objective import Limit, ThresholdObjective, parse_objective
from monitor.metrics.possible_rates import none_below_zero, possible_at_thresholds
from monitor.metrics.precision import precision_at
from monitor.metrics.rates import class_ratio as observed_class_ratio
from monitor.metrics.rates import recall
from monitor.metrics.ratio import at_least_zero, ratio
from monitor.metrics.sampled import SampledCounts
from monitor.metrics.sampled import intervals as corrected_intervals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
        observed: outcomes of the labelled cases at this threshold, as labelled.
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
    histogram: ScoreHistogram,
    objective: str,
    *,
    class_ratio: float | ConfusionCounts | None = None,
    errors: ErrorRates = NO_ERRORS,
) -> ThresholdChoice | None:
    """Choose the best threshold for an objective at a class ratio.

    Args:
        histogram: labelled cases by score; one histogram, without axes before the bins.
        objective: one line of text, see `monitor.metrics.objective`.
        class_ratio: r0 that the threshold is chosen for, in (0, ∞); or outcomes as labelled, a
            scalar, whose class ratio it is, so that the interval of precision allows for the error
            of it; None for that of the labelled cases.
        errors: rates of wrong labels, of the scores and of outcomes given as `class_ratio`.

    Returns:
        The choice; None where no threshold fulfils the objective, where a class has no cases
        (`has_both_classes`), and where rates are undefined.

    Raises:
        UsageError: the text is not an objective.
        ValueError: the class ratio is out of range, or there is more than one histogram.

    Source:
        Kuhn & Johnson 2013, section 16.4 (alternate cutoffs); Elkan 2001
        (costs); Williams 2021 (another class ratio); Rogan & Gladen 1978 (wrong labels).

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
    if not errors.known:
        return None
    errors = possible_at_thresholds(errors, histogram.counts)
    outcomes = _Outcomes(histogram.counts, errors, class_ratio)
    counts = outcomes.counts
    every = [histogram.counts[0], *outcomes.given]
    if not all(has_both_classes(one, errors) for one in every):
        return None
    odds = outcomes.class_ratio
    expected = counts if class_ratio is None else at_class_ratio(counts, odds)
    best = _best(goal, expected, none_below_zero(outcomes.labelled, errors))
    if best is None:
        return None
    at = outcomes.take(best)
    limited = None if goal.limit is None else at.limited(goal.limit)
    return ThresholdChoice(
        threshold=float(histogram.thresholds[best]),
        objective=goal.text,
        sought=goal.sought,
        value=float(goal.value(expected[best])),
        class_ratio=odds,
        counts=expected[best],
        observed=at.labelled,
        precision=at.precision,
        recall=at.recall,
        limited=limited,
        certain=_certain(goal.limit, limited),
    )


def has_both_classes(labelled: ConfusionCounts, errors: ErrorRates = NO_ERRORS) -> bool:
    """Return whether there are cases of both classes, by labels corrected for wrong ones.

    Args:
        labelled: outcomes as labelled, a scalar.
        errors: rates of wrong labels, defined.

    Returns:
        False where there are no more labels of a class than wrong ones alone would give, at any
        end of the ranges of the rates.

    >>> few = ConfusionCounts(tp=1, fp=0, fn=0, tn=199)
    >>> has_both_classes(few), has_both_classes(few, ErrorRates(.01, .05))
    (True, False)
    """
    every = ConfusionCounts(tp=labelled.actual_positive, fp=labelled.actual_negative, fn=0, tn=0)
    ends = [SampledCounts.all_labelled(every, one).cases for one in (errors, *errors.corners)]
    return all(bool(one.tp > 0 and one.fp > 0) for one in ends)


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


def _best(
    goal: ThresholdObjective, counts: ConfusionCounts, possible: NDArray[np.bool_]
) -> int | None:
    """Index of the best of the possible thresholds within the limit, the highest among equals."""
    merit = -goal.value(counts) if goal.smaller_is_better else goal.value(counts)
    merit = np.where(possible, merit, np.nan)
    if goal.limit:
        merit = np.where(goal.limit.holds(counts), merit, np.nan)
    if np.isnan(merit).all():
        return None
    return int(merit.size - 1 - np.nanargmax(merit[::-1]))


class _Outcomes(NamedTuple):
    """Outcomes as labelled at thresholds, and what they are corrected for.

    Attributes:
        labelled: outcomes, one for each threshold or a scalar.
        errors: rates of wrong labels.
        wanted: the class ratio, or outcomes that have it; None for that of the outcomes.
    """

    labelled: ConfusionCounts
    errors: ErrorRates
    wanted: float | ConfusionCounts | None

    def take(self, at: int) -> _Outcomes:
        """Return those of one threshold."""
        return self._replace(labelled=self.labelled[at])

    @property
    def counts(self) -> ConfusionCounts:
        """The outcomes, corrected."""
        return SampledCounts.all_labelled(self.labelled, self.errors).cases

    @property
    def class_ratio(self) -> float:
        """Positives per negative that the threshold is chosen for."""
        if self.wanted is None:
            every = self.counts[0] if np.ndim(self.labelled.tp) else self.counts
            return float(observed_class_ratio(every))
        if isinstance(self.wanted, ConfusionCounts):
            return float(
                observed_class_ratio(SampledCounts.all_labelled(self.wanted, self.errors).cases)
            )
        return float(self.wanted)

    @property
    def given(self) -> tuple[ConfusionCounts, ...]:
        """Outcomes that have the class ratio; none where it is a number, or their own."""
        return (self.wanted,) if isinstance(self.wanted, ConfusionCounts) else ()

    @property
    def precision(self) -> ScalarEstimate:
        """Precision at the class ratio."""
        value = precision_at(self.counts, class_ratio=self.class_ratio)
        if self.wanted is None and any(self.errors):
            return self._estimate(value, "precision")
        return self._estimate(value, "precision_at")

    @property
    def recall(self) -> ScalarEstimate:
        """Recall."""
        return self._estimate(recall(self.counts), "recall")

    def limited(self, limit: Limit) -> ScalarEstimate:
        """Return the bounded metric at the class ratio."""
        if limit.name == "precision":
            return self.precision
        if limit.name != "predicted_positive_rate":
            return self._estimate(limit.metric(self.counts), limit.name)
        value = limit.metric(at_class_ratio(self.counts, self.class_ratio))
        return self._estimate(value, limit.name)

    def _estimate(self, value: FloatArray, metric: str) -> ScalarEstimate:
        """Return a metric with the widest of its limits at the ends of the rates."""
        limits = [
            self._replace(errors=corner)._interval(metric)  # noqa: SLF001  # of this class
            for corner in self.errors.corners
        ]
        lower, upper = np.min([each[0] for each in limits]), np.max([each[1] for each in limits])
        return ScalarEstimate(float(value), float(lower), float(upper))

    def _interval(self, metric: str) -> tuple[float, float]:
        """Return the limits of a metric at rates that are known."""
        if metric == "predicted_positive_rate":
            # With both rates at their limits at once the interval is conservative.
            rates = [self._interval(name) for name in ("recall", "false_positive_rate")]
            odds = self.class_ratio
            lower, upper = (
                (odds * tpr + fpr) / (1 + odds) for tpr, fpr in zip(*rates, strict=True)
            )
            return lower, upper
        if metric != "precision_at":
            return _limits(self.labelled, self.errors, metric)
        odds = self.class_ratio
        lower, upper = _limits(self.labelled, self.errors, metric, class_ratio=odds)
        value = float(precision_at(self.counts, class_ratio=odds))
        for outcomes in self.given:
            limits = _limits(outcomes, self.errors, "class_ratio")
            below, above = (abs(math.log(end / odds)) for end in limits)
            lower, upper = _moved(value, lower, -below), _moved(value, upper, above)
        return lower, upper


def _moved(value: float, limit: float, step: float) -> float:
    """Return a limit of precision that also allows for a step of the log of the class ratio.

    Both deviations add as squares (MOVER), on log-odds; as they are where precision is 0 or 1.
    """
    at, end = logit(value), logit(limit)
    if math.isfinite(at):
        return float(expit(at + math.copysign(math.hypot(end - at, step), step)))
    return float(expit(end + step))


def _limits(
    labelled: ConfusionCounts, errors: ErrorRates, metric: str, **given: float
) -> tuple[float, float]:
    """Return the limits of a metric at rates that are known."""
    if any(errors):
        lower, upper = corrected_intervals(
            SampledCounts.all_labelled(labelled, errors), metric, **given
        )
    else:
        lower, upper = intervals(labelled, metric, **given)
    return float(lower), float(upper)


def _certain(limit: Limit | None, limited: ScalarEstimate | None) -> bool | None:
    if limit is None or limited is None:
        return None
    if limit.at_least:
        return bool(limited.lower >= limit.bound)
    return bool(limited.upper <= limit.bound)
