"""The books of the join: where every prediction and every label went.

They close at every moment:

    predictions received = matched + pending + expired + evicted + duplicate
    labels received      = applied + held + duplicate + late + orphaned

Arrays are by model number and grow with the models.
"""

from __future__ import annotations

import numpy as np

from monitor.counts import add_at
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State

CELLS = 5
"""Where an outcome can be: 0 is none (not labelled), 1 + `Outcome` otherwise."""


class Books:
    """Counts of what the join did, by model number.

    Attributes:
        predictions: (models, 2): distinct predictions, called negative and positive.
        duplicates: predictions that came again.
        matched: predictions that count as an outcome, remembered or not.
        dropped: predictions forgotten without an outcome, their time being up.
        evicted: predictions forgotten without an outcome, room being short.
        applied: predictions for which a label was in force at some time.
        labels: (models, 3): times a label came into force: 0, 1, retraction.
        transitions: (models, 5, 5): moves of outcomes, none and `Outcome`, from row to column.
        duplicate_labels: labels that found one already there for their prediction.
        late: labels that came too late for their prediction.
        orphaned: labels whose prediction never came.
        most_predictions: (models, 2): the most that `predictions` were before some were taken
            back, by an earlier prediction of the same id or a correction of counts; see `ever`.
        most_applied: the same of `applied`.
    """

    def __init__(self) -> None:
        self.predictions = np.zeros((0, 2), dtype=np.int64)
        self.duplicates = np.zeros(0, dtype=np.int64)
        self.matched = np.zeros(0, dtype=np.int64)
        self.dropped = np.zeros(0, dtype=np.int64)
        self.evicted = np.zeros(0, dtype=np.int64)
        self.applied = np.zeros(0, dtype=np.int64)
        self.labels = np.zeros((0, 3), dtype=np.int64)
        self.transitions = np.zeros((0, CELLS, CELLS), dtype=np.int64)
        self.most_predictions = np.zeros((0, 2), dtype=np.int64)
        self.most_applied = np.zeros(0, dtype=np.int64)
        self.duplicate_labels = 0
        self.late = 0
        self.orphaned = 0

    def move(self, model: Int64Array, old: Int64Array, new: Int64Array) -> None:
        """Enter outcomes that moved from one cell to another; -1 is none."""
        flat = self.transitions.reshape(-1, CELLS * CELLS)
        add_at(flat, model, (1 + old) * CELLS + 1 + new, 1)

    def ensure(self, models: int) -> None:
        """Make room for so many models."""
        more = models - len(self.matched)
        if more <= 0:
            return
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                fresh = np.zeros((more, *array.shape[1:]), dtype=np.int64)
                setattr(self, name, np.concatenate([array, fresh]))

    def before_taking_back(self) -> None:
        """Remember how many there were: what only grows stands still until as many come again."""
        self.most_predictions, self.most_applied = self.ever

    @property
    def ever(self) -> tuple[Int64Array, Int64Array]:
        """Predictions and applied labels as counters show them: they never fall."""
        return (
            np.maximum(self.most_predictions, self.predictions),
            np.maximum(self.most_applied, self.applied),
        )

    def state(self) -> State:
        """Every book."""
        return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}

    def restore(self, state: State, models: Int64Array) -> None:
        """Go on from what `state` gave, with the models that are left."""
        for name, book in state.items():
            setattr(self, name, book[models] if isinstance(book, np.ndarray) else book)

    @property
    def unmatched(self) -> Int64Array:
        """Distinct predictions, by model, that count as no outcome now."""
        return np.asarray(self.predictions.sum(axis=1) - self.matched)
