"""Which outcomes count now: panes of event time, and the windows over them.

An outcome counts in the pane of its prediction (or of its label, for models
whose `clock` is `label`). Panes are kept in rings: fine ones for two days,
coarse ones for weeks, hours of each model's totals for a year. A window is a
run of panes [open, close) that ends at now - maturity; it moves in fine panes
where the fine ring reaches back far enough, else in coarse ones. Days of every
series are kept for a year too, for comparisons with what is long gone.

Where silence past the label timeout is a negative, it counts as one in all that is
read of panes and windows: those end after the timeout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.config import Config, Labelling, ModelConfig, WindowClock
from monitor.counts import add_at
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.join import CELLS, Deltas
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE, known, settled
from monitor.windows.beginnings import Beginnings
from monitor.windows.days import DAY_MS, Days
from monitor.windows.pane_widths import HOUR_MS, LONGEST_FIRST_MS, coarse_panes
from monitor.windows.panes import PaneRing
from monitor.windows.recalled import Recalled, busy, in_blocks
from monitor.windows.running import Place, RunningWindow
from monitor.windows.weights import SUMS, WeightSums

__all__ = ["DAY_MS", "HOUR_MS", "LONGEST_FIRST_MS", "Edition", "History", "Windows"]

FINE_SPAN_MS = 2 * DAY_MS
"""Event time for which fine panes are kept."""
HISTORY_DAYS = 366
"""Days for which each model's totals are kept by the hour, and every series by the day."""

_BY_PREDICTION, _BY_LABEL = 0, 2
_FINE, _COARSE = 0, 1
_END = 1 << 60


class History(NamedTuple):
    """Hours of one model's totals.

    Attributes:
        open: first moment of each hour, epoch milliseconds.
        cells: int64 (hours, 6): tp, fp, fn, tn, predicted positive, predicted negative.
    """

    open: Int64Array
    cells: Int64Array


class Edition(NamedTuple):
    """Stands for the counts of one model in a window.

    Attributes:
        place: where the window stands.
        changes: how often the counts in it have changed.
        series: how many series the model has.
    """

    place: Place
    changes: int
    series: int


class Windows:
    """Counts of every series in every window.

    Args:
        config: panes, windows, and the models' clocks and label timeouts.
        catalogue: numbers of models, groups and series.
        kept: what `state` of others gave, if it is to be gone on from.

    Raises:
        ConfigError: what is kept cannot serve these panes and windows.

    Attributes:
        weights: of labels that carry a sampling probability.
    """

    def __init__(self, config: Config, catalogue: Catalogue, kept: State | None = None) -> None:
        self._catalogue = catalogue
        self._pane = config.pane
        self._lengths = config.window_lengths
        fine, (coarse, longest) = config.pane, coarse_panes(config, kept)
        self._rings = [
            PaneRing(width=width, span=-(-span // width), cells=CELLS)
            for _ in range(2 if _uses_label_clock(config) else 1)
            for width, span in ((fine, FINE_SPAN_MS), (coarse, longest))
        ]
        self._hours = PaneRing(width=HOUR_MS, span=24 * HISTORY_DAYS, cells=CELLS)
        self._days = Days(self._rings[_COARSE], HISTORY_DAYS)
        self._beginnings = Beginnings(self._rings[_COARSE], self.panes)
        self.weights = WeightSums(config, catalogue, self._rings[:_BY_LABEL])
        self._running = {name: RunningWindow(self._rings, CELLS) for name in self._lengths}
        self._lifetime = np.zeros((0, CELLS), dtype=np.int64)
        self._last: dict[int, tuple[tuple[int, int | None], int | None]] = {}
        self._room = (0, 0)
        self._silent = np.zeros(0, dtype=np.bool_)
        self._changes = np.zeros(0, dtype=np.int64)

    @property
    def lifetime(self) -> Int64Array:
        """Everything ever counted, (series, 6); silence not."""
        self._ensure()
        return self._lifetime

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the windows, in the configured order."""
        return tuple(self._lengths)

    @property
    def longest(self) -> int:
        """Length of the longest window, milliseconds."""
        return max(self._lengths.values())

    @property
    def shortest(self) -> int:
        """Length of the shortest window, milliseconds."""
        return min(self._lengths.values())

    def length(self, name: str) -> int:
        """Length of a window, milliseconds."""
        return self._lengths[name]

    @property
    def nbytes(self) -> int:
        """Memory reserved for panes; what was never written costs none."""
        return self._days.nbytes + sum(ring.nbytes for ring in (*self._rings, self._hours))

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        self._ensure()
        if not len(deltas):
            return
        self.weights.apply(deltas)
        model = self._catalogue.model_of_group[deltas.group]
        self._changes[model] += 1
        hour = self._hours.pane_of(deltas.time)
        self._hours.add(hour, model, deltas.cell, deltas.count)
        event, row = self._catalogue.series_of_groups(deltas.group)
        model, cell, count = model[event], deltas.cell[event], deltas.count[event]
        add_at(self._lifetime, row, cell, count)
        times = (deltas.time[event], deltas.label_time[event])
        panes = [ring.pane_of(times[i // 2]) for i, ring in enumerate(self._rings)]
        for ring, pane in zip(self._rings, panes, strict=True):
            ring.add(pane, row, cell, count)
        self._days.add_late(panes[_COARSE], row, cell, count)
        self._beginnings.note(model, panes[_COARSE])
        for window in self._running.values():
            window.add(model, panes, row, cell, count)

    def advance(self, watermark: int) -> None:
        """Let event time move on (epoch milliseconds)."""
        self._days.advance(watermark)
        for ring in (*self._rings, self._hours):
            ring.advance(watermark)
        self.weights.advance(watermark)

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
        window = self._running[name]
        bounds = np.zeros((len(maturity), 2), dtype=np.int64)
        for model, age in enumerate(maturity.tolist()):
            by_label = self._catalogue.settings[model].clock is WindowClock.LABEL
            place = self._place(name, now, 0 if by_label else age, by_label=by_label)
            window.move(model, self._catalogue.rows_of(model), place)
            width = self._rings[place.ring].width
            bounds[model] = place.start * width, place.end * width
        return bounds, self.settled(window.sums, np.arange(len(window.sums)))

    def place(self, name: str, now: int, age: int) -> Place:
        """Where a window by the time of the prediction stands: panes of one of the rings."""
        return self._place(name, now, age, by_label=False)

    def edition(self, name: str, model: int, now: int, age: int) -> Edition | None:
        """Stands for what `blocks` and `weight_blocks` give of a window, for one model's series.

        Returns:
            Equal to an earlier one only where nothing has changed since, no series has
            come up, and the window is at the same place; None where that is not known:
            the window was last seen to stand elsewhere.
        """
        self._ensure()
        place = self.place(name, now, age)
        changes = self._running[name].changes(model, place)
        if changes is None:
            return None
        return Edition(place, changes, len(self._catalogue.rows_of(model)))

    def predictions_edition(self, name: str, model: int, now: int) -> tuple[Place, int]:
        """Stands for what `population` gives: equal only where that is the same."""
        self._ensure()
        return self.place(name, now, 0), int(self._changes[model])

    def width(self, place: Place) -> int:
        """Width of the panes of a place, milliseconds."""
        return self._rings[place.ring].width

    def since(self, moment: int) -> tuple[int, Int64Array]:
        """Counts of everything from a moment on, by the time of the prediction.

        Returns:
            The moment, rounded up to a whole coarse pane, and counts (series, 6).
        """
        self._ensure()
        ring = self._rings[_COARSE]
        start = -(-moment // ring.width)
        rows = np.arange(self._catalogue.series_count)
        return start * ring.width, ring.sum(start, _END, rows)

    def blocks(self, name: str, rows: Int64Array, now: int, age: int, block_ms: int) -> Int64Array:
        """A window's counts, by the time of the prediction, in blocks of time.

        Args:
            name: of the window.
            rows: series to read.
            now: epoch milliseconds.
            age: maturity, milliseconds.
            block_ms: length of a block; the last one may be shorter.

        Returns:
            int64 (blocks, series, 6); in sum what `view` gives for models
            counted by prediction.
        """
        self._ensure()
        place = self._place(name, now, age, by_label=False)
        ring = self._rings[place.ring]
        table = self.settled(ring.table(place.start, place.end, rows), rows)
        firsts = np.arange(0, len(table), max(1, block_ms // ring.width))
        return np.asarray(np.add.reduceat(table, firsts, axis=0))

    def weight_blocks(
        self, name: str, rows: Int64Array, now: int, age: int, block_ms: int
    ) -> Int64Array:
        """Weights of a window's labels, (blocks, series, 8), as `blocks` cuts it."""
        self._ensure()
        place = self.place(name, now, age)
        firsts = np.arange(0, place.end - place.start, max(1, block_ms // self.width(place)))
        if not self.weights.kept:
            return np.zeros((len(firsts), len(rows), SUMS), dtype=np.int64)
        table = self.weights.table(place, rows)
        return np.asarray(np.add.reduceat(table, firsts, axis=0))

    def pane_weights(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Weights of coarse panes [start, end) in these series, (panes, series, 8)."""
        self._ensure()
        return self.weights.table(Place(_COARSE, start, end), rows)

    def population(self, name: str, model: int, now: int) -> tuple[int, int]:
        """Predictions called positive and negative in a window that ends now, labelled or not."""
        self._ensure()
        place = self._place(name, now, 0, by_label=False)
        rows = np.array([self._totals_row(model)])
        cells = self._rings[place.ring].sum(place.start, place.end, rows)[0]
        return int(cells[PREDICTED_POSITIVE]), int(cells[PREDICTED_NEGATIVE])

    def last_prediction(self, model: int) -> int | None:
        """End of the pane of a model's latest prediction, epoch milliseconds.

        Of a fine pane within two days, else of an hour within a year; None without any.
        Read again only where predictions or panes have come since.
        """
        self._ensure()
        fine, made = self._rings[_FINE], slice(PREDICTED_POSITIVE, PREDICTED_NEGATIVE + 1)
        state, known = (int(self._changes[model]), fine.newest), self._last.get(model)
        if known is None or known[0] != state:
            rows = ((fine, self._totals_row(model)), (self._hours, model))
            ends = ((ring.last(row, made), ring.width) for ring, row in rows)
            found = next(((pane + 1) * width for pane, width in ends if pane is not None), None)
            known = self._last[model] = (state, found)
        return known[1]

    @property
    def step_ms(self) -> int:
        """Width of a coarse pane, in which detectors step, milliseconds."""
        return self._rings[_COARSE].width

    def first_pane(self, model: int) -> int | None:
        """The earliest kept coarse pane in which a model predicted anything."""
        self._ensure()
        return self._beginnings.first(model, self._totals_row(model))

    def sums_from_first(self, model: int, ends: Sequence[int]) -> Int64Array:
        """Counts of a model from its first coarse pane up to each of others, (ends, 6).

        Args:
            model: its number; it has a first pane.
            ends: coarse panes in rising order, exclusive.
        """
        self._ensure()
        return self._beginnings.sums(model, self._totals_row(model), ends)

    def begun(self, model: int) -> None:
        """How a model's counts begin is not asked for again, for now."""
        self._beginnings.forget(model)

    def panes(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Counts of coarse panes [start, end) in these series, (panes, series, 6)."""
        self._ensure()
        return self.settled(self._rings[_COARSE].table(start, end, rows), rows)

    def history(self, model: int) -> History:
        """A model's totals by the hour, as far back as they are kept."""
        self._ensure()
        hours, cells = self._hours.series(model)
        rows = np.array([self._totals_row(model)])
        return History(hours * HOUR_MS, self.settled(cells[:, None], rows)[:, 0])

    def keeps(self, opens: int, closes: int) -> bool:
        """Whether the hours of a stretch of time are kept; epoch milliseconds."""
        longest = self._hours.span * HOUR_MS
        return closes - opens <= longest and self._hours.reaches_back(opens // HOUR_MS)

    def recall(self, model: int, opens: int, closes: int, block_ms: int) -> Recalled:
        """A stretch of time that has passed, as far as it is kept.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; a whole hour.
            closes: first moment after it; a whole hour.
            block_ms: length of the blocks that are told apart: an hour or a day.
        """
        self._ensure()
        rows = self._catalogue.rows_of(model)
        total = self._totals_row(model)
        others = rows[rows != total]
        by_hour = self._hours.table(opens // HOUR_MS, closes // HOUR_MS, np.array([model]))
        totals = in_blocks(self.settled(by_hour, np.array([total])), opens, HOUR_MS, block_ms)
        found = self._segments(others, opens, closes, block_ms)
        cells = totals if found is None else np.concatenate([totals, found], axis=1)
        columns = np.concatenate([[total], [] if found is None else others]).astype(np.int64)
        held = busy(totals[:, 0])
        return Recalled(
            opens=opens,
            closes=closes,
            block_ms=block_ms,
            numbers=opens // block_ms + held,
            columns=tuple(self._catalogue.series[row] for row in columns.tolist()),
            cells=cells[held],
            label_weights=self._recalled_weights(columns, opens, closes, block_ms)[held],
            without_segments=found is None,
        )

    def _recalled_weights(
        self, rows: Int64Array, opens: int, closes: int, block_ms: int
    ) -> Int64Array:
        """Weights of labels by blocks, (blocks, rows, 8); zeros where they are not kept."""
        coarse, width = self._rings[_COARSE], self._rings[_COARSE].width
        whole = opens % width == closes % width == block_ms % width == 0
        if self.weights.kept and whole and coarse.reaches_back(opens // width):
            table = self.pane_weights(opens // width, closes // width, rows)
            return in_blocks(table, opens, width, block_ms)
        steps = np.zeros(((closes - opens) // HOUR_MS, len(rows), SUMS), dtype=np.int64)
        return in_blocks(steps, opens, HOUR_MS, block_ms)

    def _segments(
        self, rows: Int64Array, opens: int, closes: int, block_ms: int
    ) -> Int64Array | None:
        """Series by blocks, (blocks, rows, 6), from the coarsest ring that cuts so finely."""
        coarse = self._rings[_COARSE]
        for kept, width in ((self._days, DAY_MS), (coarse, coarse.width)):
            whole = opens % width == closes % width == block_ms % width == 0
            if whole and kept.reaches_back(opens // width):
                table = kept.table(opens // width, closes // width, rows)
                return in_blocks(self.settled(table, rows), opens, width, block_ms)
        return None

    def settled(self, cells: Int64Array, rows: Int64Array) -> Int64Array:
        """Counts as they may be read, of the same shape (..., rows, 6).

        Silence is a negative where the regime says so; unknown outcomes are none.
        """
        cells = known(cells)
        self._ensure()
        if not self._silent.any():
            return cells
        chosen = np.flatnonzero(self._silent[self._catalogue.model_of_series()[rows]])
        out = cells.copy()
        out[..., chosen, :] = settled(cells[..., chosen, :])
        return out

    def state(self) -> State:
        """Every pane, and where the windows stand."""
        self._ensure()
        return {
            "pane": self._pane,
            "lengths": list(self._lengths.values()),
            "rings": [ring.state() for ring in self._rings],
            "hours": self._hours.state(),
            "days": self._days.state(),
            "weights": self.weights.state(),
            "running": {name: window.state() for name, window in self._running.items()},
            "lifetime": self._lifetime.copy(),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Go on from what `state` gave, with the models and series that are left."""
        for ring, kept in zip(self._rings, state["rings"], strict=False):
            ring.restore(kept, left.series)
        self._hours.restore(state["hours"], left.models)
        self._days.restore(state["days"], left.series)
        self.weights.restore(state["weights"], left.series)
        for name, window in self._running.items():
            if name in state["running"]:
                window.restore(state["running"][name], left)
        self._lifetime = state["lifetime"][left.series]
        self._room = (0, 0)
        self._ensure()

    def _totals_row(self, model: int) -> int:
        return self._catalogue.totals_row(self._catalogue.models[model])

    def _place(self, name: str, now: int, age: int, *, by_label: bool) -> Place:
        length = self._lengths[name]
        rings = _BY_LABEL if by_label else _BY_PREDICTION
        fine_enough = length + age + 2 * self._rings[_FINE].width <= FINE_SPAN_MS
        ring = rings + (_FINE if fine_enough else _COARSE)
        width = self._rings[ring].width
        reach = self._rings[ring].span * width - length - width
        end = (now - min(age, reach)) // width
        return Place(ring, end - length // width, end)

    def _ensure(self) -> None:
        models, rows = len(self._catalogue.models), self._catalogue.series_count
        if (models, rows) == self._room:
            return
        self._room = models, rows
        self._silent = np.array([_is_silent(s) for s in self._catalogue.settings], dtype=np.bool_)
        fresh_models = np.zeros(max(0, models - len(self._changes)), dtype=np.int64)
        self._changes = np.concatenate([self._changes, fresh_models])
        self._hours.ensure(models)
        self._days.ensure(rows)
        for ring in self._rings:
            ring.ensure(rows)
        for window in self._running.values():
            window.ensure(models, rows)
        more = rows - len(self._lifetime)
        if more > 0:
            fresh = np.zeros((more, CELLS), dtype=np.int64)
            self._lifetime = np.concatenate([self._lifetime, fresh])


def _is_silent(setting: ModelConfig) -> bool:
    return setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT


def _uses_label_clock(config: Config) -> bool:
    return any(s.clock is WindowClock.LABEL for s in [*config.models.values(), config.defaults])
