"""Which outcomes count now: panes of event time, and the windows over them.

An outcome counts in the pane of its prediction (or of its label, for models
whose `clock` is `label`). Panes are kept in rings: fine ones for two days,
coarse ones for weeks, hours of each model's totals for a year. A window is a
run of panes [open, close) that ends at now - maturity; it moves in fine panes
where the fine ring reaches back far enough, else in coarse ones.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np

from monitor.catalogue import NO_ROW, Catalogue
from monitor.config import Config, WindowClock
from monitor.events import Int64Array
from monitor.join import CELLS, Deltas
from monitor.windows.panes import PaneRing
from monitor.windows.running import Place, RunningWindow

__all__ = ["History", "Windows"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
FINE_SPAN_MS = 2 * DAY_MS
"""Event time for which fine panes are kept."""
HISTORY_DAYS = 366
"""Days for which each model's totals are kept by the hour."""
LONGEST_MATURITY_MS = 60 * DAY_MS
"""Windows end at this age at the latest where labels have no timeout."""

_BY_PREDICTION, _BY_LABEL = 0, 2
_FINE, _COARSE = 0, 1


class History(NamedTuple):
    """Hours of one model's totals.

    Attributes:
        open: first moment of each hour, epoch milliseconds.
        cells: int64 (hours, 6): tp, fp, fn, tn, predicted positive, predicted negative.
    """

    open: Int64Array
    cells: Int64Array


class Windows:
    """Counts of every series in every window.

    Args:
        config: panes, windows, and the models' clocks and label timeouts.
        catalogue: numbers of models, groups and series.

    Attributes:
        lifetime: int64 (series, 6): everything ever counted.
    """

    def __init__(self, config: Config, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lengths = config.window_lengths
        longest = max(self._lengths.values()) + _longest_maturity(config) + DAY_MS
        fine, coarse = config.pane, _coarse_width(config.pane, tuple(self._lengths.values()))
        self._rings = [
            PaneRing(width=width, span=-(-span // width), cells=CELLS)
            for _ in range(2 if _uses_label_clock(config) else 1)
            for width, span in ((fine, FINE_SPAN_MS), (coarse, longest))
        ]
        self._hours = PaneRing(width=HOUR_MS, span=24 * HISTORY_DAYS, cells=CELLS)
        self._running = {name: RunningWindow(self._rings, CELLS) for name in self._lengths}
        self.lifetime = np.zeros((0, CELLS), dtype=np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the windows, in the configured order."""
        return tuple(self._lengths)

    @property
    def nbytes(self) -> int:
        """Memory reserved for panes; what was never written costs none."""
        return sum(ring.nbytes for ring in (*self._rings, self._hours))

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        self._ensure()
        if not len(deltas):
            return
        model = self._catalogue.model_of_group[deltas.group]
        hour = self._hours.pane_of(deltas.time)
        self._hours.add(hour, model, deltas.cell, deltas.count)
        rows = self._catalogue.rows[deltas.group]
        event, column = np.nonzero(rows != NO_ROW)
        row = rows[event, column]
        cell, count = deltas.cell[event], deltas.count[event]
        np.add.at(self.lifetime, (row, cell), count)
        times = (deltas.time[event], deltas.label_time[event])
        panes = [ring.pane_of(times[i // 2]) for i, ring in enumerate(self._rings)]
        for ring, pane in zip(self._rings, panes, strict=True):
            ring.add(pane, row, cell, count)
        for window in self._running.values():
            window.add(model[event], panes, row, cell, count)

    def advance(self, watermark: int) -> None:
        """Let event time move on (epoch milliseconds)."""
        for ring in (*self._rings, self._hours):
            ring.advance(watermark)

    def view(self, name: str, now: int, maturity: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Let a window end at now - maturity and read it.

        Args:
            name: of the window.
            now: epoch milliseconds.
            maturity: of each model, milliseconds.

        Returns:
            Bounds (models, 2), [open, close) in epoch milliseconds, and counts
            (series, 6); a view that the next change overwrites.
        """
        self._ensure()
        window, owner = self._running[name], self._catalogue.model_of_series()
        bounds = np.zeros((len(maturity), 2), dtype=np.int64)
        for model, age in enumerate(maturity.tolist()):
            place = self._place(name, model, now, age)
            window.move(model, np.flatnonzero(owner == model), place)
            width = self._rings[place.ring].width
            bounds[model] = place.start * width, place.end * width
        return bounds, window.sums

    def history(self, model: int) -> History:
        """A model's totals by the hour, as far back as they are kept."""
        self._ensure()
        hours, cells = self._hours.series(model)
        return History(hours * HOUR_MS, cells)

    def _place(self, name: str, model: int, now: int, age: int) -> Place:
        length = self._lengths[name]
        by_label = self._catalogue.settings[model].clock is WindowClock.LABEL
        rings = _BY_LABEL if by_label else _BY_PREDICTION
        fine_enough = length + age + 2 * self._rings[_FINE].width <= FINE_SPAN_MS
        ring = rings + (_FINE if fine_enough else _COARSE)
        width = self._rings[ring].width
        reach = self._rings[ring].span * width - length - width
        end = (now - min(age, reach)) // width
        return Place(ring, end - length // width, end)

    def _ensure(self) -> None:
        models, rows = len(self._catalogue.models), self._catalogue.series_count
        self._hours.ensure(models)
        for ring in self._rings:
            ring.ensure(rows)
        for window in self._running.values():
            window.ensure(models, rows)
        more = rows - len(self.lifetime)
        if more > 0:
            fresh = np.zeros((more, CELLS), dtype=np.int64)
            self.lifetime = np.concatenate([self.lifetime, fresh])


def _coarse_width(pane: int, lengths: tuple[int, ...]) -> int:
    """The widest run of panes, an hour at most, that every window is a multiple of."""
    panes = gcd(*lengths) // pane
    most = max(1, HOUR_MS // pane)
    return pane * max(k for k in range(1, min(panes, most) + 1) if panes % k == 0)


def _longest_maturity(config: Config) -> int:
    settings = [*config.models.values()] or [config.defaults]
    timeouts = [s.label_timeout for s in settings]
    return max(LONGEST_MATURITY_MS if t is None else t for t in timeouts)


def _uses_label_clock(config: Config) -> bool:
    return any(s.clock is WindowClock.LABEL for s in [*config.models.values(), config.defaults])
