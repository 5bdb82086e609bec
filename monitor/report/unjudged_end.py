"""Predictions that are made later than those that a verdict judges, since labels take long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from monitor.config.quantities import count_of
from monitor.counts import Outcome
from monitor.diagnosis.result import Diagnosis
from monitor.diagnosis.unlabelled_end import day_of
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.report.durations import duration_text
from monitor.report.metric_words import titled
from monitor.report.rate_changes import short
from monitor.snapshot import ModelState
from monitor.windows.history import History


def unjudged_end(model: ModelState, history: History, judged_ms: int) -> str:
    """Return what is known of the predictions that no verdict judges yet, without a full stop.

    Args:
        model: its state.
        history: its totals by hour.
        judged_ms: length of its longest window, milliseconds.

    Returns:
        A clause with their number, how many have a label, and which share is flagged, beside the
        same of all before. "" where they span no longer than that window, and for a model of more
        than two classes, which flags nothing.
    """
    mature, last = model.mature_until, model.last_prediction_ms
    opens, cells = history
    if model.classes or mature is None or last is None or not len(opens):
        return ""
    if last - mature <= judged_ms:
        return ""
    later = opens >= mature
    made = cells[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]]
    (flagged, left), (flagged_before, left_before) = made[later].sum(0), made[~later].sum(0)
    if not (flagged + left and flagged_before + left_before):
        return ""
    labelled = int(cells[later, : len(Outcome)].sum())
    has_all, span = labelled == flagged + left, last - mature
    return (
        f"no verdict is on the last {duration_text(span / 1000)} yet, as labels take "
        f"so long: of {count_of(int(flagged + left), 'prediction')} since {day_of(mature)}, "
        f"{'all' if has_all else f'{labelled:,}'} have a label, "
        f"and {short(flagged / (flagged + left), 3)} are flagged "
        f"({short(flagged_before / (flagged_before + left_before), 3)} before)"
    )


def may_end_unjudged(found: Diagnosis, model: ModelState) -> bool:
    """Return whether more predictions may follow the latest mature data than these span.

    Args:
        found: the diagnosis.
        model: the state of the model.
    """
    after, last = found.after, model.last_prediction_ms
    if after.source != "mature" or after.opens is None or after.closes is None or last is None:
        return False
    return last - after.closes > after.closes - after.opens


def with_unjudged_end(
    found: Diagnosis, history: Callable[[str], History], model: ModelState
) -> Diagnosis:
    """Return a diagnosis that says what is known of the predictions behind what it judges.

    Args:
        found: the diagnosis.
        history: gives the totals of a model by hour.
        model: the state of the model.
    """
    if not may_end_unjudged(found, model):
        return found
    length = (found.after.closes or 0) - (found.after.opens or 0)
    end = unjudged_end(model, history(found.model), length)
    return replace(found, notes=(*found.notes, f"{titled(end)}.")) if end else found
