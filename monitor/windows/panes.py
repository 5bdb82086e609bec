"""Counts by pane of event time, in a ring that moves with the watermark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import Int64Array
from monitor.events.renumbering import GONE, State, renumbered

_MOST_CELLS = 1 << 16
_READ_AT_ONCE = 64
_MOST = np.iinfo(np.int32).max


class PaneRing:
    """The last panes of a width, each with a table of counts (rows, cells).

    A pane is a stretch of event time, numbered from 1970 on; pane n is
    [n * width, (n + 1) * width). Counts ahead of the newest pane (at most the few
    events ahead of the watermark) are stored apart until the ring reaches them;
    counts behind the oldest pane are dropped.

    Args:
        width: of a pane, milliseconds.
        span: number of panes.
        cells: columns of the table.
    """

    def __init__(self, *, width: int, span: int, cells: int) -> None:
        self.width = width
        self.span = span
        self.cells = cells
        self.newest: int | None = None
        self._rows = 0
        self._counts = np.zeros((span, 0, cells), dtype=np.int32)
        self._written = np.zeros(span, dtype=np.bool_)
        self._ahead: defaultdict[int, defaultdict[tuple[int, int], int]] = defaultdict(
            lambda: defaultdict(int)
        )

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._counts.nbytes

    @property
    def rows(self) -> int:
        """Rows in use."""
        return self._rows

    def ensure(self, rows: int) -> None:
        """Make room for so many rows."""
        if rows <= self._counts.shape[1]:
            self._rows = max(self._rows, rows)
            return
        room = max(rows, self._counts.shape[1] * 3 // 2)
        counts = np.zeros((self.span, room, self.cells), dtype=self._counts.dtype)
        if self._rows:
            counts[:, : self._rows] = self._counts[:, : self._rows]
        self._counts, self._rows = counts, rows

    def pane_of(self, time: Int64Array) -> Int64Array:
        """Return the pane number of each event time, epoch milliseconds."""
        return time // self.width

    def advance(self, time: int) -> None:
        """Move on to the pane of an event time, and clear the panes that leave the ring."""
        newest = time // self.width
        if self.newest is not None and newest <= self.newest:
            return
        if self.newest is not None:
            fresh = np.arange(max(self.newest + 1, newest - self.span + 1), newest + 1)
            self._counts[fresh % self.span] = 0
            self._written[fresh % self.span] = False
        self.newest = newest
        for pane in [pane for pane in self._ahead if pane <= newest]:
            for (row, cell), count in self._ahead.pop(pane).items():
                if pane > newest - self.span:
                    self._written[pane % self.span] = True
                    self._counts[pane % self.span, row, cell] += count

    def add(self, pane: Int64Array, row: Int64Array, cell: Int64Array, count: Int64Array) -> None:
        """Add to cells.

        Args:
            pane: pane of each change.
            row: row of the table.
            cell: column of the table.
            count: change of the count; may be negative.
        """
        if not len(pane):
            return
        newest, latest = self.newest, int(pane.max())
        if newest is None or latest > newest:
            ahead = np.flatnonzero(pane > newest) if newest is not None else np.arange(len(pane))
            for i in ahead.tolist():
                self._ahead[int(pane[i])][int(row[i]), int(cell[i])] += int(count[i])
        if newest is None:
            return
        earliest, oldest = int(pane.min()), newest - self.span + 1
        if latest > newest or earliest < oldest:
            inside = np.flatnonzero((pane <= newest) & (pane >= oldest))
            if not len(inside):
                return
            pane, row, cell, count = pane[inside], row[inside], cell[inside], count[inside]
            earliest, latest = max(earliest, oldest), min(latest, newest)
        self._note_written(earliest, latest)
        lap = earliest // self.span * self.span
        slot = pane - lap
        if latest - lap >= self.span:
            slot = np.where(slot < self.span, slot, slot - self.span)
        flat = (slot * self._counts.shape[1] + row) * self.cells + cell
        if self._counts.dtype == np.int32:
            self._widen_for(flat, count)
        np.add.at(self._counts.reshape(-1), flat, count.astype(self._counts.dtype))

    def add_table(self, pane: int, table: Int64Array) -> None:
        """Add to all rows of one pane; do nothing for a pane outside the ring.

        Args:
            pane: its number.
            table: int64 (rows, cells).
        """
        if self.newest is None or not self.newest - self.span < pane <= self.newest:
            return
        if self._counts.dtype == np.int32:
            total = self._counts[pane % self.span, : len(table)] + table
            if total.size and int(np.abs(total).max()) > _MOST:
                self._counts = self._counts.astype(np.int64)
        self._written[pane % self.span] = True
        self._counts[pane % self.span, : len(table)] += table.astype(self._counts.dtype)

    def sum(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of panes, int64 (rows, cells).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: to read.
        """
        total = np.zeros((len(rows), self.cells), dtype=np.int64)
        for _, slots in self._stored(start, end, len(rows)):
            total += self._taken(slots, rows).sum(axis=0, dtype=np.int64)
        for pane in [pane for pane in self._ahead if start <= pane < end]:
            for (row, cell), count in self._ahead[pane].items():
                total[rows == row, cell] += count
        return total

    def last(self, row: int, cells: slice) -> int | None:
        """Return the latest pane in which some cells of a row are above 0; None without one.

        Args:
            row: its number.
            cells: the cells of the row to read.
        """
        counted = range(*cells.indices(self.cells))
        ahead = [
            pane
            for pane, table in self._ahead.items()
            if any(table.get((row, cell), 0) > 0 for cell in counted)
        ]
        if ahead:
            return max(ahead)
        end = None if self.newest is None else self.newest + 1
        while end is not None and self.newest is not None and end > self.newest + 1 - self.span:
            slot = (end - 1) % self.span
            first = max(0, slot + 1 - _READ_AT_ONCE, slot + self.newest + 2 - self.span - end)
            busy = np.flatnonzero((self._counts[first : slot + 1, row, cells] > 0).any(axis=1))
            if len(busy):
                return end - 1 - slot + first + int(busy[-1])
            end -= slot + 1 - first
        return None

    def first(self, row: int, cells: slice, since: int) -> int | None:
        """Return the earliest pane in which some cells of a row are not 0; None without one.

        Args:
            row: its number.
            cells: the cells of the row to read.
            since: the first pane to read.
        """
        end = since if self.newest is None else self.newest + 1
        for pane, slots in self._stored(since, end, 1):
            busy = np.flatnonzero(self._counts[slots, row, cells].any(axis=1))
            if len(busy):
                return pane + int(busy[0])
        counted = range(*cells.indices(self.cells))
        ahead = [
            pane
            for pane, table in self._ahead.items()
            if pane >= since and any(table.get((row, cell), 0) for cell in counted)
        ]
        return min(ahead, default=None)

    def reaches_back(self, pane: int) -> bool:
        """Return whether a pane is in the ring or ahead of it."""
        return self.newest is None or pane > self.newest - self.span

    def state(self) -> State:
        """Serializable state: every pane with counts, those ahead included."""
        panes = np.empty(0, dtype=np.int64)
        if self.newest is not None:
            panes = np.arange(self.newest - self.span + 1, self.newest + 1)
            panes = panes[self._written[panes % self.span]]
        ahead = [
            (pane, row, cell, count)
            for pane, table in self._ahead.items()
            for (row, cell), count in table.items()
        ]
        return {
            "width": self.width,
            "span": self.span,
            "newest": self.newest,
            "panes": panes,
            "counts": self._counts[panes % self.span, : self._rows],
            "ahead": np.array(ahead, dtype=np.int64).reshape(-1, 4),
        }

    def restore(self, state: State, rows: Int64Array) -> None:
        """Load what `state` of a ring of the same pane width returned.

        Args:
            state: of an earlier run.
            rows: old numbers of the rows that are still there.

        Raises:
            ValueError: the panes have another width.
        """
        if state["width"] != self.width:
            raise ValueError(f"PaneRing: panes are {self.width} ms, got {state['width']}")
        self.newest, counts = state["newest"], state["counts"]
        stored = rows[rows < counts.shape[1]]
        self._rows = len(stored)
        self._counts = np.zeros((self.span, len(stored), self.cells), dtype=counts.dtype)
        panes = state["panes"]
        inside = np.flatnonzero(panes > (self.newest or 0) - self.span)
        slots = panes[inside] % self.span
        self._written[:] = False
        self._written[slots] = True
        self._counts[slots] = counts[np.ix_(inside, stored)]
        self._ahead.clear()
        for pane, row, cell, count in state["ahead"].tolist():
            number = int(renumbered(np.array([row]), rows)[0])
            if number != GONE:
                self._ahead[pane][number, cell] = count

    def _note_written(self, earliest: int, latest: int) -> None:
        """Mark the panes that may hold counts; a superset is harmless."""
        first, last = earliest % self.span, latest % self.span
        if first <= last:
            self._written[first : last + 1] = True
        else:
            self._written[first:] = True
            self._written[: last + 1] = True

    def _widen_for(self, flat: Int64Array, count: Int64Array) -> None:
        """Change to 64 bits before a cell could overflow 32."""
        if count.size and int(np.abs(count).max()) > 1:
            touched = np.abs(self._counts.reshape(-1)[flat].astype(np.int64))
            if int(touched.max()) + int(np.abs(count).sum()) > _MOST:
                self._counts = self._counts.astype(np.int64)

    def _stored(self, start: int, end: int, rows: int) -> Iterator[tuple[int, slice]]:
        """Yield the panes of [start, end) in the ring, few at a time to save memory.

        Yields:
            The number of the first pane, and the slots of it and those after it.
        """
        if self.newest is None:
            return
        most = max(1, _MOST_CELLS // max(rows, 1))
        pane, end = max(start, self.newest - self.span + 1), min(end, self.newest + 1)
        while pane < end:
            slot = pane % self.span
            panes = min(end - pane, self.span - slot, most)
            yield pane, slice(slot, slot + panes)
            pane += panes

    def _taken(self, slots: slice, rows: Int64Array) -> NDArray[np.integer[Any]]:
        """Return the counts of some slots, (panes, rows, cells); a view for a single row."""
        if len(rows) == 1:
            row = int(rows[0])
            return self._counts[slots, row : row + 1]
        return self._counts[slots].take(rows, axis=1)

    def table(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of each pane, (panes, rows, cells).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: to read.
        """
        table = np.zeros((end - start, len(rows), self.cells), dtype=np.int64)
        for pane, slots in self._stored(start, end, len(rows)):
            panes = slots.stop - slots.start
            table[pane - start : pane - start + panes] = self._taken(slots, rows)
        for pane in [pane for pane in self._ahead if start <= pane < end]:
            for (row, cell), count in self._ahead[pane].items():
                table[pane - start, rows == row, cell] += count
        return table

    def series(self, row: int) -> tuple[Int64Array, Int64Array]:
        """Return the numbers of all panes, those ahead included, and one row's counts in each."""
        ahead = sorted(self._ahead)
        beyond = np.zeros((len(ahead), self.cells), dtype=np.int64)
        for i, pane in enumerate(ahead):
            for (at, cell), count in self._ahead[pane].items():
                beyond[i, cell] += count if at == row else 0
        if self.newest is None:
            return np.array(ahead, dtype=np.int64), beyond
        panes = np.arange(self.newest - self.span + 1, self.newest + 1)
        counts = self._counts[panes % self.span, row].astype(np.int64)
        return np.append(panes, ahead).astype(np.int64), np.concatenate([counts, beyond])
