"""The model and the series of each group, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.events.columns import Int64Array

NO_ROW = -1
"""In place of a series: this group has no such segment key."""


class GroupTables:
    """Arrays by the number of the group, extended when they are read."""

    def __init__(self) -> None:
        self._entered: list[tuple[int, Sequence[int]]] = []
        self._models = np.zeros(0, dtype=np.int64)
        self._rows = np.zeros((0, 1), dtype=np.int64)

    def enter(self, model: int, rows: Sequence[int]) -> None:
        """Add the next group.

        Args:
            model: number of its model.
            rows: series that it counts in; the model's totals first.
        """
        self._entered.append((model, rows))

    def assign(self, group: int, column: int, row: int) -> None:
        """Let a group count in another series.

        Args:
            group: its number.
            column: of `rows`.
            row: the series.
        """
        self._extend()
        self._rows[group, column] = row

    @property
    def models(self) -> Int64Array:
        """Model number of each group."""
        self._extend()
        return self._models

    @property
    def rows(self) -> Int64Array:
        """Series of each group, (groups, 1 + most segment keys), `NO_ROW` for a missing key."""
        self._extend()
        return self._rows

    def _extend(self) -> None:
        if not self._entered:
            return
        entered, self._entered = self._entered, []
        known, width = self._rows.shape
        width = max(width, *(len(row) for _, row in entered))
        rows = np.full((known + len(entered), width), NO_ROW, dtype=np.int64)
        rows[:known, : self._rows.shape[1]] = self._rows
        for number, (_, row) in enumerate(entered, start=known):
            rows[number, : len(row)] = row
        self._models = np.append(self._models, [model for model, _ in entered])
        self._rows = rows
