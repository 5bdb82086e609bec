"""The counters of the join: what became of every prediction and every label.

These laws of conservation hold at every moment:

    predictions received = matched + pending + expired + evicted + duplicate
    labels received      = applied + held + duplicate + late + orphaned + misnamed + audits

Arrays are by model number and grow with the models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.counts import add_at
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State, renumbered
from monitor.events.shared_ids import SharedIds

CELLS = 5
"""Possible outcomes: 0 is none (not labelled), else 1 + `Outcome`."""


class Books:
    """Counters of the join, by model number.

    Attributes:
        predictions: (models, 2): distinct predictions, predicted negative and positive.
        duplicates: predictions that came again.
        shared: of these, those whose id another model predicted.
        shared_with: 1 + the number of that model, the latest of several; 0 for none.
        matched: predictions that count as an outcome, remembered or not.
        dropped: predictions forgotten without an outcome after the label timeout and horizon.
        evicted: predictions forgotten without an outcome because memory was full.
        applied: predictions for which a label was in force at some time.
        labels: (models, 3): times a label came into force: 0, 1, retraction.
        transitions: (models, 5, 5): moves of outcomes, none and `Outcome`, from row to column.
        duplicate_labels: labels of predictions that already had one.
        late: labels that came too late for their prediction.
        orphaned: labels whose prediction never came.
        misnamed: labels with a class that the model of their prediction does not have, and
            audits of a model of many classes.
        audits: audits of known predictions.
        most_predictions: (models, 2): the maximum of `predictions` before some were taken
            back, by an earlier prediction of the same id or a correction of counts; see `ever`.
        most_applied: the maximum of `applied` likewise.
    """

    def __init__(self) -> None:
        self.predictions = np.zeros((0, 2), dtype=np.int64)
        self.duplicates = np.zeros(0, dtype=np.int64)
        self.shared = np.zeros(0, dtype=np.int64)
        self.shared_with = np.zeros(0, dtype=np.int64)
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
        self.misnamed = 0
        self.audits = 0

    def move(self, model: Int64Array, old: Int64Array, new: Int64Array) -> None:
        """Count changes of outcomes.

        Args:
            model: number of the model of each change.
            old: the `Outcome` before; -1 for none.
            new: the `Outcome` after; -1 for none.
        """
        flat = self.transitions.reshape(-1, CELLS * CELLS)
        add_at(flat, model, (1 + old) * CELLS + 1 + new, 1)

    def share(self, model: Int64Array, other: Int64Array) -> None:
        """Count duplicates whose id another model predicted; leave out those of the same model.

        Args:
            model: number of the model of each duplicate.
            other: number of the model whose prediction counts.
        """
        shared = model != other
        if shared.any():
            np.add.at(self.shared, model[shared], 1)
            self.shared_with[model[shared]] = 1 + other[shared]

    def shared_ids(self, model: int, names: Sequence[str]) -> SharedIds | None:
        """Return the predictions of a model whose ids another model predicted; None without any.

        Args:
            model: its number.
            names: of the models, by number.
        """
        other = int(self.shared_with[model])
        if not self.shared[model]:
            return None
        return SharedIds(names[model], int(self.shared[model]), names[other - 1] if other else "")

    def ensure(self, models: int) -> None:
        """Extend the arrays to so many models."""
        more = models - len(self.matched)
        if more <= 0:
            return
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                fresh = np.zeros((more, *array.shape[1:]), dtype=np.int64)
                setattr(self, name, np.concatenate([array, fresh]))

    def before_taking_back(self) -> None:
        """Store the maxima before predictions are taken back, so that `ever` never decreases."""
        self.most_predictions, self.most_applied = self.ever

    @property
    def ever(self) -> tuple[Int64Array, Int64Array]:
        """Predictions and applied labels as monotonic counters."""
        return (
            np.maximum(self.most_predictions, self.predictions),
            np.maximum(self.most_applied, self.applied),
        )

    def state(self) -> State:
        """Return all counters; a copy."""
        return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}

    def restore(self, state: State, models: Int64Array) -> None:
        """Restore from `state`.

        Args:
            state: all counters.
            models: the model numbers that are left, in order.
        """
        for name, counted in state.items():
            setattr(self, name, counted[models] if isinstance(counted, np.ndarray) else counted)
        for name in {"shared", "shared_with"} - state.keys():  # an older state
            setattr(self, name, np.zeros(len(models), dtype=np.int64))
        self.shared_with = 1 + renumbered(self.shared_with - 1, models)

    @property
    def unmatched(self) -> Int64Array:
        """Distinct predictions, by model, without an outcome now."""
        return np.asarray(self.predictions.sum(axis=1) - self.matched)
