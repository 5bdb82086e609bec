"""Confidence intervals of every metric, by the name of the metric.

    recall, precision and        Wilson
    other proportions
    class ratio                  odds of Wilson's limits of prevalence
    log LR+, precision at a      MOVER on logarithms, with the wider of Wilson's and
    class ratio, F at a          Jeffreys' limits of TPR and FPR
    class ratio
    F                            Wilson at an effective number of cases (the same as
                                 plain Wilson for β = 0 and 1)
    G, power means               MOVER on log odds, with Wilson's limits of precision
                                 and recall, correlated
    recall gain, balanced        MOVER with Wilson's limits
    accuracy
    kappa, Matthews              delta method, half a count in each cell

From F on these are approximations. In simulations they cover .95 in the mean and .89 at
worst, except G at rho = 3, which covers .79 with five positives
(`tests/benchmarks/interval_coverage.py`).

All assume independent cases. Where cases come in clusters, as on real streams,
`dispersion` is the factor by which the variance is larger: the interval is that of counts
divided by it, around the same point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from monitor.counts import ConfusionCounts, Outcome
from monitor.metrics import rates
from monitor.metrics.agreement import (
    cohen_kappa,
    cohen_kappa_interval,
    matthews_corrcoef,
    matthews_corrcoef_interval,
)
from monitor.metrics.effective_cases import effective
from monitor.metrics.f_family import (
    f_beta,
    f_beta_at,
    f_beta_at_interval,
    f_beta_interval,
    precision_gain,
    recall_gain,
)
from monitor.metrics.g_family import (
    g_score,
    g_score_interval,
    weighted_power_mean,
    weighted_power_mean_interval,
)
from monitor.metrics.log_odds import CellOdds, LogOdds
from monitor.metrics.mover import mover, proportion
from monitor.metrics.precision import (
    balanced_precision,
    log_likelihood_ratio,
    precision,
    precision_at,
)
from monitor.metrics.proportions import wilson, wilson_or_jeffreys
from monitor.metrics.ratio import at_least_zero, log_of_quotient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


def intervals(
    counts: ConfusionCounts,
    metric: str,
    level: float = 0.95,
    *,
    class_ratio: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    gamma: ArrayLike | None = None,
    phi: ArrayLike | None = None,
    dispersion: ArrayLike = 1.0,
) -> Interval:
    """Return the lower and upper confidence limit of a metric.

    Without false positives the upper limit of log LR+ is +∞ and that of balanced precision
    1; without true positives the lower limits are -∞ and 0. Without either, both limits
    are at these bounds and the metric itself is NaN.

    Args:
        counts: outcomes of one window, or of many (any shape).
        metric: name of a function in `monitor.metrics`, such as "recall".
        level: coverage, in (0, 1).
        class_ratio: argument of `precision_at` and `f_beta_at`; taken as known exactly.
        beta: argument of the F scores and of `g_score`.
        rho: argument of `g_score`.
        gamma: argument of `weighted_power_mean`.
        phi: argument of `weighted_power_mean`.
        dispersion: variance over that of independent cases, at least 1; broadcasts
            against the counts.

    Returns:
        Lower and upper limit, each in the broadcast shape; NaN where a rate that the
        metric depends on has no cases.

    Raises:
        ValueError: the metric has no interval, or the level or the dispersion is out of
            range.
        TypeError: a parameter of the metric is missing, or one that it does not have is
            given.

    Source:
        Wilson 1927; Zou & Donner 2008 (MOVER); coverage simulated in
        `tests/benchmarks/interval_coverage.py`.

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=81, fp=67, fn=38, tn=339)
    >>> lower, upper = metrics.intervals(counts, "precision")
    >>> print(lower.round(4), upper.round(4))
    0.4669 0.6253
    >>> lower, upper = metrics.intervals(counts, "precision_at", class_ratio=1, dispersion=4)
    >>> print(lower.round(4), upper.round(4))
    0.7117 0.8732
    """
    given = {"class_ratio": class_ratio, "beta": beta, "rho": rho, "gamma": gamma, "phi": phi}
    parameters = {name: value for name, value in given.items() if value is not None}
    limits = _limits(metric, set(parameters))
    if not 0 < level < 1:
        raise ValueError(f"intervals: level must lie in (0, 1), got {level!r}")
    return limits(effective(counts, dispersion), level, **parameters)


def _log_likelihood_ratio(counts: ConfusionCounts, level: float) -> Interval:
    return mover(
        log_of_quotient,
        proportion(counts.tp, counts.actual_positive, level, wilson_or_jeffreys),
        proportion(counts.fp, counts.actual_negative, level, wilson_or_jeffreys),
    )


def _precision_at(counts: ConfusionCounts, level: float, *, class_ratio: ArrayLike) -> Interval:
    odds = at_least_zero("precision_at: class_ratio", class_ratio)
    lower, upper = _log_likelihood_ratio(counts, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        return expit(lower + np.log(odds)), expit(upper + np.log(odds))


def _balanced_precision(counts: ConfusionCounts, level: float) -> Interval:
    return _precision_at(counts, level, class_ratio=1.0)


def _precision_gain(counts: ConfusionCounts, level: float) -> Interval:
    lower, upper = _log_likelihood_ratio(counts, level)
    return -np.expm1(-lower), -np.expm1(-upper)


def _recall_gain(counts: ConfusionCounts, level: float) -> Interval:
    """1 - odds(prevalence) / odds(recall); given P, recall is independent of P."""
    lower, upper = mover(
        lambda prevalence, recall: (
            log_of_quotient(recall, 1 - recall) - log_of_quotient(prevalence, 1 - prevalence)
        ),
        proportion(counts.actual_positive, counts.total, level, wilson),
        proportion(counts.tp, counts.actual_positive, level, wilson),
    )
    with np.errstate(over="ignore"):
        return -np.expm1(-lower), -np.expm1(-upper)


def _class_ratio(counts: ConfusionCounts, level: float) -> Interval:
    """Odds of the limits of prevalence: up to ∞ where all cases are positive."""
    lower, upper = wilson(counts.actual_positive, counts.total, level)
    with np.errstate(divide="ignore"):
        return np.true_divide(lower, 1 - lower), np.true_divide(upper, 1 - upper)


def _no_information_rate(counts: ConfusionCounts, level: float) -> Interval:
    """Range of the larger class share over all prevalences within their limits."""
    lower, upper = wilson(counts.actual_positive, counts.total, level)
    least = np.maximum(np.maximum(lower, 1 - upper), 0.5)
    return least, np.maximum(upper, 1 - lower)


def _balanced_accuracy(counts: ConfusionCounts, level: float) -> Interval:
    return mover(
        lambda recall, specificity: (recall + specificity) / 2,
        proportion(counts.tp, counts.actual_positive, level, wilson),
        proportion(counts.tn, counts.actual_negative, level, wilson),
    )


class MetricMethods(NamedTuple):
    """How a metric and its intervals are computed.

    Attributes:
        value: the metric, a function of counts and of its parameters.
        limits: its interval where every case has a label, a function of counts, level and
            parameters.
        scale: the metric as log-odds, for intervals where labels are a sample or still to
            come; None where it has no such interval.
        parameters: names of the parameters.
    """

    value: Callable[..., FloatArray]
    limits: Callable[..., Interval]
    scale: LogOdds | None = None
    parameters: frozenset[str] = frozenset()


def _share(
    value: Callable[[ConfusionCounts], FloatArray],
    above: tuple[Outcome, ...],
    below: tuple[Outcome, ...],
) -> MetricMethods:
    """Methods of a proportion: cases above, of the cases above or below."""
    odds = CellOdds(above, below)
    return MetricMethods(
        value,
        limits=lambda counts, level: wilson(*odds.trials(counts), level),
        scale=LogOdds(odds, back=expit),
    )


_TP, _FP, _FN, _TN = Outcome
_PRECISION_ODDS = CellOdds((_TP,), (_FP,))
_CLASS_ODDS = CellOdds((_TP, _FN), (_FP, _TN))


def _skill(back: Callable[[FloatArray], FloatArray]) -> LogOdds:
    """The scale of log LR+: logit(precision) less the log of the class ratio."""
    return LogOdds(_PRECISION_ODDS, back, divisor=_CLASS_ODDS)


WINDOW_METRICS: Mapping[str, MetricMethods] = {
    "precision": _share(precision, (_TP,), (_FP,)),
    "balanced_precision": MetricMethods(balanced_precision, _balanced_precision, _skill(expit)),
    "recall": _share(rates.recall, (_TP,), (_FN,)),
    "false_positive_rate": _share(rates.false_positive_rate, (_FP,), (_TN,)),
    "prevalence": _share(rates.prevalence, (_TP, _FN), (_FP, _TN)),
    "class_ratio": MetricMethods(rates.class_ratio, _class_ratio, LogOdds(_CLASS_ODDS, np.exp)),
    "log_likelihood_ratio": MetricMethods(
        log_likelihood_ratio, _log_likelihood_ratio, _skill(np.positive)
    ),
}
"""Metrics of every window of a snapshot, in the order in which they are shown."""

METRICS: Mapping[str, MetricMethods] = {
    **WINDOW_METRICS,
    "precision_at": MetricMethods(
        precision_at, _precision_at, _skill(expit), frozenset({"class_ratio"})
    ),
    "specificity": _share(rates.specificity, (_TN,), (_FP,)),
    "false_negative_rate": _share(rates.false_negative_rate, (_FN,), (_TP,)),
    "negative_predictive_value": _share(rates.negative_predictive_value, (_TN,), (_FN,)),
    "predicted_positive_rate": _share(rates.predicted_positive_rate, (_TP, _FP), (_FN, _TN)),
    "detection_rate": _share(rates.detection_rate, (_TP,), (_FP, _FN, _TN)),
    "accuracy": _share(rates.accuracy, (_TP, _TN), (_FP, _FN)),
    "no_information_rate": MetricMethods(rates.no_information_rate, _no_information_rate),
    "balanced_accuracy": MetricMethods(rates.balanced_accuracy, _balanced_accuracy),
    "precision_gain": MetricMethods(precision_gain, _precision_gain),
    "recall_gain": MetricMethods(recall_gain, _recall_gain),
    "f_beta": MetricMethods(f_beta, f_beta_interval, None, frozenset({"beta"})),
    "f_beta_at": MetricMethods(
        f_beta_at, f_beta_at_interval, None, frozenset({"beta", "class_ratio"})
    ),
    "g_score": MetricMethods(g_score, g_score_interval, None, frozenset({"beta", "rho"})),
    "weighted_power_mean": MetricMethods(
        weighted_power_mean, weighted_power_mean_interval, None, frozenset({"gamma", "phi"})
    ),
    "cohen_kappa": MetricMethods(cohen_kappa, cohen_kappa_interval),
    "matthews_corrcoef": MetricMethods(matthews_corrcoef, matthews_corrcoef_interval),
}
"""Every metric with an interval, by its name in `monitor.metrics`."""


def _limits(metric: str, given: set[str]) -> Callable[..., Interval]:
    """Return the interval function of the metric, after checking its parameters."""
    if metric not in METRICS:
        known = ", ".join(sorted(METRICS))
        raise ValueError(f"intervals: metric has no interval, got {metric!r}; known are {known}")
    wanted = METRICS[metric].parameters
    if given != wanted:
        raise TypeError(
            f"intervals: {metric} takes {sorted(wanted) or 'no parameters'}, got {sorted(given)}"
        )
    return METRICS[metric].limits
