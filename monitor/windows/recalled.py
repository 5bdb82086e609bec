"""Counts of one stretch of time that has passed, read out of what a running monitor keeps.

Hours of each model's totals and days of each series are kept for a year, coarse
panes of each series for weeks. A stretch of whole hours is read from them; its
segments only where they are kept so finely. `RangeCounts`, which must be asked for
before events come, cuts at the millisecond and is read the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from monitor.events.columns import Int64Array, Series
from monitor.join.deltas import PREDICTED_POSITIVE


class CountedRange(Protocol):
    """Counts of a stretch of time, by series and blocks of time."""

    def series(self, model: str) -> tuple[Series, ...]:
        """A model's series: its totals, then its segment values."""
        ...

    def blocks(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """One series' counts by blocks of time, int64 (blocks, 6)."""
        ...

    def weights(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Weights of its labels by the same blocks, int64 (blocks, 8)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A copy of what was kept of one model; it can be read from any thread.

    Attributes:
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
        block_ms: length of a block; blocks are aligned to UTC.
        numbers: of each block since 1970, ascending.
        columns: the totals' series, then those of segment values where they are
            kept finely enough.
        cells: int64 (blocks, columns, 6), blocks without a prediction left out.
        label_weights: int64 (blocks, columns, 8), see `monitor.windows.weights`; zeros
            where they are not kept so long or so finely.
        without_segments: segments are counted, but no longer kept by such blocks.
    """

    opens: int
    closes: int
    block_ms: int
    numbers: Int64Array
    columns: tuple[Series, ...]
    cells: Int64Array
    label_weights: Int64Array
    without_segments: bool

    def series(self, model: str) -> tuple[Series, ...]:
        """A model's series: its totals, then its segment values."""
        return tuple(series for series in self.columns if series.model == model)

    def blocks(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """One series' counts by blocks of time.

        Raises:
            ValueError: other bounds, or blocks that are no multiple of what was recalled.
        """
        self._check(opens, closes, block_ms)
        return self._wider(self.cells[:, self.columns.index(series)], block_ms)

    def weights(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Weights of its labels by the same blocks.

        Raises:
            ValueError: other bounds, or blocks that are no multiple of what was recalled.
        """
        self._check(opens, closes, block_ms)
        return self._wider(self.label_weights[:, self.columns.index(series)], block_ms)

    def _wider(self, rows: Int64Array, block_ms: int) -> Int64Array:
        """Summed into blocks of a multiple of the length."""
        if block_ms == self.block_ms or not len(rows):
            return rows
        wide = self.numbers // (block_ms // self.block_ms)
        starts = np.flatnonzero(np.diff(wide, prepend=wide[0] - 1))
        return np.asarray(np.add.reduceat(rows, starts, axis=0))

    def _check(self, opens: int, closes: int, block_ms: int) -> None:
        asked, kept = (opens, closes, block_ms), (self.opens, self.closes, self.block_ms)
        if asked[:2] != kept[:2] or block_ms % self.block_ms:
            raise ValueError(f"Recalled: holds {kept} alone, got {asked}")


def in_blocks(cells: Int64Array, opens: int, step: int, block_ms: int) -> Int64Array:
    """Sum steps of time into blocks that are aligned to UTC.

    Args:
        cells: (steps, …), consecutive.
        opens: first moment of the first step, epoch milliseconds, a multiple of `step`.
        step: milliseconds.
        block_ms: a multiple of it.

    >>> in_blocks(np.array([1, 2, 4, 8]), 3_600_000, 3_600_000, 7_200_000).tolist()
    [1, 6, 8]
    """
    blocks = (opens + np.arange(len(cells)) * step) // block_ms
    return np.asarray(np.add.reduceat(cells, np.flatnonzero(np.diff(blocks, prepend=-1)), axis=0))


def busy(totals: Int64Array) -> Int64Array:
    """Which blocks, (blocks, 6), hold a prediction."""
    return np.flatnonzero(totals[:, PREDICTED_POSITIVE:].any(axis=1))
