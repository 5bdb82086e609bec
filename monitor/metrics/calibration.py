"""Calibration of scores as probabilities, from score histograms.

A case counts with the middle of its bin as its score, so that it is off by at most half a bin:
by .0005 with 1,000 bins. What that does to log loss is in `binned_loss`. Cases without a label do
not count. Reliability is in `reliability`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from monitor.counts import CountArray
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

_Number = TypeVar("_Number")
_NAN = float("nan")
_STEPS = 50
_CONVERGED = 1e-10
_STEEPEST = 50.0
"""A steeper calibration line separates the classes: its maximum lies at infinity."""


class CalibrationLine(NamedTuple, Generic[_Number]):
    """Logistic calibration of the scores: logit(rate of positives) against logit(score).

    Attributes:
        in_the_large: intercept at a slope of 1; above 0 where scores are too low.
        slope: of the line; 1 for calibrated scores, below 1 where they are too extreme.
        intercept: of the line, at that slope.
    """

    in_the_large: _Number
    slope: _Number
    intercept: _Number


def middles(bins: int) -> FloatArray:
    """Return the middle of each bin of scores in [0, 1], (bins,)."""
    return (np.arange(bins) + 0.5) / bins


def brier_score(histogram: ScoreHistogram, *, balanced: bool = False) -> FloatArray:
    """Mean squared distance of the score from the label, 0 or 1.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        balanced: give both classes the same weight, whatever their numbers of cases.

    Returns:
        In [0, 1], off by at most a bin's width; NaN without labelled cases and, balanced,
        where a class has no cases.

    Source:
        Brier 1950; Wallace & Dahabreh 2012 (stratified Brier scores).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> print(brier_score(ScoreHistogram.from_scores(positive=[.7], negative=[.1])).round(3))
    0.05
    """
    score = middles(histogram.bins)
    return mean_loss(histogram, (1 - score) ** 2, score**2, balanced=balanced)


def log_loss(histogram: ScoreHistogram, *, balanced: bool = False) -> FloatArray:
    """Mean negative log likelihood of the labels, in nats.

    Args:
        histogram: labelled cases by score; none counts as closer to 0 or 1 than half a bin.
            Axes before the bins are allowed.
        balanced: give both classes the same weight, whatever their numbers of cases.

    Returns:
        At least 0; NaN without labelled cases and, balanced, where a class has no cases.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> one_bin = ScoreHistogram.from_scores(positive=[.5], negative=[.5], bins=1)
    >>> print(log_loss(one_bin).round(4))
    0.6931
    """
    score = middles(histogram.bins)
    return mean_loss(histogram, -np.log(score), -np.log1p(-score), balanced=balanced)


def mean_loss(
    histogram: ScoreHistogram, of_positive: FloatArray, of_negative: FloatArray, *, balanced: bool
) -> FloatArray:
    """Return the mean of a loss that depends on label and score.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        of_positive: loss of a positive in each bin, (bins,).
        of_negative: of a negative.
        balanced: return the mean of the means of both classes.

    Returns:
        NaN without labelled cases and, balanced, where a class has no cases.
    """
    lost = histogram.positive @ of_positive, histogram.negative @ of_negative
    cases = histogram.positive.sum(axis=-1), histogram.negative.sum(axis=-1)
    if balanced:
        return (ratio(lost[0], cases[0]) + ratio(lost[1], cases[1])) / 2
    return ratio(lost[0] + lost[1], cases[0] + cases[1])


def calibration_line(histogram: ScoreHistogram) -> CalibrationLine[float]:
    """Fit logit(rate of positives) against logit(score), by maximum likelihood.

    Args:
        histogram: labelled cases by score.

    Returns:
        The line; NaN where a class has no cases. Slope and intercept are NaN where a score
        separates the classes, or all cases have one score.

    Source:
        Cox 1958; Steyerberg et al. 2010 (calibration in the large, calibration slope).
    """
    if not min(histogram.positive.sum(), histogram.negative.sum()) > 0:  # NaN likewise
        return CalibrationLine(_NAN, _NAN, _NAN)
    cases = _cases(histogram)
    held = np.flatnonzero(cases)
    logits, cases = logit(middles(histogram.bins)[held]), cases[held].astype(np.float64)
    positive = histogram.positive[held].astype(np.float64)
    constant = np.ones((len(held), 1))
    (in_the_large,) = _logistic(constant, logits, cases, positive)
    if len(held) == 1 or separates(histogram):
        return CalibrationLine(float(in_the_large), _NAN, _NAN)
    both = np.column_stack([constant, logits])
    intercept, slope = map(float, _logistic(both, np.zeros_like(logits), cases, positive))
    if abs(slope) >= _STEEPEST:
        return CalibrationLine(float(in_the_large), _NAN, _NAN)
    return CalibrationLine(float(in_the_large), slope, intercept)


def separates(histogram: ScoreHistogram, *, completely: bool = False) -> bool:
    """Test for a score that separates the classes, cases in the bin of that score left aside.

    The likelihood of a calibration line then has no maximum: the steeper the line, the greater.

    Args:
        histogram: labelled cases by score, bins on its only axis.
        completely: leave no case aside: no bin holds cases of both classes.

    Returns:
        False where a class has no cases, and where all scores are in one bin.

    Source:
        Albert & Anderson 1984 (complete and quasi-complete separation).

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> apart = ScoreHistogram.from_scores(positive=[.9, .5], negative=[.5, .1])
    >>> mixed = ScoreHistogram.from_scores(positive=[.9, .4], negative=[.5, .1])
    >>> separates(apart), separates(mixed), separates(apart, completely=True)
    (True, False, False)
    """
    positive, negative = np.flatnonzero(histogram.positive), np.flatnonzero(histogram.negative)
    if not (len(positive) and len(negative)):
        return False
    if positive[0] == positive[-1] == negative[0] == negative[-1]:
        return False
    if completely and (histogram.positive * histogram.negative).any():
        return False
    return bool(negative[-1] <= positive[0] or positive[-1] <= negative[0])


def line_near(
    histogram: ScoreHistogram, line: CalibrationLine[float]
) -> CalibrationLine[FloatArray]:
    """Return the logistic calibration of cases whose line is close to a known one.

    Args:
        histogram: labelled cases by score; axes before the bins are allowed.
        line: of about these cases, such as those of one more day.

    Returns:
        The line after one step of Newton's method; NaN where a class has no cases, and where
        the known line is.
    """
    logits, cases, positive = logit(middles(histogram.bins)), _cases(histogram), histogram.positive
    both = np.minimum(positive.sum(axis=-1), histogram.negative.sum(axis=-1)) > 0
    rate = expit(logits + line.in_the_large)
    in_the_large = line.in_the_large + ratio(
        (positive - cases * rate).sum(axis=-1), cases @ (rate * (1 - rate))
    )
    rate = expit(line.intercept + line.slope * logits)
    residual, weight = positive - cases * rate, rate * (1 - rate)
    levels = cases @ weight
    middle = ratio(cases @ (weight * logits), levels)
    spread = cases @ (weight * logits**2) - levels * middle**2
    slope = ratio(residual @ logits - middle * residual.sum(axis=-1), spread)
    level = ratio(residual.sum(axis=-1), levels) - middle * slope
    return CalibrationLine(
        np.where(both, in_the_large, np.nan),
        np.where(both, line.slope + slope, np.nan),
        np.where(both, line.intercept + level, np.nan),
    )


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


def _cases(histogram: ScoreHistogram) -> CountArray:
    return histogram.positive + histogram.negative
