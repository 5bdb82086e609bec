"""What the join says to the windows: which cell counts one more, which one less.

A cell is one of the four of `Outcome`, or one of the population: predictions
called positive or negative, labelled or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import Columns, Int64Array

PREDICTED_POSITIVE = 4
"""Cell of a prediction called positive, whatever comes of it."""
PREDICTED_NEGATIVE = 5
"""Cell of a prediction called negative, whatever comes of it."""
CELLS = 6
"""Cells that a pane counts: tp, fp, fn, tn, predicted positive, predicted negative."""


def _no_rows() -> Int64Array:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deltas(Columns):
    """Changes of what counts, one row each; their order does not matter.

    Attributes:
        time: event time of the prediction, epoch milliseconds.
        label_time: event time of the label; of the prediction itself in population cells.
        group: number of its group.
        cell: an `Outcome`, `PREDICTED_POSITIVE` or `PREDICTED_NEGATIVE`.
        score_bin: bin of the score, see `monitor.events.score_bins`.
        stratum: how the label was sampled, see `monitor.join.sampling`; left out: not told.
        count: what to add; negative where something ceases to count.
    """

    time: Int64Array = field(default_factory=_no_rows)
    label_time: Int64Array = field(default_factory=_no_rows)
    group: Int64Array = field(default_factory=_no_rows)
    cell: Int64Array = field(default_factory=_no_rows)
    score_bin: Int64Array = field(default_factory=_no_rows)
    count: Int64Array = field(default_factory=_no_rows)
    stratum: Int64Array = field(default_factory=_no_rows)

    def __post_init__(self) -> None:
        if len(self.stratum) != len(self.time):
            object.__setattr__(self, "stratum", np.zeros(len(self.time), dtype=np.int64))


def known(cells: Int64Array) -> Int64Array:
    """Counts of which outcomes are known.

    Where corrections have come before what they correct, so that a cell holds less
    than nothing, no outcome is known: all four are 0.

    Args:
        cells: (..., 6), tp, fp, fn, tn, predicted positive, predicted negative.

    Returns:
        The same shape; the cells themselves where all are known.

    >>> known(np.array([[3, -1, 2, 0, 10, 90]])).tolist()
    [[0, 0, 0, 0, 10, 90]]
    """
    unknown = (cells[..., : len(Outcome)] < 0).any(axis=-1)
    if not unknown.any():
        return cells
    cells = cells.copy()
    cells[unknown, : len(Outcome)] = 0
    return cells


def settled(cells: Int64Array) -> Int64Array:
    """Counts in which silence is a negative, of predictions whose label timeout has passed.

    Explicit negatives and silence are the same; a label that was retracted is silence.

    Args:
        cells: (..., 6), tp, fp, fn, tn, predicted positive, predicted negative.

    Returns:
        The same shape, at least 0.

    >>> settled(np.array([3, 1, 2, 0, 10, 90])).tolist()
    [3, 7, 2, 88, 10, 90]
    """
    out = cells.copy()
    out[..., Outcome.FP] = cells[..., PREDICTED_POSITIVE] - cells[..., Outcome.TP]
    out[..., Outcome.TN] = cells[..., PREDICTED_NEGATIVE] - cells[..., Outcome.FN]
    return np.maximum(out, 0)
