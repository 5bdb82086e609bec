"""F scores, and precision gain and recall gain.

F_β is a harmonic mean of precision and recall, and depends on prevalence because precision
does; `f_beta_at` fixes the class ratio. The gains of Flach and Kull put precision and
recall on the scale on which F1 is linear: precision gain, 1 - FPR / TPR, does not depend on
prevalence, and recall gain does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from monitor.metrics.mover import mover, proportion
from monitor.metrics.proportions import wilson, wilson_or_jeffreys
from monitor.metrics.rates import class_ratio as observed_class_ratio
from monitor.metrics.rates import false_positive_rate, recall
from monitor.metrics.ratio import at_least_zero, log_of_quotient, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import ConfusionCounts
    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


def f_beta(counts: ConfusionCounts, *, beta: ArrayLike) -> FloatArray:
    """F score: harmonic mean of precision and recall, with β² times the weight on recall.

    Args:
        counts: outcomes of one window, or of many (any shape).
        beta: β in [0, ∞); 0 gives precision, 1 gives F1, and above 1 recall weighs more.

    Returns:
        (1 + β²) TP / ((1 + β²) TP + β² FN + FP) in [0, 1]; NaN where there
        are neither actual nor predicted positives (at β = 0: no predicted).

    Raises:
        ValueError: β is negative or infinite.

    Source:
        van Rijsbergen 1979, ch. 7.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.f_beta(ConfusionCounts(tp=90, fp=50, fn=10, tn=850), beta=1))
    0.75
    """
    square = at_least_zero("f_beta: beta", beta) ** 2
    hits = (1 + square) * counts.tp
    return ratio(hits, hits + square * counts.fn + counts.fp)


def f_beta_at(counts: ConfusionCounts, *, beta: ArrayLike, class_ratio: ArrayLike) -> FloatArray:
    """F score these outcomes would show at another class ratio.

    Args:
        counts: outcomes of one window, or of many (any shape).
        beta: β in [0, ∞).
        class_ratio: r0, positives per negative, in [0, ∞). NaN gives NaN.

    Returns:
        (1 + β²) TPR / (TPR + β² + FPR / r0) in [0, 1]; NaN where there are
        no actual positives or no actual negatives, and where both terms of
        the quotient vanish.

    Raises:
        ValueError: β or a class ratio is negative or infinite.

    Source:
        Williams 2021, eq. 6.

    >>> from monitor import ConfusionCounts, metrics
    >>> counts = ConfusionCounts(tp=90, fp=10, fn=10, tn=170)
    >>> print(metrics.f_beta_at(counts, beta=1, class_ratio=1 / 9).round(4))
    0.75
    """
    square = at_least_zero("f_beta_at: beta", beta) ** 2
    odds = at_least_zero("f_beta_at: class_ratio", class_ratio)
    found = recall(counts)
    return ratio(odds * (1 + square) * found, odds * (found + square) + false_positive_rate(counts))


def precision_gain(counts: ConfusionCounts) -> FloatArray:
    """Precision gain: precision on the harmonic scale from prevalence (0) to perfect (1).

    Prevalence cancels out: the gain is 2 - 1 / balanced precision.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        1 - FPR / TPR in (-∞, 1], negative where precision is below prevalence, not
        clipped; NaN where there are no true positives or no actual negatives.

    Source:
        Flach & Kull 2015; Williams 2021, eq. 8.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.precision_gain(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(4))
    0.9383
    """
    return 1 - ratio(false_positive_rate(counts), recall(counts))


def recall_gain(counts: ConfusionCounts) -> FloatArray:
    """Recall gain: recall on the harmonic scale from prevalence (0) to perfect (1).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        1 - r FN / TP in (-∞, 1], negative where recall is below prevalence, not clipped;
        NaN where there are no true positives or no actual negatives.

    Source:
        Flach & Kull 2015; Williams 2021, eq. 9.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.recall_gain(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).round(4))
    0.9877
    """
    return 1 - observed_class_ratio(counts) * ratio(counts.fn, counts.tp)


def f_beta_interval(counts: ConfusionCounts, level: float, *, beta: ArrayLike) -> Interval:
    """Return Wilson's limits at the effective number of cases of TP / (TP + β² FN + FP).

    F is a function of that proportion alone. Its failures have unequal weights, so that
    the number of trials is set to give the variance of the delta method. It is plain Wilson
    for β = 0 (precision) and β = 1 (Jaccard's index).

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).
        beta: as for `f_beta`.

    Returns:
        Limits in [0, 1]; NaN where F is NaN.

    Raises:
        ValueError: β is negative or infinite.
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


def f_beta_at_interval(
    counts: ConfusionCounts, level: float, *, beta: ArrayLike, class_ratio: ArrayLike
) -> Interval:
    """Return limits of F at a class ratio: MOVER on log odds, from the limits of TPR and FPR.

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).
        beta: as for `f_beta_at`.
        class_ratio: as for `f_beta_at`; taken as known exactly.

    Returns:
        Limits in [0, 1]; NaN where TPR or FPR has no cases.

    Raises:
        ValueError: β or the class ratio is negative or infinite.
    """
    square = at_least_zero("f_beta_at: beta", beta) ** 2
    odds = at_least_zero("f_beta_at: class_ratio", class_ratio)

    def log_odds_of_score(tpr: FloatArray, fpr: FloatArray) -> FloatArray:
        return log_of_quotient(odds * (1 + square) * tpr, odds * square * (1 - tpr) + fpr)

    lower, upper = mover(
        log_odds_of_score,
        proportion(counts.tp, counts.actual_positive, level, wilson_or_jeffreys),
        proportion(counts.fp, counts.actual_negative, level, wilson_or_jeffreys),
    )
    return expit(lower), expit(upper)


def _f_of_share(share: FloatArray, square: FloatArray) -> FloatArray:
    return (1 + square) * share / (1 + square * share)
