"""The live class ratio: positives per negative, smoothed over panes of mature labels.

A single pane has too few positives for an estimate, and a window responds late. Here the
weight of a pane halves every `half_life` panes. It is a function of the panes as they are now:
outcomes that come late, or are revised, count like others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import FloatArray, ratio

FAR_LOG_RATIO = math.log(5)
"""Distance of log r beyond which precision at the other class ratio is an extrapolation: 5x."""

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ClassRatio:
    """r = P/N with its interval, in the shape of the series.

    Attributes:
        estimate: P/N, at least 0; NaN where there are no negatives.
        lower: lower limit; 0 where there are no positives, NaN where `estimate` is.
        upper: upper limit; NaN where `estimate` is.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


_NOTHING = np.asarray(np.nan)
UNKNOWN_RATIO = ClassRatio(_NOTHING, _NOTHING, _NOTHING)
"""The class ratio before the first pane: NaN."""


def live_class_ratio(
    panes: ConfusionCounts,
    *,
    half_life: float,
    dispersion: ArrayLike = 1.0,
    level: float = 0.95,
) -> ClassRatio:
    """Return the exponentially weighted class ratio of panes.

    Args:
        panes: outcomes of consecutive panes along the last axis, oldest first. The last pane
            with outcomes counts whole.
        half_life: number of panes after which an outcome counts half, above 0; infinite
            to weight all panes equally.
        dispersion: variance over that of independent rows, at least 1; it widens the
            interval.
        level: coverage of the interval, in (0, 1).

    Returns:
        Estimate and interval in the shape of the series; NaN without panes and where there are
        no negatives.

    Raises:
        ValueError: the half-life is not above 0.

    Source:
        Exponentially weighted counts; interval on log r by the delta method,
        half a count added (Gart and Zweifel 1967).

    >>> panes = ConfusionCounts(tp=[8, 40], fp=[5, 5], fn=[2, 5], tn=[85, 40])
    >>> round(float(live_class_ratio(panes, half_life=1).estimate), 4)
    0.5556
    """
    if not half_life > 0:
        raise ValueError(f"live_class_ratio: half_life must be above 0 panes, got {half_life!r}")
    cases = np.stack([panes.actual_positive, panes.actual_negative]).astype(np.float64)
    filled = np.flatnonzero(cases.any(axis=tuple(range(cases.ndim - 1))))
    last = filled[-1] if len(filled) else 0
    weights = np.exp2((np.arange(cases.shape[-1]) - last) / half_life)
    (positive, negative), (positive_noise, negative_noise) = cases @ weights, cases @ weights**2
    estimate = ratio(positive, negative)
    variance = (positive_noise + _HALF) / (positive + _HALF) ** 2
    variance = variance + (negative_noise + _HALF) / (negative + _HALF) ** 2
    half_width = ndtri((1 + level) / 2) * np.sqrt(variance * np.asarray(dispersion))
    middle = np.log((positive + _HALF) / (negative + _HALF))
    undefined = np.isnan(estimate)
    lower = np.where(positive > 0, np.exp(middle - half_width), 0.0)
    return ClassRatio(
        estimate=np.asarray(estimate),
        lower=np.where(undefined, np.nan, lower),
        upper=np.where(undefined, np.nan, np.exp(middle + half_width)),
    )
