"""The two tests that R caret prints beside a confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainc, erfc

from monitor.metrics.rates import no_information_rate
from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts
    from monitor.metrics.ratio import FloatArray


class McNemar(NamedTuple):
    """McNemar's test that false positives and false negatives are equally common.

    Attributes:
        statistic: χ² with one degree of freedom, at least 0; NaN without errors.
        p_value: two-sided p-value in [0, 1]; NaN without errors.
    """

    statistic: FloatArray
    p_value: FloatArray


def accuracy_p_value(counts: ConfusionCounts) -> FloatArray:
    """Probability of this accuracy or a higher one at the no-information rate.

    A small value means that the classifier is better than always predicting the more
    common class.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        P[X ≥ TP + TN] for a binomial X, in [0, 1], same shape; NaN where
        nothing was counted.

    Source:
        R caret `confusionMatrix`, "P-Value [Acc > NIR]" (one-sided
        `binom.test`).

    >>> from monitor import ConfusionCounts
    >>> print(accuracy_p_value(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(5))
    0.07819
    """
    right, wrong = counts.tp + counts.tn, counts.fp + counts.fn
    tail = betainc(np.where(right > 0, right, 1.0), wrong + 1, no_information_rate(counts))
    return np.where(np.equal(counts.total, 0), np.nan, np.where(right > 0, tail, 1.0))[()]


def mcnemar(counts: ConfusionCounts, *, correction: bool = True) -> McNemar:
    """Test whether false positives and false negatives are equally common.

    Args:
        counts: outcomes of one window, or of many (any shape).
        correction: True to apply Yates' correction for continuity, as R does; it is
            dropped where FP = FN.

    Returns:
        Statistic and p-value, each in the shape of the counts; NaN where there are no
        errors.

    Source:
        McNemar 1947; Edwards 1948 (correction); R `mcnemar.test`.

    >>> from monitor import ConfusionCounts
    >>> statistic, p = mcnemar(ConfusionCounts(tp=81, fp=67, fn=38, tn=339))
    >>> print(statistic.round(4), p.round(6))
    7.4667 0.006285
    """
    gap = np.abs(counts.fp - counts.fn)
    corrected = gap - np.where(gap > 0, float(correction), 0.0)
    statistic = ratio(corrected**2, counts.fp + counts.fn)
    return McNemar(statistic, np.asarray(erfc(np.sqrt(statistic / 2)), dtype=np.float64)[()])


def mcnemar_exact(counts: ConfusionCounts) -> FloatArray:
    """Return McNemar's p-value from the binomial distribution, for few errors.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Two-sided p-value in [0, 1], same shape; NaN where there are no errors.

    Source:
        McNemar 1947; `statsmodels.stats.contingency_tables.mcnemar`.

    >>> from monitor import ConfusionCounts
    >>> print(mcnemar_exact(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(6))
    0.006016
    """
    errors, fewer = counts.fp + counts.fn, np.minimum(counts.fp, counts.fn)
    tail = betainc(np.where(errors > fewer, errors - fewer, 1.0), fewer + 1, 0.5)
    return np.where(np.equal(errors, 0), np.nan, np.minimum(1, 2 * tail))[()]
