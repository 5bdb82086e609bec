"""The object that `/api/v1/status` answers."""

from __future__ import annotations

from typing import Self

from msgspec import UNSET, Struct, UnsetType, field

from monitor.clock import DAY_MS, SECOND_MS
from monitor.config import Labelling
from monitor.config.quantities import format_time
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.exporter.api.window_answer import WindowStatus
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import (
    Count,
    MetricIntervals,
    MissingLabelShare,
    OutcomeCounts,
    OutcomeSums,
    PredictionCheck,
    Time,
)
from monitor.report.durations import duration_text
from monitor.report.label_answer import AuditsAnswer, EarlierLabelErrors, LostAuditsAnswer
from monitor.report.model_kinds import JudgedModel
from monitor.report.moved_precision import PrecisionAnswer
from monitor.report.reference_answer import ReferencePeriod
from monitor.report.rejected_lately import RejectedLately
from monitor.report.short_answers import Answers, Excluded
from monitor.report.source_answer import LabelSourcesAnswer
from monitor.report.trend_answer import TrendAnswer
from monitor.report.two_answers import WorseAnswer
from monitor.report.version_news_words import ChangeBeginning, VersionNewsAnswer
from monitor.report.without_labels import LabelDelay, UsualRate, WithoutLabels
from monitor.report.worse_segment_answer import WorseSegments, are_named
from monitor.verdicts import Detected

_A_DAY = DAY_MS / SECOND_MS


class DetectorStatus(Struct, frozen=True, kw_only=True):
    """The detectors of a model.

    Attributes:
        off: the labelling regime for which no detector runs; null where they run.
        warming_up: the reference does not suffice for the detectors by pane, or there is none.
        warming_up_because: what is missing; null where nothing is.
        evidence: the larger statistic of the detectors, by pane and by days, over its
            threshold; null without a reference.
        degradation_detected: the model pages: from a certain degradation that a detector has
            found, until the model has certainly recovered.
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
        class_: name of the class, of a model of many; left out of a model of two.
    """

    at: Time
    kind: str
    class_: str | UnsetType = field(default=UNSET, name="class")

    @classmethod
    def of(cls, found: Detected) -> Self:
        """Return a detection as an object.

        Args:
            found: the detection.
        """
        return cls(at=format_time(found.at), kind=found.kind, class_=found.of_class or UNSET)


class VersionAppeared(Struct, frozen=True, kw_only=True):
    """A version of a model.

    Attributes:
        version: its name.
        first_prediction: the time of its first prediction.
    """

    version: str
    first_prediction: Time


class LifetimeTotals(Struct, frozen=True, kw_only=True):
    """Everything ever counted of a model.

    Attributes:
        outcomes: its outcomes.
        metrics: its metrics.
    """

    outcomes: OutcomeCounts
    metrics: MetricIntervals


class SinceReference(Struct, frozen=True, kw_only=True):
    """All mature outcomes since the reference.

    Attributes:
        seconds: from the end of the reference on.
        outcomes: of the predictions made in this time.
    """

    seconds: float
    outcomes: OutcomeSums


class ModelStatus(Struct, frozen=True, kw_only=True):
    """One model with all its windows.

    Attributes:
        name: its name.
        now: event time of the model, which its windows and ages are counted back from; null
            before its first event.
        behind_seconds: event time that the model furthest on is ahead of it; null before its
            first event.
        version: of its latest prediction; null where none names one.
        versions: every version, by its first prediction; without those whose first prediction
            is not known.
        verdict: the model's own verdict.
        verdict_window: the window that gives it.
        since_reference: all outcomes since the reference, where both answers rest on them: while
            longer windows reach back into the reference, and `verdict_window` has no verdict; else
            null.
        label_fault: what is wrong with the labels of that window; null where nothing is.
        verdict_because: why the verdict is `insufficient_evidence`: `steady` (no sign of a
            change, and a fall of recall by a quarter is excluded), `moved_cause_open`,
            `too_few_outcomes`, `label_errors_range` or `no_reference`; null for any other verdict.
        missing_evidence: what must come before a comparison; null where there is one.
        answers: both answers, as few values.
        excluded: ranges of recall and of the false positive rate that the outcomes exclude.
        moved_precision: answer to "What moved precision?".
        worse: answer to "Is the model worse?".
        headline: what happened since the reference, in one line.
        change_began: when its recall or false-positive rate changed; null where no window says
            that they did, the model does not page, and its skill has no trend.
        new_version: the version that this change began with, else the one that began last;
            null before a second one, and under `on_version: keep`.
        worse_version: the latest version that is certainly worse than the one beside it over the
            same time, decides, and predicted within a day; null where none is.
        worse_segments: segment values in which a rate certainly became worse, beside the verdict,
            the surest first.
        labelling: how its labels come.
        label_errors: rates of wrong labels that metrics are corrected for; empty where labels are
            taken as they are, the middle where a range is given.
        label_error_ranges: the lowest and the highest of each rate of which a range is given, as
            far as the labels allow it.
        label_errors_excluded: the part of each configured range that the labels exclude: the
            highest rate that may be, and the highest configured one.
        earlier_label_errors: the rates before each change that audits show, the oldest first.
        label_errors_text: all these rates in words; "" where labels are taken as they are.
        audits: what audits of its labels show; null without audits.
        labels_may_follow: that labels of the reference, of now, or of both may follow the decisions
            of the model, since hardly an unflagged case is labelled positive; null where that is
            not so, or audits test it.
        labels_seem_to_follow: more than a high recall speaks for it: scores, labels that repeat the
            predictions without exception, or a recall beyond .999.
        label_sources: how sources label the same cases; null where no label has a source.
        refused: metrics that the labelling does not allow, each with the reason.
        refused_because: the reason in one sentence; "" where nothing is refused.
        objective: what the model is meant to reach, by the metric.
        segments: the segment keys that are counted.
        predictions: distinct predictions, ever.
        last_prediction: end of the pane of the latest one; null for none within a year.
        last_prediction_age_seconds: event time since then, by the model furthest on.
        last_label: end of the hour of the latest label; null for none within 90 days.
        last_label_age_seconds: event time since then, by the model furthest on.
        labels_came: predictions for which a label came in time, null and retracted ones too.
        labelled: predictions whose label in force is positive or negative; where silence past
            the label timeout is a negative, also those whose label never came.
        pending: predictions that wait for a label.
        expired: predictions whose label never came in time.
        repeated_ids: that so many predictions repeat an id of the model that ids may be in use
            again, a sentence without a full stop; "" otherwise.
        maturity_seconds: age at which windows end; null while it is not known.
        maturity_settled: false while the stream is too short to show long delays.
        judged_age_seconds: age from which predictions are judged; null while it is not known.
        reference: what its windows are compared with; null while it is not known.
        detectors: their state.
        detections: all there were, in their order.
        labels_missing_in: where labels are missing, the worst first.
        predictions_degenerate: predictions, without labels, against all that is known of them.
        usual_predicted_positive_rate: to compare that of each window with; null where nothing
            was predicted, and of a model of many classes.
        label_delay: how long its labels take; null where none is later than its prediction.
        without_labels: what is known while no metric is; null where one is, where labels are at
            fault and still come, and where nothing was predicted.
        trend: of its skill over weeks; null where none is certain.
        windows: those of its windows that it uses at its volume, by their names.
        unused_windows: the others: under `windows: auto` those that hold too few outcomes; where
            no windows are listed, a longer one that only other models need.
        lifetime: everything ever counted.
    """

    name: str
    now: Time | None
    behind_seconds: float | None
    version: str | None
    versions: tuple[VersionAppeared, ...]
    verdict: Verdict
    verdict_window: str
    since_reference: SinceReference | None
    label_fault: LabelFault | None
    verdict_because: Because | None
    missing_evidence: str | None
    answers: Answers
    excluded: Excluded
    moved_precision: PrecisionAnswer
    worse: WorseAnswer
    headline: str
    change_began: ChangeBeginning | None
    new_version: VersionNewsAnswer | None
    worse_version: str | None
    worse_segments: WorseSegments
    labelling: Labelling
    label_errors: dict[str, float]
    label_error_ranges: dict[str, tuple[float, float]]
    label_errors_excluded: dict[str, tuple[float, float]]
    earlier_label_errors: tuple[EarlierLabelErrors, ...]
    label_errors_text: str
    audits: AuditsAnswer | None
    labels_may_follow: str | None
    labels_seem_to_follow: bool
    label_sources: LabelSourcesAnswer | None
    refused: dict[str, str]
    refused_because: str
    objective: dict[str, float]
    segments: tuple[str, ...]
    predictions: Count
    last_prediction: Time | None
    last_prediction_age_seconds: float | None
    last_label: Time | None
    last_label_age_seconds: float | None
    labels_came: Count
    labelled: Count
    pending: Count
    expired: Count
    repeated_ids: str
    maturity_seconds: float | None
    maturity_settled: bool
    judged_age_seconds: float | None
    reference: ReferencePeriod | None
    detectors: DetectorStatus
    detections: tuple[DetectionMark, ...]
    labels_missing_in: tuple[MissingLabelShare, ...]
    predictions_degenerate: PredictionCheck
    usual_predicted_positive_rate: UsualRate | None
    label_delay: LabelDelay | None
    without_labels: WithoutLabels | None
    trend: TrendAnswer | None
    windows: dict[str, WindowStatus]
    unused_windows: tuple[str, ...]
    lifetime: LifetimeTotals

    @property
    def judged(self) -> JudgedModel:
        """The verdict, with what a list of models shows before it."""
        return JudgedModel(
            self.verdict,
            self.verdict_because,
            pages=self.detectors.degradation_detected,
            worse_version=self.worse_version is not None,
            worse_segment=are_named(self.worse_segments),
        )

    @property
    def behind(self) -> str | None:
        """How far its event time is behind that of other models, for people; None below a day."""
        if self.behind_seconds is None or self.behind_seconds < _A_DAY:
            return None
        return f"{duration_text(self.behind_seconds)} behind the newest of all models"


class StatusAnswer(Struct, frozen=True, kw_only=True):
    """The monitor, and some of its models.

    Attributes:
        version: of the program.
        now: event time that windows are counted back from; null before it began.
        watermark: third-highest event time seen; null before three distinct events came.
        records: records read, used or not.
        rejected: records that could not be used, by reason.
        rejected_lately: those of the last 24 hours by arrival; null where nobody counts them.
        audits_without_effect: audits that met no prediction, of all models; null without any.
        windows: names of the windows of all models.
        verdict_window: the longest that every model uses.
        paging: how many of all models page.
        verdicts: how many of all models have each verdict, the worst first.
        because: how many have no verdict for each reason.
        tally: each model once: how many have each verdict, how many none for each reason, and
            how many a worse version while all versions together show no fall: `version_worse`.
            A model that pages counts as degraded, whatever its deciding window alone shows.
        total: how many models match.
        offset: how many of them are left out before the first.
        models: one page of them, the worst first.
    """

    version: str
    now: Time | None
    watermark: Time | None
    records: Count
    rejected: dict[str, Count]
    rejected_lately: RejectedLately | None
    audits_without_effect: LostAuditsAnswer | None
    windows: tuple[str, ...]
    verdict_window: str
    paging: Count
    verdicts: dict[Verdict, Count]
    because: dict[Because, Count]
    tally: dict[str, Count]
    total: Count
    offset: Count
    models: tuple[ModelStatus, ...]
