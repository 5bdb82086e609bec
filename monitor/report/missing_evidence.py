"""The evidence that is missing where a window cannot be compared yet, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.config.quantities import count_of
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.detectors import is_too_small
from monitor.drift.no_skill import separates_nothing
from monitor.drift.recall_evidence import Because
from monitor.labels.refusals import ONLY_POSITIVES
from monitor.metrics.class_matrix import class_accuracy
from monitor.metrics.rates import false_positive_rate, recall
from monitor.report.printable import one_line
from monitor.report.rate_changes import short
from monitor.snapshot import ModelState, Window
from monitor.verdicts import WindowVerdict


def missing_evidence(model: ModelState, window: Window, found: WindowVerdict) -> str | None:
    """Return what must come before a window can be compared with the reference.

    Args:
        model: the model.
        window: one of its windows.
        found: the verdict on that window.

    Returns:
        A few words; None where it is compared, or its labels are at fault.
    """
    if found.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return None
    if useless := useless_reference(model):
        return useless
    of_classes = model.watched.classes is not None and found.because is not Because.NO_REFERENCE
    if found.judgement is not None or of_classes:
        return None
    reasons = _reasons(model, window)
    missing = next((words for words, holds in reasons if holds), "")
    return missing or _useless_classes(model) or "labels still to come"


def useless_reference(model: ModelState) -> str:
    """Return why nothing can be compared with a reference.

    Args:
        model: with its reference, if it has one.

    Returns:
        That it is too small, or that the model did not tell the classes apart in it, in a few
        words; "" for any other reference, and without one.
    """
    reference = model.watched.reference
    if reference is None or model.classes:
        return ""
    if is_too_small(reference.counts):
        return too_few_before(reference.counts)
    if not separates_nothing(reference.counts):
        return ""
    rates = [short(float(rate(reference.counts)), 2) for rate in (recall, false_positive_rate)]
    return (
        f"in the reference the model does not tell the classes apart (recall {rates[0]}, "
        f"false-positive rate {rates[1]})"
    )


def too_few_before(before: ConfusionCounts, name: str = "the reference") -> str:
    """Return that outcomes are too few to compare others with, in a few words.

    Args:
        before: the outcomes.
        name: what holds them.

    >>> too_few_before(ConfusionCounts(tp=0, fp=2, fn=3, tn=23))
    'the reference holds 3 positives and 25 negatives, too few to compare with'
    """
    positives = count_of(int(before.actual_positive), "positive")
    negatives = count_of(int(before.actual_negative), "negative")
    return f"{name} holds {positives} and {negatives}, too few to compare with"


def _useless_classes(model: ModelState) -> str:
    """Return that most classes have no reference of use, of a model of many; else ""."""
    classes = model.watched.classes
    if classes is None or not classes.reference.any():
        return ""
    accuracy = short(float(class_accuracy(classes.reference)), 2)
    return f"in the reference the model does not tell most classes apart (accuracy {accuracy})"


def _reasons(model: ModelState, window: Window) -> Iterator[tuple[str, bool]]:
    """Yield each kind of evidence in the order in which it comes, with True where it is missing."""
    row, reference = model.row, model.watched.reference
    made = int(window.predicted_positive[row] + window.predicted_negative[row])
    ever = model.predictions_positive + model.predictions_negative
    if (shared := model.shared_ids) is not None:
        other = f"model {shared.other}" if shared.other else "another model"
        yield f"its predictions carry ids that {other} predicted", not ever
    yield "no predictions yet", not ever
    flagged_only = model.labelling == Labelling.FLAGGED_ONLY
    yield ONLY_POSITIVES, flagged_only
    yield "no labels yet", not model.matched and not sum(model.labels.values())
    given = model.watched.awaited is None
    yield "no outcome is mature yet", not reference and given
    yield f"the reference{_restarted(model)} is not complete yet{_progress(model)}", not reference
    yield _overlap(window), _overlaps(model, window)
    yield f"no predictions in the last {window.name} that are old enough to judge", not made
    yield f"no labels for the last {window.name}", not int(window.counts.total[row])


def reaches_back(model: ModelState, window: Window, found: WindowVerdict) -> str:
    """Return that a window is not compared because it reaches back into the reference.

    Args:
        model: the model.
        window: one of its windows.
        found: the verdict on that window.

    Returns:
        A few words; "" where that is not what is missing.
    """
    words = _overlap(window)
    return words if missing_evidence(model, window, found) == words else ""


def _overlap(window: Window) -> str:
    return f"the last {window.name} reach back into the reference"


def _overlaps(model: ModelState, window: Window) -> bool:
    reference = model.watched.reference
    closes = None if reference is None else reference.closes
    return closes is not None and int(window.open[model.row]) < closes


def _restarted(model: ModelState) -> str:
    """Return that the reference that a model lacks begins anew with a version."""
    awaited = model.watched.awaited
    if awaited is None or not awaited.restarted_with:
        return ""
    return f" restarted with version {one_line(awaited.restarted_with)} and"


def _progress(model: ModelState) -> str:
    """Return how much of its evidence a reference has, and about when it is complete.

    No date is given while no positive has come: nothing can be compared without one. While the
    stream is too short to show long delays of labels, the day is the earliest.
    """
    awaited = model.watched.awaited
    if awaited is None:
        return ""
    if awaited.positives == 0:
        return " (no positive has come, and without one nothing can be compared)"
    counted = [
        f"{one.have:,} of {one.needed:,} {one.kind}"
        for one in awaited.counted
        if one.have < one.needed
    ]
    when = "about" if model.maturity_settled else "not before"
    day = f"{when} {day_text(max(awaited.about_ms, model.now_ms or 0))}"
    if counted and awaited.whole_ms:
        whole = count_of(awaited.whole_ms // DAY_MS, "day")
        return f" ({', '.join(counted)}; at this rate it will be the first {whole}, {day})"
    return f" ({', '.join([*counted, day])})"


def day_text(moment: int) -> str:
    """Return the day of a moment in words.

    Args:
        moment: epoch milliseconds.

    >>> day_text(1_760_486_400_000)
    '15 October 2025'
    """
    return f"{datetime.fromtimestamp(moment / 1000, UTC):%-d %B %Y}"
