"""Agreement of predictions with labels beyond chance: kappa and Matthews' correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.metrics.proportions import Interval
    from monitor.metrics.ratio import FloatArray


def cohen_kappa(counts: ConfusionCounts) -> FloatArray:
    """Cohen's kappa: agreement beyond chance, over the largest possible agreement beyond it.

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Ratio in [-1, 1], same shape: 1 is perfect agreement, 0 that of chance; NaN where
        prediction and label are both constant and the same.

    Source:
        Cohen 1960.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.cohen_kappa(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(6))
    0.474755
    """
    right = np.multiply(counts.tp, counts.tn, dtype=np.float64)
    wrong = np.multiply(counts.fp, counts.fn, dtype=np.float64)
    by_chance = np.multiply(counts.predicted_positive, counts.actual_negative, dtype=np.float64)
    by_chance = by_chance + np.multiply(
        counts.predicted_negative, counts.actual_positive, dtype=np.float64
    )
    return ratio(2 * (right - wrong), by_chance)


def matthews_corrcoef(counts: ConfusionCounts) -> FloatArray:
    """Correlation of prediction and label, both taken as 0 or 1 (MCC, φ).

    Args:
        counts: outcomes of one window, or of many (any shape).

    Returns:
        Correlation in [-1, 1], same shape; NaN where prediction or label is
        constant.

    Source:
        Matthews 1975.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.matthews_corrcoef(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(6))
    0.479831
    """
    right = np.multiply(counts.tp, counts.tn, dtype=np.float64)
    wrong = np.multiply(counts.fp, counts.fn, dtype=np.float64)
    actual = np.multiply(counts.actual_positive, counts.actual_negative, dtype=np.float64)
    predicted = np.multiply(counts.predicted_positive, counts.predicted_negative, dtype=np.float64)
    return ratio(right - wrong, np.sqrt(actual) * np.sqrt(predicted))


def cohen_kappa_interval(counts: ConfusionCounts, level: float) -> Interval:
    """Return the lower and upper limit of kappa, by the delta method.

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).

    Returns:
        Limits in [-1, 1], on either side of the point; NaN where kappa is NaN.

    Source:
        Fleiss, Cohen & Everitt 1969, with half a count added to
        each cell: simulated coverage .91 at worst, where on Fisher's scale
        it falls below .70.

    >>> lower, upper = cohen_kappa_interval(ConfusionCounts(tp=81, fp=67, fn=38, tn=339), .95)
    >>> print(lower.round(4), upper.round(4))
    0.3878 0.5582
    """
    return _around(counts, level, cohen_kappa, kappa_error)


def matthews_corrcoef_interval(counts: ConfusionCounts, level: float) -> Interval:
    """Return the lower and upper limit of Matthews' correlation, by the delta method.

    Args:
        counts: outcomes of one window, or of many (any shape).
        level: coverage, in (0, 1).

    Returns:
        Limits in [-1, 1], on either side of the point; NaN where the correlation is NaN.

    Source:
        Bishop, Fienberg & Holland 1975, ch. 11, with half a count added to
        each cell: simulated coverage .91 at worst, where on Fisher's scale
        it falls below .70.

    >>> lower, upper = matthews_corrcoef_interval(
    ...     ConfusionCounts(tp=81, fp=67, fn=38, tn=339), .95)
    >>> print(lower.round(4), upper.round(4))
    0.393 0.563
    """
    return _around(counts, level, matthews_corrcoef, matthews_error)


def kappa_error(counts: ConfusionCounts) -> FloatArray:
    """Return the standard error of kappa for independent cases.

    Args:
        counts: outcomes of any shape, fractional ones too.

    Returns:
        The error, at least 0; NaN where kappa is undefined.

    Source:
        Fleiss, Cohen & Everitt 1969.

    >>> print(kappa_error(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(6))
    0.043567
    """
    tp, fp, fn, tn = (ratio(counts.cells[..., cell], counts.total) for cell in range(4))
    called, actual = tp + fp, tp + fn
    chance = called * actual + (1 - called) * (1 - actual)
    kappa = cohen_kappa(counts)
    rest = 1 - kappa
    right = tp * (1 - (called + actual) * rest) ** 2 + tn * (1 - (2 - called - actual) * rest) ** 2
    wrong = rest**2 * (fp * (1 - called + actual) ** 2 + fn * (1 - actual + called) ** 2)
    spread = np.maximum(right + wrong - (kappa - chance * rest) ** 2, 0)
    return ratio(np.sqrt(ratio(spread, counts.total)), 1 - chance)


def matthews_error(counts: ConfusionCounts) -> FloatArray:
    """Return the standard error of Matthews' correlation for independent cases.

    Args:
        counts: outcomes of any shape, fractional ones too.

    Returns:
        The error, at least 0; NaN where the correlation is undefined.

    Source:
        Bishop, Fienberg & Holland 1975, ch. 11.

    >>> print(matthews_error(ConfusionCounts(tp=81, fp=67, fn=38, tn=339)).round(6))
    0.043433
    """
    called = ratio(counts.predicted_positive, counts.total)
    actual = ratio(counts.actual_positive, counts.total)
    called_spread, actual_spread = called * (1 - called), actual * (1 - actual)
    lean, other = 2 * called - 1, 2 * actual - 1
    phi = matthews_corrcoef(counts)
    both = phi * (1 + phi**2 / 2) * ratio(lean * other, np.sqrt(called_spread * actual_spread))
    each = ratio(lean**2, called_spread) + ratio(other**2, actual_spread)
    spread = np.maximum(1 - phi**2 + both - 0.75 * phi**2 * each, 0)
    return np.sqrt(ratio(spread, counts.total))


def _around(
    counts: ConfusionCounts,
    level: float,
    coefficient: Callable[[ConfusionCounts], FloatArray],
    error: Callable[[ConfusionCounts], FloatArray],
) -> Interval:
    """Normal limits with half a count added to each cell, widened to include the point."""
    point = coefficient(counts)
    padded = ConfusionCounts.from_cells(counts.cells + 0.5)
    reach = ndtri((1 + level) / 2) * error(padded)
    centre = coefficient(padded) + 0 * point
    return np.clip(np.minimum(centre - reach, point), -1, 1), np.clip(
        np.maximum(centre + reach, point), -1, 1
    )
