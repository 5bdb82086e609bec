"""Judges the classes of a model together: which are confused, and what that says of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift import Status, Verdict
from monitor.drift.class_confusions import ConfusionChanges, confusion_changes
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.drift.within_segments import accuracy_held
from monitor.events.columns import Int64Array
from monitor.labels.faults import LabelFault, classes_at_fault
from monitor.verdicts import WindowVerdict

_OF_ONE_SIDE = (LabelFault.POSITIVES_MISSING, LabelFault.NEGATIVES_MISSING)
"""Faults that name the class by the sides of a binary model."""
_MOVED = (Verdict.OPERATING_POINT_MOVED, Verdict.THRESHOLD_MOVED)
_WITH_SHIFT = {
    Verdict.MODEL_DEGRADED: Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
    Verdict.MODEL_IMPROVED: Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED,
}


def verdict_on_whole(
    found: Sequence[WindowVerdict], cases: int, *, held: bool, moved: bool
) -> WindowVerdict:
    """Return the verdict on a window of all classes.

    A class that certainly degraded makes it degraded, else one that improved makes it improved,
    else one whose operating point moved. Else, where the accuracy within the actual classes held
    and none of them moved, the shares of the classes shifted if that of one certainly changed, or
    nothing changed. Where it is not known that it held, a certain change of a share is a move
    whose cause is open; a class that moved with the cause open makes the whole so, too, since
    one class of many hardly moves the accuracy.

    Labels that are missing for one class bias the precision of the others, and not their recall:
    a class whose own labels come, and that certainly degraded, is never hidden by them. Nothing
    else is said of the whole while the labels of a class are at fault.

    Args:
        found: verdicts of the classes on the window; the errors behind them allow for their
            number.
        cases: labelled cases in it.
        held: the accuracy within the actual classes certainly stayed, see `accuracy_held`.
        moved: a class pages, or a confusion certainly changed, so that the whole is neither
            steady nor has too few outcomes.

    Returns:
        A verdict without a judgement of its own.
    """
    verdicts = [one.verdict for one in found]
    if faulty := [found[n] for n in classes_at_fault([one.label_fault for one in found])]:
        of_all = all(one.label_fault for one in found)
        if of_all or not (moved or DEGRADED.intersection(verdicts)):
            fault = faulty[0].label_fault
            missing = LabelFault.LABELS_MISSING if fault in _OF_ONE_SIDE else fault
            return replace(faulty[0], label_fault=str(missing), judgement=None)
    shifted, open_classes = has_shifted(found), moved_classes(found)
    for of_model, alone in (
        (DEGRADED, Verdict.MODEL_DEGRADED),
        (IMPROVED, Verdict.MODEL_IMPROVED),
    ):
        if of_model.intersection(verdicts):
            return WindowVerdict(verdict=_WITH_SHIFT[alone] if shifted else alone, rests_on=cases)
    if rates := [verdict for verdict in _MOVED if verdict in verdicts]:
        return WindowVerdict(verdict=rates[0], rests_on=cases)
    if held and not moved and not open_classes and any(one.judgement is not None for one in found):
        verdict = Verdict.PREVALENCE_SHIFT if shifted else Verdict.NO_CHANGE
        return WindowVerdict(verdict=verdict, rests_on=cases)
    because = _because(found)
    if (
        (moved or shifted or open_classes)
        and cases
        and because in (Because.STEADY, Because.TOO_FEW)
    ):
        because = Because.MOVED
    return WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=because, rests_on=cases)


def own_label_faults(found: Mapping[str, WindowVerdict]) -> dict[str, LabelFault]:
    """Return the faults of the classes whose own labels are at fault, by their names.

    Args:
        found: verdicts of the classes on a window.
    """
    names, faults = [*found], [one.label_fault for one in found.values()]
    return {names[number]: LabelFault(faults[number]) for number in classes_at_fault(faults)}


def has_shifted(found: Sequence[WindowVerdict]) -> bool:
    """Return whether the share of some class certainly changed.

    Args:
        found: verdicts of the classes on a window.
    """
    return any(
        one.judgement is not None and one.judgement.status["class_ratio"] is Status.CHANGED
        for one in found
    )


def moved_classes(found: Sequence[WindowVerdict]) -> list[int]:
    """Return the classes that certainly moved with the cause open.

    Args:
        found: verdicts of the classes on a window.

    Returns:
        Their places in `found`. Where precision alone moved, a certain change of the share of any
        class explains it.
    """
    shifted = has_shifted(found)
    return [
        number
        for number, one in enumerate(found)
        if one.because is Because.MOVED and (not shifted or _rates_changed(one))
    ]


def _rates_changed(found: WindowVerdict) -> bool:
    status = {} if found.judgement is None else found.judgement.status
    return any(one is Status.CHANGED for name, one in status.items() if name != "class_ratio")


class JudgedTogether(NamedTuple):
    """What the matrices of two stretches of days say of the classes together.

    Attributes:
        verdicts: on each class; those that are certainly predicted worse, or better, are degraded,
            or improved.
        changes: of the rates at which each class is predicted as each.
        held: the accuracy within the actual classes certainly stayed.
    """

    verdicts: tuple[WindowVerdict, ...]
    changes: ConfusionChanges
    held: bool


def judged_together(
    against_rest: Sequence[WindowVerdict], before: Int64Array, after: Int64Array
) -> JudgedTogether:
    """Judge the classes of a model together, from how often each is predicted as each.

    Live windows and diagnoses of two ranges are both judged so, which makes them agree.

    Args:
        against_rest: verdicts on each class against all others together.
        before: matrices of the reference by day, (days, classes, classes), by predicted and actual
            class.
        after: the same of what is judged.
    """
    changes = confusion_changes(before, after)
    ways = np.stack([changes.worse_classes, changes.better_classes], axis=1).tolist()
    days = [_right_and_wrong(side) for side in (before, after)]
    return JudgedTogether(
        verdicts=tuple(
            _as_confused(one, worse=worse, better=better)
            for one, (worse, better) in zip(against_rest, ways, strict=True)
        ),
        changes=changes,
        held=accuracy_held(before.sum(axis=0), after.sum(axis=0), (days[0], days[1])),
    )


def _right_and_wrong(days: Int64Array) -> ConfusionCounts:
    """Return the right (tp) and wrong (fn) predictions of each day."""
    right = days.trace(axis1=1, axis2=2)
    return ConfusionCounts(tp=right, fn=days.sum(axis=(1, 2)) - right, fp=0, tn=0)


def _as_confused(found: WindowVerdict, *, worse: bool, better: bool) -> WindowVerdict:
    """Return the verdict on a class that is certainly predicted worse, or better.

    Against all others together, one confusion that rose may look like a threshold that slid, or
    like too little.

    Args:
        found: verdict on the class against the others.
        worse: see `ConfusionChanges.worse_classes`.
        better: see `ConfusionChanges.better_classes`.

    Returns:
        A degradation, or an improvement, where the verdict is open and the odds ratio moved the
        same way; the verdict as it is elsewhere, and where wrong labels explain the change as well.
    """
    judgement = found.judgement
    if judgement is None or found.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return found
    moved = judgement.change["odds_ratio"]
    if judgement.labels_may_explain or not ((worse and moved < 0) or (better and moved > 0)):
        return found
    verdict = Verdict.MODEL_DEGRADED if worse else Verdict.MODEL_IMPROVED
    if judgement.status["class_ratio"] is Status.CHANGED:
        verdict = _WITH_SHIFT[verdict]
    judged = replace(judgement, verdict=verdict)
    return replace(found, verdict=verdict, judgement=judged, because=None)


def occupied(blocks: Int64Array) -> Int64Array:
    """Leave out the blocks of time without outcomes, but one.

    Args:
        blocks: matrices, (blocks, classes, classes).
    """
    held = blocks.any(axis=(1, 2))
    return blocks[held] if held.any() else blocks[:1]


def _because(found: Sequence[WindowVerdict]) -> Because:
    """Return the reason of most of the classes without a verdict."""
    reasons = [one.because for one in found if one.because is not None]
    return max(reasons, key=reasons.count, default=Because.TOO_FEW)
