"""The object that `diagnose --json` prints and `/api/v1/diagnosis` answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from monitor.drift import Status, Verdict
from monitor.drift.recall_evidence import Because
from monitor.report.answer_parts import Count, MetricInterval, OutcomeSums, Share, Time
from monitor.report.curve_change_answer import CurveChange
from monitor.report.label_answer import IfLabelsWrong
from monitor.report.metric_words import MetricValues
from monitor.report.moved_precision import PrecisionAnswer
from monitor.report.reference_answer import VersionBeginning
from monitor.report.score_answer import ComparedScoreMetrics
from monitor.report.short_answers import Answers, Excluded
from monitor.report.source_answer import LabelSourcesAnswer
from monitor.report.two_answers import WorseAnswer
from monitor.report.version_news_words import ChangeBeginning, VersionNewsAnswer
from monitor.report.worse_segment_answer import WorseSegments

Unit = Literal["hour", "day"]
"""Length of a block of time."""


class Cause(StrEnum):
    """A cause of a change of precision; the three add up to it."""

    PREVALENCE = "prevalence"
    RECALL = "recall"
    FALSE_POSITIVES = "false_positives"


class ComparedSide(MetricValues[MetricInterval], frozen=True):
    """One of the two periods that are compared.

    Its own fields come before the metrics, as those are keyword-only.

    Attributes:
        open: first moment; null where counts were given.
        close: first moment after it; null likewise.
        source: `counts`, `first`, `window` or `trailing` where it is the configured
            reference, `mature` for the last mature days; null where its bounds were given.
        predictions: made in it, labelled or not; null where that is not known.
        predicted_positive_rate: share of them that is predicted positive; null likewise, and
            without predictions.
        outcomes: its labelled outcomes.
        if_labels_wrong: what wrong labels would do to its metrics; null where too little, and
            where rates of wrong labels are known.
    """

    open: Time | None
    close: Time | None
    source: str | None
    predictions: Count | None
    predicted_positive_rate: Share | None
    outcomes: OutcomeSums
    if_labels_wrong: IfLabelsWrong | None


class PrecisionChange(Struct, frozen=True, kw_only=True):
    """Precision of after minus that of before.

    Attributes:
        points: as a fraction of precision; -0.233 is 23.3 points down.
        logit: of logit(precision), from raw counts.
    """

    points: float | None
    logit: float | None


class CauseEffect(Struct, frozen=True, kw_only=True):
    """Contribution of one cause to the change of precision.

    Attributes:
        logit: to the change of logit(precision), exact.
        points: as a fraction of precision.
        lower_points: lower end of the 95 % interval of `points`.
        upper_points: its upper end.
    """

    logit: float | None
    points: float | None
    lower_points: float | None
    upper_points: float | None


class JudgedEffect(CauseEffect, frozen=True, kw_only=True):
    """Contribution of one cause, and the status of its component.

    Attributes:
        status: of the component behind it.
        said: the status in a word or two, for people.
    """

    status: Status
    said: str


class JudgedEffects(Struct, frozen=True, kw_only=True):
    """Contribution of each cause; skill is recall and false positives together.

    Attributes:
        prevalence: of the change of prevalence.
        recall: of the change of recall.
        false_positives: of the change of the false positive rate.
        skill: of both rates together.
    """

    prevalence: JudgedEffect
    recall: JudgedEffect
    false_positives: JudgedEffect
    skill: JudgedEffect

    def of(self, cause: str) -> JudgedEffect:
        """Return what a cause contributed."""
        found: JudgedEffect = getattr(self, cause)
        return found


class ComponentChange(Struct, frozen=True, kw_only=True):
    """One component, after minus before.

    Attributes:
        change: of the logit of a rate, or the log of a ratio.
        se: standard error of the change.
        status: what is known of it.
    """

    change: float | None
    se: float | None
    status: Status


class ComponentChanges(Struct, frozen=True, kw_only=True):
    """The components that a verdict rests on.

    Attributes:
        class_ratio: log r.
        recall: logit TPR.
        false_positive_rate: logit FPR.
        log_likelihood_ratio: log LR+, skill.
    """

    class_ratio: ComponentChange
    recall: ComponentChange
    false_positive_rate: ComponentChange
    log_likelihood_ratio: ComponentChange


class BlockCounts(Struct, frozen=True, kw_only=True):
    """Blocks of time that hold outcomes.

    Attributes:
        before: in the earlier period.
        after: in the later one.
        unit: the shorter of both units; null where no time is known.
        before_unit: length of a block of the earlier period.
        after_unit: length of a block of the later one.
    """

    before: Count
    after: Count
    unit: Unit | None
    before_unit: Unit | None
    after_unit: Unit | None


class DiagnosedDriver(Struct, frozen=True, kw_only=True):
    """The cause with the largest share of the change.

    Attributes:
        cause: null where precision is not known on both sides.
        share: its part of the change of logit(precision); beyond 1 where the others pull
            the other way.
        certain: all other parts together are certainly below a quarter of the change.
    """

    cause: Cause | None
    share: float | None
    certain: bool


class CauseNumbers(Struct, frozen=True, kw_only=True):
    """A number for each of the causes that add up.

    Attributes:
        prevalence: of prevalence.
        recall: of recall.
        false_positives: of the false positive rate.
    """

    prevalence: float | None
    recall: float | None
    false_positives: float | None

    @property
    def total(self) -> float | None:
        """The sum; None where a part is undefined."""
        if self.prevalence is None or self.recall is None or self.false_positives is None:
            return None
        return self.prevalence + self.recall + self.false_positives


class SegmentEffect(Struct, frozen=True, kw_only=True):
    """Contribution of one segment value to the change of precision.

    Attributes:
        segment: the segment key.
        value: the segment value.
        before: its outcomes.
        after: the same.
        within: log-odds of precision that its own rates contributed.
        mix: log-odds of precision that its share of the cases contributed.
        logit: both together.
        points: the same as a fraction of precision.
        p_values: of the change of its own rates, corrected for looking at all values.
        carries: causes in which its own rate certainly changed; none in a small sample.
        small_sample: too few outcomes of a class for more than a hint.
        curve: change of its ROC curve; left out where no scores are stored by segment value.
    """

    segment: str
    value: str
    before: OutcomeSums
    after: OutcomeSums
    within: CauseNumbers
    mix: CauseNumbers
    logit: float | None
    points: float | None
    p_values: CauseNumbers
    carries: tuple[Cause, ...]
    small_sample: bool
    curve: CurveChange | UnsetType = UNSET


class DiagnosisAnswer(Struct, frozen=True, kw_only=True):
    """Why precision moved between two periods.

    Attributes:
        model: its name.
        headline: what happened, in one line.
        certainties: what certainly fell, rose, and is as before.
        answers: both answers, as few values.
        excluded: ranges of recall and of the false positive rate that the outcomes exclude.
        moved_precision: answer to "What moved precision?".
        worse: answer to "Is the model worse?".
        before: what is compared with.
        after: what is judged.
        change: of precision.
        plainly: what happened, in sentences that need no knowledge of the terms.
        attribution: contribution of each cause.
        footnotes: meanings of the words in `attribution`, where they need one.
        log_likelihood_ratio: skill, as in `components`.
        components: what the verdict rests on.
        precision_had_prevalence_stayed: precision after, at the class ratio of before.
        blocks: blocks of time that hold outcomes, by day or by hour.
        operating_point_moved: recall and false positives moved the same way.
        verdict: what happened.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        judged_within: the segment key whose mix alone made skill seem to have changed; null
            where there is none.
        below_reference_curve: recall lies below the ROC curve of before at today's false
            positive rate; null where the scores were not looked at.
        main_driver: the cause with the largest share of the change.
        fell: components that certainly fell.
        rose: components that certainly rose.
        unknown: components of which neither a change nor its absence is certain.
        labels_may_explain: skill changed, but labels that are wrong more, or less, often explain
            it as well.
        label_errors_changed: scores or audits show that labels are wrong more, or less, often.
        segments: by segment value, those that carry most first.
        notes: what is not known, and why.
        advice: what to do next.
        scores: metrics of the scores of both periods, over the whole days (UTC) inside each;
            left out where there are none.
        curves_moved: a sentence for each segment value whose ROC curve certainly moved, those that
            fell first; left out where there is none.
        change_began: when recall or the false positive rate changed; left out where they
            did not certainly change. Of the latest data beside the model's own reference it is
            that of the model, as `replay` and the API have it.
        new_version: the version that this change began with, else the one that began last
            up to the end of `after`; left out before a second one.
        worse_version: that is proven worse than the one beside it in `after`; left out where none
            is.
        worse_segments: segment values in which a rate certainly became worse, beside the verdict,
            the surest first; left out where there are none.
        versions_before: that predicted in `before`, in the order in which they began; left out
            where no time is known of it, before a second version, and under `on_version: keep`.
        versions_after: that predicted in `after` likewise.
        reference_restarted_with: the version that the reference began anew with, under
            `on_version: restart`; left out where none did.
        label_sources: how sources label the same cases, all of them; left out where no label has
            a source.
        scatter_of_days: which days the scatter of days in the errors is that of, a sentence; left
            out where neither period has a time.
    """

    model: str
    headline: str
    certainties: str
    answers: Answers
    excluded: Excluded
    moved_precision: PrecisionAnswer
    worse: WorseAnswer
    before: ComparedSide
    after: ComparedSide
    change: PrecisionChange
    plainly: tuple[str, ...]
    attribution: JudgedEffects
    footnotes: tuple[str, ...]
    log_likelihood_ratio: ComponentChange
    components: ComponentChanges
    precision_had_prevalence_stayed: MetricInterval
    blocks: BlockCounts
    operating_point_moved: bool
    verdict: Verdict
    verdict_because: Because | None
    judged_within: str | None
    below_reference_curve: bool | None
    main_driver: DiagnosedDriver
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    unknown: tuple[str, ...]
    labels_may_explain: bool
    label_errors_changed: bool
    segments: tuple[SegmentEffect, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    scores: ComparedScoreMetrics | UnsetType = UNSET
    curves_moved: tuple[str, ...] | UnsetType = UNSET
    change_began: ChangeBeginning | UnsetType = UNSET
    new_version: VersionNewsAnswer | UnsetType = UNSET
    worse_version: str | UnsetType = UNSET
    worse_segments: WorseSegments | UnsetType = UNSET
    versions_before: tuple[VersionBeginning, ...] | UnsetType = UNSET
    versions_after: tuple[VersionBeginning, ...] | UnsetType = UNSET
    reference_restarted_with: str | UnsetType = UNSET
    label_sources: LabelSourcesAnswer | UnsetType = UNSET
    scatter_of_days: str | UnsetType = UNSET
