"""The object that `/api/v1/status` answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.config import Labelling
from monitor.drift import Verdict
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import (
    Count,
    LabelStatus,
    MetricInterval,
    MetricIntervals,
    MissingLabelShare,
    OutcomeCounts,
    ReferencePeriod,
    Share,
    Time,
)
from monitor.report.diagnosis_answer import Cause, CauseEffect, PrecisionChange
from monitor.report.trend_answer import TrendAnswer


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


class NowcastInterval(Struct, frozen=True, kw_only=True):
    """Prevalence and precision from predictions alone.

    Attributes:
        assumption: what they rest on.
        method: `em` (score histograms) or `adjusted_count` (predicted-positive rate).
        prevalence: of the latest predictions.
        precision: of the latest predictions.
        withheld: why the numbers are withheld; empty where they are published.
    """

    assumption: str
    method: str
    prevalence: MetricInterval
    precision: MetricInterval
    withheld: tuple[str, ...]


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
        label_fault: what is wrong with its labels; null where nothing is.
        refused: metrics that are withheld, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is withheld.
        judgement: what the verdict rests on; null where nothing could be judged.
        attribution: what each cause contributed; null likewise.
        nowcast: from predictions alone, if the model is unchanged; null without a reference.
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
    label_fault: LabelFault | None
    refused: dict[str, str]
    refused_because: str
    judgement: WindowJudgement | None
    attribution: WindowAttribution | None
    nowcast: NowcastInterval | None


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
        verdict_because: which evidence is missing; null where the verdict says something.
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
        trend: of its skill over weeks; null where none is certain.
        windows: its windows by their names.
        lifetime: everything ever counted.
    """

    name: str
    version: str | None
    verdict: Verdict
    verdict_window: str
    label_fault: LabelFault | None
    verdict_because: str | None
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
        verdicts: how many of all models have each verdict, the worst first.
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
    verdicts: dict[Verdict, Count]
    total: Count
    offset: Count
    models: tuple[ModelStatus, ...]
