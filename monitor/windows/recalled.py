"""Copies of the counts of a past time range, from the stores of a running monitor.

The stores hold hours of each model's totals and days of each series for a year, and
coarse panes of each series for weeks. A time range is whole hours; it has segments only
where they are stored finely enough. `RangeCounts`, which must be created before the
events come, counts to the millisecond and has the same interface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from monitor.events.columns import Int64Array, Series
from monitor.join.deltas import PREDICTED_POSITIVE


class CountedRange(Protocol):
    """Counts of a time range, by series and blocks of time."""

    def series(self, model: str) -> tuple[Series, ...]:
        """Return a model's series: its totals, then its segment values."""
        ...

    def blocks(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Return the counts of a series by blocks of time, without empty ones, int64 (blocks, 6).

        Args:
            series: one of `series`.
            opens: start of the range, epoch milliseconds.
            closes: end of the range, exclusive, epoch milliseconds.
            block_ms: length of a block; blocks are aligned to UTC.
        """
        ...

    def starts(self, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Return the first moments of these blocks, of which the first may lie before `opens`.

        Args:
            opens: start of the range, epoch milliseconds.
            closes: end of the range, exclusive, epoch milliseconds.
            block_ms: length of a block; blocks are aligned to UTC.
        """
        ...

    def weights(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Return weights of labels by the same blocks, int64 (blocks, 8).

        Args:
            series: one of `series`.
            opens: start of the range, epoch milliseconds.
            closes: end of the range, exclusive, epoch milliseconds.
            block_ms: length of a block; blocks are aligned to UTC.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The counts of one model in a past time range; any thread may read them.

    Attributes:
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
        block_ms: length of a block; blocks are aligned to UTC.
        numbers: of each block since 1970, ascending.
        columns: the totals' series, then those of segment values where they are
            stored finely enough.
        cells: int64 (blocks, columns, 6), blocks without a prediction left out.
        label_weights: int64 (blocks, columns, 8), see `monitor.windows.weights`; zeros
            where they are not stored so long or so finely.
        without_segments: segments are configured, but not stored by such blocks.
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
        """As `CountedRange.series`."""
        return tuple(series for series in self.columns if series.model == model)

    def blocks(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """As `CountedRange.blocks`, for this range only.

        Raises:
            ValueError: other bounds, or blocks that are no multiple of `block_ms`.
        """
        self._check(opens, closes, block_ms)
        return self._wider(self.cells[:, self.columns.index(series)], block_ms)

    def starts(self, opens: int, closes: int, block_ms: int) -> Int64Array:
        """As `CountedRange.starts`, for this range only.

        Raises:
            ValueError: other bounds, or blocks that are no multiple of `block_ms`.
        """
        self._check(opens, closes, block_ms)
        return np.unique(self.numbers // (block_ms // self.block_ms)) * block_ms

    def weights(self, series: Series, opens: int, closes: int, block_ms: int) -> Int64Array:
        """As `CountedRange.weights`, for this range only.

        Raises:
            ValueError: other bounds, or blocks that are no multiple of `block_ms`.
        """
        self._check(opens, closes, block_ms)
        return self._wider(self.label_weights[:, self.columns.index(series)], block_ms)

    def _wider(self, rows: Int64Array, block_ms: int) -> Int64Array:
        """Sum into blocks of a multiple of the length."""
        if block_ms == self.block_ms or not len(rows):
            return rows
        wide = self.numbers // (block_ms // self.block_ms)
        starts = np.flatnonzero(np.diff(wide, prepend=wide[0] - 1))
        return np.asarray(np.add.reduceat(rows, starts, axis=0))

    def _check(self, opens: int, closes: int, block_ms: int) -> None:
        asked, held = (opens, closes, block_ms), (self.opens, self.closes, self.block_ms)
        if asked[:2] != held[:2] or block_ms % self.block_ms:
            raise ValueError(f"Recalled: holds {held} alone, got {asked}")


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
    if not len(cells):
        return cells
    each = block_ms // step
    starts = np.arange(-(opens // step % each), len(cells), each)
    return np.asarray(np.add.reduceat(cells, np.maximum(starts, 0), axis=0))


def busy(totals: Int64Array) -> Int64Array:
    """Return the indices of the blocks, (blocks, 6), with a prediction."""
    return np.flatnonzero(totals[:, PREDICTED_POSITIVE:].any(axis=1))
