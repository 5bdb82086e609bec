"""Why precision moved, with the curve of the later period, as the API and the page answer it."""

from __future__ import annotations

from typing import NamedTuple

from monitor.diagnosis import Diagnosis
from monitor.diagnosis.comparison import Comparison
from monitor.exporter.api.compare import RecalledComparison, compared
from monitor.exporter.api.curve import curve_answer
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.snapshot import ModelState


class Explanation(NamedTuple):
    """A diagnosis with its answers.

    Attributes:
        diagnosis: what was found.
        answer: the same as `diagnose --json` prints it.
        curve: precision against recall of the later period.
    """

    diagnosis: Diagnosis
    answer: DiagnosisAnswer
    curve: CurveAnswer


def explain(
    model: ModelState, asked: Comparison, counted: RecalledComparison, fault: LabelFault | None
) -> Explanation:
    """Return why precision moved between two time ranges.

    Args:
        model: the state of the model.
        asked: the ranges.
        counted: their counts and scores.
        fault: of the labels of the later one, as the deciding window shows it; None without one.

    Raises:
        UsageError: see `compared`.
    """
    found = compared(model, asked, counted, fault)
    ratio, objective = curve_aim(found, model.objective.get("precision"))
    curve = curve_answer(
        counted.after_scores,
        reference_ratio=ratio,
        objective=objective,
        regime=curve_regime(found, model),
    )
    return Explanation(found, diagnosis_answer(found), curve)


def curve_aim(found: Diagnosis, objective: float | None) -> tuple[float | None, float | None]:
    """Return the class ratio to carry a curve to, and the precision that a threshold is to reach.

    Args:
        found: the diagnosis.
        objective: the configured precision; None for the precision of before.

    Returns:
        None for either that is not known.
    """
    ratio = found.before.metrics["class_ratio"].estimate
    wanted = found.before.metrics["precision"].estimate if objective is None else objective
    return (
        ratio if 0 < ratio < float("inf") else None,
        wanted if 0 <= wanted <= 1 else None,
    )


def curve_regime(found: Diagnosis, model: ModelState) -> LabelRegime:
    """Return how labels of the later period come, with the rates its scores are corrected for.

    Args:
        found: the diagnosis.
        model: its state.
    """
    regime = LabelRegime.now(model)._replace(earlier=())
    after = None if found.scores is None else found.scores.after
    return regime if after is None else regime._replace(errors=after.errors)
