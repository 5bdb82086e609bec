"""The object that `replay --json` prints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from monitor.drift import Verdict
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
    Time,
)
from monitor.report.class_answer import ClassesAnswer
from monitor.report.label_answer import AuditsAnswer, LostAuditsAnswer
from monitor.report.moved_precision import PrecisionAnswer
from monitor.report.reference_answer import ReferencePeriod
from monitor.report.score_answer import ScoreMetrics
from monitor.report.short_answers import Answers, Excluded
from monitor.report.trend_answer import TrendAnswer
from monitor.report.two_answers import WorseAnswer
from monitor.report.version_news_words import ChangeBeginning, VersionNewsAnswer
from monitor.report.worse_segment_answer import WorseSegments


class ReplayedWindow(Struct, frozen=True, kw_only=True):
    """The last state of one window of a model.

    Attributes:
        open: first moment inside; null before event time began.
        close: first moment after it; null likewise.
        outcomes: its outcomes.
        metrics: its metrics.
        precision_at_reference: precision at the class ratio of the reference.
        status: how far its labels allow its metrics; null where that is not known.
        refused: metrics that are withheld, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is withheld.
        verdict: what happened between the reference and this window.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        label_fault: what is wrong with its labels; null where nothing is.
        far_from_reference: the class ratio is at least five times below or above the
            reference's.
        scores: metrics of its scores; left out where it has none.
        level: the level that a degraded verdict is against; left out where that is the reference.
        classes: its classes; left out for a model of two.
    """

    open: Time | None
    close: Time | None
    outcomes: OutcomeCounts
    metrics: MetricIntervals
    precision_at_reference: MetricInterval
    status: LabelStatus | None
    refused: dict[str, str]
    refused_because: str
    verdict: Verdict
    verdict_because: Because | None
    label_fault: LabelFault | None
    far_from_reference: bool
    scores: ScoreMetrics | UnsetType = UNSET
    level: ReferencePeriod | UnsetType = UNSET
    classes: ClassesAnswer | UnsetType = UNSET


class ReplayedDetection(Struct, frozen=True, kw_only=True):
    """One detection.

    Attributes:
        at: the moment from which it could be known.
        kind: `model_degraded` or `prevalence_shift`.
        series: the model.
        class_: name of the class, of a model of many; left out of a model of two.
    """

    at: Time
    kind: str
    series: str
    class_: str | UnsetType = field(default=UNSET, name="class")


class ReplayedModel(Struct, frozen=True, kw_only=True):
    """One model after the last event.

    Attributes:
        predictions: distinct predictions.
        labels: predictions for which a label came in time.
        pending: predictions that wait for a label.
        expired: predictions whose label never came in time.
        outcomes: outcomes of the whole input.
        metrics: metrics of the whole input.
        reference: what its windows are compared with; null while it is not known.
        windows: the last state of each window by its name.
        detections: all there were, in their order.
        verdict: the model's own verdict.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        verdict_window: the window that gives it.
        answers: both answers, as few values.
        excluded: ranges of recall and of the false positive rate that the outcomes exclude.
        moved_precision: answer to "What moved precision?".
        worse: answer to "Is the model worse?".
        paging: the model pages.
        refused: metrics that its labelling does not allow, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is refused.
        labels_missing_in: where labels are missing, the worst first.
        predictions_degenerate: predictions, without labels, against all that is known of them.
        trend: of its skill over weeks; null where none is certain.
        classes: classes of the whole input; left out for a model of two.
        change_began: when recall or the false positive rate changed; left out where no window
            says that they did, the model does not page, and its skill has no trend.
        new_version: the version that this change began with, else the one that began last;
            left out before a second one.
        worse_version: the latest version that is proven worse than the one beside it and still
            predicts; left out where none is.
        worse_segments: segment values in which a rate certainly became worse, the surest first;
            left out where there are none.
        label_errors: rates of wrong labels that metrics are corrected for; left out, as are their
            ranges, where labels are taken as they are.
        label_error_ranges: the lowest and the highest of each.
        audits: what audits of its labels show; left out without audits.
    """

    predictions: Count
    labels: Count
    pending: Count
    expired: Count
    outcomes: OutcomeCounts
    metrics: MetricIntervals
    reference: ReferencePeriod | None
    windows: dict[str, ReplayedWindow]
    detections: tuple[ReplayedDetection, ...]
    verdict: Verdict
    verdict_because: Because | None
    verdict_window: str
    answers: Answers
    excluded: Excluded
    moved_precision: PrecisionAnswer
    worse: WorseAnswer
    paging: bool
    refused: dict[str, str]
    refused_because: str
    labels_missing_in: tuple[MissingLabelShare, ...]
    predictions_degenerate: PredictionCheck
    trend: TrendAnswer | None
    classes: ClassesAnswer | UnsetType = UNSET
    change_began: ChangeBeginning | UnsetType = UNSET
    new_version: VersionNewsAnswer | UnsetType = UNSET
    worse_version: str | UnsetType = UNSET
    worse_segments: WorseSegments | UnsetType = UNSET
    label_errors: dict[str, float] | UnsetType = UNSET
    label_error_ranges: dict[str, tuple[float, float]] | UnsetType = UNSET
    audits: AuditsAnswer | UnsetType = UNSET


class ReplayAnswer(Struct, frozen=True, kw_only=True):
    """The state after the last event.

    Attributes:
        events: records read, used or not.
        events_rejected: records that could not be used, by reason; reasons without any are
            left out.
        models: every model by its name.
        audits_without_effect: audits that met no prediction; left out where all met theirs.
    """

    events: Count
    events_rejected: dict[str, Count]
    models: dict[str, ReplayedModel]
    audits_without_effect: LostAuditsAnswer | UnsetType = UNSET
