"""The metrics of scores that have intervals, each with its influence and its scale."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics import score_influences as by
from monitor.metrics.binned_loss import hidden_log_loss
from monitor.metrics.calibration import (
    CalibrationLine,
    brier_score,
    calibration_line,
    line_near,
    log_loss,
    middles,
)
from monitor.metrics.corrected_scores import actual_classes
from monitor.metrics.curves import area_under_gain_curve, area_under_roc, average_precision
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.reliability import BrierParts, brier_parts, group_starts, reliability
from monitor.metrics.roc_region import mean_recall, range_around, recall_at
from monitor.metrics.score_intervals import LOG, LOG_BELOW_ONE, PLAIN, Statistic

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray
    from monitor.metrics.score_influences import Influences

AREA_UNDER_ROC = Statistic(area_under_roc, by.influence_on_area)
AVERAGE_PRECISION = Statistic(average_precision, by.influence_on_average_precision)
GAIN_AREA = Statistic(area_under_gain_curve, by.influence_on_gain_curve, LOG_BELOW_ONE)


def average_precision_at(class_ratio: float) -> Statistic:
    """Return the statistic of average precision at a class ratio.

    Args:
        class_ratio: r0, in (0, ∞); NaN where there is none.
    """
    return Statistic(
        partial(average_precision, class_ratio=class_ratio),
        partial(by.influence_on_average_precision, class_ratio=class_ratio),
    )


def recall_at_rate(false_positive_rate: float) -> Statistic:
    """Return the statistic of recall at a false-positive rate.

    Args:
        false_positive_rate: in (0, 1); NaN where there is none.
    """
    return Statistic(
        partial(recall_at, false_positive_rate=false_positive_rate),
        partial(by.influence_on_recall, false_positive_rate=false_positive_rate),
    )


def mean_recall_around(false_positive_rate: float) -> Statistic:
    """Return the statistic of mean recall around a false-positive rate.

    Args:
        false_positive_rate: in (0, 1]; NaN where there is none.
    """
    low, high = range_around(false_positive_rate)
    return Statistic(
        partial(mean_recall, around=false_positive_rate),
        partial(by.influence_on_area, low=low, high=high),
    )


def brier(*, balanced: bool = False) -> Statistic:
    """Return the statistic of the Brier score.

    Args:
        balanced: give both classes the same weight.
    """

    def influence(whole: ScoreHistogram) -> Influences:
        score = middles(whole.bins)
        return by.influence_on_loss(whole, (1 - score) ** 2, score**2, balanced=balanced)

    return Statistic(partial(brier_score, balanced=balanced), influence)


def log_likelihood(*, balanced: bool = False) -> Statistic:
    """Return the statistic of log loss.

    Args:
        balanced: give both classes the same weight.
    """

    def influence(whole: ScoreHistogram) -> Influences:
        score = middles(whole.bins)
        return by.influence_on_loss(whole, -np.log(score), -np.log1p(-score), balanced=balanced)

    return Statistic(
        partial(log_loss, balanced=balanced),
        influence,
        LOG,
        partial(hidden_log_loss, balanced=balanced),
    )


def distance_from_rates(
    whole: ScoreHistogram, errors: ErrorRates = NO_ERRORS, *, balanced: bool = False
) -> Statistic:
    """Return the statistic of reliability, in the groups of these cases.

    Args:
        whole: labelled cases of all days by score.
        errors: rates of wrong labels that the statistic's cases are corrected for.
        balanced: give both classes the same weight.
    """
    starts = group_starts(whole, balanced=balanced)
    return Statistic(
        partial(reliability, starts=starts, balanced=balanced, errors=errors),
        partial(by.influence_on_reliability, starts=starts, balanced=balanced),
        PLAIN,
    )


def parts_of_brier(whole: ScoreHistogram, errors: ErrorRates = NO_ERRORS) -> BrierParts[Statistic]:
    """Return the statistics of the parts of the Brier score, in the groups of these cases.

    Args:
        whole: labelled cases of all days by score.
        errors: rates of wrong labels that the statistics' cases are corrected for.
    """
    starts = group_starts(whole)
    return BrierParts(
        distance_from_rates(whole, errors),
        Statistic(
            lambda one: brier_parts(one, starts, errors=errors).resolution,
            partial(by.influence_on_resolution, starts=starts),
            PLAIN,
        ),
        Statistic(
            lambda one: brier_parts(one, starts, errors=errors).uncertainty,
            by.influence_on_uncertainty,
            LOG,
        ),
    )


def calibration(
    whole: ScoreHistogram, errors: ErrorRates = NO_ERRORS
) -> CalibrationLine[Statistic]:
    """Return the statistics of the logistic calibration.

    Days are left out by one step of Newton's method from the line of all.

    Args:
        whole: labelled cases of all days by score.
        errors: rates of wrong labels that the statistics' cases are corrected for.
    """
    line = calibration_line(actual_classes(whole, errors))
    influences = (by.influence_in_the_large, by.influence_on_slope, by.influence_on_intercept)

    def near(one: ScoreHistogram, number: int) -> FloatArray:
        return line_near(one, line)[number]

    return CalibrationLine(
        *(
            Statistic(partial(near, number=number), partial(influence, line=line), PLAIN)
            for number, influence in enumerate(influences)
        )
    )
