"""Why a model has no verdict: by its deciding window, by others, and by what they exclude."""

from __future__ import annotations

from monitor.drift.beyond_reference import BeyondReference
from monitor.drift.recall_evidence import FEWEST_OUTCOMES, Because, excludes_much
from monitor.metrics.rates import recall
from monitor.report.deciding_window import moved_window, since_reference, verdict_on, worse_window
from monitor.report.missing_evidence import useless_reference
from monitor.report.worse_segment import worse_values
from monitor.snapshot import ModelState
from monitor.verdicts import WindowVerdict


def model_because(model: ModelState, found: WindowVerdict) -> Because | None:
    """Return why a model has no verdict; None where it has one.

    It is the reason of its deciding window. Where that holds too few outcomes and another one,
    or what lies beyond the reference in one that reaches back into it, excludes a fall that
    matters, the model is steady. It is not while another window, or these outcomes since the
    reference, say that rates changed, or the class ratio, or predictions alone that something is
    wrong, nor beside a reference that holds a change of level, nor while outcomes since the
    reference show that precision changed. Such a window of 50 outcomes, or as many since the
    reference, is a move, and the outcomes are too few otherwise. A segment value that certainly
    became worse is a move as well.

    Args:
        model: with its reference and its windows.
        found: the verdict on its deciding window.
    """
    reference = model.watched.reference
    if model.watched.classes is not None:
        return found.because
    if reference is None or useless_reference(model):
        return Because.NO_REFERENCE if found.because is not None else None
    if found.because is None or found.because is Because.MOVED:
        return found.because
    return _why_quiet(model, found, float(recall(reference.counts)))


def _why_quiet(model: ModelState, found: WindowVerdict, usual: float) -> Because:
    """Return why a model has no verdict, whose deciding window shows no change."""
    if worse_values(model, found):
        return Because.MOVED
    since, elsewhere = since_reference(model), (worse_window(model, found), moved_window(model))
    rests_on = [verdict_on(model, name).rests_on for name in elsewhere if name]
    if since is not None and (since.has_moved or since.because is Because.MOVED):
        rests_on.append(since.rests_on)
    if rests_on:
        return Because.MOVED if max(rests_on) >= FEWEST_OUTCOMES else Because.TOO_FEW
    reference = model.watched.reference
    mixed = reference is not None and reference.level_change is not None
    if mixed or model.watched.predictions.kind is not None:
        return Because.TOO_FEW
    if _excludes_much(model, usual, since):
        return Because.STEADY
    because = None if found.judgement is None else found.because
    return because or Because.TOO_FEW


def _excludes_much(model: ModelState, usual: float, since: BeyondReference | None) -> bool:
    """Return whether outcomes that are none of the reference exclude a fall that matters."""
    quiet = since is not None and since.is_quiet
    return any(
        excludes_much(one.recall.excluded, usual)
        for one in model.watched.verdicts.values()
        if one.judgement is not None or (quiet and one.beyond is not None)
    )
