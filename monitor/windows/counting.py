"""Counts every series in panes of event time, in windows, and over its lifetime."""

from __future__ import annotations

from typing import Any

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Config, WindowClock
from monitor.config.quantities import parse_duration
from monitor.counts import add_at, add_once
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.join import CELLS, Deltas
from monitor.windows.beginnings import Beginnings
from monitor.windows.class_counts import ClassCounts
from monitor.windows.compiled_tallies import compiled_tallies, tallied
from monitor.windows.history import PastCounts
from monitor.windows.pane_widths import coarse_panes
from monitor.windows.panes import PaneRing
from monitor.windows.running import BY_LABEL, COARSE, RunningWindow
from monitor.windows.silence import Silence
from monitor.windows.weights import WeightSums

FINE_SPAN_MS = 2 * DAY_MS
"""Event time for which fine panes are stored."""


class WindowCounts:
    """Stores the counts that windows are read from.

    Args:
        config: panes, windows, and the models' clocks and label timeouts.
        catalogue: numbers of models, groups and series.
        stored: state of an earlier run, whose pane widths stay; None to start empty.

    Raises:
        ConfigError: the state does not fit these panes and windows.

    Attributes:
        weights: of labels that carry a sampling probability.
        classes: of models of many classes.
    """

    def __init__(self, config: Config, catalogue: Catalogue, stored: State | None = None) -> None:
        self._catalogue = catalogue
        self._pane = config.pane
        self._lengths, longer = config.window_lengths, config.longer_window
        self._longer = {} if longer is None else {longer: parse_duration(longer)}
        fine, (coarse, longest) = config.pane, coarse_panes(config, stored)
        self._rings = [
            PaneRing(width=width, span=-(-span // width), cells=CELLS)
            for _ in range(2 if _uses_label_clock(config) else 1)
            for width, span in ((fine, FINE_SPAN_MS), (coarse, longest))
        ]
        self.weights = WeightSums(config, catalogue, self._rings[:BY_LABEL])
        self.classes = ClassCounts(catalogue, self._rings[:BY_LABEL])
        self._silence = Silence(catalogue)
        self._past = PastCounts(catalogue, self._rings[COARSE], self.weights, self._silence)
        self._beginnings = Beginnings(self._rings[COARSE], self.panes)
        self._running = {
            name: RunningWindow(self._rings, CELLS) for name in self._lengths | self._longer
        }
        self._lifetime = np.zeros((0, CELLS), dtype=np.int64)
        self._room = (0, 0)
        self._changes = np.zeros(0, dtype=np.int64)
        self._compiled = compiled_tallies()

    @property
    def lifetime(self) -> Int64Array:
        """Counts since the start, (series, 6); silence is not counted as a negative."""
        self._ensure()
        return self._lifetime

    @property
    def past(self) -> PastCounts:
        """Hours and days of the past year."""
        self._ensure()
        return self._past

    def history_edition(self, model: int) -> tuple[int, int | None]:
        """Return the version of what `past.history` returns for one model.

        Args:
            model: its number.

        Returns:
            How often its counts have changed, and the newest of its stored hours.
        """
        self._ensure()
        return int(self._changes[model]), self._past.newest_hour(model)

    @property
    def nbytes(self) -> int:
        """Memory reserved for panes; a pane without counts takes none."""
        return self._past.nbytes + sum(ring.nbytes for ring in self._rings)

    @property
    def step_ms(self) -> int:
        """Width of a coarse pane, the step of the detectors, milliseconds."""
        return self._rings[COARSE].width

    def panes(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of coarse panes, (panes, series, 6).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: series to read.
        """
        self._ensure()
        return self.as_negatives(self._rings[COARSE].table(start, end, rows), rows)

    def as_negatives(self, cells: Int64Array, rows: Int64Array) -> Int64Array:
        """Return counts (..., rows, 6) with silence as a negative; see `Silence.as_negatives`.

        Args:
            cells: stored counts.
            rows: series numbers.
        """
        self._ensure()
        return self._silence.as_negatives(cells, rows)

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        self._ensure()
        if not len(deltas):
            return
        self.weights.apply(deltas)
        if self._compiled is not None and self._tallied(self._compiled, deltas):
            return
        model = self._catalogue.model_of_group[deltas.group]
        add_once(self._changes, model)
        self._past.add_totals(model, deltas)
        event, row = self._catalogue.series_of_groups(deltas.group)
        model, cell, count = model[event], deltas.cell[event], deltas.count[event]
        add_at(self._lifetime, row, cell, count)
        times = (deltas.time[event], deltas.label_time[event])
        panes = [ring.pane_of(times[i // BY_LABEL]) for i, ring in enumerate(self._rings)]
        for ring, pane in zip(self._rings, panes, strict=True):
            ring.add(pane, row, cell, count)
        self._past.add_late(panes[COARSE], row, cell, count)
        self._beginnings.note(model, panes[COARSE])
        for window in self._running.values():
            window.add(model, panes, row, cell, count)

    def _tallied(self, compiled: Any, deltas: Deltas) -> bool:
        """Count as `apply` does, with the kernel; return False if it leaves that to Python."""
        windows = [window.memory for window in self._running.values() if window.is_in_use]
        return tallied(
            compiled.count_windows,
            deltas,
            "label_time",
            self._catalogue.model_of_group,
            self._catalogue.rows,
            self._lifetime,
            self._changes,
            self._beginnings.memory(len(self._changes)),
            rings=(self._past.hours, *self._rings),
            windows=tuple(windows),
        )

    def fold(self, model: int, row: int, into: int) -> None:
        """Add all counts of a series to another one, and set them to 0.

        Args:
            model: number of their model.
            row: number of the series.
            into: number of the other one.
        """
        self._ensure()
        for ring in self._rings:
            ring.fold(row, into)
        self._past.fold(row, into)
        self.weights.fold(row, into)
        for window in self._running.values():
            window.fold(model, row, into)
        self._lifetime[into] += self._lifetime[row]
        self._lifetime[row] = 0
        self._changes[model] += 1

    def advance(self, times: Int64Array | int) -> None:
        """Move the panes on to the times of the models, as `PaneRing.advance` takes them."""
        self._ensure()
        self._past.advance_days(times)
        for ring in self._rings:
            ring.advance(times)
        self._past.advance_hours(times)
        self.weights.advance(times)
        self.classes.advance(times)

    def state(self) -> State:
        """Serializable state: every pane, and the pane range of every window."""
        self._ensure()
        hours, days = self._past.state()
        return {
            "pane": self._pane,
            "lengths": list(self._lengths.values()),
            "rings": [ring.state() for ring in self._rings],
            "hours": hours,
            "days": days,
            "weights": self.weights.state(),
            "running": {name: window.state() for name, window in self._running.items()},
            "lifetime": self._lifetime.copy(),
            **({"classes": classes} if (classes := self.classes.state()) else {}),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        for ring, stored in zip(self._rings, state["rings"], strict=False):
            owners = self._catalogue.model_of_series()
            ring.restore(stored, left.series, left.models, owners)
        self._past.restore(state["hours"], state["days"], left)
        self.weights.restore(state["weights"], left)
        self.classes.restore(state.get("classes", {}), left)
        for name, window in self._running.items():
            if name in state["running"]:
                window.restore(state["running"][name], left)
        self._lifetime = state["lifetime"][left.series]
        self._room = (0, 0)
        self._ensure()

    def _totals_row(self, model: int) -> int:
        return self._catalogue.totals_row(self._catalogue.models[model])

    def _ensure(self) -> None:
        """Make room for the models and series of the catalogue."""
        models, rows = len(self._catalogue.models), self._catalogue.series_count
        if (models, rows) == self._room:
            return
        self._room = models, rows
        self._silence.refresh()
        fresh_models = np.zeros(max(0, models - len(self._changes)), dtype=np.int64)
        self._changes = np.concatenate([self._changes, fresh_models])
        owners = self._catalogue.model_of_series()
        self._past.ensure(models, owners)
        for ring in self._rings:
            ring.ensure(owners)
        for window in self._running.values():
            window.ensure(models, rows)
        more = rows - len(self._lifetime)
        if more > 0:
            fresh = np.zeros((more, CELLS), dtype=np.int64)
            self._lifetime = np.concatenate([self._lifetime, fresh])


def _uses_label_clock(config: Config) -> bool:
    return any(s.clock is WindowClock.LABEL for s in [*config.models.values(), config.defaults])
