"""What is found on a model of many classes, in sentences: accuracy, and which class is worse."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from monitor.drift import Status, Verdict
from monitor.drift.class_confusions import Confusion
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED, IMPROVED, NOT_OF_THE_MODEL
from monitor.events.columns import Int64Array
from monitor.metrics.class_matrix import class_accuracy
from monitor.report.label_words import distrusted_text
from monitor.report.points import points_text
from monitor.report.printable import first_names, one_line
from monitor.report.rate_changes import short
from monitor.snapshot import ModelState
from monitor.verdicts import WindowVerdict
from monitor.watch.class_verdicts import moved_classes, own_label_faults

_NAMED = 3
Worse = Literal["yes", "no", "not_shown", "unknown"]


class ClassFindings(NamedTuple):
    """What was found on a window of all classes, without full stops.

    Attributes:
        moved: what moved accuracy, which is precision over all classes.
        worse: answer to "Is the model worse?".
        answer: that answer in words, before what happened.
        happened: to the classes, without the question.
    """

    moved: str
    worse: Worse
    answer: str
    happened: str

    @property
    def why(self) -> str:
        """The answer to the question, with what happened."""
        return f"{self.answer}{self.happened}"

    @property
    def headline(self) -> str:
        """What moved and what happened, where no question stands before it."""
        return f"{self.moved}. {self.happened[0].upper()}{self.happened[1:]}."


def class_findings(model: ModelState, window: str) -> ClassFindings | None:
    """Return what was found on a window; None where it is not compared with a reference.

    Args:
        model: of many classes.
        window: its name.
    """
    classes, report = model.watched.classes, model.classes.get(window)
    found = model.watched.verdicts.get(window)
    if classes is None or report is None or found is None:
        return None
    if found.because is Because.NO_REFERENCE:
        return None
    return found_on(
        found,
        {name: one.verdicts[window] for name, one in classes.by_class.items()},
        classes.changes.get(window, ()),
        (classes.reference, report.matrix),
        paging={name for name, one in classes.by_class.items() if one.degradation_detected},
    )


def found_on(
    found: WindowVerdict,
    own: Mapping[str, WindowVerdict],
    changes: Sequence[Confusion],
    matrices: tuple[Int64Array, Int64Array],
    *,
    paging: Collection[str] = (),
) -> ClassFindings:
    """Return what was found on all classes together.

    Args:
        found: verdict on them.
        own: verdict on each class, by its name.
        changes: confusions, and recalls of classes, that certainly changed.
        matrices: labelled predictions of both sides, (classes, classes) each, by predicted and
            actual class.
        paging: names of the classes that page.
    """
    faults = own_label_faults(own)
    if found.label_fault:
        trusted = [one for one in changes if one.actual not in faults and not one.is_recall]
        distrusted = distrusted_text(faults, found.label_fault)
        happened = "; ".join(filter(None, [distrusted, _pairs(trusted)]))
        return ClassFindings("Not known", "unknown", "Cannot be known: ", happened)
    shares = _shares_changed(own, matrices)
    worse, answer, happened = _worse(found, own, changes, paging, shares)
    beside = f"; {distrusted_text(faults)}" if faults else ""
    return ClassFindings(_accuracy(*matrices), worse, answer, f"{happened}{beside}")


def _accuracy(before: Int64Array, after: Int64Array) -> str:
    """Return the accuracy of both sides, and what the shares of the classes have of its change."""
    old, new = float(class_accuracy(before)), float(class_accuracy(after))
    if not np.isfinite(new):
        return "Not known: the window has no labelled case"
    cases = [one.sum(axis=0) for one in (before, after)]
    shares = [one / one.sum() for one in cases]
    right = [np.diagonal(one) / np.maximum(one.sum(axis=0), 1) for one in (before, after)]
    recall = [np.where(cases[side] > 0, right[side], right[1 - side]) for side in range(len(cases))]
    mix = float(((shares[1] - shares[0]) * (recall[0] + recall[1]) / 2).sum())
    return (
        f"Accuracy {short(old, 3)} → {short(new, 3)}: the classes' shares {points_text(mix)} "
        f"points, their recall {points_text(new - old - mix)}"
    )


def _worse(
    found: WindowVerdict,
    own: Mapping[str, WindowVerdict],
    changes: Sequence[Confusion],
    paging: Collection[str],
    shares: str,
) -> tuple[Worse, str, str]:
    """Return whether the model is worse, that in words, and what happened."""
    pairs = _pairs(changes)
    degraded = {name for name, one in own.items() if one.verdict in DEGRADED}
    worse = [name for name in own if name in degraded or name in paging]
    if worse:
        verb = "degraded" if degraded else "pages" if len(worse) == 1 else "page"
        return "yes", "Yes, ", _counted(worse, len(own), verb, pairs)
    better = [name for name, one in own.items() if one.verdict in IMPROVED]
    if better:
        return "no", "No, ", _counted(better, len(own), "improved", pairs)
    open_classes = moved_classes([*own.values()])
    moved = [
        name
        for number, (name, one) in enumerate(own.items())
        if number in open_classes or _has_slid(one)
    ]
    if moved:
        return "not_shown", "Not shown: ", _counted(moved, len(own), "moved", pairs)
    if pairs:
        return "not_shown", "Not shown: ", pairs
    if found.verdict not in NOT_OF_THE_MODEL:
        happened = f"within the actual classes nothing certainly changed{shares}"
        return "not_shown", "Nothing points to it: ", happened
    held = f"accuracy within the actual classes is as before{_open(own)}{shares}"
    return "no", "No: ", held


def _open(own: Mapping[str, WindowVerdict]) -> str:
    """Return how many classes may have changed while the accuracy of all of them held."""
    left = sum(one.verdict is Verdict.INSUFFICIENT_EVIDENCE for one in own.values())
    return f"; not settled for {left} of {len(own)} classes alone" if left else ""


def _has_slid(found: WindowVerdict) -> bool:
    return found.judgement is not None and found.judgement.operating_point_moved


def _is_shifted(found: WindowVerdict) -> bool:
    judgement = found.judgement
    return judgement is not None and judgement.status["class_ratio"] is Status.CHANGED


def _shares_changed(
    own: Mapping[str, WindowVerdict], matrices: tuple[Int64Array, Int64Array]
) -> str:
    """Return of which classes the shares of the cases changed, and how, behind a semicolon."""
    before, after = (one.sum(axis=0) / max(int(one.sum()), 1) for one in matrices)
    named = [
        f"{name} ({_per_cent(before[number])} → {_per_cent(after[number])} %)"
        for number, (name, one) in enumerate(own.items())
        if _is_shifted(one)
    ]
    return f"; shares changed of {first_names(named, _NAMED)}" if named else ""


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def _counted(names: Sequence[str], size: int, verb: str, pairs: str) -> str:
    text = f"{len(names)} of {size} classes {verb} ({first_names(names, _NAMED)})"
    return f"{text}: {pairs}" if pairs else text


def _pairs(changes: Sequence[Confusion]) -> str:
    """Return the largest confusions that changed; recalls where no confusion did; "" without."""
    pairs = [one for one in changes if not one.is_recall] or changes
    return "; ".join(one_line(one.text) for one in pairs[:_NAMED])
