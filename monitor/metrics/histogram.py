"""Score histograms: numbers of cases by score and class, in fixed bins.

Histograms with fixed bins on [0, 1] can be added and subtracted like counts, over panes or
machines, and give the confusion counts of every threshold at once. Their resolution is that
of the bins: thresholds are multiples of 1 / bins.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.events.score_bins import SCORE_BINS as BINS
from monitor.events.score_bins import bin_of
from monitor.metrics.ratio import FloatArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import CountArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreHistogram:
    """Numbers of cases by score: labelled positives, labelled negatives, and unlabelled.

    Metrics of scores also take estimated numbers, which may lie below 0 in a bin
    (`corrected_scores`); `counts` does not.

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
        """Return empty histograms.

        Args:
            shape: shape of the axes before the bins.
            bins: number of bins, at least 1.

        Raises:
            ValueError: there is no bin.
        """
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
        """Count scores into bins.

        Args:
            positive: scores of labelled positives, in [0, 1].
            negative: scores of labelled negatives, in [0, 1].
            unlabelled: scores of predictions without a label, in [0, 1].
            bins: number of bins, at least 1.

        Raises:
            ValueError: a score is outside [0, 1], or there is no bin.
        """
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
        """Return the sum along an axis (or axes) before the bins."""
        return ScoreHistogram(
            **{f.name: getattr(self, f.name).sum(axis=axis) for f in fields(self)}
        )

    def mirrored(self) -> ScoreHistogram:
        """Return the cases with both classes, and the direction of the score, exchanged.

        A case of score s becomes one of 1 - s: what separates the classes does so as before.
        """
        return ScoreHistogram(
            positive=self.negative[..., ::-1],
            negative=self.positive[..., ::-1],
            unlabelled=self.unlabelled[..., ::-1],
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
        """Lower edges of the bins, ascending, then ∞, where nothing is predicted positive."""
        return np.append(np.arange(self.bins) / self.bins, np.inf)

    @property
    def counts(self) -> ConfusionCounts:
        """Outcomes of the labelled cases at each of `thresholds`, along a last axis of bins + 1.

        A case is predicted positive where its score is at least the threshold.
        """
        tp, fp = self.at_least
        return ConfusionCounts(tp=tp, fp=fp, fn=tp[..., :1] - tp, tn=fp[..., :1] - fp)

    @property
    def at_least(self) -> tuple[CountArray, CountArray]:
        """Labelled positives, and negatives, with a score of at least each of `thresholds`."""
        return _at_least(self.positive), _at_least(self.negative)


def _at_least(cases: CountArray) -> CountArray:
    """Number of cases in each bin or above, then 0 for the threshold ∞."""
    nothing = np.zeros_like(cases[..., :1])
    return np.flip(np.cumsum(np.flip(np.concatenate([cases, nothing], -1), -1), -1), -1)
