"""Label faults.

Labels missing at random bias nothing. Labels missing by actual class bias precision;
labels missing by predicted class bias recall and the false-positive rate. The counts
show how many labels are missing and not by which class: a fifth of the predicted
positives' labels lost at random gives the same coverage as a loss of positives. A window
with a label fault therefore publishes nothing, except for precision where the predicted
positives have their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import BoolArray, FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.label_errors import ErrorRates

ONE_SIDE = 0.5
"""Ratio of the coverages of the predicted classes below which labels are not missing at random."""
_FEWEST_DUE = 50


class LabelFault(StrEnum):
    """A fault of the labels."""

    POSITIVES_MISSING = "positives_missing"
    """Labels of actual positives are missing more often than before."""
    NEGATIVES_MISSING = "negatives_missing"
    """Labels of actual negatives are missing more often than before."""
    LABELS_MISSING = "labels_missing"
    """Labels of both classes are missing."""
    DELAYS_CHANGED = "delays_changed"
    """Labels of the youngest predictions arrive faster or slower than those of mature ones did."""
    REPORTS_STOPPED = "reports_stopped"
    """Where only positives are reported: reports have nearly ended, and abruptly."""
    ONE_SIDE_LABELLED = "one_side_labelled"
    """Predicted positives get labels, and predicted negatives do not."""
    FLAGGED_UNLABELLED = "flagged_unlabelled"
    """Predicted negatives get labels, and predicted positives do not."""
    LABEL_ERRORS_CHANGED = "label_errors_changed"
    """Labels are wrong more, or less, often than before, as scores or audits show."""
    LABEL_ERRORS_TOO_HIGH = "label_errors_too_high"
    """Configured rates of wrong labels are higher than the labels allow."""
    AUDITS_TOO_FEW = "audits_too_few"
    """Rates of wrong labels are to be learned from audits, and too few labels are audited."""
    CLASSES_UNKNOWN = "classes_unknown"
    """1 % or more of the labels or predictions name a class that the model does not have."""
    LABELS_FOLLOW_PREDICTIONS = "labels_follow_predictions"
    """Audits show other rates of wrong labels for flagged cases, so that none corrects both."""


def classes_at_fault(faults: Sequence[str]) -> list[int]:
    """Return the classes of a model of many whose own labels are at fault.

    Where labels of one class are missing, those of each other one are, too, among the cases that
    are not its own: such a class is left out where another one explains it.

    Args:
        faults: the fault of each class against the others, "" without one.

    Returns:
        Their places in `faults`.

    >>> classes_at_fault(["negatives_missing", "positives_missing", ""])
    [1]
    """
    faulty = [number for number, fault in enumerate(faults) if fault]
    return [n for n in faulty if faults[n] != LabelFault.NEGATIVES_MISSING] or faulty


def fault_of_rates(configured: ErrorRates, findings: AuditFindings | None) -> LabelFault:
    """Return why rates of wrong labels are undefined.

    Args:
        configured: see `LabelRegime`.
        findings: what audits show; None without audits.
    """
    if any(configured):
        return LabelFault.LABEL_ERRORS_TOO_HIGH
    follow = findings is not None and findings.follow_predictions
    return LabelFault.LABELS_FOLLOW_PREDICTIONS if follow else LabelFault.AUDITS_TOO_FEW


RATES_UNDEFINED = frozenset(
    {
        LabelFault.LABEL_ERRORS_TOO_HIGH,
        LabelFault.AUDITS_TOO_FEW,
        LabelFault.LABELS_FOLLOW_PREDICTIONS,
    }
)
"""Faults for which rates of wrong labels are undefined."""

SIDES = (LabelFault.ONE_SIDE_LABELLED, LabelFault.FLAGGED_UNLABELLED)
"""Faults that a window shows without a reference."""


def faults_of_sides(
    labelled: Int64Array | FloatArray, predicted: Int64Array
) -> tuple[BoolArray, BoolArray]:
    """Test whether labels miss one predicted class far more than the other.

    Args:
        labelled: predictions with a label, (..., 2): predicted positive, negative.
        predicted: all predictions, the same.

    Returns:
        For each of `SIDES`, whether it holds, (...).

    >>> one, other = faults_of_sides(np.array([[100, 0], [90, 3000]]), np.array([[100, 3800]] * 2))
    >>> one.tolist(), other.tolist()
    ([True, False], [False, False])
    """
    known = np.asarray((predicted > 0).all(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num((labelled / predicted).max(axis=-1))
    due = predicted * best[..., None]
    enough = (due >= _FEWEST_DUE) & known[..., None]
    fewer = np.asarray((labelled < ONE_SIDE * due) & enough)
    return fewer[..., 1], fewer[..., 0]


def strata(cells: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return labelled and all predictions, (..., 2): predicted positive, negative.

    Args:
        cells: (..., 6), see `monitor.join.deltas`.
    """
    labelled = np.stack(
        [
            cells[..., Outcome.TP] + cells[..., Outcome.FP],
            cells[..., Outcome.FN] + cells[..., Outcome.TN],
        ],
        axis=-1,
    )
    predicted = cells[..., [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]]
    return labelled, np.maximum(predicted, labelled)
