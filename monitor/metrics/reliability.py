"""Reliability of scores as probabilities: how far they are from the rates of positives.

It is measured in groups of cases with neighbouring scores, whose cases count with the middle
of their bin. Balanced, both classes weigh the same, whatever their numbers of cases: a rate of
positives is then that at equal classes, which does not move with prevalence alone. Scores that
are calibrated at another prevalence lie away from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from monitor.metrics.calibration import brier_score, middles
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates, labelled_cases
from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

GROUPS = 20
"""Groups of about equal weight that reliability is measured in."""
_Part = TypeVar("_Part")


class BrierParts(NamedTuple, Generic[_Part]):
    """Parts of a Brier score: `reliability - resolution + uncertainty` is the score.

    Reliability and resolution are without bias. So either may lie below 0, where the true one is
    about 0; it is given as it is, since parts with a bound at 0 would not add up to the score.

    Attributes:
        reliability: mean squared distance of the scores from the rates of positives, 0 for
            calibrated scores.
        resolution: mean squared distance of these rates from prevalence, 0 for scores that say
            nothing of the class; less what scores that vary at random within groups lose.
        uncertainty: variance of the label, which depends on prevalence alone.
    """

    reliability: _Part
    resolution: _Part
    uncertainty: _Part


class ReliabilityCurve(NamedTuple):
    """Scores and rates of positives in groups of about equally many cases, by score.

    Attributes:
        score: mean score of each group, in [0, 1].
        rate: share of positives in each group.
        cases: labelled cases in each group, above 0.
    """

    score: FloatArray
    rate: FloatArray
    cases: CountArray


class ScoreGroups(NamedTuple):
    """Sums of groups of bins, groups on the last axis.

    Attributes:
        share: of the weight of all cases; 0 where a group has none.
        score: mean score; 0 where a group has no cases, and so the two below.
        rate: share of positives, by weight.
        variance: of the rate, given the cases; unbiased without weights.
    """

    share: FloatArray
    score: FloatArray
    rate: FloatArray
    variance: FloatArray


def group_starts(
    histogram: ScoreHistogram, groups: int = GROUPS, *, balanced: bool = False
) -> CountArray:
    """Return the first bin of each group, so that groups hold about equal weight.

    Args:
        histogram: labelled cases by score, bins on its only axis.
        groups: how many at most, at least 1.
        balanced: give both classes the same weight.
    """
    positive, negative = (side[0] for side in _weights(histogram, balanced=balanced))
    weight = histogram.positive * positive + histogram.negative * negative
    below = np.cumsum(weight) - weight / 2
    total = float(weight.sum())
    group = np.floor(groups * below / (total or 1.0)).astype(np.int64)
    return np.flatnonzero(np.diff(np.minimum(group, groups - 1), prepend=-1))


def score_groups(
    histogram: ScoreHistogram,
    starts: CountArray,
    *,
    balanced: bool = False,
    errors: ErrorRates = NO_ERRORS,
) -> ScoreGroups:
    """Return scores and rates of positives in given groups.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        starts: the first bin of each group, as of `group_starts`.
        balanced: give both classes the same weight.
        errors: rates of wrong labels that the histogram is corrected for.
    """
    of_positive, of_negative = _weights(histogram, balanced=balanced)
    score = middles(histogram.bins)
    sides = histogram.positive, histogram.negative
    positive, negative = (np.add.reduceat(side, starts, axis=-1) for side in sides)
    scores = [np.add.reduceat(side * score, starts, axis=-1) for side in sides]
    cases = positive + negative
    weight = of_positive * positive + of_negative * negative
    some = np.where(weight > 0, weight, 1.0)
    varied = of_positive * of_negative * cases / (some**2 * errors.left)
    labelled = labelled_cases(positive, negative, errors)
    return ScoreGroups(
        share=ratio(weight, weight.sum(axis=-1, keepdims=True)),
        score=(of_positive * scores[0] + of_negative * scores[1]) / some,
        rate=of_positive * positive / some,
        variance=varied**2 * labelled[0] * labelled[1] / np.maximum(cases - 1, 1),
    )


def reliability_curve(histogram: ScoreHistogram, groups: int = GROUPS) -> ReliabilityCurve:
    """Return scores and rates of positives in groups of about equally many cases.

    Args:
        histogram: labelled cases by score. All cases of a bin are in one group.
        groups: how many at most, at least 1.

    Returns:
        The groups with cases in order of their scores; none without labelled cases.
    """
    starts = group_starts(histogram, groups)
    found = score_groups(histogram, starts)
    cases = np.add.reduceat(histogram.positive + histogram.negative, starts)
    held = cases > 0
    return ReliabilityCurve(found.score[held], found.rate[held], cases[held])


def reliability(
    histogram: ScoreHistogram,
    starts: CountArray | None = None,
    *,
    balanced: bool = False,
    errors: ErrorRates = NO_ERRORS,
) -> FloatArray:
    """Mean squared distance of the scores from the rates of positives, without bias.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed with `starts`.
        starts: the first bin of each group; None for `GROUPS` of about equal weight.
        balanced: give both classes the same weight. The bias is then taken off to first order.
        errors: rates of wrong labels that the histogram is corrected for.

    Returns:
        0 for calibrated scores on average, so that it may lie slightly below 0; NaN with
        fewer than two labelled cases and, balanced, where a class has no cases.

    Source:
        Murphy 1973; Ferro & Fricker 2012 (bias).
    """
    if starts is None:
        starts = group_starts(histogram, balanced=balanced)
    found = score_groups(histogram, starts, balanced=balanced, errors=errors)
    squares = (found.score - found.rate) ** 2 - found.variance
    mean = (found.share * squares).sum(axis=-1)
    positives, negatives = (s.sum(axis=-1) for s in (histogram.positive, histogram.negative))
    known = np.minimum(positives, negatives) > 0 if balanced else positives + negatives > 1
    return np.asarray(np.where(known, mean, np.nan))


def brier_parts(
    histogram: ScoreHistogram,
    starts: CountArray | None = None,
    *,
    errors: ErrorRates = NO_ERRORS,
) -> BrierParts[FloatArray]:
    """Split the Brier score into reliability, resolution and uncertainty, without remainder.

    Reliability is measured in groups of about equally many cases. What the scores vary
    within groups belongs to resolution. The bias of few cases in a group is taken off.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed with `starts`.
        starts: the first bin of each group; None for `GROUPS` of about equally many cases.
        errors: rates of wrong labels that the histogram is corrected for.

    Returns:
        The parts; NaN with fewer than two labelled cases. Resolution and uncertainty are NaN where
        a class has no cases, too: nothing is to be told apart. Reliability and resolution may lie
        below 0.

    Source:
        Murphy 1973; Stephenson et al. 2008 (parts within groups); Ferro & Fricker 2012
        (bias).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6, .2], negative=[.6, .2, .1])
    >>> found = brier_parts(scores)
    >>> print((found.reliability - found.resolution + found.uncertainty).round(4))
    0.2033
    >>> print(brier_score(scores).round(4))
    0.2033
    """
    positives = histogram.positive.sum(axis=-1)
    cases = positives + histogram.negative.sum(axis=-1)
    off = reliability(histogram, starts, errors=errors)
    varied = np.asarray(ratio(positives, cases) * ratio(cases - positives, cases - 1))
    uncertainty = np.where((positives > 0) & (positives < cases), varied, np.nan)
    return BrierParts(off, off + uncertainty - brier_score(histogram), uncertainty)


def calibration_error(histogram: ScoreHistogram, *, balanced: bool = False) -> FloatArray:
    """Expected distance of the scores from the rates of positives (root mean square).

    Args:
        histogram: labelled cases by score, bins on its only axis.
        balanced: give both classes the same weight.

    Returns:
        In [0, 1]: the root of `reliability`, whose bias is taken off, so that few cases do
        not make scores look miscalibrated; 0 where nothing is left. NaN as there.

    Source:
        Kumar, Liang & Ma 2019 (debiased calibration error).
    """
    return root(reliability(histogram, balanced=balanced))


def root(squared: FloatArray) -> FloatArray:
    """Return the root of a mean square without bias; 0 where that is below 0.

    Args:
        squared: any shape.

    >>> print(root(np.array([-.01, .04])))
    [0.  0.2]
    """
    return np.sqrt(np.maximum(squared, 0.0))


def _weights(histogram: ScoreHistogram, *, balanced: bool) -> tuple[FloatArray, FloatArray]:
    """Return the weight of a positive and of a negative, with an axis of length 1 for bins."""
    if not balanced:
        return np.ones(1), np.ones(1)
    cases = (side.sum(axis=-1, keepdims=True) for side in (histogram.positive, histogram.negative))
    positive, negative = (1 / np.maximum(number, 1) for number in cases)
    return positive, negative
