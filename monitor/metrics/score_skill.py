"""How well a model's scores separate the classes, and how well they are calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitor.metrics.calibration import CalibrationLine, calibration_line, log_loss
from monitor.metrics.curves import area_under_gain_curve, average_precision
from monitor.metrics.rates import class_ratio, false_positive_rate
from monitor.metrics.reliability import (
    BrierParts,
    ReliabilityCurve,
    brier_parts,
    calibration_error,
    reliability_curve,
)
from monitor.metrics.roc_region import mean_recall, recall_at
from monitor.metrics.score_intervals import (
    Interval,
    average_precision_interval,
    brier_interval,
    roc_auc,
)

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSkill:
    """Metrics of the scores of one stretch of time; NaN where undefined.

    Attributes:
        days: blocks of time with labelled scores: days, or weeks of long ago.
        positives: labelled positives with a score.
        negatives: labelled negatives with a score.
        roc_auc: area under the ROC curve.
        average_precision: at the class ratio of these cases.
        brier_score: mean squared distance of the scores from the labels.
        average_precision_at_reference: at the reference's class ratio, so that prevalence
            cancels out.
        precision_recall_gain: area under the precision-recall-gain curve, at most 1.
        mean_recall: mean recall over false-positive rates from half to twice the reference's.
        recall_at_reference: recall at the reference's false-positive rate.
        brier: parts of the Brier score.
        calibration_error: see `calibration.calibration_error`.
        calibration: logistic calibration of the scores.
        log_loss: mean negative log likelihood, nats.
        reliability: scores and rates of positives in groups.
    """

    days: int
    positives: int
    negatives: int
    roc_auc: Interval
    average_precision: Interval
    brier_score: Interval
    average_precision_at_reference: float
    precision_recall_gain: float
    mean_recall: float
    recall_at_reference: float
    brier: BrierParts[FloatArray]
    calibration_error: float
    calibration: CalibrationLine
    log_loss: float
    reliability: ReliabilityCurve


def score_skill(days: ScoreHistogram, reference: ConfusionCounts | None = None) -> ScoreSkill:
    """Return all metrics of scores.

    Args:
        days: labelled cases by score, (days, bins).
        reference: outcomes of the reference, a scalar, for the metrics at its class ratio
            and its false-positive rate; None without one.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> day = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])
    >>> score_skill(ScoreHistogram(
    ...     positive=day.positive[None], negative=day.negative[None],
    ...     unlabelled=day.unlabelled[None])).roc_auc.estimate
    0.875
    """
    whole = days.sum()
    odds = _NAN if reference is None else float(class_ratio(reference))
    rate = _NAN if reference is None else float(false_positive_rate(reference))
    return ScoreSkill(
        days=int((days.positive + days.negative).any(axis=-1).sum()),
        positives=int(whole.positive.sum()),
        negatives=int(whole.negative.sum()),
        roc_auc=roc_auc(days),
        average_precision=average_precision_interval(days),
        brier_score=brier_interval(days),
        average_precision_at_reference=float(average_precision(whole, class_ratio=odds)),
        precision_recall_gain=float(area_under_gain_curve(whole)),
        mean_recall=mean_recall(whole, around=rate),
        recall_at_reference=recall_at(whole, false_positive_rate=rate),
        brier=brier_parts(whole),
        calibration_error=float(calibration_error(whole)),
        calibration=calibration_line(whole),
        log_loss=float(log_loss(whole)),
        reliability=reliability_curve(whole),
    )
