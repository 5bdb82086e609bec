"""The terms of the models by model number: label timeouts and horizons as columns."""

from __future__ import annotations

import numpy as np

from monitor.config import Labelling
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, BoolArray, Int64Array, KeyArray
from monitor.join import packing as words
from monitor.join.forgetting import Over
from monitor.join.unlabelled import NO_OUTCOME, outcomes_of

ENDLESS = 1 << 60
"""A duration, in milliseconds, that never ends."""


class ModelTerms:
    """Label timeouts, horizons and labelling of all models, by model number.

    Args:
        catalogue: numbers of groups and models, and the models' settings.

    Attributes:
        label_timeout: a label dated later than this after its prediction is late, milliseconds.
        horizon: how long a matched prediction waits for revisions, milliseconds.
        weighted: True where labels count by their sampling probability.
        silence_is_negative: True where a prediction without a label past its label timeout
            counts as an actual negative.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.label_timeout = np.zeros(0, dtype=np.int64)
        self.horizon = np.zeros(0, dtype=np.int64)
        self.weighted = np.zeros(0, dtype=np.bool_)
        self.silence_is_negative = np.zeros(0, dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.horizon)

    def learn(self) -> None:
        """Add the terms of the models that are new in the catalogue."""
        settings = self._catalogue.settings[len(self.horizon) :]
        timeout = [s.label_timeout or ENDLESS for s in settings]
        horizon = [s.horizon_ms or ENDLESS for s in settings]
        self.label_timeout = np.concatenate([self.label_timeout, np.array(timeout)])
        self.horizon = np.concatenate([self.horizon, np.array(horizon)])
        weighted = [s.labelling is Labelling.WEIGHTED for s in settings]
        silent = [s.labelling is Labelling.NEGATIVES_BY_TIMEOUT for s in settings]
        self.weighted = np.concatenate([self.weighted, np.array(weighted)])
        self.silence_is_negative = np.concatenate([self.silence_is_negative, np.array(silent)])

    def model_of(self, when: KeyArray) -> Int64Array:
        """Return the model number of each prediction, by its `when`."""
        model: Int64Array = self._catalogue.model_of_group[words.groups_of(when)]
        return model

    def retention(self, model: Int64Array) -> Int64Array:
        """Return how long each model remembers predictions without an outcome, milliseconds."""
        return self.longest[model]

    @property
    def longest(self) -> Int64Array:
        """The longer one of label timeout and horizon of each model, milliseconds."""
        return np.maximum(self.horizon, self.label_timeout)

    def may_end(self, when: KeyArray, over: Over) -> BoolArray:
        """Tell which predictions are past their horizon.

        They are over, or would be as soon as a label matched them.

        Args:
            when: first word of each prediction, see `packing`.
            over: horizons that end before these moments have ended, see `Forgetting`.
        """
        time = words.times_of(when)
        if not len(time) or int(time.min()) >= self.earliest_kept(over):
            return np.zeros(len(time), dtype=np.bool_)
        model = self.model_of(when)
        ended: BoolArray = time + self.horizon[model] < over.by_model[model]
        return ended

    def earliest_kept(self, over: Over) -> int:
        """Return a moment from which on no prediction of any model is past its horizon.

        Args:
            over: horizons that end before these moments have ended.

        Returns:
            Epoch milliseconds.
        """
        return int((over.by_model - self.horizon).max(initial=NO_TIME))

    def ended(self, when: KeyArray, what: KeyArray, over: Over) -> BoolArray:
        """Tell which predictions can no longer change.

        Without an outcome they wait for the label timeout too, where it is the longer one.

        Args:
            when: first word of each prediction, see `packing`.
            what: second word of each.
            over: what ends before these moments has ended, see `Forgetting`.
        """
        ended = self.may_end(when, over)
        if not ended.any():
            return ended
        model = self.model_of(when)
        waits = words.times_of(when) + self.retention(model) >= over.by_model[model]
        unmatched = outcomes_of(what) == NO_OUTCOME
        return np.asarray(ended & ~(waits & unmatched))
