"""Counts in panes that their model has not reached yet."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array

_PANE, _ROW, _CELL, _COUNT = range(4)


class AheadCounts:
    """A sparse table of counts by pane, row and cell.

    >>> ahead = AheadCounts()
    >>> ahead.add(*(np.array([n]) for n in (7, 0, 2, 5)))
    >>> ahead.add(*(np.array([n]) for n in (7, 0, 2, -1)))
    >>> ahead.entries().tolist(), ahead.between(0, 7).tolist()
    ([[7, 0, 2, 4]], [])
    """

    def __init__(self) -> None:
        self._entries = np.zeros((0, 4), dtype=np.int64)
        self._added: list[Int64Array] = []
        self._rows = 0
        self.earliest = 1 << 60

    def __len__(self) -> int:
        return self._rows

    def add(self, pane: Int64Array, row: Int64Array, cell: Int64Array, count: Int64Array) -> None:
        """Add to cells.

        Args:
            pane: pane of each change.
            row: row of each change.
            cell: column of each change.
            count: change of the count; may be negative.
        """
        if not len(pane):
            return
        self._added.append(np.stack([pane, row, cell, count], axis=1))
        self._rows += len(pane)
        self.earliest = min(self.earliest, int(pane.min()))

    def entries(self) -> Int64Array:
        """Return (n, 4): pane, row, cell and count, in that order and each cell once."""
        if self._added:
            self._keep(np.concatenate([self._entries, *self._added]))
        return self._entries

    def between(self, start: int, end: int) -> Int64Array:
        """Return a copy of the entries of some panes, as `entries` does.

        Args:
            start: the first pane.
            end: the pane behind the last.
        """
        if not self._rows or end <= self.earliest:
            return np.empty((0, 4), dtype=np.int64)
        entries = self.entries()
        first, last = np.searchsorted(entries[:, _PANE], [start, end]).tolist()
        return entries[first:last].copy()

    def placed(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the entries of some panes and rows, (4, n): pane, place of the row, cell, count.

        Args:
            start: the first pane.
            end: the pane behind the last.
            rows: to read, each once.
        """
        found = self.between(start, end)
        if not len(found):
            return found.T
        most = max(int(found[:, 1].max()), int(rows.max(initial=-1)))
        place = np.full(most + 1, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        found = found[place[found[:, 1]] >= 0]
        found[:, 1] = place[found[:, 1]]
        return found.T

    def of_row(self, row: int, cells: slice) -> tuple[Int64Array, Int64Array]:
        """Return the panes in which some cells of a row are not 0, and the counts in them.

        Args:
            row: its number.
            cells: the cells of the row to read.
        """
        entries = self.entries()
        entries = entries[entries[:, _ROW] == row]
        chosen = np.arange(*cells.indices(int(entries[:, _CELL].max(initial=-1)) + 1))
        entries = entries[np.isin(entries[:, _CELL], chosen)]
        return entries[:, _PANE], entries[:, _COUNT]

    def fold(self, row: int, into: int) -> None:
        """Add the counts of a row to another one, and remove them.

        Args:
            row: its number.
            into: number of the other one.
        """
        entries = self.entries().copy()
        entries[entries[:, _ROW] == row, _ROW] = into
        self._keep(entries)

    def drop(self, row: int) -> None:
        """Remove the counts of a row.

        Args:
            row: its number.
        """
        entries = self.entries()
        self._set(entries[entries[:, _ROW] != row])

    def take_up_to(self, last: Int64Array, owners: Int64Array) -> Int64Array:
        """Return and remove the entries up to a pane of their model, as `entries` does.

        Args:
            last: the pane, by model.
            owners: model of each row.
        """
        if not self._rows or self.earliest > int(last.max()):
            return np.empty((0, 4), dtype=np.int64)
        entries = self.entries()
        reached = entries[:, _PANE] <= last[owners[entries[:, _ROW]]]
        self._set(entries[~reached])
        return entries[reached]

    def _keep(self, entries: Int64Array) -> None:
        """Store these entries, each cell once, and nothing else."""
        if len(entries):
            order = np.lexsort((entries[:, _CELL], entries[:, _ROW], entries[:, _PANE]))
            entries = entries[order]
            where = entries[:, :_COUNT]
            firsts = np.flatnonzero(np.append(True, (where[1:] != where[:-1]).any(axis=1)))
            merged = entries[firsts]
            merged[:, _COUNT] = np.add.reduceat(entries[:, _COUNT], firsts)
            entries = merged[merged[:, _COUNT] != 0]
        self._set(entries)

    def _set(self, entries: Int64Array) -> None:
        """Store these entries, which are in order and each cell once, and nothing else."""
        self._entries, self._added, self._rows = entries, [], len(entries)
        self.earliest = int(entries[0, _PANE]) if len(entries) else 1 << 60
