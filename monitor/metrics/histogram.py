"""Score histograms: how a model's scores fall, for each class, in fixed bins.

Fixed bins on [0, 1] can be merged and taken back like counts, by hand, by
pane or by machine, and turn into the confusion counts of every threshold at
once. What they cost is resolution: thresholds are multiples of 1 / bins.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.events.columns import SCORE_BINS as BINS
from monitor.events.columns import bin_of
from monitor.metrics.ratio import FloatArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import CountArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreHistogram:
    """Cases by score and by what is known of their class.

    Args:
        positive: labelled positives in each bin; bins on the last axis.
        negative: labelled negatives, same shape.
        unlabelled: predictions without a label, same shape.

    Raises:
        ValueError: the shapes differ, or there is no bin.

    >>> histogram = ScoreHistogram.from_scores(
    ...     positive=[.9, .6], negative=[.6, .2, .1], bins=10)
    >>> (histogram + histogram).positive.tolist()
    [0, 0, 0, 0, 0, 0, 2, 0, 0, 2]
    """

    positive: CountArray
    negative: CountArray
    unlabelled: CountArray

    def __post_init__(self) -> None:
        shapes = [np.shape(getattr(self, f.name)) for f in fields(self)]
        if len(set(shapes)) > 1 or not shapes[0] or shapes[0][-1] < 1:
            raise ValueError(f"ScoreHistogram: bins of one shape are needed, got {shapes}")

    @classmethod
    def zeros(cls, shape: tuple[int, ...] = (), *, bins: int = BINS) -> Self:
        """Histograms of nothing yet, of any shape before the bins."""
        empty = np.zeros((*shape, bins), dtype=np.int64)
        return cls(positive=empty, negative=empty, unlabelled=empty)

    @classmethod
    def from_scores(
        cls,
        *,
        positive: ArrayLike = (),
        negative: ArrayLike = (),
        unlabelled: ArrayLike = (),
        bins: int = BINS,
    ) -> Self:
        """Count scores in [0, 1] into bins, one list of them a class."""
        scores = {"positive": positive, "negative": negative, "unlabelled": unlabelled}
        return cls(
            **{
                name: np.bincount(np.ravel(bin_of(values, bins)), minlength=bins)
                for name, values in scores.items()
            }
        )

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        return ScoreHistogram(
            positive=self.positive + other.positive,
            negative=self.negative + other.negative,
            unlabelled=self.unlabelled + other.unlabelled,
        )

    def sum(self, axis: int | tuple[int, ...] = 0) -> ScoreHistogram:
        """Merge along an axis that is not the bins'."""
        return ScoreHistogram(
            **{f.name: getattr(self, f.name).sum(axis=axis) for f in fields(self)}
        )

    @property
    def bins(self) -> int:
        """Number of bins."""
        return int(self.positive.shape[-1])

    @property
    def total(self) -> CountArray:
        """All predictions in each bin, labelled or not."""
        return self.positive + self.negative + self.unlabelled

    @property
    def thresholds(self) -> FloatArray:
        """Lower edges of the bins, ascending, and ∞, at which nothing is positive."""
        return np.append(np.arange(self.bins) / self.bins, np.inf)

    @property
    def counts(self) -> ConfusionCounts:
        """Outcomes of the labelled cases at each threshold, along a last axis of bins + 1.

        A case is predicted positive where its score is at least the threshold.
        """
        tp, fp = _at_least(self.positive), _at_least(self.negative)
        return ConfusionCounts(tp=tp, fp=fp, fn=tp[..., :1] - tp, tn=fp[..., :1] - fp)


def _at_least(cases: CountArray) -> CountArray:
    """How many cases are in each bin or above, then 0 for above them all."""
    nothing = np.zeros_like(cases[..., :1])
    return np.flip(np.cumsum(np.flip(np.concatenate([cases, nothing], -1), -1), -1), -1)
