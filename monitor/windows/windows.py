"""Windows over panes of event time: the outcomes that count now.

An outcome counts in the pane of its prediction (or of its label, for models
whose `clock` is `label`). Rings store fine panes for two days and coarse ones for
weeks. A window is a run of panes [open, close) that ends at now - maturity; it
moves in fine panes where the fine ring reaches back far enough, else in coarse
ones. `PastCounts` stores hours and days for a year.

Under labelling `negatives_by_timeout`, silence past the label timeout is a
negative in everything read from panes and windows: these end after the timeout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.config import Config, WindowClock
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.windows.counting import FINE_SPAN_MS, WindowCounts
from monitor.windows.running import BY_LABEL, BY_PREDICTION, COARSE, FINE, PaneRange
from monitor.windows.weights import SUMS

_END = 1 << 60


class Edition(NamedTuple):
    """A version of one model's counts in a window.

    Attributes:
        panes: the panes that the window covers.
        changes: how often the counts in them have changed.
        series: how many series the model has.
    """

    panes: PaneRange
    changes: int
    series: int


class Windows(WindowCounts):
    """Counts of every series in every window.

    Args:
        config: panes, windows, and the models' clocks and label timeouts.
        catalogue: numbers of models, groups and series.
        stored: state of an earlier run, whose pane widths stay; None to start empty.

    Raises:
        ConfigError: the state does not fit these panes and windows.
    """

    def __init__(self, config: Config, catalogue: Catalogue, stored: State | None = None) -> None:
        super().__init__(config, catalogue, stored)
        self._last: dict[int, tuple[tuple[int, int | None], int | None]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the windows of every model, in the configured order."""
        return tuple(self._lengths)

    @property
    def longer(self) -> tuple[str, ...]:
        """Names of longer windows that only models of little volume use."""
        return tuple(self._longer)

    @property
    def longest(self) -> int:
        """Length of the longest window that every model has, milliseconds."""
        return max(self._lengths.values())

    @property
    def shortest(self) -> int:
        """Length of the shortest window, milliseconds."""
        return min(self._lengths.values())

    def length(self, name: str) -> int:
        """Return the length of a window, longer ones among them, milliseconds."""
        return self._longer[name] if name in self._longer else self._lengths[name]

    def view(
        self, name: str, now: Int64Array, maturity: Int64Array
    ) -> tuple[Int64Array, Int64Array]:
        """Move a window to its end at now - maturity, and read it.

        Args:
            name: of the window.
            now: of each model, epoch milliseconds.
            maturity: of each model, milliseconds.

        Returns:
            Bounds (models, 2), [open, close) in epoch milliseconds, and counts
            (series, 6); the next change overwrites the counts.
        """
        self._ensure()
        window = self._running[name]
        bounds = np.zeros((len(maturity), 2), dtype=np.int64)
        for model, (moment, age) in enumerate(zip(now.tolist(), maturity.tolist(), strict=True)):
            by_label = self._catalogue.settings[model].clock is WindowClock.LABEL
            panes = self._pane_range(name, moment, 0 if by_label else age, by_label=by_label)
            window.move(model, self._catalogue.rows_of(model), panes)
            width = self._rings[panes.ring].width
            bounds[model] = panes.start * width, panes.end * width
        return bounds, self.as_negatives(window.sums, np.arange(len(window.sums)))

    def below_zero(self, model: int) -> tuple[str, ...]:
        """Return the windows, as `view` last moved them, with a count of the model below 0.

        Args:
            model: its number.

        Returns:
            Their names, and "all" where that is so of the counts since the start.
        """
        self._ensure()
        row = self._totals_row(model)
        sums = {name: window.sums for name, window in self._running.items()}
        sums["all"] = self._lifetime
        return tuple(name for name, cells in sums.items() if (cells[row] < 0).any())

    def pane_range(self, name: str, now: int, age: int) -> PaneRange:
        """Return the panes of a window by the time of the prediction.

        Args:
            name: of the window.
            now: epoch milliseconds.
            age: maturity, milliseconds.
        """
        return self._pane_range(name, now, age, by_label=False)

    def edition(self, name: str, model: int, now: int, age: int) -> Edition | None:
        """Return the version of what `blocks` and `weight_blocks` read for one model.

        Args:
            name: of the window.
            model: its number.
            now: epoch milliseconds.
            age: maturity, milliseconds.

        Returns:
            Equal to an earlier edition only where no count has changed since, no series has
            been added, and the window covers the same panes. None where `view` last moved
            the window to other panes, so that changes were not counted.
        """
        self._ensure()
        panes = self.pane_range(name, now, age)
        changes = self._running[name].changes(model, panes)
        if changes is None:
            return None
        return Edition(panes, changes, len(self._catalogue.rows_of(model)))

    def predictions_edition(self, name: str, model: int, now: int) -> tuple[PaneRange, int]:
        """Return the version of what `population` reads.

        Args:
            name: of the window.
            model: its number.
            now: epoch milliseconds.
        """
        self._ensure()
        return self.pane_range(name, now, 0), int(self._changes[model])

    def width(self, panes: PaneRange) -> int:
        """Return the width of these panes, milliseconds."""
        return self._rings[panes.ring].width

    def since(self, moment: int, rows: Int64Array) -> tuple[int, Int64Array]:
        """Count everything from a moment on, by the time of the prediction.

        Args:
            moment: epoch milliseconds.
            rows: series to read.

        Returns:
            The moment, rounded up to a whole coarse pane, and counts (series, 6).
        """
        self._ensure()
        ring = self._rings[COARSE]
        start = -(-moment // ring.width)
        return start * ring.width, ring.sum(start, _END, rows)

    def blocks(self, name: str, rows: Int64Array, now: int, age: int, block_ms: int) -> Int64Array:
        """Return a window's counts, by the time of the prediction, in blocks of time.

        Args:
            name: of the window.
            rows: series to read.
            now: epoch milliseconds.
            age: maturity, milliseconds.
            block_ms: length of a block; the last one may be shorter.

        Returns:
            int64 (blocks, series, 6); the sum over blocks equals what `view` gives for
            models counted by prediction.
        """
        self._ensure()
        panes = self.pane_range(name, now, age)
        ring = self._rings[panes.ring]
        table = self.as_negatives(ring.table(panes.start, panes.end, rows), rows)
        firsts = np.arange(0, len(table), max(1, block_ms // ring.width))
        return np.asarray(np.add.reduceat(table, firsts, axis=0))

    def weight_blocks(
        self, name: str, rows: Int64Array, now: int, age: int, block_ms: int
    ) -> Int64Array:
        """Return the weights of a window's labels by the blocks of `blocks`.

        Args:
            name: of the window.
            rows: series to read.
            now: epoch milliseconds.
            age: maturity, milliseconds.
            block_ms: length of a block.

        Returns:
            int64 (blocks, series, 8), see `monitor.windows.weights`.
        """
        self._ensure()
        panes = self.pane_range(name, now, age)
        firsts = np.arange(0, panes.end - panes.start, max(1, block_ms // self.width(panes)))
        if not self.weights.stored:
            return np.zeros((len(firsts), len(rows), SUMS), dtype=np.int64)
        table = self.weights.table(panes, rows)
        return np.asarray(np.add.reduceat(table, firsts, axis=0))

    def pane_weights(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the weights of coarse panes, (panes, series, 8).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: series to read.
        """
        self._ensure()
        return self.weights.table(PaneRange(COARSE, start, end), rows)

    def population(self, name: str, model: int, now: int) -> tuple[int, int]:
        """Count positive and negative predictions, labelled or not, of a window that ends now.

        Args:
            name: of the window.
            model: its number.
            now: epoch milliseconds.
        """
        self._ensure()
        panes = self.pane_range(name, now, 0)
        rows = np.array([self._totals_row(model)])
        cells = self._rings[panes.ring].sum(panes.start, panes.end, rows)[0]
        return int(cells[PREDICTED_POSITIVE]), int(cells[PREDICTED_NEGATIVE])

    def fine_predictions(self, model: int, opens: int, closes: int) -> Int64Array:
        """Return positive and negative predictions of each fine pane, (panes, 2).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; a whole pane.
            closes: first moment after it; a whole pane.
        """
        self._ensure()
        ring, row = self._rings[FINE], self._totals_row(model)
        table = ring.table(opens // ring.width, closes // ring.width, np.array([row]))
        return table[:, 0, PREDICTED_POSITIVE:]

    def fine_since(self, model: int) -> int:
        """Return from when on fine panes of a model are stored, epoch milliseconds; 0 before any.

        Args:
            model: its number.
        """
        ring = self._rings[FINE]
        newest = ring.newest(model)
        return 0 if newest is None else (newest - ring.span + 1) * ring.width

    def predictions_since(self, model: int, moment: int, last: int | None) -> int:
        """Count a model's predictions from a moment on.

        Args:
            model: its number.
            moment: epoch milliseconds; rounded down to a fine pane, and to an hour where it is
                longer ago than fine panes are stored.
            last: count up to the pane, or the hour, of this moment and with it; None for all.

        Returns:
            0 where it is longer ago than hours are stored.
        """
        self._ensure()
        fine, row = self._rings[FINE], np.array([self._totals_row(model)])
        pane = moment // fine.width
        if not fine.reaches_back(pane, model):
            return self.past.predictions_since(model, moment, last)
        end = _END if last is None else last // fine.width + 1
        return int(fine.sum(pane, end, row)[:, PREDICTED_POSITIVE:].sum())

    @property
    def pane_ms(self) -> int:
        """Width of a fine pane, milliseconds."""
        return self._rings[FINE].width

    def last_prediction(self, model: int) -> int | None:
        """Return the end of the pane of a model's latest prediction, epoch milliseconds.

        The pane is a fine one within two days, else an hour within a year; None without any.
        """
        self._ensure()
        fine, predicted = self._rings[FINE], slice(PREDICTED_POSITIVE, PREDICTED_NEGATIVE + 1)
        version, cached = (int(self._changes[model]), fine.newest(model)), self._last.get(model)
        if cached is not None and cached[0] == version:
            return cached[1]
        pane = fine.last(self._totals_row(model), predicted)
        found = self.past.last_hour(model, predicted) if pane is None else (pane + 1) * fine.width
        self._last[model] = version, found
        return found

    def first_pane(self, model: int) -> int | None:
        """Return the earliest stored coarse pane with a prediction of a model."""
        self._ensure()
        return self._beginnings.first(model, self._totals_row(model))

    def sums_from_first(self, model: int, ends: Sequence[int]) -> Int64Array:
        """Count a model's outcomes from its first coarse pane up to each of `ends`, (ends, 6).

        Args:
            model: its number; it has a first pane.
            ends: coarse panes in rising order, exclusive.
        """
        self._ensure()
        return self._beginnings.sums(model, self._totals_row(model), ends)

    def forget_beginning(self, model: int) -> None:
        """Drop the cached sums of `sums_from_first`: the reference of the model is found."""
        self._beginnings.forget(model)

    def _pane_range(self, name: str, now: int, age: int, *, by_label: bool) -> PaneRange:
        length = self.length(name)
        rings = BY_LABEL if by_label else BY_PREDICTION
        fine_enough = length + age + 2 * self._rings[FINE].width <= FINE_SPAN_MS
        ring = rings + (FINE if fine_enough else COARSE)
        width = self._rings[ring].width
        reach = self._rings[ring].span * width - length - width
        end = (now - min(age, reach)) // width
        return PaneRange(ring, end - length // width, end)
