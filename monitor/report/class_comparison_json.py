"""Two stretches of time of a model of many classes as the JSON object of `diagnose --json`."""

from __future__ import annotations

from typing import Self

from msgspec import Struct, UnsetType, field

from monitor.diagnosis.class_comparison import ClassComparison
from monitor.diagnosis.lone_days import LoneDay
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import Share, Time, json_text, time_text
from monitor.report.class_answer import ClassesAnswer, classes_of
from monitor.report.class_comparison_text import comparison_findings
from monitor.report.class_findings import Worse
from monitor.report.class_parts import ClassParts, class_parts
from monitor.verdicts import WindowVerdict


class ChangedRecall(Struct, frozen=True, kw_only=True):
    """The recall of a class that certainly changed.

    Attributes:
        class_: its name.
        before: recall in the stretch compared with.
        after: in the stretch judged.
        p_value: of the change, corrected for all pairs of classes.
    """

    class_: str = field(name="class")
    before: Share
    after: Share
    p_value: Share


class ChangedConfusion(Struct, frozen=True, kw_only=True):
    """A share of the cases of a class that are predicted as another one, which certainly changed.

    Attributes:
        actual: the actual class.
        predicted: the predicted class.
        before: share of the cases of the actual class.
        after: the same.
        p_value: of the change, corrected for all pairs of classes.
    """

    actual: str
    predicted: str
    before: Share
    after: Share
    p_value: Share


class ClassVerdict(Struct, frozen=True, kw_only=True):
    """The verdict on one class.

    Attributes:
        verdict: within the actual classes: the shares of the classes alone make no class worse.
        verdict_because: why it is `insufficient_evidence`; null for any other.
    """

    verdict: Verdict
    verdict_because: Because | None

    @classmethod
    def of(cls, found: WindowVerdict) -> Self:
        """Return a verdict as an object.

        Args:
            found: the verdict.
        """
        return cls(verdict=found.verdict, verdict_because=found.because)


class ClassSide(Struct, frozen=True, kw_only=True):
    """One of the two stretches of time.

    Attributes:
        open: first moment.
        close: first moment after it.
        classes: its classes.
    """

    open: Time | None
    close: Time | None
    classes: ClassesAnswer | UnsetType


class ClassDiagnosis(Struct, frozen=True, kw_only=True):
    """Why the precision of the classes moved.

    Attributes:
        model: its name.
        headline: the answer in one sentence.
        verdict: on all classes together, by the rule of live windows.
        verdict_because: why it is `insufficient_evidence`; null for any other.
        model_worse: whether the model is worse.
        verdicts: on each class against all others, within the actual classes, by its name.
        before: the stretch compared with.
        after: the stretch judged.
        attribution: the change of each class's precision, by its name.
        confusions: those that certainly changed, the largest change first.
        recalls: those that certainly changed, the largest change first.
        mature_until: moment up to which outcomes are mature; null if unknown.
        label_faults: of the classes whose own labels are missing, by their names.
        no_interval: why the change of a class has no interval, by its name.
    """

    model: str
    headline: str
    verdict: Verdict
    verdict_because: Because | None
    model_worse: Worse
    verdicts: dict[str, ClassVerdict]
    before: ClassSide
    after: ClassSide
    attribution: dict[str, ClassParts]
    confusions: tuple[ChangedConfusion, ...]
    recalls: tuple[ChangedRecall, ...]
    mature_until: Time | None
    label_faults: dict[str, LabelFault]
    no_interval: dict[str, LoneDay]


def class_comparison_json(found: ClassComparison) -> str:
    """Return the JSON text, one object over several lines, ASCII only."""
    return json_text(class_diagnosis(found), indent=2)


def class_diagnosis(found: ClassComparison) -> ClassDiagnosis:
    """Return the comparison as an object."""
    before, after = (
        ClassSide(open=time_text(asked.opens), close=time_text(asked.closes), classes=classes_of(s))
        for asked, s in zip(found.ranges, found.sides, strict=True)
    )
    answer, cells = comparison_findings(found), found.changes.cells
    return ClassDiagnosis(
        model=found.model,
        headline=answer.headline,
        verdict=found.verdict.verdict,
        verdict_because=found.verdict.because,
        model_worse=answer.worse,
        verdicts={name: ClassVerdict.of(one) for name, one in found.verdicts.items()},
        before=before,
        after=after,
        attribution={
            name: class_parts(found.attribution, found.names, number)
            for number, name in enumerate(found.names)
        },
        confusions=tuple(_confusion(found, *pair) for pair in cells if pair[0] != pair[1]),
        recalls=tuple(_recall(found, one) for one, actual in cells if one == actual),
        mature_until=time_text(found.mature_until),
        label_faults=dict(found.label_faults),
        no_interval=dict(found.lone_days),
    )


def _confusion(found: ClassComparison, predicted: int, actual: int) -> ChangedConfusion:
    return ChangedConfusion(
        actual=found.names[actual],
        predicted=found.names[predicted],
        before=float(found.changes.before[predicted, actual]),
        after=float(found.changes.after[predicted, actual]),
        p_value=float(found.changes.p_values[predicted, actual]),
    )


def _recall(found: ClassComparison, number: int) -> ChangedRecall:
    return ChangedRecall(
        class_=found.names[number],
        before=float(found.changes.before[number, number]),
        after=float(found.changes.after[number, number]),
        p_value=float(found.changes.p_values[number, number]),
    )
