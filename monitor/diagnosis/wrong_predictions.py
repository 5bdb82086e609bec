"""What the predictions of a model show now, which labels show only later."""

from __future__ import annotations

from dataclasses import replace

from monitor.diagnosis.result import Diagnosis
from monitor.drift.recall_evidence import Because
from monitor.snapshot import ModelState

_LATEST = "mature"
"""Source of a period to judge that nobody named: the latest data with labels."""


def with_predictions(found: Diagnosis, model: ModelState) -> Diagnosis:
    """Return a diagnosis of the latest data that says what predictions alone show now.

    A model that died since the last mature label is not steady.

    Args:
        found: the diagnosis.
        model: whose it is, now.
    """
    predictions = model.watched.predictions
    if predictions.kind is None or found.after.source != _LATEST:
        return found
    because = Because.TOO_FEW if found.because is Because.STEADY else found.because
    return replace(found, predictions=predictions, because=because)
