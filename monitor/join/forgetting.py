"""When the join forgets predictions: by event time, in steps.

A prediction is forgotten once the watermark has entered the step of event time that begins
more than a step after its horizon. So it is remembered one to two steps longer than the
horizon (and, without an outcome, the label timeout): this is the slack for labels that
arrive out of order. A label dated at the very end of its label timeout still counts if it
arrives at most a step of event time too late.

Within a step nothing is forgotten, so that whole batches can be applied at once. The steps
are at fixed times, so that the sizes of batches have no effect.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, Int64Array

BEFORE_ALL = -(1 << 60)
"""The watermark before the first event."""
LONGEST_STEP_MS = DAY_MS
"""A step is a day at most."""
_STEPS = 4
"""Steps that the shortest horizon is divided into, where a step is then shorter than a day."""


class Over(NamedTuple):
    """Moments before which a horizon must end for its prediction to be forgotten.

    Attributes:
        by_model: of each model by number, epoch milliseconds.
        common: of what belongs to no model, by the model furthest behind.
    """

    by_model: Int64Array
    common: int

    @classmethod
    def nothing(cls, models: int = 0) -> Self:
        """Return moments before all events, of so many models."""
        return cls(np.full(models, NO_TIME, dtype=np.int64), NO_TIME)

    def of(self, models: int) -> Self:
        """Return these moments for so many models; nothing is over of those that are new."""
        more = models - len(self.by_model)
        if more <= 0:
            return self
        return self._replace(by_model=np.append(self.by_model, self.nothing(more).by_model))

    def left(self, models: Int64Array) -> Self:
        """Return these moments for the models that are left, by their old numbers."""
        return self._replace(by_model=self.by_model[models[models < len(self.by_model)]])


class Forgetting(NamedTuple):
    """The steps of event time in which predictions are forgotten.

    Attributes:
        step: length of a step, milliseconds.
    """

    step: int

    @classmethod
    def of(cls, shortest_horizon: int) -> Self:
        """Choose the steps for models with this shortest horizon, milliseconds.

        >>> Forgetting.of(30 * 86_400_000).step, Forgetting.of(3_600_000).step
        (86400000, 900000)
        """
        return cls(max(1, min(shortest_horizon // _STEPS, LONGEST_STEP_MS)))

    def moment(self, watermark: int) -> int:
        """Return the moment such that predictions whose horizon ends before it are forgotten.

        Args:
            watermark: epoch milliseconds.

        >>> Forgetting(100).moment(1234)
        1100
        """
        return watermark // self.step * self.step - self.step

    def over(self, times: Int64Array, slowest: int) -> Over:
        """Return the moments of models at their times.

        Args:
            times: of each model by number, epoch milliseconds.
            slowest: time of the model furthest behind, epoch milliseconds.
        """
        by_model = times // self.step * self.step - self.step
        return Over(by_model, self.moment(slowest))
