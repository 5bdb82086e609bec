"""The counts of a reference as labelled, which learned rates of wrong labels correct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from monitor.events.columns import Int64Array
from monitor.labels.regime import LabelRegime
from monitor.metrics.label_errors import EarlierErrors, ErrorRates


class AsLabelled(NamedTuple):
    """What a reference is corrected from, where rates of wrong labels are learned.

    Attributes:
        regime: with the rates that it is corrected for.
        cells: (blocks, 1 + series, 6), counts as labelled of the totals and of each series;
            without blocks where counts were given, which are right.
    """

    regime: LabelRegime
    cells: Int64Array

    def state(self) -> list[Any]:
        """Serializable state."""
        earlier = [[one.until, *one.errors] for one in self.regime.earlier]
        return [[*self.regime.errors], self.cells, *earlier]

    @classmethod
    def restored(cls, state: Sequence[Any]) -> Self:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
        """
        errors, cells, *earlier = state
        before = [EarlierErrors(until, ErrorRates(*rates)) for until, *rates in earlier]
        return cls(LabelRegime(errors=ErrorRates(*errors), earlier=(*before,)), cells.copy())
