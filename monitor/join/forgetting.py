"""When what the join remembers ends: by event time, in steps.

A prediction is forgotten once the watermark has entered the step of event time that
begins more than a step after its horizon. So it is remembered for one to two steps
longer than the horizon (and, without an outcome, the label timeout) says: that is the
slack for labels that arrive out of order. One dated at the very end of its label timeout
still counts where no more than a step of event time has overtaken it.

In steps, so that among records between two of them nothing ends, and no batch has to be
looked at record by record; absolute ones, so that it does not matter where batches end.
"""

from __future__ import annotations

from typing import NamedTuple, Self

LONGEST_STEP_MS = 86_400_000
"""A step is a day at most."""
_STEPS = 4
"""Steps in the shortest horizon, where that is shorter than as many days."""


class Forgetting(NamedTuple):
    """How event time ends what is remembered.

    Attributes:
        step: event time between two moments at which anything ends, milliseconds.
    """

    step: int

    @classmethod
    def of(cls, shortest_horizon: int) -> Self:
        """For models of which the shortest horizon is so long, milliseconds.

        >>> Forgetting.of(30 * 86_400_000).step, Forgetting.of(3_600_000).step
        (86400000, 900000)
        """
        return cls(max(1, min(shortest_horizon // _STEPS, LONGEST_STEP_MS)))

    def moment(self, watermark: int) -> int:
        """The moment before which a horizon must end for its prediction to be forgotten.

        Args:
            watermark: epoch milliseconds.

        >>> Forgetting(100).moment(1234)
        1100
        """
        return watermark // self.step * self.step - self.step
