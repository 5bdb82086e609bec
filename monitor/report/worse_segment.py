"""A segment value in which the model certainly became worse, beside what all cases show."""

from __future__ import annotations

from monitor.diagnosis import Diagnosis
from monitor.drift.recall_evidence import Because
from monitor.drift.worse_values import MAY_HIDE, WorseValue
from monitor.events.columns import Series
from monitor.report.deciding_window import since_reference, verdict_on
from monitor.report.rate_changes import change_text
from monitor.report.segment_names import segment_name
from monitor.report.vocabulary import METRIC_WORDS
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import WindowVerdict

WorseValues = tuple[tuple[Series, WorseValue], ...]
"""Segment values in which a rate became worse, each with its series."""

NOT_BY_ALL = ", for all cases not certainly"
"""What follows a value that became worse, where all cases leave it open."""


def live_worse_segment(snapshot: Snapshot, model: ModelState, deciding: str) -> str:
    """Return how a rate of a segment value became worse in what answers for a model, a phrase.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.

    Returns:
        "" where none certainly did, the model pages, or all cases show a change of the model.
    """
    return _phrase(live_values(snapshot, model, deciding))


def live_values(snapshot: Snapshot, model: ModelState, deciding: str) -> WorseValues:
    """Return the segment values in which a model became worse, each with its series.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.

    Returns:
        The surest first; see `worse_values`.
    """
    worse = worse_values(model, verdict_on(model, deciding))
    return tuple((snapshot.series[one.row], one) for one in worse)


def worse_values(model: ModelState, found: WindowVerdict) -> tuple[WorseValue, ...]:
    """Return the segment values of a model in which a rate certainly became worse.

    Args:
        model: with its windows.
        found: the verdict on its deciding window.

    Returns:
        Those of the stretch that answers: since the reference, or that window. None while the
        model pages.
    """
    if model.watched.degradation_detected or found.verdict not in MAY_HIDE or found.label_fault:
        return ()
    since = since_reference(model)
    if since is None or since.judgement is None or found.because is Because.MOVED:
        return found.worse_values
    return since.worse_values


def worse_segment(diagnosis: Diagnosis) -> str:
    """Return the same of a diagnosis, a phrase.

    Args:
        diagnosis: of two periods.
    """
    return _phrase(values_in(diagnosis))


def values_in(diagnosis: Diagnosis) -> WorseValues:
    """Return the segment values of a diagnosis in which the model became worse, with their series.

    Args:
        diagnosis: of two periods.

    Returns:
        The surest first; none where the model pages, or all cases show a change of the model.
    """
    if diagnosis.pages or diagnosis.verdict not in MAY_HIDE:
        return ()
    return diagnosis.worse_segments


def beside(text: str, phrase: str, *, contrary: bool) -> str:
    """Return how a segment value became worse as a sentence behind a text; "" where that has it.

    Args:
        text: what was said so far.
        phrase: how a rate of a value became worse; "" where none did.
        contrary: the text has a verdict, by which the model is as before.

    >>> beside("All is well.", "for region=asia recall fell from .84 to .26", contrary=True)
    ' But for region=asia recall fell from .84 to .26.'
    """
    if not phrase or phrase in text:
        return ""
    return f" But {phrase}." if contrary else f" {phrase[0].upper()}{phrase[1:]}."


def _phrase(found: WorseValues) -> str:
    if not found:
        return ""
    (series, first), others = found[0], len(found) - 1
    more = f" (and {others} more value{'s' if others > 1 else ''})" if others else ""
    how = f"{METRIC_WORDS[first.rate].phrase} {change_text(first.before, first.after)}"
    return f"for {segment_name(series.segment, series.value)}{more} {how}"
