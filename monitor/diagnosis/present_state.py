"""What a model shows now, which the labels of a range show only later, or no longer."""

from __future__ import annotations

from dataclasses import replace

from monitor.clock import DAY_MS
from monitor.diagnosis.label_silence import labels_silent_since
from monitor.diagnosis.result import Diagnosis, MovedLately
from monitor.drift import Verdict
from monitor.drift.change_news import ChangeNews
from monitor.drift.recall_evidence import Because
from monitor.snapshot import ModelState
from monitor.verdicts import ReferenceOutcomes, Watched

_OPEN = (Because.STEADY, Because.MOVED, Because.TOO_FEW, Because.LABEL_ERRORS)
LATEST = "mature"
"""Source of a period to judge that nobody named: the latest data with labels."""


def with_present_state(
    found: Diagnosis,
    model: ModelState,
    *,
    moved_lately: MovedLately | None = None,
    because: Because | None = None,
    flags_nothing: bool = False,
) -> Diagnosis:
    """Return a diagnosis of the latest data that says what is known of the model now.

    A model that died since the last mature label is not steady. One that pages has not certainly
    recovered, whatever the latest data show alone. Nor is one steady that moved over its last
    day. Its change began when its watch says: of a page that lasts also where the latest data
    alone show none. A comparison of two periods that a person asked for is about these alone.

    Args:
        found: the diagnosis.
        model: whose it is, now.
        moved_lately: the stretch of it that moved and does not decide; None where none did.
        because: why the model has no verdict then.
        flags_nothing: its deciding window has outcomes, none of a flagged case.
    """
    found = _by_its_reference(found, model)
    closes, mature = found.after.closes, model.mature_until
    is_recent = closes is not None and mature is not None and closes > mature - DAY_MS
    asked = not found.before.source and not found.after.source
    if asked or (found.after.source != LATEST and not is_recent):
        return found
    if model.watched.degradation_detected:
        since = paged_since(model.watched)
        found = replace(found, pages=True, paged_since=since, moved_lately=moved_lately)
    elif moved_lately is not None and found.because in _OPEN:
        found = replace(found, moved_lately=moved_lately, because=because)
    if found.after.source != LATEST:
        return found
    silent = labels_silent_since(model)
    found = replace(found, flags_nothing=flags_nothing, labels_silent_since=silent)
    if found.before.source and model.watched.began is not None:
        found = replace(found, news=_as_watched(found.news, model.watched))
    predictions = model.watched.predictions
    if predictions.kind is None:
        return found
    because = Because.TOO_FEW if found.because is Because.STEADY else found.because
    return replace(found, predictions=predictions, because=because)


def _by_its_reference(found: Diagnosis, model: ModelState) -> Diagnosis:
    """Say what is wrong with the reference of the model, where it is the period before."""
    reference = model.watched.reference
    if reference is None or not is_of_reference(found, reference):
        return found
    found = replace(found, provisional=reference.provisional)
    if reference.held_back is not None:
        found = replace(found, notes=(*found.notes, reference.held_back.sentence))
    if reference.level_change is None:
        return found
    found = replace(found, mixed_reference=reference)
    return replace(found, because=Because.TOO_FEW) if found.because is Because.STEADY else found


def is_of_reference(found: Diagnosis, reference: ReferenceOutcomes | None) -> bool:
    """Return whether the period before is the reference of a model.

    Args:
        found: the diagnosis.
        reference: that the model has now; None without one.
    """
    ends = (found.before.opens, found.before.closes)
    return reference is not None and (reference.opens, reference.closes) == ends


def paged_since(watched: Watched) -> int | None:
    """Return when the page of a model started, epoch milliseconds; None where it does not page.

    Args:
        watched: its detections.
    """
    starts = (one.at for one in reversed(watched.detections) if one.kind == Verdict.MODEL_DEGRADED)
    return next(starts, None) if watched.degradation_detected else None


def _as_watched(news: ChangeNews, watched: Watched) -> ChangeNews:
    """Return when the change of a model began as its watch has it, and with which version."""
    new = watched.new_version
    if new is None or not new.began_change:
        return news._replace(began=watched.began)
    if (known := news.new_version) is not None and known.name == new.name:
        new = new._replace(traffic=known.traffic)
    return news._replace(began=watched.began, new_version=new)
