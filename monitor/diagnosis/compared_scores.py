"""The scores of two periods: metrics of each, and both ROC curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.periods import Period
from monitor.diagnosis.scored_days import flagged_scores, not_flagged_by, unscored
from monitor.drift.curve_parts import CurveParts, curve_parts, curve_parts_at_all
from monitor.drift.implied_threshold import (
    FlaggedScores,
    ImpliedThresholds,
    implied_thresholds,
)
from monitor.drift.odds_ratio_within import in_days
from monitor.drift.score_slide import ScoreSlide, score_slide
from monitor.labels.error_ranges import Corner
from monitor.labels.uncorrected_curve import excluded_by_scores
from monitor.metrics.expected_threshold import ExpectedThreshold, expected_threshold
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.rates import class_ratio
from monitor.metrics.ratio import FloatArray
from monitor.metrics.recalibration import Recalibration, recalibration
from monitor.metrics.roc_region import RocBand, roc_band
from monitor.metrics.score_changes import interval_of_change
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill

ROC_RATES: FloatArray = (np.arange(51) / 50) ** 2
"""False-positive rates at which ROC curves are drawn; closer together where they are small."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedScores:
    """Metrics of the scores of two periods, over the whole days (UTC) inside each.

    Where labels have errors of known rates, metrics, parts and the threshold are corrected for
    them, and there is nothing else.

    Attributes:
        before: of the earlier one; None where it has no scores with labels of both classes.
        after: of the later one; None likewise.
        roc_before: ROC curve of before at `ROC_RATES`; None likewise.
        roc_after: ROC curve of after; None likewise.
        slide: of the mean score of each class; None where a period has no scores.
        parts: of the effect of the operating point on precision, what the threshold did and
            what the curve; None without scores of before, where a rate is 0, and where scores do
            not decide the predictions of before.
        thresholds: that cases are flagged by, as far as their scores imply it; None where more
            than a few have no score, where flags do not follow the scores, where a period has few
            days, and where labels have errors.
        recalibration: corrections of the scores of after as probabilities; None with few, and
            where scores are missing more often in one class.
        threshold: what the threshold for the precision wanted brings; None where precision is
            not certainly lower, where few scores say, and where they are missing likewise.
    """

    before: ScoreSkill | None
    after: ScoreSkill | None
    roc_before: RocBand | None
    roc_after: RocBand | None
    slide: ScoreSlide | None
    parts: CurveParts | None
    thresholds: ImpliedThresholds | None
    recalibration: Recalibration | None
    threshold: ExpectedThreshold | None

    def change(self, of: Callable[[ScoreSkill], Interval]) -> Interval:
        """Return the change of a metric with its 95 % interval; NaN where a side is undefined.

        Args:
            of: reads the metric.
        """
        sides = (self.before, self.after)
        old, new = (Interval(math.nan) if side is None else of(side) for side in sides)
        return interval_of_change(old, new)


def compare_scores(
    before: Period,
    after: Period,
    wanted: float | None = None,
    corners: Sequence[Corner] = (),
) -> ComparedScores | None:
    """Return the metrics of the scores of both periods; None where neither has scores.

    Args:
        before: what is compared with; its class ratio and false-positive rate are those
            that metrics at the reference refer to.
        after: what is judged.
        wanted: precision that a threshold is sought for; None where none is missed.
        corners: the comparison at the ends of the ranges of wrong labels.
    """
    reference, lacking = before.total, unscored(after)
    unlike = lacking is not None and lacking.is_unlike
    skills = _skill(before, reference), _skill(after, reference)
    if skills == (None, None):
        return None
    return ComparedScores(
        before=skills[0],
        after=skills[1],
        roc_before=_roc(before.scores),
        roc_after=_roc(after.scores),
        slide=None
        if before.scores is None or after.scores is None
        else score_slide(before.scores, after.scores),
        parts=_parts(before, after, corners),
        thresholds=_thresholds(flagged_scores(before), flagged_scores(after)),
        recalibration=None
        if after.scores is None or unlike
        else recalibration(after.scores, float(class_ratio(reference))),
        threshold=None
        if wanted is None or skills[1] is None or unlike or _excluded(after)
        else expected_threshold(skills[1].by_day, wanted, skills[1].errors),
    )


def _thresholds(
    before: FlaggedScores | None, after: FlaggedScores | None
) -> ImpliedThresholds | None:
    return None if before is None or after is None else implied_thresholds(before, after)


def _parts(before: Period, after: Period, corners: Sequence[Corner]) -> CurveParts | None:
    """Return the parts, with intervals of the scatter between days that hold at all corners."""
    if (curve := before.curve) is None or not_flagged_by(before) is not None:
        return None
    middle = curve_parts(curve, before.blocks, after.days_or_blocks)
    blocks_a_day = max(1, DAY_MS // (after.block_ms or DAY_MS))
    ends = [
        None
        if one.scores is None
        else curve_parts(one.scores, one.before, in_days(one.after, blocks_a_day))
        for one in corners
    ]
    return curve_parts_at_all([middle, *ends])


def _excluded(period: Period) -> bool:
    """Return whether labels of some scores exclude the rates at which they are corrected."""
    scores = period.scores_as_labelled
    if scores is None or period.sample is None:
        return False
    return bool(excluded_by_scores(period.sample.regime, scores.sum().counts))


def _skill(period: Period, reference: ConfusionCounts) -> ScoreSkill | None:
    if period.scores is not None:
        return ScoreSkill(by_day=period.scores, reference=reference)
    if period.scores_as_labelled is None or period.sample is None:
        return None
    errors = period.sample.regime.errors
    return ScoreSkill(by_day=period.scores_as_labelled, reference=reference, errors=errors)


def _roc(scores: ScoreHistogram | None) -> RocBand | None:
    return None if scores is None else roc_band(scores, ROC_RATES)
