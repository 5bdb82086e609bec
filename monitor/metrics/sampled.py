"""Metrics where labels are a sample, such as all predicted positives and few others.

Recall, false-positive rate and prevalence of the labelled cases alone are then strongly
biased (verification bias). Scaling each stratum of labels, predicted positives and predicted
negatives, to its number of predictions removes the bias (Begg & Greenes 1983). The
intervals need the labelled counts and the numbers of predictions: weighted sums do not show
how few labels there are.

All metrics are functions of three independent proportions:

    v   share of positives among the labelled predicted positives (precision)
    w   share of positives among the labelled predicted negatives
    q   share of predicted positives among all predictions

Where labels have errors, v and w are those of `label_errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.metrics.effective_cases import effective
from monitor.metrics.intervals import METRICS, MetricMethods
from monitor.metrics.intervals import intervals as unsampled_intervals
from monitor.metrics.label_errors import true_proportion, true_share
from monitor.metrics.mover import Proportion, mover, proportion
from monitor.metrics.proportions import wilson_or_jeffreys
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from monitor.counts import CountArray
    from monitor.metrics.label_errors import ErrorRates
    from monitor.metrics.log_odds import LogOdds
    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


class SampledCounts:
    """Labelled outcomes, and the numbers of predictions that they are a sample of.

    Within the predicted positives, and within the predicted negatives, the labelled cases
    must be a random sample. Where they are drawn with unequal probabilities, give for each
    stratum the weighted shares times the effective number of labels (squared sum of the
    weights over the sum of their squares).

    Args:
        labelled: outcomes of the labelled cases, any shape.
        predicted_positive: number of all predictions called positive, labelled or not;
            same shape.
        predicted_negative: number of all predictions called negative; same shape.
        false_positive: probability that the label of an actual negative is 1; broadcasts.
        false_negative: probability that the label of an actual positive is 0; broadcasts.
        false_positive_below: by how much `false_positive` may be lower; broadcasts.
        false_positive_above: by how much it may be higher.
        false_negative_below: by how much `false_negative` may be lower.
        false_negative_above: by how much it may be higher.

    Raises:
        ValueError: a stratum has more labels than predictions, or a rate of wrong labels is
            negative, or both rates add up to 1 or more.

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> counts.expected
    ConfusionCounts(tp=80.0, fp=20.0, fn=200.0, tn=9800.0)
    """

    __slots__ = (
        "false_positive",
        "labelled",
        "left",
        "margins",
        "predicted_negative",
        "predicted_positive",
    )

    def __init__(
        self,
        *,
        labelled: ConfusionCounts,
        predicted_positive: ArrayLike,
        predicted_negative: ArrayLike,
        false_positive: ArrayLike = 0.0,
        false_negative: ArrayLike = 0.0,
        false_positive_below: ArrayLike = 0.0,
        false_positive_above: ArrayLike = 0.0,
        false_negative_below: ArrayLike = 0.0,
        false_negative_above: ArrayLike = 0.0,
    ) -> None:
        self.labelled = labelled
        self.false_positive = np.asarray(false_positive, dtype=np.float64)
        self.left = 1 - self.false_positive - np.asarray(false_negative, dtype=np.float64)
        self.margins = (
            (-np.asarray(false_positive_below, float), np.asarray(false_positive_above, float)),
            (-np.asarray(false_negative_below, float), np.asarray(false_negative_above, float)),
        )
        if (
            not ((self.left > 0) & (self.left + self.false_positive <= 1)).all()
            or (self.false_positive < 0).any()
        ):
            raise ValueError(
                "SampledCounts: rates of wrong labels must be at least 0 and add up to less than "
                f"1, got {np.asarray(false_positive).tolist()} and "
                f"{np.asarray(false_negative).tolist()}"
            )
        self.predicted_positive = np.asarray(predicted_positive)
        self.predicted_negative = np.asarray(predicted_negative)
        for name in ("predicted_positive", "predicted_negative"):
            labels, predictions = getattr(labelled, name), getattr(self, name)
            if not (predictions >= labels).all():
                raise ValueError(
                    f"SampledCounts: {name} must be at least its labels, got "
                    f"{predictions.tolist()} predictions for {labels.tolist()} labels"
                )

    @classmethod
    def all_labelled(cls, labelled: ConfusionCounts, errors: ErrorRates) -> Self:
        """Return outcomes of which every one has a label, some of them wrong.

        Args:
            labelled: outcomes as labelled, any shape.
            errors: rates of wrong labels, defined.
        """
        return cls(
            labelled=labelled,
            predicted_positive=labelled.predicted_positive,
            predicted_negative=labelled.predicted_negative,
            **errors._asdict(),
        )

    @property
    def has_errors(self) -> bool:
        """True if labels have errors."""
        return bool((self.left < 1).any())

    @property
    def corners(self) -> tuple[SampledCounts, ...]:
        """The same with the rates at the ends of their ranges; itself where they are known."""
        if not any(end.any() for ends in self.margins for end in ends):
            return (self,)
        false_negative = 1 - self.left - self.false_positive
        return tuple(
            SampledCounts(
                labelled=self.labelled,
                predicted_positive=self.predicted_positive,
                predicted_negative=self.predicted_negative,
                false_positive=np.maximum(self.false_positive + one, 0.0),
                false_negative=np.maximum(false_negative + other, 0.0),
            )
            for one in self.margins[0]
            for other in self.margins[1]
        )

    @property
    def cases(self) -> ConfusionCounts:
        """Outcomes of the labelled cases, corrected for wrong labels."""
        if not self.has_errors:
            return self.labelled
        called, passed = self.labelled.predicted_positive, self.labelled.predicted_negative
        tp = np.nan_to_num(self._true(ratio(self.labelled.tp, called))) * called
        fn = np.nan_to_num(self._true(ratio(self.labelled.fn, passed))) * passed
        return ConfusionCounts(tp=tp, fp=called - tp, fn=fn, tn=passed - fn)

    def _true(self, share: FloatArray) -> FloatArray:
        return true_share(share, self.false_positive, self.left)

    @property
    def expected(self) -> ConfusionCounts:
        """Outcomes expected of all predictions, fractional.

        A stratum without labels is 0 here; `known` is False for it.
        """
        cases = self.cases
        flagged = np.nan_to_num(ratio(self.predicted_positive, cases.predicted_positive))
        passed = np.nan_to_num(ratio(self.predicted_negative, cases.predicted_negative))
        return ConfusionCounts(
            tp=cases.tp * flagged, fp=cases.fp * flagged, fn=cases.fn * passed, tn=cases.tn * passed
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """True where both strata have labels; elsewhere at most precision is identified."""
        cases = self.labelled
        return (cases.predicted_positive > 0) & (cases.predicted_negative > 0)


def estimate(
    counts: SampledCounts, metric: str, *, class_ratio: ArrayLike | None = None
) -> FloatArray:
    """Estimate a metric of all predictions from the sample that is labelled.

    Args:
        counts: labelled outcomes and all predictions, any shape.
        metric: name of a share of cases such as `recall`, `class_ratio`,
            `log_likelihood_ratio`, `balanced_precision` or `precision_at`: any metric of
            `monitor.metrics.intervals.METRICS` with a scale.
        class_ratio: argument of `precision_at`, and of no other metric.

    Returns:
        The metric in the shape of the counts; NaN where it is undefined, and where a
        stratum that the metric needs has no labels.

    Raises:
        ValueError: the metric is none of these.
        TypeError: the class ratio is missing for `precision_at`, or given for another
            metric.

    Source:
        Begg & Greenes 1983.

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> print(estimate(counts, "recall").round(4))
    0.2857
    """
    methods, scale = _known(metric, class_ratio)
    if scale.of_one_predicted_class:
        return methods.value(counts.cases)
    given = {} if class_ratio is None else {"class_ratio": class_ratio}
    value = methods.value(counts.expected, **given)
    return np.where(counts.known, value, np.nan)[()]


def intervals(
    counts: SampledCounts,
    metric: str,
    level: float = 0.95,
    *,
    class_ratio: ArrayLike | None = None,
    dispersion: ArrayLike = 1.0,
) -> Interval:
    """Return the lower and upper confidence limit of a metric under sampled labels.

    Args:
        counts: labelled outcomes and all predictions, any shape.
        metric: as for `estimate`.
        level: coverage, in (0, 1).
        class_ratio: argument of `precision_at`, and of no other metric.
        dispersion: variance over that of independent cases, at least 1; broadcasts
            against the counts.

    Returns:
        Lower and upper limit, each in the shape of the counts; NaN where a stratum that
        the metric needs has no labels.

    Raises:
        ValueError: the metric has no such interval, or the level or the dispersion is out
            of range.
        TypeError: the class ratio is missing for `precision_at`, or given for another
            metric.

    Source:
        Begg & Greenes 1983; MOVER (Zou & Donner 2008) on the logit scale at
        (x + 1/2) / (n + 1), with the wider of Wilson's and Jeffreys' limits; where labels have
        errors, limits as in `label_errors`, and where their rates lie within ranges, the
        widest of those at the ends. With Wilson's
        alone, the coverage of recall is 90 % where few labelled false negatives are
        expected (`tests/benchmarks/interval_coverage.py`).

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> lower, upper = intervals(counts, "recall")
    >>> print(lower.round(4), upper.round(4))
    0.1003 0.6599
    """
    _, scale = _known(metric, class_ratio)
    if scale.of_one_predicted_class and not counts.has_errors:
        return unsampled_intervals(counts.labelled, metric, level, dispersion=dispersion)
    if not 0 < level < 1:
        raise ValueError(f"intervals: level must lie in (0, 1), got {level!r}")
    limits = [
        mover(
            lambda v, q, w: scale.value((q * v, q * (1 - v), (1 - q) * w, (1 - q) * (1 - w))),
            *_strata(corner, level, dispersion),
        )
        for corner in counts.corners
    ]
    lower = np.min([low for low, _ in limits], axis=0)
    upper = np.max([high for _, high in limits], axis=0)
    odds = 1 if class_ratio is None else class_ratio
    shift = np.log(at_least_zero("precision_at: class_ratio", odds))
    points = [estimate(one, metric, class_ratio=class_ratio) for one in (counts, *counts.corners)]
    return (
        np.fmin.reduce([scale.back(lower + shift), *points]),
        np.fmax.reduce([scale.back(upper + shift), *points]),
    )


def _strata(
    counts: SampledCounts, level: float, dispersion: ArrayLike
) -> tuple[Proportion, Proportion, Proportion]:
    """The proportions v, q and w, each with its inner point as point."""
    labelled = effective(counts.labelled, dispersion)
    flagged = np.true_divide(counts.predicted_positive, dispersion)
    everything = flagged + np.true_divide(counts.predicted_negative, dispersion)
    found = (
        _labelled(counts, labelled.tp, labelled.predicted_positive, level),
        proportion(flagged, everything, level, wilson_or_jeffreys),
        _labelled(counts, labelled.fn, labelled.predicted_negative, level),
    )
    v, q, w = (each._replace(point=each.inner) for each in found)
    return v, q, w


def _labelled(
    counts: SampledCounts, positive: CountArray, labels: CountArray, level: float
) -> Proportion:
    measured = proportion(positive, labels, level, wilson_or_jeffreys)
    if not counts.has_errors:
        return measured
    return true_proportion(measured, labels, counts.false_positive, counts.left)


def _known(metric: str, class_ratio: ArrayLike | None) -> tuple[MetricMethods, LogOdds]:
    """Return the methods of a metric and its scale, after checking the class ratio."""
    methods = METRICS.get(metric)
    if methods is None or methods.scale is None:
        names = ", ".join(name for name, row in METRICS.items() if row.scale is not None)
        raise ValueError(f"sampled: no such metric, got {metric!r}; known are {names}")
    if (class_ratio is not None) != bool(methods.parameters):
        raise TypeError(f"sampled: precision_at takes a class ratio, nothing else, got {metric!r}")
    return methods, methods.scale
