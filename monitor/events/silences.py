"""How long each model has been silent, in event time that the models share."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, BoolArray, Int64Array
from monitor.events.renumbering import State

_BEFORE = -1
"""Of a model that has not spoken yet."""


class Silences:
    """The silence of all models, by number; a function of the sequence of records.

    The common time passes in steps (`ModelTimes.common`). A model speaks by a prediction, an
    outcome, counts, or a label that meets its prediction. One step counts for a day at most,
    so that events dated far ahead, which carry the common time away, end no model.

    >>> silences = Silences()
    >>> silences.step(0, 2)
    >>> silences.hear(np.array([0, 1]))
    >>> silences.step(DAY_MS, 2)
    >>> silences.hear(np.array([1]))
    >>> silences.step(400 * DAY_MS, 2)
    >>> (silences.of_models // DAY_MS).tolist()
    [1, 0]
    """

    def __init__(self) -> None:
        self.of_models: Int64Array = np.zeros(0, dtype=np.int64)
        self._spoke: BoolArray = np.zeros(0, dtype=np.bool_)
        self._common = NO_TIME

    @property
    def longest(self) -> int:
        """Longest silence of a model since a record of its own, milliseconds."""
        return int(self.of_models.max(initial=0))

    def hear(self, models: Int64Array) -> None:
        """Note that models spoke.

        Args:
            models: their numbers; repeats do no harm.
        """
        if len(models):
            self._ensure(int(models.max()) + 1)
            self._spoke[models] = True

    def step(self, common: int, models: int) -> None:
        """Let the common time pass.

        Args:
            common: the time that the models share now, epoch milliseconds.
            models: number of models.
        """
        self._ensure(models)
        passed = 0 if self._common == NO_TIME else min(common - self._common, DAY_MS)
        self._common = common
        self.of_models[self.of_models != _BEFORE] += passed
        self.of_models[self._spoke] = 0
        self._spoke[:] = False

    def over(self, limit: int) -> Int64Array:
        """Return the numbers of the models that have been silent for so many milliseconds.

        Args:
            limit: milliseconds.
        """
        return ((self.of_models >= limit) & ~self._spoke).nonzero()[0]

    def may_exceed(self, limit: int, latest: int) -> bool:
        """Return whether a silence can reach a limit before the common time passes a moment.

        Args:
            limit: milliseconds.
            latest: epoch milliseconds.
        """
        return self._common == NO_TIME or self.longest + latest - self._common >= limit

    def state(self) -> State:
        """Serializable state."""
        return {
            "silent": self.of_models.copy(),
            "spoke": self._spoke.copy(),
            "common": self._common,
        }

    def restore(self, state: State | None, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; None from a release that forgot no models, of which every
                model speaks now.
            models: old numbers of the models that are still there.
        """
        if state is None:
            self.hear(np.arange(len(models)))
            return
        left = models[models < len(state["silent"])]
        self.of_models, self._spoke = state["silent"][left], state["spoke"][left]
        self._common = state["common"]

    def _ensure(self, models: int) -> None:
        more = models - len(self.of_models)
        if more > 0:
            self.of_models = np.append(self.of_models, np.full(more, _BEFORE, dtype=np.int64))
            self._spoke = np.append(self._spoke, np.zeros(more, dtype=np.bool_))
