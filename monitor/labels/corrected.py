"""Estimates of immature windows, corrected for the labels that are still to come."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.labels.cohorts import Coverage
from monitor.metrics.intervals import METRICS
from monitor.metrics.ratio import ratio
from monitor.snapshot import Estimate

_Z = float(ndtri(0.975))
_HALF = 0.5


def corrected(
    cells: Int64Array, coverage: Coverage, metric: str, class_ratio: float | None = None
) -> Estimate:
    """Estimate a metric of a window that has part of its labels.

    Each outcome is divided by the share of its labels that has come. This shifts
    logit(precision) by log(G0 / G1); where the delay depends on the prediction too, it
    shifts recall and false-positive rate as well.

    Args:
        cells: labelled outcomes, (..., 4) by `Outcome`.
        coverage: G of each outcome, the same shape, and the variance of its log.
        metric: a metric of `monitor.metrics.intervals.METRICS` with a scale.
        class_ratio: for `precision_at`.

    Returns:
        Estimate and limits; the interval includes the variance of the coverage.

    Raises:
        ValueError: the metric has no scale.

    Source:
        Horvitz and Thompson 1952; delta method on the logs of the four cells with
        half a count each (Gart and Zweifel 1967).

    >>> known = Coverage(np.array([0.5, 1.0, 0.5, 1.0]), np.zeros(4))
    >>> found = corrected(np.array([40, 50, 10, 850]), known, "precision")
    >>> [round(float(value), 3) for value in found]
    [0.615, 0.515, 0.708]
    """
    share = np.where(coverage.share > 0, coverage.share, np.nan)
    counts = ConfusionCounts.from_cells(np.nan_to_num(cells / share))
    smooth = (cells + _HALF) / share
    methods = METRICS[metric]
    scale = methods.scale
    if scale is None:
        raise ValueError(f"corrected: the metric must have a scale, got {metric!r}")
    centre, slope = scale.value(np.moveaxis(smooth, -1, 0)), scale.gradient(smooth)
    variance = (slope**2 * (1 / (cells + _HALF) + coverage.variance)).sum(axis=-1)
    width = _Z * np.sqrt(variance)
    shift = 0.0 if class_ratio is None else np.log(class_ratio)
    given = {} if class_ratio is None else {"class_ratio": class_ratio}
    unknown = np.isnan(share).any(axis=-1)
    point = np.where(unknown, np.nan, methods.value(counts, **given))
    lower, upper = scale.back(centre - width + shift), scale.back(centre + width + shift)
    return Estimate(
        point,
        np.where(np.isnan(point), np.nan, np.fmin(lower, point)),
        np.where(np.isnan(point), np.nan, np.fmax(upper, point)),
    )


def corrected_labels(cells: Int64Array, coverage: Coverage) -> FloatArray:
    """Return the number of complete labels that carry as much information as partial ones.

    Within each predicted class, the shares are the outcomes divided by their coverage;
    the number is that of a sample that would estimate these shares with the same
    variance. The result is used as any sample of labels.

    Args:
        cells: labelled outcomes, (..., 4) by `Outcome`.
        coverage: as in `corrected`.

    Returns:
        Fractional counts (..., 4); zeros where a stratum has no labels.

    Source:
        As `corrected`, on the logit of either share.

    >>> known = Coverage(np.array([0.5, 1.0, 0.5, 1.0]), np.zeros(4))
    >>> corrected_labels(np.array([40, 50, 0, 0]), known).round(1).tolist()
    [57.9, 36.2, 0.0, 0.0]
    """
    share = np.where(coverage.share > 0, coverage.share, np.nan)
    smooth, whole = (cells + _HALF) / share, np.nan_to_num(cells / share)
    variance = 1 / (cells + _HALF) + coverage.variance
    strata = []
    for one, other in ((Outcome.TP, Outcome.FP), (Outcome.FN, Outcome.TN)):
        inner = smooth[..., one] / (smooth[..., one] + smooth[..., other])
        scatter = inner * (1 - inner) * (variance[..., one] + variance[..., other])
        number = np.nan_to_num(np.maximum(1 / scatter - 2 * _HALF, 0.0))
        positive = np.nan_to_num(ratio(whole[..., one], whole[..., one] + whole[..., other]))
        held = cells[..., one] + cells[..., other] > 0
        strata += [positive * number * held, (1 - positive) * number * held]
    return np.stack(strata, axis=-1)
