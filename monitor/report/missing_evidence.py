"""What there is not enough of where a verdict is `insufficient_evidence`, in a few words."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.config import Labelling
from monitor.drift import Judgement, Status, Verdict
from monitor.snapshot import ModelState, Window, WindowVerdict


def missing_evidence(model: ModelState, window: Window, found: WindowVerdict) -> str | None:
    """What would have to come first.

    Args:
        model: whose verdict it is.
        window: that it is of.
        found: the verdict.

    Returns:
        None where the verdict says something.
    """
    if found.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return None
    if found.judgement is not None:
        return _unsettled(found.judgement)
    return next((said for said, holds in _reasons(model, window) if holds), "labels still to come")


def _unsettled(judgement: Judgement) -> str:
    if judgement.status["class_ratio"] is not Status.CHANGED:
        return "too few outcomes to tell"
    way = "fewer" if judgement.change["class_ratio"] < 0 else "more"
    return f"certainly {way} positives; skill open"


def _reasons(model: ModelState, window: Window) -> Iterator[tuple[str, bool]]:
    """From what comes first in the life of a model to what comes last."""
    row, reference = model.row, model.watched.reference
    made = int(window.predicted_positive[row] + window.predicted_negative[row])
    yield "no predictions yet", not model.predictions_positive + model.predictions_negative
    flagged_only = model.labelling == Labelling.FLAGGED_ONLY
    yield "only flagged cases are labelled", flagged_only
    yield "no labels yet", not model.matched and not sum(model.labels.values())
    yield "the reference is not complete yet", reference is None
    closes = None if reference is None else reference.closes
    reaches_back = closes is not None and int(window.open[row]) < closes
    yield f"the last {window.name} reach back into the reference", reaches_back
    yield f"no predictions in the last {window.name} that is mature", not made
    yield f"no labels for the last {window.name}", not int(window.counts.total[row])
