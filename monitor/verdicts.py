"""Verdicts on the windows of each model, and what they rest on, frozen; undefined is NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift import Attribution, Judgement, Status, Verdict
from monitor.drift.beyond_reference import BeyondReference
from monitor.drift.change_news import ChangeBegan, NewVersion
from monitor.drift.checked_estimate import LABELS_ALONE, WindowEstimates
from monitor.drift.class_attribution import ClassAttribution
from monitor.drift.class_confusions import Confusion
from monitor.drift.day_scatter import DayScatter
from monitor.drift.degenerate import Degeneracy
from monitor.drift.level_change import LevelChange, PrevalenceChange
from monitor.drift.live_class_ratio import FAR_LOG_RATIO, UNKNOWN_RATIO, ClassRatio
from monitor.drift.recall_evidence import UNKNOWN_RECALL, Because, RecallEvidence
from monitor.drift.reference_news import AwaitedReference, HeldBack, ReferenceVersions
from monitor.drift.trend import Trend
from monitor.drift.versions_compared import VersionsCompared
from monitor.drift.worse_values import WorseValue
from monitor.events.columns import Int64Array
from monitor.events.version_starts import VersionTimes
from monitor.metrics.ratio import ratio

LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT = "label_shift", "label_shift_by_segment"
COVARIATE_SHIFT = "covariate_shift"
ESTIMATE_METHODS = (LABELS_ALONE, LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT, COVARIATE_SHIFT)
"""Methods of estimates ahead of the labels: mature labels alone, or with an assumed shift."""


class Detected(NamedTuple):
    """One detection.

    Attributes:
        at: end of the pane that triggered it, plus the maturity, epoch milliseconds.
        kind: `model_degraded` (only where the verdict agrees) or `prevalence_shift`.
        of_class: name of the class, of a model of many; "" of a model of two.
    """

    at: int
    kind: str
    of_class: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOutcomes:
    """Outcomes of the reference that the windows of a model are compared with.

    Attributes:
        source: `first`, `window`, `trailing` or `counts`, as configured; `level` for the level
            that pages rest on (see `monitor.watch.level`).
        opens: first moment, epoch milliseconds; None for configured counts.
        closes: first moment after it; None for configured counts.
        counts: its outcomes, a scalar.
        version: 1 for the first reference of the model, one more for each that replaces it.
        level_change: the change of level that its days hold; None where none is certain.
        prevalence_change: that of its prevalence alone, likewise.
        cut_short: moment of a change, epoch milliseconds, before which it ends for good; or None.
        held_back: longer first days in which the model looks worse; or None.
        provisional: it stands in for longer ones, and pages dead models alone.
        pooled: the counts are right and wrong predictions of more than two classes.
        versions: that predicted in it; None without a time or a second version, or under `keep`.
    """

    source: str
    opens: int | None
    closes: int | None
    counts: ConfusionCounts
    version: int = 1
    level_change: LevelChange | None = None
    prevalence_change: PrevalenceChange | None = None
    cut_short: int | None = None
    held_back: HeldBack | None = None
    provisional: bool = False
    pooled: bool = False
    versions: ReferenceVersions | None = None

    @property
    def level_changed(self) -> int | None:
        """Moment at which its level changed, epoch milliseconds; None where it did not."""
        if self.level_change is None or self.opens is None:
            return None
        return self.opens + self.level_change.day * DAY_MS

    @property
    def class_ratio(self) -> float:
        """R = P/N, at which precision is always published; NaN where N is 0, and of pooled ones."""
        found = ratio(self.counts.actual_positive, self.counts.actual_negative)
        return float("nan") if self.pooled else float(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowVerdict:
    """Verdict on one window against the reference, with what it rests on.

    Attributes:
        verdict: the verdict; `insufficient_evidence` also where there is no reference
            yet, or where the window overlaps it.
        judgement: statuses and changes that the verdict rests on; None where nothing
            could be judged.
        attribution: contribution of each cause; None where nothing could be judged.
        as_labelled: the same where certainly other labels explain the change; else None.
        label_fault: what is wrong with the labels where the verdict is
            `labels_not_trustworthy`, a `monitor.labels.faults.LabelFault`; else "".
        labels_in_order: True where the labels certainly come as in the reference.
        nowcast: prevalence and precision ahead of the labels; None without a reference,
            where the window is not whole days long, and where labels are a sample.
        because: why the verdict is `insufficient_evidence`; None for any other verdict.
        rests_on: outcomes in the smallest cell that the verdict rests on: actual positives,
            actual negatives, and, unless the model is dead, flagged cases.
        recall: limits of recall in the window, or in what lies beyond the reference in it.
        false_positive_rate_above: see `recall_evidence.false_positive_rate_above`; NaN for none.
        visible_recall: a fall to it would have been seen with 80 % probability; NaN for none.
        beyond: what lies beyond the reference in a window that overlaps it, labels in order.
        level: the level (see `monitor.watch.level`) that the verdict is against, where it is worse
            than that and not than the reference, and while the model pages; None elsewhere.
        worse_values: segment values in which a rate certainly became worse.
    """

    verdict: Verdict
    judgement: Judgement | None = None
    attribution: Attribution | None = None
    as_labelled: Attribution | None = None
    nowcast: WindowEstimates | None = None
    label_fault: str = ""
    labels_in_order: bool = False
    because: Because | None = None
    rests_on: int = 0
    recall: RecallEvidence = UNKNOWN_RECALL
    false_positive_rate_above: float = float("nan")
    visible_recall: float = float("nan")
    beyond: BeyondReference | None = None
    level: ReferenceOutcomes | None = None
    worse_values: tuple[WorseValue, ...] = ()

    @property
    def far_from_reference(self) -> bool:
        """True where the class ratio is at least five times above or below the reference's.

        Precision at the other class ratio is then an extrapolation, and a small error
        of the false-positive rate weighs heavily in it. False where the class ratio did not
        certainly change, as against a reference of hardly any outcomes.
        """
        found = self.judgement
        if found is None or found.status["class_ratio"] is not Status.CHANGED:
            return False
        return abs(found.change["class_ratio"]) >= FAR_LOG_RATIO


NOT_COMPARED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.NO_REFERENCE)
"""The verdict on a window while there is nothing to compare it with."""


class MissingLabels(NamedTuple):
    """A segment value, or a range of the score, that lacks more labels than the others.

    Attributes:
        segment: the segment key; "score" for a range of the score.
        value: the segment value; for a range of the score, "0.1..0.2".
        share: share of its predictions without a label, in [0, 1].
        elsewhere: the same share over all other predictions.
        missing: number of its predictions without a label.
    """

    segment: str
    value: str
    share: float
    elsewhere: float
    missing: int


NAMED_VERSIONS = 8
"""Versions of a model that are listed, at most."""


class ShadowsNow(NamedTuple):
    """Shadow versions of a model.

    Attributes:
        versions: each with the time of its first prediction, epoch milliseconds, by time.
        predictions: received from them, by state; the states add up to all.
    """

    versions: tuple[tuple[str, int], ...]
    predictions: Mapping[str, int]


class VersionsNow(NamedTuple):
    """Versions of a model that counts them apart.

    Attributes:
        compared: the one that began last, with the one that predicted most since; None where
            they cannot be compared.
        not_compared: why they are not; "" where they are.
        shadows: None where the model has no shadow versions configured.
        shadow_cases: mature cases of each shadow version that the version that decides scored
            as well, by its name.
        unnamed: when predictions without a version came; None where none did.
        ignored: True under `on_version: keep`.
        of_shadows: each shadow version, the latest first, with the one that decides; `compared` may
            be one of them.
        worse: the latest version that is proven worse, compared, in use or not; None where none
            is. It is `compared`, or an earlier version that predicted within the last mature day.
    """

    compared: VersionsCompared | None = None
    not_compared: str = ""
    shadows: ShadowsNow | None = None
    shadow_cases: Mapping[str, int] = {}
    unnamed: VersionTimes | None = None
    ignored: bool = False
    worse: VersionsCompared | None = None
    of_shadows: tuple[VersionsCompared, ...] = ()

    @property
    def by_shadow(self) -> Mapping[str, VersionsCompared]:
        """The comparisons of shadow versions by their names."""
        return {one.versions[1].name: one for one in self.of_shadows}

    @property
    def comparisons(self) -> tuple[VersionsCompared, ...]:
        """The comparisons there are, each once."""
        there = (self.worse, *self.of_shadows, self.compared)
        return tuple({id(one): one for one in there if one is not None}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class DegeneratePredictions:
    """Test of a model's predictions, without labels, against all of their past.

    Attributes:
        known: False while the past is too short to know what is usual.
        kind: what is wrong with them; None where nothing is.
        since: first moment of the predictions that show it, epoch milliseconds.
        times: rate of flagged cases over the extreme one of the past, where that is what is
            wrong; else NaN.
    """

    known: bool = False
    kind: Degeneracy | None = None
    since: int | None = None
    times: float = float("nan")


UNKNOWN_PREDICTIONS = DegeneratePredictions()
"""What is known of predictions before there is a past to test them against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassesWatched:
    """The classes of a model of many, each compared with its past.

    Attributes:
        by_class: reference, verdicts and detections of each class against the others, by its
            name; the causes of its windows are in `causes`.
        reference: int64 (classes, classes), the matrix of the reference.
        causes: what moved the precision of each class, by window.
        changes: confusions, and recalls of classes, that certainly changed, by window; the largest
            change first.
    """

    by_class: Mapping[str, Watched]
    reference: Int64Array
    causes: Mapping[str, ClassAttribution]
    changes: Mapping[str, tuple[Confusion, ...]]

    def confusions(self, window: str) -> list[Confusion]:
        """Return the confusions that certainly changed, the largest change first.

        Args:
            window: its name.
        """
        return [one for one in self.changes.get(window, ()) if not one.is_recall]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Reference, verdicts and detections of one model.

    Attributes:
        reference: None until it is known.
        verdicts: verdict of each window, by the name of the window.
        evidence: the larger statistic of the skill detectors, by pane and by days, over its
            threshold, an alarm from 1 on; NaN without a reference.
        warming_up: True without a reference that suffices for the detectors by pane.
        degradation_detected: True while the model pages: from a certain degradation that a
            detector found, until the model has certainly recovered.
        prevalence_shift_detected: True where the class ratio left its seasonal profile
            within the longest window; None where no detector watches the class ratio.
        detections: all detections, in order of time.
        detectors_off: why no detector runs, the name of a labelling regime; "" where
            detectors run.
        judged_age_ms: age at which predictions are judged, milliseconds; above
            `maturity_ms` where labels need longer than that. None while unknown.
        missing_labels: where labels are missing in the longest window, the largest excess
            first for each segment key and for the score; only under `complete`.
        live_class_ratio: r = P/N of mature labels, smoothed over panes: an outcome
            counts half after the length of the shortest window. NaN where it is not
            known, or where the labels of that window are not trustworthy.
        expected_class_ratio: r that its profile expects of the last mature pane; NaN without one.
        day_scatter: how much the days of the model scatter; None without a reference.
        level: what pages rest on, where that is another one than the reference; else None.
        level_scatter: the same as `day_scatter`, as verdicts against the level take it.
        awaited: what the configured reference lacks; None once it is in use, and before the
            first prediction.
        predictions: the test of its predictions against their past.
        trend: slope of the model's skill over weeks, looked at once a week; None where none
            is certain.
        began: when the rates of the model changed; None where no window says that they did,
            the model does not page, and its skill has no trend.
        new_version: the version that this change began with, else the one that began last;
            None before a second one, and under `on_version: keep`.
        classes: those of a model of many, once their reference is known; None for a model of two.
    """

    reference: ReferenceOutcomes | None = None
    verdicts: Mapping[str, WindowVerdict] = field(default_factory=dict)
    evidence: float = float("nan")
    warming_up: bool = True
    degradation_detected: bool = False
    prevalence_shift_detected: bool | None = False
    detections: tuple[Detected, ...] = ()
    detectors_off: str = ""
    judged_age_ms: int | None = None
    missing_labels: tuple[MissingLabels, ...] = ()
    live_class_ratio: ClassRatio = UNKNOWN_RATIO
    expected_class_ratio: float = float("nan")
    day_scatter: DayScatter | None = None
    level: ReferenceOutcomes | None = None
    level_scatter: DayScatter | None = None
    awaited: AwaitedReference | None = None
    predictions: DegeneratePredictions = field(default_factory=DegeneratePredictions)
    trend: Trend | None = None
    began: ChangeBegan | None = None
    new_version: NewVersion | None = None
    classes: ClassesWatched | None = None

    @property
    def log_class_ratio(self) -> float:
        """Log r of the reference; NaN without a reference, or where it lacks a class."""
        if self.reference is None:
            return float("nan")
        return float(np.log(self.reference.class_ratio or np.nan))
