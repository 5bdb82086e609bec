"""The live class ratio: positives per negative, smoothed over panes of mature labels.

A single pane has too few positives for an estimate, and a window responds late. Here the
weight of a pane halves every `half_life` panes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
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


class LiveClassRatio:
    """Exponentially weighted class ratio of many series, at a constant cost for each pane.

    Args:
        half_life: number of panes after which an outcome counts half, above 0; infinite
            to weight all panes equally.
        dispersion: variance over that of independent rows, at least 1; it widens the
            interval.

    Raises:
        ValueError: the half-life is not above 0.

    Source:
        Exponentially weighted counts; interval on log r by the delta method,
        half a count added (Gart and Zweifel 1967).

    >>> live = LiveClassRatio(half_life=1)
    >>> live.update(ConfusionCounts(tp=8, fp=5, fn=2, tn=85))
    >>> live.update(ConfusionCounts(tp=40, fp=5, fn=5, tn=40))
    >>> round(float(live.estimate().estimate), 4)
    0.5556
    """

    def __init__(self, *, half_life: float, dispersion: ArrayLike = 1.0) -> None:
        if not half_life > 0:
            raise ValueError(f"LiveClassRatio: half_life must be above 0 panes, got {half_life!r}")
        self._decay = 0.5 ** (1 / half_life)
        self._dispersion = np.asarray(dispersion, dtype=np.float64)
        self._sums: FloatArray | None = None

    def update(self, counts: ConfusionCounts, *, panes: int = 1) -> None:
        """Add one closed pane.

        Args:
            counts: outcomes of the pane, one series for each index.
            panes: number of panes since the last update; above 1 where the panes between
                were empty.
        """
        pane = np.stack([counts.actual_positive, counts.actual_negative]).astype(np.float64)
        added = np.stack([pane, pane])
        if self._sums is None:
            self._sums = np.zeros(added.shape)
        # Row 0 sums the weighted cases, row 1 their variance, with squared weights.
        decay = self._decay**panes
        weights = np.array([decay, decay**2])
        self._sums = self._sums * weights.reshape((2,) + (1,) * pane.ndim) + added

    def estimate(self, level: float = 0.95) -> ClassRatio:
        """Return the current class ratio.

        Args:
            level: coverage of the interval, in (0, 1).

        Returns:
            Estimate and interval in the shape of the series; NaN before the first pane and
            where there are no negatives.
        """
        if self._sums is None:
            return UNKNOWN_RATIO
        (positive, negative), (positive_noise, negative_noise) = self._sums
        estimate = ratio(positive, negative)
        variance = (positive_noise + _HALF) / (positive + _HALF) ** 2
        variance = variance + (negative_noise + _HALF) / (negative + _HALF) ** 2
        half_width = ndtri((1 + level) / 2) * np.sqrt(variance * self._dispersion)
        middle = np.log((positive + _HALF) / (negative + _HALF))
        undefined = np.isnan(estimate)
        lower = np.where(positive > 0, np.exp(middle - half_width), 0.0)
        return ClassRatio(
            estimate=np.asarray(estimate),
            lower=np.where(undefined, np.nan, lower),
            upper=np.where(undefined, np.nan, np.exp(middle + half_width)),
        )

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Return the serializable state; empty before the first pane."""
        return {} if self._sums is None else {"sums": self._sums.copy()}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> None:
        """Restore what `state` returned."""
        self._sums = np.array(state["sums"]) if state else None
