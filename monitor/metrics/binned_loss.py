"""How far the exact log loss of scores may lie from that of the middles of their bins.

The loss of a positive is -log(score), that of a negative -log(1 - score): in the first bin that
of a positive lies anywhere from -log(1 / bins) to infinity, and so does that of a negative in
the last one. Elsewhere the ends of the bin bound it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.calibration import log_loss, middles
from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

NEAREST = float(np.finfo(np.float64).eps)
"""No score counts as closer to 0 or 1 than this, as in scikit-learn: else one loss is infinite."""

_MOST_UNBOUNDED = 0.05
"""The largest share of log loss whose bins do not bound it; above it log loss is undefined."""


class HiddenLoss(NamedTuple):
    """How far the exact loss may lie from the estimate; NaN where the loss is undefined.

    Attributes:
        below: below it, at least 0.
        above: above it, at least 0.
    """

    below: float
    above: float


def hidden_log_loss(histogram: ScoreHistogram, *, balanced: bool = False) -> HiddenLoss:
    """Return how far the exact log loss of these cases may lie from `log_loss`.

    Args:
        histogram: cases by score, (bins,); a bin with an estimated number of cases below 0
            counts as without cases.
        balanced: give both classes the same weight, whatever their numbers of cases.

    Returns:
        In nats, for scores that lie anywhere in their bins, at least `NEAREST` from 0 and 1.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> far = ScoreHistogram.from_scores(positive=[.7], negative=[.1])
    >>> near = ScoreHistogram.from_scores(positive=[.0002], negative=[.1])
    >>> [round(hidden_log_loss(one).above, 4) for one in (far, near)]
    [0.0006, 14.2217]
    """
    bins, middle = histogram.bins, middles(histogram.bins)
    edges = np.arange(bins + 1) / bins
    loss = -np.log(np.maximum(edges, NEAREST))
    # The loss of a positive falls from bin to bin; that of a negative is its mirror image.
    below, above = -np.log(middle) - loss[1:], loss[:-1] + np.log(middle)
    classes = histogram.positive, histogram.negative
    return HiddenLoss(*(_mean(classes, (of, of[::-1]), balanced=balanced) for of in (below, above)))


def hides_log_loss(histogram: ScoreHistogram, *, balanced: bool = False) -> bool:
    """Return whether over a twentieth of log loss comes from cases whose bin does not bound it.

    These are positives in the first bin, and negatives in the last one.

    Args:
        histogram: cases by score, (bins,), as for `hidden_log_loss`.
        balanced: give both classes the same weight, whatever their numbers of cases.

    Returns:
        False without cases, and balanced where a class has none.
    """
    loss = float(log_loss(histogram, balanced=balanced))
    end = np.zeros(histogram.bins)
    end[0] = -np.log(middles(histogram.bins)[0])
    classes = histogram.positive, histogram.negative
    return 0 < _MOST_UNBOUNDED * loss < _mean(classes, (end, end[::-1]), balanced=balanced)


def hides_calibration(histogram: ScoreHistogram) -> bool:
    """Return whether bins at the ends decide the logistic calibration of the scores.

    Cases in the first bin count with a score of half a bin, whatever it is: where that gives
    them more than a twentieth of all positives, they may have any number of these. Likewise in
    the last bin, for negatives.

    Args:
        histogram: cases by score, (bins,), as for `hidden_log_loss`.

    Returns:
        True as well where bins hide log loss, which is of the same logarithms.
    """
    cases = np.maximum(histogram.positive, 0) + np.maximum(histogram.negative, 0)
    ends = zip((0, -1), (histogram.positive, histogram.negative), strict=True)
    most = (cases[end] / histogram.bins > _MOST_UNBOUNDED * rare.sum() for end, rare in ends)
    return hides_log_loss(histogram) or any(most)


def _mean(
    classes: tuple[CountArray, CountArray], of: tuple[FloatArray, FloatArray], *, balanced: bool
) -> float:
    sums = [np.maximum(held, 0) @ one for held, one in zip(classes, of, strict=True)]
    cases = [held.sum() for held in classes]
    if balanced:
        return float(ratio(sums[0], cases[0]) + ratio(sums[1], cases[1])) / 2
    return float(ratio(sums[0] + sums[1], cases[0] + cases[1]))
