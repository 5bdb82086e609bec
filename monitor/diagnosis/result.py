"""The result of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from monitor import snapshot
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis.compared_scores import ComparedScores
from monitor.diagnosis.estimated import Estimated
from monitor.diagnosis.model_scatter import ScatterDays
from monitor.diagnosis.period_labels import Refusal
from monitor.diagnosis.segments import SegmentPart
from monitor.diagnosis.unjudged_end import UnjudgedEnd
from monitor.diagnosis.unlabelled_end import UnlabelledEnd
from monitor.drift import Judgement, MainDriver, Status, Verdict
from monitor.drift.change_news import NO_NEWS, ChangeNews
from monitor.drift.recall_evidence import Because, RecallEvidence
from monitor.drift.verdict import IMPROVED, MOVED_RATES
from monitor.drift.worse_values import WorseValue
from monitor.events.columns import Series
from monitor.labels.uncorrected import MissingMisses
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.label_sensitivity import LabelSensitivity
from monitor.metrics.source_findings import SourceFindings
from monitor.verdicts import UNKNOWN_PREDICTIONS, DegeneratePredictions, ReferenceOutcomes

DIAGNOSED_METRICS = tuple(name for name in snapshot.METRIC_NAMES if name != "log_likelihood_ratio")
"""The metrics of either side, by their names in `monitor.metrics`; log LR+ is a component."""
UNLIKE_SHARES = 0.05
"""Shares of predictions without a label that differ by more are unlike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedLately:
    """A stretch of a running monitor by which something changed, though another window decides.

    Attributes:
        window: name of the window; "" for the outcomes since the reference.
        length_ms: length of the stretch, milliseconds.
        rates: `recall` and `false_positive_rate`, each in the reference and in the stretch; NaN
            where undefined.
        judgement: of the change.
        deciding: name of the window that decides; "" where that is not compared.
    """

    window: str
    length_ms: int
    rates: Mapping[str, tuple[float, float]]
    judgement: Judgement
    deciding: str

    @property
    def is_worse(self) -> bool:
        """Whether its rates changed, and that is no better model."""
        return self.judgement.verdict in MOVED_RATES - IMPROVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two periods.

    Attributes:
        opens: first moment, epoch milliseconds; None where counts were given.
        closes: first moment after it; None likewise.
        source: `counts`, `first`, `window` or `trailing` where it is the
            configured reference, `mature` for the last days that are mature;
            "" where its bounds were asked for.
        predictions: made in it, labelled or not; None where it is not known.
        predicted_positive: of them, those predicted positive; None likewise.
        counts: its labelled outcomes, a scalar.
        metrics: by the names in `DIAGNOSED_METRICS`; intervals as of independent rows,
            as everywhere where a single period is shown.
        blocks: blocks of time that hold an outcome.
        block_ms: length of a block; None where no time is known.
        sensitivity: what wrong labels would do to its metrics; None where too little, and
            where rates of wrong labels are known.
    """

    opens: int | None
    closes: int | None
    source: str
    predictions: int | None
    predicted_positive: int | None
    counts: ConfusionCounts
    metrics: Mapping[str, Estimated]
    blocks: int
    block_ms: int | None
    sensitivity: LabelSensitivity | None = None

    @property
    def unlabelled(self) -> float:
        """Share of its predictions without a label; 0 where their number is not known."""
        return 1 - float(self.counts.total) / self.predictions if self.predictions else 0.0

    @property
    def predicted_positive_rate(self) -> float:
        """Share of the predictions that is predicted positive; NaN where it is not known."""
        if not self.predictions or self.predicted_positive is None:
            return float("nan")
        return self.predicted_positive / self.predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class CausePart:
    """The contribution of one cause; NaN where undefined or refused.

    Attributes:
        logit: to the change of logit(precision), exact, from raw counts.
        points: as a fraction of precision (-0.233 is 23.3 points down).
        lower_points: lower end of its 95 % interval.
        upper_points: upper end.
        status: of the component behind it.
    """

    logit: float
    points: float
    lower_points: float
    upper_points: float
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The change of precision between two periods, and its causes.

    Attributes:
        model: its name.
        labelling: its labelling regime.
        before: the period to compare with.
        after: the period to judge.
        change_points: of precision, after minus before.
        change_lower_points: lower limit of its 95 % interval.
        change_upper_points: upper limit.
        change_logit: of logit(precision), from raw counts.
        attribution: by cause: `prevalence`, `recall`, `false_positives`, and
            `skill`, the two before it together.
        judgement: the verdict on the totals, and its evidence.
        verdict: that of the judgement, unless within the values of `judged_within` the
            model is not to blame.
        operating_point_moved: recall and false positives went the same way.
        judged_within: the segment key whose mix alone made skill seem to have
            changed; None where there is none.
        below_reference_curve: recall lies below the ROC curve of before at today's false
            positive rate; None where the scores were not asked: there are none, or what
            recall and false positives say is clear without.
        main_driver: None where precision is not known on both sides.
        segments: by segment value, those first that carry most.
        worse_segments: values in which a rate certainly became worse, the surest first.
        had_prevalence_stayed: precision after, had the class ratio stayed as it
            was before; interval from between blocks of time.
        because: why the verdict is `insufficient_evidence`; None for any other.
        recall: limits of recall after; NaN where labels do not allow them.
        false_positive_rate_above: see `recall_evidence.false_positive_rate_above`; NaN where
            nothing is excluded.
        visible_recall: recall at which a fall would have been called one, with 80 %
            probability; NaN without actual positives before.
        refusal: of conclusions that the labels do not allow; None without one.
        notes: limits of the result, in words.
        scatter_days: the days that the scatter of days, which errors contain, is learned from; None
            where neither period has a time.
        scores: metrics of the scores of both periods; None without labelled scores, and
            where labels are refused.
        news: when its rates changed, and the version that is new.
        unlabelled_end: the stretch at the end of the predictions that has no labels, where the
            period to judge reaches into it.
        unjudged_end: the longer stretch of predictions behind the latest mature data, where these
            are judged.
        predictions: what predictions alone show now, where the latest mature data are judged.
        pages: the model pages now, where data are judged that end within a day of the latest
            mature ones.
        paged_since: when the page started, epoch milliseconds; None where `pages` is False.
        mixed_reference: the reference of the model, where the period to compare with is that one
            and holds a change of level; None for any other.
        provisional: the period to compare with is the reference of the model, which pages dead
            models alone; False for any other.
        moved_lately: the stretch of a running monitor that moved; None where none did, or
            other data are judged.
        judged_stretch: which stretch limits of recall are about, such as "over the last 7d", where
            nobody named the period to judge; else "".
        labels_silent_since: when the last label came, epoch milliseconds, where labels have
            stopped and the latest mature data are judged; else None.
        flags_nothing: the latest mature data are judged, and the end of them has outcomes, none
            of a flagged case.
        uncorrected_audits: audits that show that labels changed between both periods, or follow
            the prediction, where outcomes are not corrected for it; None for any other.
        missing_misses: hardly an unflagged case of a period, or of both, is labelled positive, as
            where labels follow the decisions; None where that is not so, and where audits test it.
        audits: what audits show; None without audits.
        rates_learned: outcomes are corrected at rates of wrong labels that audits show.
        rates_contradicted: audits show other rates of wrong labels than those of label_errors.
        label_sources: how sources label the same cases; None where no label has a source.
        rejected_predictions: that many predictions of a recording were rejected, so that the others
            are no random sample, in words; "" where they were not.
    """

    model: str
    labelling: Labelling
    before: Side
    after: Side
    change_points: float
    change_lower_points: float
    change_upper_points: float
    change_logit: float
    attribution: Mapping[str, CausePart]
    judgement: Judgement
    verdict: Verdict
    operating_point_moved: bool
    judged_within: str | None
    below_reference_curve: bool | None
    main_driver: MainDriver | None
    segments: tuple[SegmentPart, ...]
    had_prevalence_stayed: Estimated
    because: Because | None
    recall: RecallEvidence
    false_positive_rate_above: float
    visible_recall: float
    refusal: Refusal | None
    notes: tuple[str, ...]
    worse_segments: tuple[tuple[Series, WorseValue], ...] = ()
    scatter_days: ScatterDays | None = None
    scores: ComparedScores | None = None
    news: ChangeNews = NO_NEWS
    unlabelled_end: UnlabelledEnd | None = None
    unjudged_end: UnjudgedEnd | None = None
    predictions: DegeneratePredictions = UNKNOWN_PREDICTIONS
    pages: bool = False
    paged_since: int | None = None
    mixed_reference: ReferenceOutcomes | None = None
    provisional: bool = False
    moved_lately: MovedLately | None = None
    flags_nothing: bool = False
    judged_stretch: str = ""
    labels_silent_since: int | None = None
    uncorrected_audits: AuditFindings | None = None
    missing_misses: MissingMisses | None = None
    audits: AuditFindings | None = None
    rates_learned: bool = False
    rates_contradicted: bool = False
    label_sources: SourceFindings | None = None
    rejected_predictions: str = ""

    @property
    def lacks_labels(self) -> bool:
        """True where far fewer predictions of after than of before have a label."""
        return self.after.unlabelled - self.before.unlabelled > UNLIKE_SHARES
