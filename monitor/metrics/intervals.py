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

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from monitor.counts import ConfusionCounts
from monitor.metrics import means
from monitor.metrics.agreement import cohen_kappa_interval, matthews_corrcoef_interval
from monitor.metrics.mover import mover, proportion
from monitor.metrics.proportions import wilson, wilson_or_jeffreys
from monitor.metrics.ratio import at_least_zero, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from monitor.counts import CountArray
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
    method = _method(metric, set(parameters))
    if not 0 < level < 1:
        raise ValueError(f"intervals: level must lie in (0, 1), got {level!r}")
    return method(effective(counts, dispersion), level, **parameters)


def effective(counts: ConfusionCounts, dispersion: ArrayLike) -> ConfusionCounts:
    """Return the number of independent cases with as much information as these counts.

    Args:
        counts: outcomes of any shape.
        dispersion: variance over that of independent cases, at least 1; broadcasts against
            the counts.

    Returns:
        The counts divided by the dispersion: the same rates from fewer cases.

    Raises:
        ValueError: a factor is below 1 or not finite.

    >>> effective(ConfusionCounts(tp=90, fp=50, fn=10, tn=850), 2)
    ConfusionCounts(tp=45.0, fp=25.0, fn=5.0, tn=425.0)
    """
    factor = np.asarray(dispersion, dtype=np.float64)
    if not (np.isfinite(factor).all() and (factor >= 1).all()):
        raise ValueError(
            f"intervals: dispersion must be finite and at least 1, got {dispersion!r}; "
            "1 stands for independent cases"
        )
    if (factor == 1).all() and factor.shape == ():
        return counts
    return ConfusionCounts(
        tp=counts.tp / factor, fp=counts.fp / factor, fn=counts.fn / factor, tn=counts.tn / factor
    )


def _log_likelihood_ratio(counts: ConfusionCounts, level: float) -> Interval:
    return mover(
        _log_of_quotient,
        proportion(counts.tp, counts.actual_positive, level, wilson_or_jeffreys),
        proportion(counts.fp, counts.actual_negative, level, wilson_or_jeffreys),
    )


def _log_of_quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    logarithm: FloatArray = np.log(above) - np.log(below)
    return logarithm


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
            _log_of_quotient(recall, 1 - recall) - _log_of_quotient(prevalence, 1 - prevalence)
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


def _f_beta_at(
    counts: ConfusionCounts, level: float, *, beta: ArrayLike, class_ratio: ArrayLike
) -> Interval:
    square = at_least_zero("f_beta_at: beta", beta) ** 2
    odds = at_least_zero("f_beta_at: class_ratio", class_ratio)

    def log_odds_of_score(tpr: FloatArray, fpr: FloatArray) -> FloatArray:
        return _log_of_quotient(odds * (1 + square) * tpr, odds * square * (1 - tpr) + fpr)

    lower, upper = mover(
        log_odds_of_score,
        proportion(counts.tp, counts.actual_positive, level, wilson_or_jeffreys),
        proportion(counts.fp, counts.actual_negative, level, wilson_or_jeffreys),
    )
    return expit(lower), expit(upper)


def _f_beta(counts: ConfusionCounts, level: float, *, beta: ArrayLike) -> Interval:
    """Wilson at the effective number of cases of TP / (TP + β² FN + FP).

    F is a function of that proportion alone. Its failures have unequal weights, so that
    the number of trials is set to give the variance of the delta method. It is plain Wilson
    for β = 0 (precision) and β = 1 (Jaccard's index).
    """
    square = at_least_zero("f_beta: beta", beta) ** 2
    failures = square * counts.fn + counts.fp
    squared_failures = square**2 * counts.fn + counts.fp
    trials = counts.tp + failures
    weight = ratio(failures**2 + counts.tp * squared_failures, trials * failures)
    flawless = np.where(trials > 0, np.maximum(1, square), np.nan)
    cases = trials / np.where(failures > 0, weight, flawless)
    lower, upper = wilson(ratio(counts.tp, trials) * cases, cases, level)
    return _f_of_share(lower, square), _f_of_share(upper, square)


def _f_of_share(share: FloatArray, square: FloatArray) -> FloatArray:
    return (1 + square) * share / (1 + square * share)


def _g_score(counts: ConfusionCounts, level: float, *, beta: ArrayLike, rho: ArrayLike) -> Interval:
    return _mean_of_both(counts, level, lambda p, r: means.g(p, r, beta=beta, rho=rho))


def _weighted_power_mean(
    counts: ConfusionCounts, level: float, *, gamma: ArrayLike, phi: ArrayLike
) -> Interval:
    return _mean_of_both(
        counts, level, lambda p, r: means.weighted_power_mean(p, r, gamma=gamma, phi=phi)
    )


def _mean_of_both(
    counts: ConfusionCounts, level: float, mean: Callable[[FloatArray, FloatArray], FloatArray]
) -> Interval:
    """Precision and recall share their true positives, and so are correlated."""
    precision = proportion(counts.tp, counts.predicted_positive, level, wilson)
    recall = proportion(counts.tp, counts.actual_positive, level, wilson)
    lower, upper = mover(
        lambda p, r: logit(mean(p, r)),
        precision,
        recall,
        correlation=np.sqrt((1 - precision.point) * (1 - recall.point)),
    )
    return expit(lower), expit(upper)


_SHARES: dict[str, Callable[[ConfusionCounts], tuple[CountArray, CountArray]]] = {
    "precision": lambda counts: (counts.tp, counts.predicted_positive),
    "recall": lambda counts: (counts.tp, counts.actual_positive),
    "specificity": lambda counts: (counts.tn, counts.actual_negative),
    "false_positive_rate": lambda counts: (counts.fp, counts.actual_negative),
    "false_negative_rate": lambda counts: (counts.fn, counts.actual_positive),
    "negative_predictive_value": lambda counts: (counts.tn, counts.predicted_negative),
    "prevalence": lambda counts: (counts.actual_positive, counts.total),
    "predicted_positive_rate": lambda counts: (counts.predicted_positive, counts.total),
    "detection_rate": lambda counts: (counts.tp, counts.total),
    "accuracy": lambda counts: (counts.tp + counts.tn, counts.total),
}

_METHODS: dict[str, Callable[..., Interval]] = {
    "class_ratio": _class_ratio,
    "no_information_rate": _no_information_rate,
    "balanced_accuracy": _balanced_accuracy,
    "log_likelihood_ratio": _log_likelihood_ratio,
    "balanced_precision": _balanced_precision,
    "precision_at": _precision_at,
    "precision_gain": _precision_gain,
    "recall_gain": _recall_gain,
    "f_beta": _f_beta,
    "f_beta_at": _f_beta_at,
    "g_score": _g_score,
    "weighted_power_mean": _weighted_power_mean,
    "cohen_kappa": cohen_kappa_interval,
    "matthews_corrcoef": matthews_corrcoef_interval,
}

_PARAMETERS = {
    "precision_at": {"class_ratio"},
    "f_beta": {"beta"},
    "f_beta_at": {"beta", "class_ratio"},
    "g_score": {"beta", "rho"},
    "weighted_power_mean": {"gamma", "phi"},
}


def _method(metric: str, given: set[str]) -> Callable[..., Interval]:
    """Return the interval function of the metric, after checking its parameters."""
    if metric not in _SHARES and metric not in _METHODS:
        known = ", ".join(sorted({*_SHARES, *_METHODS}))
        raise ValueError(f"intervals: metric has no interval, got {metric!r}; known are {known}")
    wanted = _PARAMETERS.get(metric, set())
    if given != wanted:
        raise TypeError(
            f"intervals: {metric} takes {sorted(wanted) or 'no parameters'}, got {sorted(given)}"
        )
    if metric in _METHODS:
        return _METHODS[metric]
    share = _SHARES[metric]
    return lambda counts, level: wilson(*share(counts), level)
