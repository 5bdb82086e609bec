"""Sums of the weights of labels, for models whose labels carry a sampling probability.

Estimates from a sample with unequal probabilities need, for each cell, the sum of the
weights and the sum of their squares. Both are integers in a fixed fraction, so that
revoking a label leaves no residue. Without a weighted model nothing is stored.
"""

from __future__ import annotations

import numpy as np

from monitor.config import Config, Labelling
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.join import Deltas
from monitor.join.sampling import NO_STRATUM, SQUARED_WEIGHTS, WEIGHTS
from monitor.windows.panes import PaneRing
from monitor.windows.running import PaneRange

SUMS = 2 * len(Outcome)
"""Columns: the sum of weights by `Outcome`, then the sum of squared weights by `Outcome`."""


class WeightSums:
    """Weights by pane and series, in rings like those of the windows.

    Args:
        config: with the labelling regimes of the models.
        catalogue: numbers of models, groups and series.
        rings: of the windows, by the time of the prediction; of the same panes.
    """

    def __init__(self, config: Config, catalogue: Catalogue, rings: list[PaneRing]) -> None:
        self._catalogue = catalogue
        settings = [*config.models.values()] or [config.defaults]
        self.stored = any(s.labelling is Labelling.WEIGHTED for s in settings)
        self._rings = [
            PaneRing(width=ring.width, span=ring.span, cells=SUMS) for ring in rings if self.stored
        ]
        self._lifetime = np.zeros((0, SUMS), dtype=np.int64)

    @property
    def lifetime(self) -> Int64Array:
        """All weights in force, (series, 8); no rows without a weighted model."""
        self._ensure()
        return self._lifetime

    def apply(self, deltas: Deltas) -> None:
        """Count the weights of outcomes that were added or removed."""
        self._ensure()
        if not self.stored:
            return
        weighted = np.flatnonzero((deltas.stratum != NO_STRATUM) & (deltas.cell < len(Outcome)))
        if not len(weighted):
            return
        deltas = deltas.take(weighted)
        event, row = self._catalogue.series_of_groups(deltas.group)
        cell = deltas.cell[event]
        stratum, count = deltas.stratum[event], deltas.count[event]
        for first, unit in ((0, WEIGHTS), (len(Outcome), SQUARED_WEIGHTS)):
            amount = count * unit[stratum]
            np.add.at(self._lifetime, (row, first + cell), amount)
            for ring in self._rings:
                ring.add(ring.pane_of(deltas.time[event]), row, first + cell, amount)

    def fold(self, row: int, into: int) -> None:
        """Add the weights of a series to another one, and set them to 0.

        Args:
            row: number of the series.
            into: number of the other one.
        """
        self._ensure()
        if not self.stored:
            return
        for ring in self._rings:
            ring.fold(row, into)
        self._lifetime[into] += self._lifetime[row]
        self._lifetime[row] = 0

    def advance(self, times: Int64Array | int) -> None:
        """Move the panes on to the times of the models, as `PaneRing.advance` takes them."""
        self._ensure()
        for ring in self._rings:
            ring.advance(times)

    def state(self) -> State:
        """Serializable state."""
        return {"rings": [ring.state() for ring in self._rings], "lifetime": self._lifetime.copy()}

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        if not self.stored:
            return
        series, owners = left.series, self._catalogue.model_of_series()
        for ring, kept in zip(self._rings, state["rings"], strict=False):
            ring.restore(kept, series, left.models, owners)
        self._lifetime = state["lifetime"][series[series < len(state["lifetime"])]]

    def sum(self, panes: PaneRange, rows: Int64Array) -> Int64Array:
        """Return the weights of a pane range, (rows, 8); zeros without a weighted model.

        Args:
            panes: to sum over.
            rows: series to read.
        """
        self._ensure()
        if not self.stored:
            return np.zeros((len(rows), SUMS), dtype=np.int64)
        return self._rings[panes.ring].sum(panes.start, panes.end, rows)

    def table(self, panes: PaneRange, rows: Int64Array) -> Int64Array:
        """Return the weights of each pane of a range, (panes, rows, 8).

        Args:
            panes: to read.
            rows: series to read.
        """
        self._ensure()
        if not self.stored:
            return np.zeros((panes.end - panes.start, len(rows), SUMS), dtype=np.int64)
        return self._rings[panes.ring].table(panes.start, panes.end, rows)

    def _ensure(self) -> None:
        if not self.stored:
            return
        rows = self._catalogue.series_count
        for ring in self._rings:
            ring.ensure(self._catalogue.model_of_series())
        more = rows - len(self._lifetime)
        if more > 0:
            fresh = np.zeros((more, SUMS), dtype=np.int64)
            self._lifetime = np.concatenate([self._lifetime, fresh])
