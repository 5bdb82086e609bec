"""Metrics where labels are a sample: all flagged cases reviewed, few of the others.

Recall, false-positive rate and prevalence from the labelled cases alone are
then wrong by far (verification bias). They are right again once each stratum
of labels, predicted positive and predicted negative, is blown up to the
number of predictions it stands for (Begg & Greenes 1983). Their intervals
need the labelled counts AND the predictions: sums of weights hide how few
labels there are.

Three independent proportions carry all of it:

    v   share of positives among the labelled predicted positives (precision)
    w   share of positives among the labelled predicted negatives
    q   share of predicted positives among all predictions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from monitor.counts import ConfusionCounts
from monitor.metrics.intervals import effective
from monitor.metrics.intervals import intervals as unsampled_intervals
from monitor.metrics.mover import Proportion, mover, proportion
from monitor.metrics.precision import (
    balanced_precision,
    log_likelihood_ratio,
    precision,
    precision_at,
)
from monitor.metrics.proportions import wilson_or_jeffreys
from monitor.metrics.rates import class_ratio as observed_class_ratio
from monitor.metrics.rates import false_positive_rate, prevalence, recall
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from monitor.counts import CountArray
    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


class SampledCounts:
    """Labelled outcomes and the predictions that they are a sample of.

    Within the predicted positives, and within the predicted negatives, the
    labelled cases must be drawn at random. Where they were drawn with unequal
    probabilities, give each stratum's weighted shares times its effective
    number of labels (sum of weights squared over sum of squared weights).

    Args:
        labelled: outcomes of the labelled cases, any shape.
        predicted_positive: all cases that were called positive, labelled or not.
        predicted_negative: all cases that were called negative.

    Raises:
        ValueError: a stratum has more labels than predictions.

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> counts.expected
    ConfusionCounts(tp=80.0, fp=20.0, fn=200.0, tn=9800.0)
    """

    __slots__ = ("labelled", "predicted_negative", "predicted_positive")

    def __init__(
        self,
        *,
        labelled: ConfusionCounts,
        predicted_positive: ArrayLike,
        predicted_negative: ArrayLike,
    ) -> None:
        self.labelled = labelled
        self.predicted_positive = np.asarray(predicted_positive)
        self.predicted_negative = np.asarray(predicted_negative)
        for name in ("predicted_positive", "predicted_negative"):
            labels, predictions = getattr(labelled, name), getattr(self, name)
            if not (predictions >= labels).all():
                raise ValueError(
                    f"SampledCounts: {name} must be at least its labels, got "
                    f"{predictions.tolist()} predictions for {labels.tolist()} labels"
                )

    @property
    def expected(self) -> ConfusionCounts:
        """Outcomes of all predictions, were the rest like the labelled; fractional.

        A stratum without labels counts as nothing here: see `known`.
        """
        cases = self.labelled
        flagged = np.nan_to_num(ratio(self.predicted_positive, cases.predicted_positive))
        passed = np.nan_to_num(ratio(self.predicted_negative, cases.predicted_negative))
        return ConfusionCounts(
            tp=cases.tp * flagged, fp=cases.fp * flagged, fn=cases.fn * passed, tn=cases.tn * passed
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether both strata have labels, without which precision alone is known."""
        cases = self.labelled
        return (cases.predicted_positive > 0) & (cases.predicted_negative > 0)


def estimate(
    counts: SampledCounts, metric: str, *, class_ratio: ArrayLike | None = None
) -> FloatArray:
    """A metric of all predictions, out of the sample of them that is labelled.

    Args:
        counts: labelled outcomes and all predictions, any shape.
        metric: `precision`, `recall`, `false_positive_rate`, `prevalence`,
            `class_ratio`, `log_likelihood_ratio`, `balanced_precision` or
            `precision_at`.
        class_ratio: as `precision_at` takes it; for no other metric.

    Returns:
        The metric in the counts' shape; NaN where it is undefined, and but
        for precision where a stratum has no labels.

    Raises:
        ValueError: the metric is none of these.
        TypeError: a class ratio is missing, or given where none is taken.

    Source:
        Begg & Greenes 1983.

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> print(estimate(counts, "recall").round(4))
    0.2857
    """
    parameters = _parameters(metric, class_ratio)
    if metric == "precision":
        return precision(counts.labelled)
    value = _SCALES[metric].metric(counts.expected, **parameters)
    return np.where(counts.known, value, np.nan)[()]


def intervals(
    counts: SampledCounts,
    metric: str,
    level: float = 0.95,
    *,
    class_ratio: ArrayLike | None = None,
    dispersion: ArrayLike = 1.0,
) -> Interval:
    """Lower and upper confidence limit of a metric under sampled labels.

    Args:
        counts: labelled outcomes and all predictions, any shape.
        metric: as in `estimate`.
        level: coverage, in (0, 1).
        class_ratio: as `precision_at` takes it; for no other metric.
        dispersion: how many times the variance of independent cases, at
            least 1; broadcasts against the counts.

    Returns:
        Lower and upper limit, each in the counts' shape; NaN where a stratum
        that the metric needs has no labels.

    Raises:
        ValueError: the metric is none of these; the level or the dispersion
            is out of range.
        TypeError: a class ratio is missing, or given where none is taken.

    Source:
        Begg & Greenes 1983; MOVER (Zou & Donner 2008) on the logit scale at
        (x + 1/2) / (n + 1), with the wider of Wilson's and Jeffreys' limits:
        with Wilson's alone recall is covered at 90 % where a labelled miss
        is hardly expected (`tests/benchmarks/interval_coverage.py`).

    >>> counts = SampledCounts(
    ...     labelled=ConfusionCounts(tp=80, fp=20, fn=2, tn=98),
    ...     predicted_positive=100, predicted_negative=10_000)
    >>> lower, upper = intervals(counts, "recall")
    >>> print(lower.round(4), upper.round(4))
    0.1003 0.6599
    """
    parameters = _parameters(metric, class_ratio)
    if metric == "precision":
        return unsampled_intervals(counts.labelled, metric, level, dispersion=dispersion)
    if not 0 < level < 1:
        raise ValueError(f"intervals: level must lie in (0, 1), got {level!r}")
    scale = _SCALES[metric]
    lower, upper = mover(scale.function, *_strata(counts, level, dispersion))
    shift = np.log(at_least_zero("precision_at: class_ratio", parameters.get("class_ratio", 1)))
    point = estimate(counts, metric, class_ratio=class_ratio)
    return np.fmin(scale.back(lower + shift), point), np.fmax(scale.back(upper + shift), point)


class _Scale(NamedTuple):
    """A metric, its function of v, q and w on a scale without bounds, and the way back."""

    metric: Callable[..., FloatArray]
    function: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    back: Callable[[FloatArray], FloatArray]


def _logit_recall(v: FloatArray, q: FloatArray, w: FloatArray) -> FloatArray:
    return np.log(q * v / ((1 - q) * w))


def _logit_false_positive_rate(v: FloatArray, q: FloatArray, w: FloatArray) -> FloatArray:
    return np.log(q * (1 - v) / ((1 - q) * (1 - w)))


def _log_class_ratio(v: FloatArray, q: FloatArray, w: FloatArray) -> FloatArray:
    return np.log((q * v + (1 - q) * w) / (q * (1 - v) + (1 - q) * (1 - w)))


def _log_likelihood_ratio(v: FloatArray, q: FloatArray, w: FloatArray) -> FloatArray:
    return np.log(v / (1 - v)) - _log_class_ratio(v, q, w)


_SCALES = {
    "recall": _Scale(recall, _logit_recall, expit),
    "false_positive_rate": _Scale(false_positive_rate, _logit_false_positive_rate, expit),
    "prevalence": _Scale(prevalence, _log_class_ratio, expit),
    "class_ratio": _Scale(observed_class_ratio, _log_class_ratio, np.exp),
    "log_likelihood_ratio": _Scale(log_likelihood_ratio, _log_likelihood_ratio, np.positive),
    "balanced_precision": _Scale(balanced_precision, _log_likelihood_ratio, expit),
    "precision_at": _Scale(precision_at, _log_likelihood_ratio, expit),
}


def _strata(
    counts: SampledCounts, level: float, dispersion: ArrayLike
) -> tuple[Proportion, Proportion, Proportion]:
    """The proportions v, q and w, each taken at its inner point."""
    labelled = effective(counts.labelled, dispersion)
    flagged = np.true_divide(counts.predicted_positive, dispersion)
    everything = flagged + np.true_divide(counts.predicted_negative, dispersion)
    return (
        _inner(labelled.tp, labelled.predicted_positive, level),
        _inner(flagged, everything, level),
        _inner(labelled.fn, labelled.predicted_negative, level),
    )


def _inner(successes: CountArray, trials: CountArray, level: float) -> Proportion:
    measured = proportion(successes, trials, level, wilson_or_jeffreys)
    return measured._replace(point=measured.inner)


def _parameters(metric: str, class_ratio: ArrayLike | None) -> dict[str, ArrayLike]:
    if metric != "precision" and metric not in _SCALES:
        known = ", ".join(["precision", *_SCALES])
        raise ValueError(f"sampled: no such metric, got {metric!r}; known are {known}")
    if (class_ratio is not None) != (metric == "precision_at"):
        raise TypeError(f"sampled: precision_at takes a class ratio, nothing else, got {metric!r}")
    return {} if class_ratio is None else {"class_ratio": class_ratio}
