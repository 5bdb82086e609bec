"""The changes of counts that the join emits to the windows.

A cell is one of the four of `Outcome`, or one of two for all predictions, labelled or not:
predicted positive and predicted negative.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import Columns, Int64Array

PREDICTED_POSITIVE = 4
"""Cell of all predicted positives."""
PREDICTED_NEGATIVE = 5
"""Cell of all predicted negatives."""
CELLS = 6
"""Cells that a pane counts: tp, fp, fn, tn, predicted positive, predicted negative."""


def _no_rows() -> Int64Array:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deltas(Columns):
    """Changes of counts, one for each row; their order does not matter.

    Attributes:
        time: event time of the prediction, epoch milliseconds.
        label_time: event time of the label; that of the prediction in the last two cells.
        group: number of its group.
        cell: an `Outcome`, `PREDICTED_POSITIVE` or `PREDICTED_NEGATIVE`.
        score_bin: bin of the score, see `monitor.events.score_bins`.
        stratum: how the label was sampled, see `monitor.join.sampling`; unknown by default.
        count: what to add to the cell; negative to subtract.
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


class DeltaRoom:
    """Columns of deltas that the compiled kernel writes, one row after another.

    Args:
        rows: most rows that may be written.
    """

    def __init__(self, rows: int) -> None:
        self._columns = np.empty((len(Deltas.names()), rows), dtype=np.int64)
        self._used = 0

    @property
    def left(self) -> tuple[Int64Array, ...]:
        """The rows behind the last one of each column."""
        return tuple(self._columns[:, self._used :])

    def fill(self, rows: int) -> None:
        """Take so many rows more as written."""
        self._used += rows

    @property
    def written(self) -> Deltas:
        """The rows so far."""
        columns = self._columns[:, : self._used]
        return Deltas(**dict(zip(Deltas.names(), columns, strict=True)))


def known(cells: Int64Array) -> Int64Array:
    """Return counts with the outcomes set to 0 where they are not known.

    If a correction comes before the counts that it corrects, a cell is negative. Then no
    outcome is known, and all four are 0.

    Args:
        cells: (..., 6), tp, fp, fn, tn, predicted positive, predicted negative.

    Returns:
        The same shape.

    >>> known(np.array([[3, -1, 2, 0, 10, 90]])).tolist()
    [[0, 0, 0, 0, 10, 90]]
    """
    unknown = (cells[..., : len(Outcome)] < 0).any(axis=-1)
    if not unknown.any():
        return cells
    cells = cells.copy()
    cells[unknown, : len(Outcome)] = 0
    return cells


def rarer_class(cells: Int64Array) -> int:
    """Return how many outcomes there are of the class with fewer of them.

    Args:
        cells: (6,), tp, fp, fn, tn, predicted positive, predicted negative.

    >>> rarer_class(np.array([3, 1, 2, 9, 10, 90]))
    5
    """
    positive = int(cells[Outcome.TP] + cells[Outcome.FN])
    return min(positive, int(cells[Outcome.FP] + cells[Outcome.TN]))


def unlabelled_as_negative(cells: Int64Array) -> Int64Array:
    """Return counts in which a missing label is a negative, once the label timeout has passed.

    A retracted label counts as missing.

    Args:
        cells: (..., 6), tp, fp, fn, tn, predicted positive, predicted negative.

    Returns:
        The same shape, at least 0.

    >>> unlabelled_as_negative(np.array([3, 1, 2, 0, 10, 90])).tolist()
    [3, 7, 2, 88, 10, 90]
    """
    out = cells.copy()
    out[..., Outcome.FP] = cells[..., PREDICTED_POSITIVE] - cells[..., Outcome.TP]
    out[..., Outcome.TN] = cells[..., PREDICTED_NEGATIVE] - cells[..., Outcome.FN]
    return np.maximum(out, 0)
