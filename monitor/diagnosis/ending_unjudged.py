"""Diagnoses of the latest mature data behind which more predictions follow than these span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from monitor.diagnosis.result import Diagnosis
from monitor.diagnosis.unjudged_end import unjudged_end
from monitor.snapshot import ModelState
from monitor.windows.history import History


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
    """Return a diagnosis that has the predictions behind what it judges.

    Args:
        found: the diagnosis.
        history: gives the totals of a model by hour.
        model: the state of the model.
    """
    if not may_end_unjudged(found, model):
        return found
    length = (found.after.closes or 0) - (found.after.opens or 0)
    return replace(found, unjudged_end=unjudged_end(model, history(found.model), length))
