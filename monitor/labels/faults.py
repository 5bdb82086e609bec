"""What can be wrong with labels, and which numbers labels that went astray still allow.

Labels that are missing at random harm nothing. Where they are missing for one actual
class, what is labelled of a predicted class, and so precision, is distorted; where they
are missing by what was predicted, recall and false positives are. The counts show how many
are missing, and not by which of the two: a fifth of the predicted positives' labels lost
at random leaves the same gaps as a loss of positives. So nothing is published of a window
whose labels were lost, but for precision where predicted positives have theirs.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import BoolArray, FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE

_ONE_SIDE = 0.5
"""Coverage of one predicted class over that of the other below which nothing is at random."""
_FEWEST_DUE = 50


class LabelFault(StrEnum):
    """What is wrong with the labels."""

    POSITIVES_MISSING = "positives_missing"
    """Labels of actual positives are missing more often than before."""
    NEGATIVES_MISSING = "negatives_missing"
    """Labels of actual negatives are missing more often than before."""
    LABELS_MISSING = "labels_missing"
    """Labels of both classes are missing."""
    DELAYS_CHANGED = "delays_changed"
    """Labels of the youngest predictions come at another pace than those of mature ones."""
    REPORTS_STOPPED = "reports_stopped"
    """Where only positives are reported: reports have all but ended, and all at once."""
    ONE_SIDE_LABELLED = "one_side_labelled"
    """Predicted positives get labels, and predicted negatives do not."""
    FLAGGED_UNLABELLED = "flagged_unlabelled"
    """Predicted negatives get labels, and predicted positives do not."""


SIDES = (LabelFault.ONE_SIDE_LABELLED, LabelFault.FLAGGED_UNLABELLED)
"""Faults that a window's own counts show, whatever came before."""


def faults_of_sides(
    labelled: Int64Array | FloatArray, made: Int64Array
) -> tuple[BoolArray, BoolArray]:
    """Where labels miss one predicted class by far more than the other: not at random.

    Args:
        labelled: predictions with a label, (..., 2): called positive, called negative.
        made: all predictions, the same.

    Returns:
        For each of `SIDES`, whether it is so, (...).

    >>> one, other = faults_of_sides(np.array([[100, 0], [90, 3000]]), np.array([[100, 3800]] * 2))
    >>> one.tolist(), other.tolist()
    ([True, False], [False, False])
    """
    known = np.asarray((made > 0).all(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num((labelled / made).max(axis=-1))
    due = made * best[..., None]
    enough = (due >= _FEWEST_DUE) & known[..., None]
    fewer = np.asarray((labelled < _ONE_SIDE * due) & enough)
    return fewer[..., 1], fewer[..., 0]


def strata(cells: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Labelled and all predictions, (..., 2): called positive, called negative.

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
    made = cells[..., [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]]
    return labelled, np.maximum(made, labelled)
