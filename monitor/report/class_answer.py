"""The classes of a model of many classes as a part of JSON answers."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from monitor.drift import Verdict
from monitor.drift.class_confusions import ConfusionBegan
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.labels.faults import LabelFault
from monitor.metrics.class_report import WHOLE, ClassReport, Limits
from monitor.report.answer_parts import (
    Count,
    MetricInterval,
    OutcomeCounts,
    Share,
    Time,
    defined,
    evidence_ratio,
    time_text,
)
from monitor.report.class_parts import ClassParts, class_parts
from monitor.report.class_words import AllClassesWords
from monitor.report.metric_words import JSON_METRICS, MetricValues
from monitor.report.model_kinds import words_of
from monitor.report.verdict_words import NEVER_PREDICTED, VERDICTS, BecauseWords, VerdictWords
from monitor.snapshot import ModelState
from monitor.verdicts import ClassesWatched


class ClassMetrics(MetricValues[MetricInterval], frozen=True, kw_only=True):
    """The metrics of one class against the others.

    Attributes:
        f1: harmonic mean of precision and recall.
    """

    f1: MetricInterval


class ClassChange(Struct, frozen=True, kw_only=True):
    """What happened to one class between the reference and a window.

    Attributes:
        verdict: within the actual classes: the shares of the classes alone make no class worse.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        label_fault: what is wrong with its labels; null where nothing is. `negatives_missing` are
            labels of other classes.
        paging: the class pages.
        evidence: of its detectors over their threshold; null without any.
        precision: what moved its precision.
    """

    verdict: Verdict
    verdict_because: Because | None
    label_fault: LabelFault | None
    paging: bool
    evidence: float | None
    precision: ClassParts


class ConfusionBeginning(Struct, frozen=True, kw_only=True):
    """When a confusion changed, to the day.

    Attributes:
        at: beginning of the likeliest day.
        earliest: lower limit of its 95 % interval, the beginning of a day; null where the likeliest
            is the first day after the reference, so that it may have changed before.
        latest: upper limit of the interval, the end of a day.
    """

    at: Time
    earliest: Time | None
    latest: Time


class ConfusionChange(Struct, frozen=True, kw_only=True):
    """A confusion that certainly became more frequent, or less.

    Attributes:
        actual: the actual class.
        predicted: the predicted class.
        before: share of the cases of the actual class in the reference.
        after: the same in the window.
        change_began: when it changed, to the day (UTC); null where no days are stored.
        text: the change in words.
    """

    actual: str
    predicted: str
    before: Share
    after: Share
    change_began: ConfusionBeginning | None
    text: str


class OneClass(Struct, frozen=True, kw_only=True):
    """One class, as if the others were one class.

    Attributes:
        predictions: predictions of it, labelled or not.
        outcomes: its outcomes.
        metrics: its metrics.
        change: since the reference; left out where there is none.
    """

    predictions: Count
    outcomes: OutcomeCounts
    metrics: ClassMetrics
    change: ClassChange | UnsetType = UNSET


class AveragedMetrics(Struct, frozen=True, kw_only=True):
    """Averages over the classes in which the metric is defined.

    Attributes:
        precision: of precision.
        recall: of recall.
        f1: of F1.
    """

    precision: MetricInterval
    recall: MetricInterval
    f1: MetricInterval


class ClassAverages(Struct, frozen=True, kw_only=True):
    """Averages of metrics over the classes.

    Attributes:
        macro: every class has the same weight.
        micro: the outcomes of all classes together; each of them is the accuracy.
        weighted: the weight of a class is its number of actual cases.
    """

    macro: AveragedMetrics
    micro: AveragedMetrics
    weighted: AveragedMetrics


class ClassesAnswer(Struct, frozen=True, kw_only=True):
    """The classes of a model of more than two.

    Attributes:
        names: in the configured order, which rows and columns of the matrix have, too.
        matrix: labelled predictions, a row for each predicted class and a column for each
            actual class.
        by_class: each class by its name.
        averages: over the classes.
        accuracy: share of the cases whose predicted class is the actual one.
        cohen_kappa: agreement beyond chance, over the largest possible agreement beyond it.
        reference_matrix: the matrix of the reference; left out where there is none.
        confusions: those that certainly changed since the reference, of classes whose rates did,
            the largest change first; left out without a reference.
    """

    names: tuple[str, ...]
    matrix: tuple[tuple[Count, ...], ...]
    by_class: dict[str, OneClass]
    averages: ClassAverages
    accuracy: MetricInterval
    cohen_kappa: MetricInterval
    reference_matrix: tuple[tuple[Count, ...], ...] | UnsetType = UNSET
    confusions: tuple[ConfusionChange, ...] | UnsetType = UNSET

    def together(self, words: AllClassesWords) -> MetricInterval:
        """Return a metric of all classes together.

        Args:
            words: of the metric.
        """
        of = self if words.average is None else getattr(self.averages, words.average)
        found: MetricInterval = getattr(of, words.metric)
        return found

    def words_of(self, name: str) -> VerdictWords | BecauseWords | None:
        """Return the words of the verdict on a class; None where there is no reference.

        Args:
            name: of the class.
        """
        change, before = self.by_class[name].change, self.reference_matrix
        if change is UNSET or before is UNSET:
            return None
        predicted = any(before[self.names.index(name)])
        if change.verdict_because is Because.NO_REFERENCE and not predicted:
            return NEVER_PREDICTED
        return words_of(change.verdict, change.verdict_because)


def compared_classes(model: ModelState, window: str) -> ClassesAnswer | UnsetType:
    """Return the classes of a window, compared with the reference, as a field of JSON.

    Args:
        model: the model.
        window: its name.

    Returns:
        Unset, and so left out, for a model of two classes.
    """
    found, classes = classes_of(model.classes.get(window)), model.watched.classes
    if classes is None or found is UNSET or window not in classes.causes:
        return found
    return replace(
        found,
        by_class={
            name: replace(one, change=_change(classes, window, number))
            for number, (name, one) in enumerate(found.by_class.items())
        },
        reference_matrix=tuple(map(tuple, classes.reference.tolist())),
        confusions=tuple(
            ConfusionChange(
                actual=one.actual,
                predicted=one.predicted,
                before=one.before,
                after=one.after,
                change_began=_beginning(one.began),
                text=one.text,
            )
            for one in classes.confusions(window)
        ),
    )


def _beginning(began: ConfusionBegan | None) -> ConfusionBeginning | None:
    if began is None:
        return None
    at, earliest, latest = map(time_text, began)
    return ConfusionBeginning(at=str(at), earliest=earliest, latest=str(latest))


def ranked_classes(classes: ClassesAnswer) -> list[str]:
    """Return the names of classes, those that page first, then those that need a look.

    Those follow with the most urgent verdicts first, and of one verdict those that moved.

    Args:
        classes: of a window; without a comparison they stay in their order.
    """
    urgency = {verdict: place for place, verdict in enumerate(VERDICTS)}
    looked_at = classes_to_look_at(classes)

    def place(name: str) -> tuple[bool, bool, int, bool]:
        change = classes.by_class[name].change
        if change is UNSET:
            return False, False, 0, False
        is_quiet = change.verdict_because is not Because.MOVED
        return not change.paging, name not in looked_at, urgency[change.verdict], is_quiet

    return sorted(classes.names, key=place)


def classes_to_look_at(classes: ClassesAnswer) -> set[str]:
    """Return the classes that page, are worse, or whose cases are certainly confused otherwise.

    Args:
        classes: of a window.
    """
    pairs = () if classes.confusions is UNSET else classes.confusions
    worse = {
        name
        for name, one in classes.by_class.items()
        if one.change is not UNSET and (one.change.paging or one.change.verdict in DEGRADED)
    }
    return worse | {one.actual for one in pairs}


def _change(classes: ClassesWatched, window: str, number: int) -> ClassChange:
    names = tuple(classes.by_class)
    watched = classes.by_class[names[number]]
    found = watched.verdicts[window]
    return ClassChange(
        verdict=found.verdict,
        verdict_because=found.because,
        label_fault=LabelFault(found.label_fault) if found.label_fault else None,
        paging=watched.degradation_detected,
        evidence=evidence_ratio(watched),
        precision=class_parts(classes.causes[window], names, number),
    )


def classes_of(found: ClassReport | None) -> ClassesAnswer | UnsetType:
    """Return the classes of a window as a field of JSON; unset, and so left out, without any."""
    if found is None:
        return UNSET
    accuracy, kappa = (_interval(found.whole[name]) for name in WHOLE)
    return ClassesAnswer(
        names=found.names,
        matrix=tuple(map(tuple, found.matrix.tolist())),
        by_class={name: _one(found, number) for number, name in enumerate(found.names)},
        averages=ClassAverages(
            macro=_averages(found, "macro"),
            micro=AveragedMetrics(precision=accuracy, recall=accuracy, f1=accuracy),
            weighted=_averages(found, "weighted"),
        ),
        accuracy=accuracy,
        cohen_kappa=kappa,
    )


def _one(found: ClassReport, number: int) -> OneClass:
    cells = found.counts[number].cells.tolist()
    metrics = {
        name: _interval(Limits(*(ends[number] for ends in found.metrics[name])))
        for name in (*JSON_METRICS, "f1")
    }
    return OneClass(
        predictions=int(found.predictions[number]),
        outcomes=OutcomeCounts(**dict(zip(OutcomeCounts.__struct_fields__, cells, strict=True))),
        metrics=ClassMetrics(**metrics),
    )


def _averages(found: ClassReport, kind: str) -> AveragedMetrics:
    names = AveragedMetrics.__struct_fields__
    return AveragedMetrics(**{name: _interval(found.averages[kind, name]) for name in names})


def _interval(found: Limits) -> MetricInterval:
    estimate, lower, upper = (defined(float(number)) for number in found)
    return MetricInterval(estimate=estimate, lower=lower, upper=upper)
