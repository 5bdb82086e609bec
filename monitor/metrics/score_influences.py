"""Influences of single cases on metrics of scores, for the variance of independent rows.

The influence of a case is by how much a metric changes with one more of its kind: the derivative
by the number of cases of its class in its bin. The variance of the metric is the sum of their
squares over all cases (the delta method, or infinitesimal jackknife; for the area under the ROC
curve that of DeLong).

Source:
    Efron 1982 (infinitesimal jackknife); DeLong et al. 1988; Dodd & Pepe 2003 (partial areas).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.calibration import mean_loss, middles
from monitor.metrics.curves import area_under_gain_curve, roc_curve
from monitor.metrics.reliability import score_groups

if TYPE_CHECKING:
    from monitor.counts import CountArray
    from monitor.metrics.calibration import CalibrationLine
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray


class Influences(NamedTuple):
    """Influences of the cases of each class, (bins,).

    Attributes:
        positive: of one more positive in each bin.
        negative: of one more negative.
    """

    positive: FloatArray
    negative: FloatArray

    def variance(self, whole: ScoreHistogram) -> float:
        """Return the variance of the metric for independent rows.

        Args:
            whole: the labelled cases that the metric is of, bins on its only axis.
        """
        return _squares(whole.positive, self.positive) + _squares(whole.negative, self.negative)


def influence_on_area(whole: ScoreHistogram, low: float = 0.0, high: float = 1.0) -> Influences:
    """Return influences on the mean recall over a range of false-positive rates.

    Args:
        whole: labelled cases of both classes by score.
        low: lower end of the range; 0 and 1 are that of the whole area under the curve.
        high: upper end.
    """
    rates, recalls = _upwards(whole)
    inside = np.clip(rates, low, high)
    of_positive = high - _in_bins(inside)
    of_negative = _in_bins(np.interp(inside, rates, recalls))
    width = high - low
    return Influences(
        _centred(whole.positive, of_positive) / width, _centred(whole.negative, of_negative) / width
    )


def influence_on_recall(whole: ScoreHistogram, false_positive_rate: float) -> Influences:
    """Return influences on the recall of the ROC curve at a false-positive rate.

    Args:
        whole: labelled cases of both classes by score.
        false_positive_rate: in (0, 1).

    Returns:
        With the slope of the curve over one standard error of the rate to either side.
    """
    rates, recalls = _upwards(whole)
    rate, negatives = false_positive_rate, float(whole.negative.sum())
    error = max((rate * (1 - rate) / negatives) ** 0.5, 1 / negatives)
    beside = np.clip([rate - error, rate + error], 0.0, 1.0)
    slope = float(np.diff(np.interp(beside, rates, recalls))[0] / (beside[1] - beside[0]))
    above = _in_bins((rates <= rate).astype(np.float64))
    return Influences(_centred(whole.positive, above), _centred(whole.negative, -slope * above))


def influence_on_average_precision(
    whole: ScoreHistogram, class_ratio: float | None = None
) -> Influences:
    """Return influences on average precision.

    With T positives and F negatives at or above a bin, and p positives in it, average precision
    is the sum of p w T / (w T + F), divided by all positives; w carries it to a class ratio.

    Args:
        whole: labelled cases of both classes by score.
        class_ratio: class ratio r0 of the curve; None for the observed one.
    """
    positives, negatives = float(whole.positive.sum()), float(whole.negative.sum())
    weight = 1.0 if class_ratio is None else class_ratio * negatives / positives
    found, false = (np.flip(np.cumsum(np.flip(one))) for one in (whole.positive, whole.negative))
    flagged = np.where(found + false > 0, weight * found + false, 1.0)
    precision, share = weight * found / flagged, whole.positive / positives
    of_true, of_false = (
        np.cumsum(share * weight * part / flagged**2) for part in (false, -found.astype(float))
    )
    by_weight = 0.0 if class_ratio is None else float(share @ (found * false / flagged**2)) * weight
    average = float(share @ precision)
    return Influences(
        (precision - average - by_weight) / positives + of_true, of_false + by_weight / negatives
    )


def influence_on_gain_curve(whole: ScoreHistogram) -> Influences:
    """Return influences on the area under the precision-recall-gain curve.

    With the false-positive rate F at recall t and prevalence π, the area is 1 - r ∫ F t⁻³ dt
    over recalls from π to 1.

    Args:
        whole: labelled cases of both classes by score.
    """
    positives, negatives = float(whole.positive.sum()), float(whole.negative.sum())
    cases, odds = positives + negatives, positives / negatives
    prevalence = positives / cases
    rates, recalls = _upwards(whole)
    inside = np.maximum(recalls, prevalence)
    of_negative = -odds * _in_bins((inside**-2 - 1) / 2)
    rise, first, last = np.diff(recalls), inside[:-1], inside[1:]
    part = np.where(rise > 0, (last - first) / np.where(rise > 0, rise, 1.0), last > prevalence)
    steps = part * np.diff(rates) * (first + last) / (2 * first**2 * last**2)
    beyond = np.append(np.flip(np.cumsum(np.flip(steps))), 0.0)
    by_odds = float(area_under_gain_curve(whole)) - 1
    at_prevalence = float(np.interp(prevalence, recalls, rates))
    by_prevalence = odds * at_prevalence * prevalence**-3
    return Influences(
        _centred(whole.positive, odds * _in_bins(beyond))
        + by_odds / positives
        + by_prevalence * (1 - prevalence) / cases,
        _centred(whole.negative, of_negative)
        - by_odds / negatives
        - by_prevalence * prevalence / cases,
    )


def influence_on_loss(
    whole: ScoreHistogram, of_positive: FloatArray, of_negative: FloatArray, *, balanced: bool
) -> Influences:
    """Return influences on the mean of a loss that depends on label and score.

    Args:
        whole: labelled cases by score.
        of_positive: loss of a positive in each bin, (bins,).
        of_negative: of a negative.
        balanced: both classes have the same weight.
    """
    if balanced:
        sides = (whole.positive, of_positive), (whole.negative, of_negative)
        return Influences(*(_centred(cases, loss) / 2 for cases, loss in sides))
    cases = float((whole.positive + whole.negative).sum())
    mean = mean_loss(whole, of_positive, of_negative, balanced=False)
    return Influences((of_positive - mean) / cases, (of_negative - mean) / cases)


def influence_on_reliability(
    whole: ScoreHistogram, starts: CountArray, *, balanced: bool
) -> Influences:
    """Return influences on the mean squared distance of scores from rates, in given groups.

    Args:
        whole: labelled cases by score.
        starts: the first bin of each group.
        balanced: both classes have the same weight.
    """
    return influence_on_loss(
        whole, *_losses_of_reliability(whole, starts, balanced=balanced), balanced=balanced
    )


def influence_on_resolution(whole: ScoreHistogram, starts: CountArray) -> Influences:
    """Return influences on reliability plus uncertainty minus the Brier score.

    Args:
        whole: labelled cases by score.
        starts: the first bin of each group.
    """
    score = middles(whole.bins)
    positive, negative = _losses_of_reliability(whole, starts, balanced=False)
    slope = 1 - 2 * _prevalence(whole)
    return influence_on_loss(
        whole, positive + slope - (1 - score) ** 2, negative - score**2, balanced=False
    )


def influence_on_uncertainty(whole: ScoreHistogram) -> Influences:
    """Return influences on the variance of the label.

    Args:
        whole: labelled cases by score.
    """
    slope = np.full(whole.bins, 1 - 2 * _prevalence(whole))
    return influence_on_loss(whole, slope, np.zeros(whole.bins), balanced=False)


def influence_on_slope(whole: ScoreHistogram, line: CalibrationLine[float]) -> Influences:
    """Return influences on the slope of the logistic calibration.

    Args:
        whole: labelled cases by score.
        line: their calibration.
    """
    _, step, rate = _steps_of_line(whole, line)
    return Influences(step * (1 - rate), -step * rate)


def influence_on_intercept(whole: ScoreHistogram, line: CalibrationLine[float]) -> Influences:
    """Return influences on the intercept of the logistic calibration, beside its slope.

    Args:
        whole: labelled cases by score.
        line: their calibration.
    """
    step, _, rate = _steps_of_line(whole, line)
    return Influences(step * (1 - rate), -step * rate)


def influence_in_the_large(whole: ScoreHistogram, line: CalibrationLine[float]) -> Influences:
    """Return influences on calibration in the large.

    Args:
        whole: labelled cases by score.
        line: their calibration.
    """
    rate = expit(logit(middles(whole.bins)) + line.in_the_large)
    information = float((whole.positive + whole.negative) @ (rate * (1 - rate)))
    return Influences((1 - rate) / information, -rate / information)


def _steps_of_line(
    whole: ScoreHistogram, line: CalibrationLine[float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return steps of intercept and slope for a residual of 1 in each bin, and fitted rates."""
    logits, cases = logit(middles(whole.bins)), whole.positive + whole.negative
    rate = expit(line.intercept + line.slope * logits)
    weight = cases * rate * (1 - rate)
    mean = (weight @ logits) / weight.sum()
    slope = (logits - mean) / (weight @ (logits - mean) ** 2)
    return 1 / weight.sum() - mean * slope, slope, rate


def _losses_of_reliability(
    whole: ScoreHistogram, starts: CountArray, *, balanced: bool
) -> tuple[FloatArray, FloatArray]:
    found = score_groups(whole, starts, balanced=balanced)
    wide = np.diff(np.append(starts, whole.bins))
    apart = np.repeat(found.score - found.rate, wide)
    score = middles(whole.bins)
    return (
        apart**2 + 2 * apart * (score - 1 - apart),
        apart**2 + 2 * apart * (score - apart),
    )


def _prevalence(whole: ScoreHistogram) -> float:
    positives = float(whole.positive.sum())
    return positives / (positives + float(whole.negative.sum()))


def _upwards(whole: ScoreHistogram) -> tuple[FloatArray, FloatArray]:
    """Return the ROC curve from (0, 0) on: rates and recalls, (bins + 1,)."""
    curve = roc_curve(whole)
    return curve.false_positive_rate[::-1], curve.recall[::-1]


def _in_bins(along: FloatArray) -> FloatArray:
    """Return what holds at the points of a curve from (0, 0) on, on average in each bin."""
    return (along[1:] + along[:-1])[::-1] / 2


def _centred(cases: CountArray, values: FloatArray) -> FloatArray:
    """Return influences on a mean over the cases of a class."""
    total = float(cases.sum())
    return (values - float(cases @ values) / total) / total


def _squares(cases: CountArray, influence: FloatArray) -> float:
    total = float(cases.sum())
    return float(cases @ influence**2) * total / max(total - 1, 1)
