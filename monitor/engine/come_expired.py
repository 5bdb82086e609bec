"""Predictions that come when the time of their model is past their horizon already."""

from __future__ import annotations

import numpy as np

from monitor.events.came_expired import CameExpired
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array, Predictions
from monitor.events.renumbering import State
from monitor.join import Over
from monitor.join.terms import ModelTerms


class ComeExpired:
    """Counts predictions that expire as they come, by model.

    Most streams have none. Where a stream has many, either its parts lie so far apart, or false
    times have carried the time of the model ahead of true ones.

    Args:
        catalogue: numbers of groups and models, and the models' settings.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._terms = ModelTerms(catalogue)
        self._events: Int64Array = np.zeros(0, dtype=np.int64)
        self._furthest: Int64Array = np.zeros(0, dtype=np.int64)

    def add(self, predictions: Predictions, over: Over) -> None:
        """Count those of some predictions; shadow predictions are left out.

        Args:
            predictions: of any models.
            over: moments before which horizons have ended as these come.
        """
        if not len(predictions) or not len(over.by_model):
            return
        self._terms.learn()
        by_model = over.of(len(self._terms)).by_model
        before = by_model - self._terms.longest
        if int(predictions.time.min()) >= int(before.max()):
            return
        model = self._catalogue.model_of_group[predictions.group]
        late = predictions.time < before[model]
        if self._catalogue.has_shadows:
            late &= ~self._catalogue.shadows[predictions.group]
        model, time = model[late], predictions.time[late]
        self._make_room(len(by_model))
        self._events += np.bincount(model, minlength=len(self._events))
        np.maximum.at(self._furthest, model, by_model[model] - time)

    def of(self, model: int) -> CameExpired:
        """Return those of a model, by its number."""
        if model >= len(self._events):
            return CameExpired()
        return CameExpired(int(self._events[model]), int(self._furthest[model]))

    def state(self) -> State:
        """Plain values."""
        return {"events": self._events.copy(), "furthest": self._furthest.copy()}

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; empty for none.
            models: old numbers of the models that are still there.
        """
        if not state:
            return
        left = models[models < len(state["events"])]
        self._events, self._furthest = state["events"][left], state["furthest"][left]

    def _make_room(self, models: int) -> None:
        more = np.zeros(max(0, models - len(self._events)), dtype=np.int64)
        self._events = np.append(self._events, more)
        self._furthest = np.append(self._furthest, more)
