"""Two stretches of time of a model of many classes as the JSON object of `diagnose --json`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, UnsetType, field

from monitor.diagnosis.class_comparison import ClassComparison, moved_confusions
from monitor.labels.faults import LabelFault
from monitor.report.answer_parts import Share, Time, json_text, time_text
from monitor.report.class_answer import ClassesAnswer, classes_of
from monitor.report.class_comparison_text import class_headline, pairs_of, recalls_of
from monitor.report.class_parts import ClassParts, class_parts


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
        model_worse: `yes` where confusions certainly rose or recall fell; `both_ways` where
            others certainly changed for the better; `unknown` where nothing certainly changed,
            and labels of a class are missing.
        before: the stretch compared with.
        after: the stretch judged.
        attribution: the change of each class's precision, by its name.
        confusions: those that certainly changed, the largest change first.
        recalls: those that certainly changed, the largest change first.
        mature_until: moment up to which outcomes are mature; null if unknown.
        label_faults: of the classes whose own labels are missing, by their names.
    """

    model: str
    headline: str
    model_worse: Literal["yes", "both_ways", "not_shown", "unknown"]
    before: ClassSide
    after: ClassSide
    attribution: dict[str, ClassParts]
    confusions: tuple[ChangedConfusion, ...]
    recalls: tuple[ChangedRecall, ...]
    mature_until: Time | None
    label_faults: dict[str, LabelFault]


def class_comparison_json(found: ClassComparison) -> str:
    """Return the JSON text, one object over several lines, ASCII only."""
    return json_text(class_diagnosis(found), indent=2)


def class_diagnosis(found: ClassComparison) -> ClassDiagnosis:
    """Return the comparison as an object."""
    before, after = (
        ClassSide(open=time_text(asked.opens), close=time_text(asked.closes), classes=classes_of(s))
        for asked, s in zip(found.ranges, found.sides, strict=True)
    )
    cells = moved_confusions(found)
    return ClassDiagnosis(
        model=found.model,
        headline=class_headline(found),
        model_worse=_worse(found),
        before=before,
        after=after,
        attribution={
            name: class_parts(found.attribution, found.names, number)
            for number, name in enumerate(found.names)
        },
        confusions=tuple(_confusion(found, *pair) for pair in pairs_of(cells)),
        recalls=tuple(_recall(found, number) for number, _ in recalls_of(cells)),
        mature_until=time_text(found.mature_until),
        label_faults=dict(found.label_faults),
    )


def _worse(found: ClassComparison) -> Literal["yes", "both_ways", "not_shown", "unknown"]:
    if not found.changes.is_worse:
        return "unknown" if found.label_faults and not found.changes.is_better else "not_shown"
    return "both_ways" if found.changes.is_better else "yes"


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
