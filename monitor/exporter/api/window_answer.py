"""One window of a model as a part of the answer of `/api/v1/status`."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.drift import Verdict
from monitor.drift.checked_estimate import Withheld
from monitor.drift.recall_evidence import Because
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import (
    Count,
    LabelStatus,
    MetricInterval,
    MetricIntervals,
    OutcomeCounts,
    Share,
    Time,
)
from monitor.report.class_answer import ClassesAnswer
from monitor.report.diagnosis_answer import Cause, CauseEffect, PrecisionChange
from monitor.report.label_answer import IfLabelsWrong
from monitor.report.reference_answer import ReferencePeriod
from monitor.report.score_answer import ScoreMetrics


class LabelCoverage(Struct, frozen=True, kw_only=True):
    """Share of the predictions of a window that are labelled.

    Attributes:
        predicted_positive: of the predicted positives; null where there are none.
        predicted_negative: of the predicted negatives; null likewise.
    """

    predicted_positive: Share | None
    predicted_negative: Share | None


class PrecisionAtRatio(Struct, frozen=True, kw_only=True):
    """Precision at a class ratio that the configuration asks for.

    Attributes:
        class_ratio: r0, positives per negative.
        estimate: precision at r0; null where undefined or refused.
        lower: lower limit of its 95 % interval.
        upper: upper limit.
    """

    class_ratio: float
    estimate: float | None
    lower: float | None
    upper: float | None


class JudgedDriver(Struct, frozen=True, kw_only=True):
    """The cause with the largest share of the change.

    Attributes:
        cause: its name.
        share: its part of the change of logit(precision); null where precision did not change.
        certain: all other parts together are certainly below a quarter of the change.
    """

    cause: Cause
    share: float | None
    certain: bool


class WindowJudgement(Struct, frozen=True, kw_only=True):
    """The evidence behind the verdict on a window.

    Attributes:
        operating_point_moved: recall and false positives moved the same way.
        fell: components that certainly fell.
        rose: components that certainly rose.
        unknown: components of which neither a change nor its absence is certain.
        main_driver: the cause with the largest share of the change.
        labels_may_explain: skill changed, but labels that are wrong more, or less, often explain
            it as well.
        label_errors_changed: scores or audits show that labels are wrong more, or less, often.
    """

    operating_point_moved: bool
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    unknown: tuple[str, ...]
    main_driver: JudgedDriver
    labels_may_explain: bool
    label_errors_changed: bool


class CauseEffects(Struct, frozen=True, kw_only=True):
    """Contribution of each cause to the change of precision.

    Attributes:
        prevalence: of the change of prevalence.
        recall: of the change of recall.
        false_positives: of the change of the false positive rate.
        skill: of both rates together.
    """

    prevalence: CauseEffect
    recall: CauseEffect
    false_positives: CauseEffect
    skill: CauseEffect


class WindowAttribution(Struct, frozen=True, kw_only=True):
    """Attribution of the change of precision between the reference and a window.

    Attributes:
        change: of precision.
        causes: contribution of each.
        precision_had_prevalence_stayed: precision of the window at the reference's class
            ratio.
    """

    change: PrecisionChange
    causes: CauseEffects
    precision_had_prevalence_stayed: float | None


class EstimatedRate(Struct, frozen=True, kw_only=True):
    """A rate ahead of its labels.

    Attributes:
        estimate: null where it is withheld.
        lower: lower end of the 95 % interval; null likewise.
        upper: upper end; null likewise.
        method: what it rests on: `labels` alone, or beside them `label_shift`,
            `label_shift_by_segment` or `covariate_shift`.
        weight: of the shift beside the labels, from 0 to 1.
        comparisons: number of past estimates that were compared with their outcomes.
        days: days that these span.
        median_error: median of their absolute errors; null without any.
        withheld: why it is withheld; null where it is published.
        rests_on: all of that in one line.
    """

    estimate: float | None
    lower: float | None
    upper: float | None
    method: str
    weight: float
    comparisons: int
    days: int
    median_error: float | None
    withheld: Withheld | None
    rests_on: str


class WindowNowcast(Struct, frozen=True, kw_only=True):
    """Prevalence and precision of a window that ended with the last whole day (UTC).

    Attributes:
        prevalence: ahead of its labels.
        precision: ahead of its labels.
        close: first moment after that window.
    """

    prevalence: EstimatedRate
    precision: EstimatedRate
    close: Time


class WindowStatus(Struct, frozen=True, kw_only=True):
    """One window of a model.

    Attributes:
        open: first moment inside; null before event time began.
        close: first moment after it; null likewise.
        outcomes: its outcomes.
        metrics: its metrics.
        status: how far its labels allow its metrics; null where that is not known.
        predictions: made in it, labelled or not.
        predicted_positive_rate: share of them that is predicted positive; null without any, and
            of a model of many classes.
        label_coverage: share of them that is labelled.
        precision_at: precision at each configured class ratio.
        precision_at_reference: precision at the class ratio of the reference.
        far_from_reference: the class ratio is at least five times below or above the
            reference's.
        verdict: what happened between the reference and this window.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        label_fault: what is wrong with its labels; null where nothing is.
        refused: metrics that are withheld, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is withheld.
        judgement: what the verdict rests on; null where nothing could be judged.
        attribution: contribution of each cause; null likewise.
        nowcast: ahead of the labels; null without a reference, where labels are a sample, and
            where the window is not whole days long.
        scores: metrics of its scores; left out where it has none.
        level: the level that a degraded verdict is against; left out where that is the reference.
        too_few_positive_labels: predicted classes with fewer positive labels than wrong ones alone
            would give, `predicted_positive` or `predicted_negative`; none of their cases counts
            as an actual positive in the metrics.
        too_few_negative_labels: the same of negative labels.
        if_labels_wrong: what wrong labels would do to its metrics; null where too little, where
            rates of wrong labels are known, and unless its labels have come.
        classes: its classes, compared with the reference; left out for a model of two.
    """

    open: Time | None
    close: Time | None
    outcomes: OutcomeCounts
    metrics: MetricIntervals
    status: LabelStatus | None
    predictions: Count
    predicted_positive_rate: Share | None
    label_coverage: LabelCoverage
    precision_at: tuple[PrecisionAtRatio, ...]
    precision_at_reference: MetricInterval
    far_from_reference: bool
    verdict: Verdict
    verdict_because: Because | None
    label_fault: LabelFault | None
    refused: dict[str, str]
    refused_because: str
    judgement: WindowJudgement | None
    attribution: WindowAttribution | None
    nowcast: WindowNowcast | None
    too_few_positive_labels: tuple[str, ...]
    too_few_negative_labels: tuple[str, ...]
    if_labels_wrong: IfLabelsWrong | None
    scores: ScoreMetrics | UnsetType = UNSET
    level: ReferencePeriod | UnsetType = UNSET
    classes: ClassesAnswer | UnsetType = UNSET
