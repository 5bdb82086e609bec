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

LONGEST_STEP_MS = 86_400_000
"""A step is a day at most."""
_STEPS = 4
"""Steps in the shortest horizon, where that is shorter than as many days."""


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
