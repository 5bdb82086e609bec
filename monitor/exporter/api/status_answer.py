"""The object that `/api/v1/status` answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.config import Labelling
from monitor.drift import Verdict
from monitor.drift.estimate_record import Withheld
from monitor.drift.recall_evidence import Because
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import (
    Count,
    LabelStatus,
    MetricInterval,
    MetricIntervals,
    MissingLabelShare,
    OutcomeCounts,
    PredictionCheck,
    ReferencePeriod,
    Share,
    Time,
)
from monitor.report.diagnosis_answer import Cause, CauseEffect, PrecisionChange
from monitor.report.trend_answer import TrendAnswer
from monitor.report.two_answers import PrecisionAnswer, WorseAnswer


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
    """What the verdict on a window rests on.

    Attributes:
        operating_point_moved: recall and false positives moved the same way.
        fell: components that certainly fell.
        rose: components that certainly rose.
        unknown: components of which neither a change nor its absence is certain.
        main_driver: the cause with the largest share of the change.
    """

    operating_point_moved: bool
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    unknown: tuple[str, ...]
    main_driver: JudgedDriver


class CauseEffects(Struct, frozen=True, kw_only=True):
    """What each cause contributed to the change of precision.

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
    """What moved precision between the reference and a window.

    Attributes:
        change: of precision.
        causes: what each contributed.
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
    """

    prevalence: EstimatedRate
    precision: EstimatedRate


class WindowStatus(Struct, frozen=True, kw_only=True):
    """One window of a model.

    Attributes:
        open: first moment inside; null before event time began.
        close: first moment after it; null likewise.
        outcomes: its outcomes.
        metrics: its metrics.
        status: how far its labels allow its metrics; null where that is not known.
        predictions: made in it, labelled or not.
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
        attribution: what each cause contributed; null likewise.
        nowcast: ahead of the labels; null without a reference, where labels are a sample, and
            where the window is not whole days long.
    """

    open: Time | None
    close: Time | None
    outcomes: OutcomeCounts
    metrics: MetricIntervals
    status: LabelStatus | None
    predictions: Count
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


class DetectorStatus(Struct, frozen=True, kw_only=True):
    """The detectors of a model.

    Attributes:
        off: the labelling regime for which no detector runs; null where they run.
        warming_up: the reference does not suffice for the detectors by pane, or there is none.
        warming_up_because: what is missing; null where nothing is.
        evidence: the larger statistic of the detectors, by pane and by days, over its
            threshold; null without a reference.
        degradation_detected: the model pages: from a certain degradation that a detector has
            found, until the model is certainly back.
        prevalence_shift_detected: the class ratio has left its profile within the longest
            window; null where labels are a sample or of flagged cases alone.
    """

    off: str | None
    warming_up: bool
    warming_up_because: str | None
    evidence: float | None
    degradation_detected: bool
    prevalence_shift_detected: bool | None


class DetectionMark(Struct, frozen=True, kw_only=True):
    """One detection.

    Attributes:
        at: the moment from which it could be known.
        kind: `model_degraded` or `prevalence_shift`.
    """

    at: Time
    kind: str


class LifetimeTotals(Struct, frozen=True, kw_only=True):
    """Everything ever counted of a model.

    Attributes:
        outcomes: its outcomes.
        metrics: its metrics.
    """

    outcomes: OutcomeCounts
    metrics: MetricIntervals


class ModelStatus(Struct, frozen=True, kw_only=True):
    """One model with all its windows.

    Attributes:
        name: its name.
        version: of its latest prediction; null where none names one.
        verdict: the model's own verdict.
        verdict_window: the window that gives it.
        label_fault: what is wrong with the labels of that window; null where nothing is.
        verdict_because: why the verdict is `insufficient_evidence`: `steady` (no sign of a
            change, and a fall of recall by a quarter is excluded), `moved_cause_open`,
            `too_few_outcomes` or `no_reference_yet`; null for any other verdict.
        missing_evidence: what must come before a comparison; null where there is one.
        moved_precision: what moved precision.
        worse: whether the model is worse.
        headline: what happened since the reference, in one line.
        labelling: how its labels come.
        refused: metrics that the labelling does not allow, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is refused.
        objective: what the model is meant to reach, by the metric.
        segments: the segment keys that are counted.
        predictions: distinct predictions, ever.
        last_prediction: end of the pane of the latest one; null for none within a year.
        last_prediction_age_seconds: event time since then.
        last_label: end of the hour of the latest label; null for none within 90 days.
        last_label_age_seconds: event time since then.
        labelled: predictions for which a label came in time.
        pending: predictions that wait for a label.
        expired: predictions whose label never came in time.
        maturity_seconds: age at which windows end; null while it is not known.
        maturity_settled: false while the stream is too short to show long delays.
        judged_age_seconds: age from which predictions are judged; null while it is not known.
        reference: what its windows are compared with; null while it is not known.
        detectors: their state.
        detections: all there were, in their order.
        labels_missing_in: where labels are missing, the worst first.
        predictions_degenerate: predictions, without labels, against all that is known of them.
        trend: of its skill over weeks; null where none is certain.
        windows: its windows by their names.
        lifetime: everything ever counted.
    """

    name: str
    version: str | None
    verdict: Verdict
    verdict_window: str
    label_fault: LabelFault | None
    verdict_because: Because | None
    missing_evidence: str | None
    moved_precision: PrecisionAnswer
    worse: WorseAnswer
    headline: str
    labelling: Labelling
    refused: dict[str, str]
    refused_because: str
    objective: dict[str, float]
    segments: tuple[str, ...]
    predictions: Count
    last_prediction: Time | None
    last_prediction_age_seconds: float | None
    last_label: Time | None
    last_label_age_seconds: float | None
    labelled: Count
    pending: Count
    expired: Count
    maturity_seconds: float | None
    maturity_settled: bool
    judged_age_seconds: float | None
    reference: ReferencePeriod | None
    detectors: DetectorStatus
    detections: tuple[DetectionMark, ...]
    labels_missing_in: tuple[MissingLabelShare, ...]
    predictions_degenerate: PredictionCheck
    trend: TrendAnswer | None
    windows: dict[str, WindowStatus]
    lifetime: LifetimeTotals


class StatusAnswer(Struct, frozen=True, kw_only=True):
    """The monitor, and some of its models.

    Attributes:
        version: of the program.
        now: event time that windows are counted back from; null before it began.
        watermark: third-highest event time seen; null before three distinct events came.
        records: records read, used or not.
        rejected: records that could not be used, by reason.
        windows: names of the windows, as configured.
        verdict_window: the longest of them.
        paging: how many of all models page.
        verdicts: how many of all models have each verdict, the worst first.
        because: how many have no verdict for each reason.
        total: how many models match.
        offset: how many of them are left out before the first.
        models: one page of them, the worst first.
    """

    version: str
    now: Time | None
    watermark: Time | None
    records: Count
    rejected: dict[str, Count]
    windows: tuple[str, ...]
    verdict_window: str
    paging: Count
    verdicts: dict[Verdict, Count]
    because: dict[Because, Count]
    total: Count
    offset: Count
    models: tuple[ModelStatus, ...]
