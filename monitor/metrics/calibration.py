"""Calibration of scores as probabilities, from score histograms.

A case counts with the middle of its bin as its score, so that it is off by at most half a bin:
by .0005 with 1,000 bins. Each function takes one histogram of labelled cases, bins on its only
axis; cases without a label do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit, xlogy

if TYPE_CHECKING:
    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

GROUPS = 20
"""Groups of equally many cases that reliability is measured in."""
_NAN = float("nan")
_STEPS = 50
_CONVERGED = 1e-10
_STEEPEST = 50.0
"""A steeper calibration line separates the classes: its maximum lies at infinity."""


class BrierParts(NamedTuple):
    """Parts of a Brier score: `reliability - resolution + uncertainty` is the score.

    Attributes:
        reliability: mean squared distance of the scores from the rates of positives, 0 for
            calibrated scores; estimated without bias, so that it may lie slightly below 0.
        resolution: mean squared distance of these rates from prevalence; without bias, too.
        uncertainty: variance of the label, which depends on prevalence alone.
    """

    reliability: float
    resolution: float
    uncertainty: float


class CalibrationLine(NamedTuple):
    """Logistic calibration of the scores: logit(rate of positives) against logit(score).

    Attributes:
        in_the_large: intercept at a slope of 1; above 0 where scores are too low.
        slope: of the line; 1 for calibrated scores, below 1 where they are too extreme.
        intercept: of the line, at that slope.
    """

    in_the_large: float
    slope: float
    intercept: float


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


def middles(bins: int) -> FloatArray:
    """Return the middle of each bin of scores in [0, 1], (bins,)."""
    return (np.arange(bins) + 0.5) / bins


def brier_score(histogram: ScoreHistogram) -> FloatArray:
    """Mean squared distance of the score from the label, 0 or 1.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.

    Returns:
        In [0, 1], off by at most a bin's width; NaN without labelled cases.

    Source:
        Brier 1950.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> print(brier_score(ScoreHistogram.from_scores(positive=[.7], negative=[.1])).round(3))
    0.05
    """
    score = middles(histogram.bins)
    positive = histogram.positive @ (1 - score) ** 2
    negative = histogram.negative @ score**2
    cases = (histogram.positive + histogram.negative).sum(axis=-1)
    return np.asarray(np.where(cases > 0, (positive + negative) / np.maximum(cases, 1), np.nan))


def log_loss(histogram: ScoreHistogram) -> float:
    """Mean negative log likelihood of the labels, in nats.

    Args:
        histogram: labelled cases by score; none counts as closer to 0 or 1 than half a bin.

    Returns:
        At least 0; NaN without labelled cases.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> round(log_loss(ScoreHistogram.from_scores(positive=[.5], negative=[.5], bins=1)), 4)
    0.6931
    """
    score, cases = middles(histogram.bins), _cases(histogram)
    if not cases.sum():
        return _NAN
    positive = xlogy(histogram.positive, score).sum()
    negative = xlogy(histogram.negative, 1 - score).sum()
    return float(-(positive + negative) / cases.sum())


def reliability_curve(histogram: ScoreHistogram, groups: int = GROUPS) -> ReliabilityCurve:
    """Return scores and rates of positives in groups of about equally many cases.

    Args:
        histogram: labelled cases by score. All cases of a bin are in one group.
        groups: how many at most, at least 1.

    Returns:
        The groups with cases in order of their scores; none without labelled cases.
    """
    cases, score = _cases(histogram), middles(histogram.bins)
    group = _group_of(cases, groups)
    within = np.bincount(group, cases, groups)
    held = within > 0
    scores = np.bincount(group, cases * score, groups)
    positives = np.bincount(group, histogram.positive, groups)
    return ReliabilityCurve(
        scores[held] / within[held], positives[held] / within[held], within[held].astype(np.int64)
    )


def brier_parts(histogram: ScoreHistogram, groups: int = GROUPS) -> BrierParts:
    """Split the Brier score into reliability, resolution and uncertainty, without remainder.

    Reliability is measured in groups of about equally many cases. What the scores vary
    within groups belongs to resolution. The bias of few cases in a group is taken off.

    Args:
        histogram: labelled cases by score.
        groups: how many at most.

    Returns:
        The parts; NaN with fewer than two labelled cases.

    Source:
        Murphy 1973; Stephenson et al. 2008 (parts within groups); Ferro & Fricker 2012
        (bias).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> scores = ScoreHistogram.from_scores(positive=[.9, .6, .2], negative=[.6, .2, .1])
    >>> found = brier_parts(scores)
    >>> round(found.reliability - found.resolution + found.uncertainty, 4)
    0.2033
    >>> round(float(brier_score(scores)), 4)
    0.2033
    """
    total = float(_cases(histogram).sum())
    if total < 2:  # noqa: PLR2004  # the variance of one label is not known
        return BrierParts(_NAN, _NAN, _NAN)
    curve = reliability_curve(histogram, groups)
    share, prevalence = curve.cases / total, float(histogram.positive.sum()) / total
    reliability = float(share @ (curve.score - curve.rate) ** 2)
    uncertainty = prevalence * (1 - prevalence)
    resolution = reliability + uncertainty - float(brier_score(histogram))
    varied = curve.rate * (1 - curve.rate) / np.maximum(curve.cases - 1, 1)
    bias, unseen = float(share @ varied), uncertainty / (total - 1)
    return BrierParts(reliability - bias, resolution - bias + unseen, uncertainty + unseen)


def calibration_error(histogram: ScoreHistogram, groups: int = GROUPS) -> float:
    """Expected distance of the scores from the rates of positives (root mean square).

    Args:
        histogram: labelled cases by score.
        groups: groups of equally many cases, at most.

    Returns:
        In [0, 1]: the root of the reliability of `brier_parts`, whose bias is taken off, so
        that few cases do not make scores look miscalibrated; 0 where nothing is left. NaN
        with fewer than two labelled cases.

    Source:
        Kumar, Liang & Ma 2019 (debiased calibration error).
    """
    return float(np.sqrt(np.maximum(brier_parts(histogram, groups).reliability, 0.0)))


def calibration_line(histogram: ScoreHistogram) -> CalibrationLine:
    """Fit logit(rate of positives) against logit(score), by maximum likelihood.

    Args:
        histogram: labelled cases by score.

    Returns:
        The line; NaN where a class has no cases. Slope and intercept are NaN where a score
        separates the classes, or all cases have one score.

    Source:
        Cox 1958; Steyerberg et al. 2010 (calibration in the large, calibration slope).
    """
    positives, negatives = int(histogram.positive.sum()), int(histogram.negative.sum())
    if not positives or not negatives:
        return CalibrationLine(_NAN, _NAN, _NAN)
    cases = _cases(histogram)
    held = np.flatnonzero(cases)
    logits, cases = logit(middles(histogram.bins)[held]), cases[held].astype(np.float64)
    positive = histogram.positive[held].astype(np.float64)
    constant = np.ones((len(held), 1))
    (in_the_large,) = _logistic(constant, logits, cases, positive)
    if len(held) == 1:
        return CalibrationLine(float(in_the_large), _NAN, _NAN)
    both = np.column_stack([constant, logits])
    intercept, slope = map(float, _logistic(both, np.zeros_like(logits), cases, positive))
    if abs(slope) >= _STEEPEST:
        return CalibrationLine(float(in_the_large), _NAN, _NAN)
    return CalibrationLine(float(in_the_large), slope, intercept)


def _logistic(
    columns: FloatArray, offset: FloatArray, cases: FloatArray, positive: FloatArray
) -> FloatArray:
    """Fit a logistic regression by Newton's method with halved steps, one row a score."""
    found = np.zeros(columns.shape[1])
    best = _log_likelihood(columns @ found + offset, cases, positive)
    for _ in range(_STEPS):
        rate = expit(columns @ found + offset)
        weight = cases * rate * (1 - rate)
        information = columns.T @ (columns * weight[:, None])
        step = np.linalg.lstsq(information, columns.T @ (positive - cases * rate), rcond=None)[0]
        now = _log_likelihood(columns @ (found + step) + offset, cases, positive)
        while not now >= best and np.abs(step).max() > _CONVERGED:
            step = step / 2
            now = _log_likelihood(columns @ (found + step) + offset, cases, positive)
        found, gained, best = found + step, now - best, now
        if gained < _CONVERGED * (1 + abs(best)) or np.abs(found).max() > 2 * _STEEPEST:
            break
    return np.asarray(found)


def _log_likelihood(logits: FloatArray, cases: FloatArray, positive: FloatArray) -> float:
    return float(positive @ logits - cases @ np.logaddexp(0, logits))


def _group_of(cases: CountArray, groups: int) -> CountArray:
    """Return the group of each bin, so that groups hold about equally many cases."""
    below = np.cumsum(cases) - cases / 2
    found = np.floor(groups * below / max(int(cases.sum()), 1)).astype(np.int64)
    return np.minimum(found, groups - 1)


def _cases(histogram: ScoreHistogram) -> CountArray:
    return histogram.positive + histogram.negative
