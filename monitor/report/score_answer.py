"""The metrics of scores as a part of JSON answers."""

from __future__ import annotations

import math

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from monitor.diagnosis.compared_scores import ROC_RATES, ComparedScores
from monitor.drift.curve_parts import CurvePart, CurveParts
from monitor.metrics.roc_region import RocBand
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.answer_parts import Count, MetricInterval, Share, defined
from monitor.report.moved_precision import Points
from monitor.report.recalibration_answer import (
    ScoreCorrections,
    ThresholdAdvice,
    score_corrections,
    threshold_answer,
)
from monitor.report.score_words import SCORE_WORDS, thresholds_sentence


class BrierScore(Struct, frozen=True, kw_only=True):
    """Parts of the Brier score: reliability - resolution + uncertainty.

    The first two are estimated without bias, so that they may lie below 0.

    Attributes:
        reliability: what wrong calibration adds; 0 for calibrated scores.
        resolution: what telling cases apart takes off; 0 for scores that say nothing of the class.
        uncertainty: variance of the label, by prevalence alone.
    """

    reliability: MetricInterval
    resolution: MetricInterval
    uncertainty: MetricInterval


class ReliabilityGroup(Struct, frozen=True, kw_only=True):
    """One of the groups of cases with neighbouring scores.

    Attributes:
        score: mean score.
        rate: share of positives.
        cases: labelled cases.
    """

    score: Share
    rate: Share
    cases: Count


class ScoreMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of the scores of whole days (UTC).

    Attributes:
        days: days with labelled scores; weeks of more than two months ago count as one.
        positives: labelled positives with a score.
        negatives: labelled negatives with a score.
        roc_auc: area under the ROC curve.
        tied_pairs: share of pairs of a positive and a negative whose scores lie in one bin of
            .001; they count as tied. If they differ, the area under the ROC curve is up to half
            of this share lower or higher.
        average_precision: mean over the positives of the precision at their own score.
        brier_score: mean squared distance of the scores from the labels.
        average_precision_at_reference: average precision at the reference's class ratio; undefined
            without a reference.
        precision_recall_gain: area under the precision-recall-gain curve.
        mean_recall: mean recall over false positive rates from half to twice the reference's;
            undefined likewise.
        recall_at_reference: recall at the reference's false positive rate; undefined likewise.
        brier: parts of the Brier score.
        calibration_error: expected distance of scores from rates of positives, without bias.
        calibration_in_the_large: log-odds by which scores are too low; 0 for calibrated ones.
        calibration_slope: slope of the logistic calibration; 1 for calibrated scores.
        log_loss: mean negative log likelihood of the labels, nats; limits allow for where in its
            bin each score may lie.
        balanced_brier_score: Brier score with both classes of equal weight, so that prevalence
            cancels out.
        balanced_calibration_error: calibration error, likewise; not 0 for scores that are
            calibrated where classes are not equal.
        balanced_log_loss: log loss, likewise.
        hidden_by_bins: names of the metrics that are undefined because they depend on where in
            their bin of .001 scores near 0 or 1 lie; empty where none is.
        reliability: rates of positives by score, in groups of about equally many cases.
    """

    days: Count
    positives: Count
    negatives: Count
    roc_auc: MetricInterval
    tied_pairs: float | None
    average_precision: MetricInterval
    brier_score: MetricInterval
    average_precision_at_reference: MetricInterval
    precision_recall_gain: MetricInterval
    mean_recall: MetricInterval
    recall_at_reference: MetricInterval
    brier: BrierScore
    calibration_error: MetricInterval
    calibration_in_the_large: MetricInterval
    calibration_slope: MetricInterval
    log_loss: MetricInterval
    balanced_brier_score: MetricInterval
    balanced_calibration_error: MetricInterval
    balanced_log_loss: MetricInterval
    reliability: tuple[ReliabilityGroup, ...]
    hidden_by_bins: tuple[str, ...] = ()


class CurveEffect(Struct, frozen=True, kw_only=True):
    """A part of the effect of the operating point on precision.

    Attributes:
        logit: of the change of logit(precision), exact.
        points: of the change of precision, as a fraction.
        lower_points: lower limit of its 95 % interval; null with fewer than two days.
        upper_points: upper limit; null likewise.
    """

    logit: float
    points: float
    lower_points: float | None
    upper_points: float | None

    @property
    def interval(self) -> Points:
        """The change of precision with its limits, NaN where undefined."""
        ends = (self.lower_points, self.upper_points)
        return Points(self.points, *(math.nan if end is None else end for end in ends))


class CurveEffects(Struct, frozen=True, kw_only=True):
    """The part of skill in the change of precision, split; both add up to it.

    Attributes:
        threshold: movement along the ROC curve of before.
        curve: movement off it.
    """

    threshold: CurveEffect
    curve: CurveEffect


class RocLimits(Struct, frozen=True, kw_only=True):
    """Pointwise 95 % limits of a ROC curve, at the same false positive rates as the curve.

    Attributes:
        lower: of recall.
        upper: of recall.
    """

    lower: tuple[Share, ...]
    upper: tuple[Share, ...]


class ScoreSlides(Struct, frozen=True, kw_only=True):
    """Change of the mean score of each actual class, after minus before.

    Attributes:
        positive: of actual positives.
        negative: of actual negatives.
    """

    positive: MetricInterval
    negative: MetricInterval


class ThresholdsImplied(Struct, frozen=True, kw_only=True):
    """The threshold that the share of flagged cases and the scores of all imply.

    Attributes:
        before: of the earlier period, in units of the score.
        after: of the later one.
        moved: after minus before.
        scores_shifted: the scores certainly flag another share at the threshold of before, and
            the threshold did not certainly move.
        text: the same in words.
    """

    before: MetricInterval
    after: MetricInterval
    moved: MetricInterval
    scores_shifted: bool
    text: str


class ComparedScoreMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of the scores of two periods, and their ROC curves.

    Attributes:
        before: of the earlier period; null where it has no labelled scores.
        after: of the later one; null likewise.
        false_positive_rate: rates at which the curves are given.
        recall_before: recall of the ROC curve of before at these; null where there is none.
        recall_after: of the ROC curve of after; null likewise.
        limits_before: of the ROC curve of before; null with fewer than two days.
        limits_after: of the ROC curve of after; null likewise.
        changes: of each metric that has an interval, by name, after minus before.
        slide: of the mean scores; null where a period has no labelled scores.
        implied_thresholds: that cases are flagged by, where the scores of all imply one.
        skill: what of the part of skill the threshold did, and what the curve; null where
            that is not known.
        recalibration: corrections of the scores of after; null with few, and where scores are
            missing more often in one class than in the other.
        threshold: the threshold for the precision wanted; null where precision is as wanted,
            and where few scores say.
    """

    before: ScoreMetrics | None
    after: ScoreMetrics | None
    false_positive_rate: tuple[Share, ...]
    recall_before: tuple[Share, ...] | None
    recall_after: tuple[Share, ...] | None
    limits_before: RocLimits | None
    limits_after: RocLimits | None
    changes: dict[str, MetricInterval]
    slide: ScoreSlides | None
    implied_thresholds: ThresholdsImplied | None
    skill: CurveEffects | None
    recalibration: ScoreCorrections | None
    threshold: ThresholdAdvice | None


def compared_scores(found: ComparedScores | None) -> ComparedScoreMetrics | UnsetType:
    """Return the scores of two periods as a field of JSON; unset without scores."""
    if found is None:
        return UNSET
    return ComparedScoreMetrics(
        before=None if found.before is None else score_metrics(found.before),
        after=None if found.after is None else score_metrics(found.after),
        false_positive_rate=tuple(ROC_RATES.tolist()),
        recall_before=_recalls(found.roc_before),
        recall_after=_recalls(found.roc_after),
        limits_before=_limits(found.roc_before),
        limits_after=_limits(found.roc_after),
        changes={
            name: score_interval(found.change(words.of)) for name, words in SCORE_WORDS.items()
        },
        slide=None
        if found.slide is None
        else ScoreSlides(
            positive=score_interval(found.slide.positive),
            negative=score_interval(found.slide.negative),
        ),
        implied_thresholds=None
        if found.thresholds is None
        else ThresholdsImplied(
            before=score_interval(found.thresholds.before),
            after=score_interval(found.thresholds.after),
            moved=score_interval(found.thresholds.moved),
            scores_shifted=found.thresholds.scores_shifted,
            text=thresholds_sentence(found.thresholds),
        ),
        skill=curve_effects(found.parts),
        recalibration=score_corrections(found.recalibration),
        threshold=threshold_answer(found.threshold),
    )


def _recalls(curve: RocBand | None) -> tuple[float, ...] | None:
    return None if curve is None else tuple(curve.recall.tolist())


def _limits(curve: RocBand | None) -> RocLimits | None:
    if curve is None or not np.isfinite(curve.lower).all():
        return None
    return RocLimits(lower=tuple(curve.lower.tolist()), upper=tuple(curve.upper.tolist()))


def curve_effects(found: CurveParts | None) -> CurveEffects | None:
    """Return what the threshold did, and what the curve; None where that is not known."""
    if found is None:
        return None
    return CurveEffects(threshold=_effect(found.threshold), curve=_effect(found.curve))


def _effect(found: CurvePart) -> CurveEffect:
    return CurveEffect(
        logit=found.logit,
        points=found.points,
        lower_points=defined(found.lower_points),
        upper_points=defined(found.upper_points),
    )


def scores_of(found: ScoreSkill | None) -> ScoreMetrics | UnsetType:
    """Return metrics of scores as a field of JSON; unset, and so left out, without scores."""
    return UNSET if found is None else score_metrics(found)


def score_metrics(found: ScoreSkill) -> ScoreMetrics:
    """Return metrics of scores as an object of JSON."""
    curve = found.reliability
    return ScoreMetrics(
        days=found.days,
        positives=found.positives,
        negatives=found.negatives,
        roc_auc=score_interval(found.roc_auc),
        tied_pairs=defined(found.tied_pairs),
        average_precision=score_interval(found.average_precision),
        brier_score=score_interval(found.brier_score),
        average_precision_at_reference=score_interval(found.average_precision_at_reference),
        precision_recall_gain=score_interval(found.precision_recall_gain),
        mean_recall=score_interval(found.mean_recall),
        recall_at_reference=score_interval(found.recall_at_reference),
        brier=BrierScore(
            reliability=score_interval(found.brier.reliability),
            resolution=score_interval(found.brier.resolution),
            uncertainty=score_interval(found.brier.uncertainty),
        ),
        calibration_error=score_interval(found.calibration_error),
        calibration_in_the_large=score_interval(found.calibration.in_the_large),
        calibration_slope=score_interval(found.calibration.slope),
        log_loss=score_interval(found.log_loss),
        balanced_brier_score=score_interval(found.balanced_brier_score),
        balanced_calibration_error=score_interval(found.balanced_calibration_error),
        balanced_log_loss=score_interval(found.balanced_log_loss),
        reliability=tuple(
            ReliabilityGroup(score=score, rate=rate, cases=cases)
            for score, rate, cases in zip(
                curve.score.tolist(), curve.rate.tolist(), curve.cases.tolist(), strict=True
            )
        ),
        hidden_by_bins=found.hidden_by_bins,
    )


def score_interval(found: Interval) -> MetricInterval:
    """Return a metric of scores with its limits as an object of JSON; null where undefined."""
    estimate, lower, upper = map(defined, found)
    return MetricInterval(estimate=estimate, lower=lower, upper=upper)
