"""Diagnoses whose period to judge reaches into the stretch of predictions without labels."""

from __future__ import annotations

from dataclasses import replace

from monitor.config import Labelling
from monitor.diagnosis.result import Diagnosis
from monitor.diagnosis.time_ranges import JUDGED_MS
from monitor.diagnosis.unlabelled_end import UnlabelledEnd, unlabelled_end
from monitor.engine import Monitor
from monitor.snapshot import ModelState
from monitor.windows.history import History


def end_behind_a_week(model: ModelState, history: History) -> UnlabelledEnd | None:
    """Return the stretch at the end of a model's predictions that has no labels.

    Args:
        model: its state.
        history: its totals by hour.

    Returns:
        The stretch, however short; None without one, and where it begins within two weeks of the
        first prediction, so that no reference lies before the week that has labels.
    """
    opens, cells = history
    timed, last = bool(model.delay_sum.any()), model.last_prediction_ms or 0
    end = unlabelled_end(opens, cells, last, model.last_label_ms, timed=timed, least=0)
    return end if end is not None and end.opens - int(opens[0]) > 2 * JUDGED_MS else None


def may_end_unlabelled(found: Diagnosis) -> bool:
    """Return whether fewer predictions of the period to judge have a label, each of which may.

    Args:
        found: the diagnosis.
    """
    return found.labelling is Labelling.COMPLETE and found.lacks_labels


def with_unlabelled_end(found: Diagnosis, monitor: Monitor, model: ModelState) -> Diagnosis:
    """Return a diagnosis that names the stretch without labels which it judges, if it does.

    Args:
        found: the diagnosis.
        monitor: has counted the events; only for the thread that feeds it.
        model: the state of the model.
    """
    if not may_end_unlabelled(found):
        return found
    end = end_behind_a_week(model, monitor.history(found.model))
    if end is None or end.opens >= (found.after.closes or 0):
        return found
    return replace(found, unlabelled_end=end)
