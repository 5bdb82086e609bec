"""The counts of one window, kept up to date as panes enter, leave and change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.counts import add_at
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.windows.panes import PaneRing


class Place(NamedTuple):
    """Where a window stands for one model: panes [start, end) of one of the rings."""

    ring: int
    start: int
    end: int


_NOWHERE = Place(-1, 0, 0)


class RunningWindow:
    """Sums of integers over the panes of one window, a place for each model.

    Args:
        rings: where panes are kept; `Place.ring` indexes them.
        cells: columns of the table of counts.
    """

    def __init__(self, rings: Sequence[PaneRing], cells: int) -> None:
        self._rings = rings
        self.sums = np.zeros((0, cells), dtype=np.int64)
        self._places: list[Place] = []
        self._table = np.zeros((0, 3), dtype=np.int64)
        self._changes = np.zeros(0, dtype=np.int64)

    def ensure(self, models: int, rows: int) -> None:
        """Make room for so many models and rows."""
        for _ in range(models - len(self._places)):
            self._places.append(_NOWHERE)
            self._table = np.array(self._places, dtype=np.int64)
        if len(self._changes) < models:
            self._changes = np.concatenate(
                [self._changes, np.zeros(models - len(self._changes), dtype=np.int64)]
            )
        more = rows - len(self.sums)
        if more > 0:
            fresh = np.zeros((more, self.sums.shape[1]), dtype=np.int64)
            self.sums = np.concatenate([self.sums, fresh])

    def add(
        self,
        model: Int64Array,
        panes: Sequence[Int64Array],
        row: Int64Array,
        cell: Int64Array,
        count: Int64Array,
    ) -> None:
        """Take changes of counts that were added to the rings; `panes` holds a column a ring."""
        in_use = set(self._table[:, 0].tolist()) - {_NOWHERE.ring}
        if not in_use:
            return
        ring, start, end = self._table[model].T
        for number in in_use:
            pane = panes[number]
            inside = np.flatnonzero((ring == number) & (pane >= start) & (pane < end))
            add_at(self.sums, row[inside], cell[inside], count[inside])
            self._changes[model[inside]] += 1

    def changes(self, model: int, place: Place) -> int | None:
        """Grows whenever counts change where one model stands; None where it stands elsewhere."""
        return int(self._changes[model]) if self._places[model] == place else None

    def move(self, model: int, rows: Int64Array, place: Place) -> None:
        """Stand elsewhere for one model, whose series are these rows."""
        old = self._places[model]
        if place == old:
            return
        if self._can_slide(old, place):
            ring = self._rings[place.ring]
            self.sums[rows] += ring.sum(old.end, place.end, rows)
            self.sums[rows] -= ring.sum(old.start, place.start, rows)
        else:
            self.sums[rows] = self._rings[place.ring].sum(place.start, place.end, rows)
        self._places[model] = place
        self._table[model] = place

    def state(self) -> State:
        """Where it stands, and its sums."""
        return {"places": self._table.copy(), "sums": self.sums.copy()}

    def restore(self, state: State, left: Numbers) -> None:
        """Go on from what `state` gave, with the models and series that are left."""
        places, sums = state["places"], state["sums"]
        self._table = places[left.models[left.models < len(places)]]
        self._places = [Place(*place) for place in self._table.tolist()]
        self.sums = sums[left.series[left.series < len(sums)]]

    def _can_slide(self, old: Place, new: Place) -> bool:
        forward = old.start <= new.start <= old.end <= new.end
        return old.ring == new.ring and forward and self._rings[old.ring].reaches_back(old.start)
