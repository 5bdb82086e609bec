"""Dense storage of a ring of panes: counts by slot, row and cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import Int64Array
from monitor.kernel import compiled_module, kernel_in_use

_MOST_CELLS = 1 << 16
_READ_AT_ONCE = 64
_MOST = np.iinfo(np.int32).max
_NOTHING = np.zeros(0, dtype=np.int64)


class PaneChanges(NamedTuple):
    """Changes of counts, one for each row of the columns.

    Attributes:
        pane: pane of each.
        row: row of the table.
        cell: column of the table.
        amount: what to add to the count; may be negative.
    """

    pane: Int64Array
    row: Int64Array
    cell: Int64Array
    amount: Int64Array


class PaneSlots:
    """Counts of panes in slots: pane n is in slot n modulo the number of slots.

    Args:
        span: number of slots.
        cells: columns of the table of a slot.

    Attributes:
        counts: (slots, rows, cells), in 32 bits until a count needs more.
        written: slots that may hold counts; a superset of those that do.
    """

    def __init__(self, span: int, cells: int) -> None:
        self.span = span
        self.cells = cells
        self.counts: NDArray[np.integer[Any]] = np.zeros((span, 0, cells), dtype=np.int32)
        self.written = np.zeros(span, dtype=np.bool_)

    def ensure(self, rows: int) -> None:
        """Make room for so many rows."""
        known = self.counts.shape[1]
        if rows > known:
            room = max(rows, known * 3 // 2)
            counts = np.zeros((self.span, room, self.cells), dtype=self.counts.dtype)
            for slot in np.flatnonzero(self.written).tolist():  # memory of others stays untouched
                counts[slot, :known] = self.counts[slot]
            self.counts = counts

    def clear(self, first: int, last: int, rows: Int64Array | None = None) -> None:
        """Set the counts of panes [first, last] to 0.

        Args:
            first: their first.
            last: their last; at most `span` panes.
            rows: only of these rows; all if left out.
        """
        slots = np.arange(first, last + 1) % self.span
        slots = slots[self.written[slots]]
        if not len(slots):
            return
        if rows is None:
            self.counts[slots] = 0
            self.written[slots] = False
        else:
            self.counts[np.ix_(slots, rows)] = 0

    def add(self, changes: PaneChanges, newest: Int64Array, owners: Int64Array) -> Int64Array:
        """Add to cells of panes in the ring; changes of panes that have left it are dropped.

        Args:
            changes: of counts; at least one.
            newest: newest pane of each model.
            owners: model number of each row.

        Returns:
            The changes ahead of the newest pane of their model, by index: not added.
        """
        pane, row = changes.pane, changes.row
        earliest, latest = int(pane.min()), int(pane.max())
        if latest <= newest.min() and earliest > newest.max() - self.span:
            self._add(changes)
            return _NOTHING
        reach = newest[owners[row]]
        inside = np.flatnonzero((pane <= reach) & (pane > reach - self.span))
        if len(inside):
            self._add(PaneChanges(*(column[inside] for column in changes)))
        return np.flatnonzero(pane > reach)

    def fold(self, row: int, into: int) -> None:
        """Add the counts of a row to another one, and set them to 0.

        Args:
            row: its number.
            into: number of the other one.
        """
        moved = self.counts[:, row].astype(np.int64)
        total = self.counts[:, into] + moved
        if self.counts.dtype == np.int32 and int(np.abs(total).max(initial=0)) > _MOST:
            self.counts = self.counts.astype(np.int64)
        self.counts[:, into], self.counts[:, row] = total, 0

    def drop(self, row: int) -> None:
        """Set the counts of a row to 0.

        Args:
            row: its number.
        """
        self.counts[:, row] = 0

    def _add(self, changes: PaneChanges) -> None:
        """Add to cells of panes in the ring."""
        pane, row, cell, count = changes
        flat = (self._slots(pane) * self.counts.shape[1] + row) * self.cells + cell
        if self.counts.dtype == np.int32:
            self._widen_for(flat, count)
        np.add.at(self.counts.reshape(-1), flat, count.astype(self.counts.dtype))

    def _slots(self, pane: Int64Array) -> Int64Array:
        """Return the slots of panes, and mark them as written."""
        earliest, latest = int(pane.min()), int(pane.max())
        if latest - earliest >= self.span:
            slot = pane % self.span
            self.written[slot] = True
            return slot
        first, last = earliest % self.span, latest % self.span
        slot = pane - (earliest - first)
        if first <= last:
            self.written[first : last + 1] = True
            return slot
        self.written[first:] = True
        self.written[: last + 1] = True
        return np.where(slot < self.span, slot, slot - self.span)

    def _widen_for(self, flat: Int64Array, count: Int64Array) -> None:
        """Change to 64 bits before a cell could overflow 32."""
        if count.size and int(np.abs(count).max()) > 1:
            touched = np.abs(self.counts.reshape(-1)[flat].astype(np.int64))
            if int(touched.max()) + int(np.abs(count).sum()) > _MOST:
                self.counts = self.counts.astype(np.int64)

    def runs(self, start: int, end: int, newest: int, rows: int) -> Iterator[tuple[int, slice]]:
        """Yield the panes of [start, end) in the ring, few at a time to save memory.

        Args:
            start: first pane.
            end: first pane after the last.
            newest: newest pane in the ring.
            rows: that are read of each.

        Yields:
            The number of the first pane, and the slots of it and those after it.
        """
        most = max(1, _MOST_CELLS // max(rows, 1))
        pane, end = max(start, newest - self.span + 1), min(end, newest + 1)
        while pane < end:
            slot = pane % self.span
            panes = min(end - pane, self.span - slot, most)
            yield pane, slice(slot, slot + panes)
            pane += panes

    def taken(self, slots: slice, rows: Int64Array) -> NDArray[np.integer[Any]]:
        """Return the counts of some slots, (panes, rows, cells); a view for a single row.

        Args:
            slots: to read.
            rows: to read.
        """
        if len(rows) == 1:
            row = int(rows[0])
            return self.counts[slots, row : row + 1]
        return self.counts[slots].take(rows, axis=1)

    def last(self, row: int, cells: slice, newest: int) -> int | None:
        """Return the latest pane in which some cells of a row are above 0; None without one.

        Args:
            row: its number.
            cells: the cells of the row to read.
            newest: newest pane in the ring.
        """
        end = newest + 1
        while end > newest + 1 - self.span:
            slot = (end - 1) % self.span
            first = max(0, slot + 1 - _READ_AT_ONCE, slot + newest + 2 - self.span - end)
            busy = np.flatnonzero((self.counts[first : slot + 1, row, cells] > 0).any(axis=1))
            if len(busy):
                return end - 1 - slot + first + int(busy[-1])
            end -= slot + 1 - first
        return None


class CompiledSlots(PaneSlots):
    """Slots that the compiled kernel counts into.

    It leaves to Python the changes that 32 bits may be too few for.

    Args:
        compiled: the module `monitor.kernel.compiled`.
        span: number of slots.
        cells: columns of the table of a slot.
    """

    def __init__(self, compiled: Any, span: int, cells: int) -> None:
        super().__init__(span, cells)
        self._compiled = compiled

    def add(self, changes: PaneChanges, newest: Int64Array, owners: Int64Array) -> Int64Array:
        """Add to cells as `PaneSlots.add` does."""
        changes = PaneChanges(*(np.ascontiguousarray(column, np.int64) for column in changes))
        ahead = np.empty(len(changes.pane), dtype=np.int64)
        number = self._compiled.count(self.counts, self.written, newest, owners, changes, ahead)
        return super().add(changes, newest, owners) if number < 0 else ahead[:number]


def pane_slots(span: int, cells: int) -> PaneSlots:
    """Return empty slots, which the kernel of this process counts into.

    Args:
        span: number of slots.
        cells: columns of the table of a slot.
    """
    if kernel_in_use() == "c":
        return CompiledSlots(compiled_module(), span, cells)
    return PaneSlots(span, cells)
