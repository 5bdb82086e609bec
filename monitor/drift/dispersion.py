"""Dispersion: variance of a real stream over that of independent rows.

Pearson's dispersion φ is estimated for three streams: labels (class ratio), predictions
given an actual positive (recall), and predictions given an actual negative (false-positive
rate). Neighbouring panes, hours and days are correlated, so that φ is estimated at several
block lengths and the largest is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc

from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import FloatArray, ratio

FEWEST_BLOCKS = 5
"""Least number of blocks of time for an estimate."""
_SIGNIFICANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispersion:
    """Variance over that of independent rows, for each of the three streams.

    Each factor is at least 1 and broadcasts to the series.

    Attributes:
        class_ratio: factor for the labels.
        recall: factor for predictions given an actual positive.
        false_positive_rate: factor for predictions given an actual negative.

    Raises:
        ValueError: a factor is below 1 or not finite.
    """

    class_ratio: FloatArray
    recall: FloatArray
    false_positive_rate: FloatArray

    def __post_init__(self) -> None:
        for name in self.__slots__:
            factor = np.asarray(getattr(self, name), dtype=np.float64)
            if not (np.isfinite(factor).all() and (factor >= 1).all()):
                raise ValueError(
                    f"dispersion: {name} must be finite and at least 1, got {factor.tolist()}; "
                    "1 stands for independent rows"
                )
            object.__setattr__(self, name, factor)

    @classmethod
    def of(cls, dispersion: Dispersion | ArrayLike) -> Dispersion:
        """Return one factor for all three streams, or the dispersion itself.

        >>> float(Dispersion.of(2.5).recall)
        2.5
        """
        if isinstance(dispersion, Dispersion):
            return dispersion
        factor = np.asarray(dispersion, dtype=np.float64)
        return cls(class_ratio=factor, recall=factor, false_positive_rate=factor)

    def larger(self, other: Dispersion | None) -> Dispersion:
        """Return the larger of the two factors for each stream; `self` where `other` is None.

        >>> float(Dispersion.of(2.5).larger(Dispersion.of(4)).recall)
        4.0
        """
        if other is None:
            return self
        return Dispersion(
            class_ratio=np.maximum(self.class_ratio, other.class_ratio),
            recall=np.maximum(self.recall, other.recall),
            false_positive_rate=np.maximum(self.false_positive_rate, other.false_positive_rate),
        )

    def times(self, factor: float) -> Dispersion:
        """Return all three, multiplied by a factor of at least 1.

        >>> float(Dispersion.of(2.5).times(2).recall)
        5.0
        """
        return Dispersion(
            class_ratio=self.class_ratio * factor,
            recall=self.recall * factor,
            false_positive_rate=self.false_positive_rate * factor,
        )

    @classmethod
    def estimate(
        cls,
        panes: ConfusionCounts,
        panes_per_block: Sequence[int] = (1,),
        prevalence: ArrayLike | None = None,
    ) -> Self:
        """Estimate the dispersion of a reference, the largest over several block lengths.

        Args:
            panes: outcomes of consecutive panes of equal length along the last axis; one
                series for each index of the axes in front.
            panes_per_block: block lengths in panes, such as (1, 60, 1440) for panes of a
                minute.
            prevalence: prevalence expected of each pane (its seasonal profile), so that
                the daily cycle does not count as scatter; None for the mean of the
                reference.

        Returns:
            Factors in the shape of the series; 1 where no block length has 5 blocks with
            outcomes, or where the scatter is not significant at p < .01.

        Source:
            McCullagh and Nelder 1989, §4.5.2 (Pearson's X² over degrees of freedom).

        >>> panes = ConfusionCounts(tp=[9, 1] * 20, fp=[5] * 40, fn=[1, 9] * 20, tn=[85] * 40)
        >>> found = Dispersion.estimate(panes, (1, 4))
        >>> round(float(found.recall), 2), float(found.false_positive_rate)
        (6.56, 1.0)
        """
        positive, total = panes.actual_positive, panes.total
        return cls(
            class_ratio=_largest(positive, total, panes_per_block, prevalence),
            recall=_largest(panes.tp, positive, panes_per_block, None),
            false_positive_rate=_largest(panes.fp, panes.actual_negative, panes_per_block, None),
        )


def pearson(
    successes: ArrayLike, trials: ArrayLike, expected: ArrayLike | None = None
) -> FloatArray:
    """Return Pearson's dispersion of binomial counts: X² over its degrees of freedom.

    Args:
        successes: counts of the blocks along the last axis.
        trials: numbers of trials of the blocks; blocks without trials are left out.
        expected: probability expected of each block; None for the pooled probability,
            which costs one degree of freedom.

    Returns:
        At least 0, about 1 for independent rows, without the last axis; NaN where fewer
        than two blocks have trials, or where the pooled probability is 0 or 1.

    Source:
        McCullagh and Nelder 1989, §4.5.2.

    >>> float(pearson([5, 15, 5, 15], [20, 20, 20, 20]))
    6.666666666666667
    """
    statistic, freedom = _chi_square(successes, trials, expected)
    return ratio(statistic, freedom)


def _chi_square(
    successes: ArrayLike, trials: ArrayLike, expected: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    x = np.asarray(successes, dtype=np.float64)
    n = np.asarray(trials, dtype=np.float64)
    pooled = ratio(x.sum(axis=-1, keepdims=True), n.sum(axis=-1, keepdims=True))
    p = pooled if expected is None else np.asarray(expected, dtype=np.float64)
    variance = n * p * (1 - p)
    terms = ratio((x - n * p) ** 2, np.broadcast_to(variance, x.shape))
    counted = np.isfinite(terms)
    freedom = counted.sum(axis=-1) - (expected is None)
    return np.where(counted, terms, 0.0).sum(axis=-1), np.maximum(freedom, 0).astype(np.float64)


def _largest(
    successes: ArrayLike,
    trials: ArrayLike,
    panes_per_block: Sequence[int],
    expected: ArrayLike | None,
) -> FloatArray:
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    hits = None if expected is None else n * np.asarray(expected, dtype=np.float64)
    largest = np.ones(x.shape[:-1])
    for size in panes_per_block:
        block_n = _merged(n, size)
        share = None if hits is None else np.nan_to_num(ratio(_merged(hits, size), block_n))
        statistic, freedom = _chi_square(_merged(x, size), block_n, share)
        p_value = gammaincc(np.maximum(freedom, 1) / 2, statistic / 2)
        significant = (freedom >= FEWEST_BLOCKS - 1) & (p_value < _SIGNIFICANCE)
        largest = np.fmax(largest, np.where(significant, ratio(statistic, freedom), 1.0))
    return largest


def _merged(values: FloatArray, size: int) -> FloatArray:
    """Sums of `size` neighbours along the last axis; the last block may be shorter."""
    merged: FloatArray = np.add.reduceat(values, np.arange(0, values.shape[-1], size), axis=-1)
    return merged
