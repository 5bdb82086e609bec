"""A ROC curve from a histogram of scores, as tests of an operating point against it need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from monitor.counts import CountArray
from monitor.metrics.curves import rising
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray


@dataclass(frozen=True, slots=True)
class InterpolatedRoc:
    """A ROC curve from (0, 0) to (1, 1), interpolated linearly between its points.

    Attributes:
        false_positive_rate: of each point, rising, (points,).
        recall: of each point, (points,).
        positives: number of actual positives behind it, at least 1.
        negatives: number of actual negatives, at least 1.
    """

    false_positive_rate: FloatArray
    recall: FloatArray
    positives: float
    negatives: float

    @classmethod
    def of(cls, scores: ScoreHistogram) -> Self:
        """Return the curve of labelled scores, (bins,).

        Numbers of cases may be estimated, and below 0 in some bins; see `curves.rising`.
        """
        return cls._through(*scores.at_least)

    @classmethod
    def leaving_out(cls, scores: ScoreHistogram) -> list[Self]:
        """Return the curve of all blocks but one, for each block of time, (blocks, bins)."""
        whole = scores.sum(axis=0)
        found = ScoreHistogram(
            positive=whole.positive - scores.positive,
            negative=whole.negative - scores.negative,
            unlabelled=np.zeros_like(scores.positive),
        ).at_least
        return [cls._through(*points) for points in zip(*found, strict=True)]

    @classmethod
    def _through(cls, positive: CountArray, negative: CountArray) -> Self:
        """Return the curve of cases with a score of at least each threshold, (bins + 1,)."""
        positives, negatives = max(float(positive[0]), 1.0), max(float(negative[0]), 1.0)
        return cls(
            rising(negative[::-1]) / negatives,
            rising(positive[::-1]) / positives,
            positives,
            negatives,
        )

    def at(self, rate: FloatArray) -> FloatArray:
        """Return the recall at a false-positive rate, any shape."""
        return np.asarray(np.interp(rate, self.false_positive_rate, self.recall))

    def slope(self, rate: FloatArray, reach: FloatArray | float) -> FloatArray:
        """Return the slope of the chord from this far below a rate to as far above, within [0, 1].

        Args:
            rate: false-positive rates, any shape.
            reach: above 0, broadcasts against them.
        """
        low, high = np.maximum(rate - reach, 0.0), np.minimum(rate + reach, 1.0)
        return np.asarray((self.at(high) - self.at(low)) / (high - low))

    def sag(self, rate: float) -> float:
        """Return by how much a concave curve may lie above this one at a rate between two points.

        A concave curve lies below the recall of the upper point, and below the chords before and
        after the two points, extended to the rate: the lowest of these is its limit.

        Args:
            rate: a false-positive rate, in [0, 1].

        Returns:
            A difference of recall, at least 0; 0 at a point of the curve.
        """
        along, up = self.false_positive_rate, self.recall
        above = int(np.searchsorted(along, rate))
        if above in (0, len(along)):
            return 0.0
        here = float(self.at(np.asarray(rate)))
        reached = [float(up[above])]
        if above > 1 and along[above - 1] > along[above - 2]:
            before = (up[above - 1] - up[above - 2]) / (along[above - 1] - along[above - 2])
            reached.append(float(up[above - 1] + before * (rate - along[above - 1])))
        if above + 1 < len(along) and along[above + 1] > along[above]:
            after = (up[above + 1] - up[above]) / (along[above + 1] - along[above])
            reached.append(float(up[above] - after * (along[above] - rate)))
        return max(min(reached) - here, 0.0)
