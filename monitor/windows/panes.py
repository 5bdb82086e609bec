"""Counts by pane of event time, in a ring in which each model has its own time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, Int64Array, Rows
from monitor.events.renumbering import GONE, State, renumbered
from monitor.windows.ahead import AheadCounts
from monitor.windows.pane_moves import alike_moves
from monitor.windows.pane_slots import PaneChanges, pane_slots

_NOT_YET = -(1 << 60)
"""In place of the newest pane of a model that has no time yet."""


class PaneRing:
    """The last panes of a width, each with a table of counts (rows, cells).

    A pane is a stretch of event time, numbered from 1970 on; pane n is
    [n * width, (n + 1) * width). Each row belongs to a model, and each model has a newest
    pane of its own. Counts ahead of it are stored apart until the model reaches them;
    counts behind the model's oldest pane are dropped.

    Args:
        width: of a pane, milliseconds.
        span: number of panes.
        cells: columns of the table.

    Attributes:
        ahead: counts ahead of the newest pane of their model.
    """

    def __init__(self, *, width: int, span: int, cells: int) -> None:
        self.width = width
        self.span = span
        self.cells = cells
        self._owners = np.zeros(0, dtype=np.int64)
        self._newest = np.zeros(0, dtype=np.int64)
        self._next = np.zeros(0, dtype=np.int64)
        self._alike: int | None = None
        self._slots = pane_slots(span, cells)
        self.ahead = AheadCounts()

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._slots.counts.nbytes

    @property
    def rows(self) -> int:
        """Rows in use."""
        return len(self._owners)

    @property
    def memory(self) -> tuple[Any, ...]:
        """Counts, written slots, newest panes, owners of rows and the width, for the kernel."""
        return self._slots.counts, self._slots.written, self._newest, self._owners, self.width

    def newest(self, model: int) -> int | None:
        """Return the newest pane of a model by its number; None before it has a time."""
        found = _NOT_YET if model >= len(self._newest) else int(self._newest[model])
        return None if found == _NOT_YET else found

    def ensure(self, owners: Int64Array) -> None:
        """Make room for rows; `owners` is the model number of each."""
        if len(owners) == len(self._owners):
            return
        self._owners = owners
        more = int(owners.max(initial=-1)) + 1 - len(self._newest)
        if more > 0:
            self._newest = np.append(self._newest, np.full(more, _NOT_YET, dtype=np.int64))
            self._note_newest()
        self._slots.ensure(len(owners))

    def pane_of(self, time: Int64Array) -> Int64Array:
        """Return the pane number of each event time, epoch milliseconds."""
        return time // self.width

    def advance(self, times: Int64Array | int) -> None:
        """Move models on to the panes of their times, and clear the panes that leave the ring.

        Args:
            times: of each model, or of all, epoch milliseconds; `NO_TIME` for no time yet.
        """
        if not (times >= self._next).any():
            return
        old, new = self._newest, self._panes_at(times)
        moved = (new > old).nonzero()[0]
        for before, after, models in alike_moves(old, new, moved):
            if before != _NOT_YET:
                self._clear(before, after, models)
        self._newest = new
        self._note_newest()
        if len(self.ahead):
            self.add(*self.ahead.take_up_to(new, self._owners).T)

    def take_passed(self, times: Int64Array | int) -> Int64Array:
        """Return and remove the counts ahead that `advance` would drop, as `AheadCounts` does.

        Args:
            times: as `advance` takes them; models move on by more than the ring.
        """
        return self.ahead.take_up_to(self._panes_at(times) - self.span, self._owners)

    def moves(self, times: Int64Array | int) -> Iterator[tuple[Int64Array, int, int]]:
        """Yield rows that `advance` would move, their newest pane now, and the one then.

        Args:
            times: as `advance` takes them. Rows without a pane so far are left out.
        """
        if not (times >= self._next).any():
            return
        new = self._panes_at(times)
        moved = np.flatnonzero((new > self._newest) & (self._newest != _NOT_YET))
        for old, then, models in alike_moves(self._newest, new, moved):
            yield self._rows_of(models), old, then

    def has_left(self, pane: Int64Array, row: Int64Array) -> Int64Array:
        """Return which of some panes lie behind the ring, as indices.

        Args:
            pane: panes.
            row: row of each, whose model decides how far the ring has come.
        """
        if self._alike is not None and int(pane.min()) > self._alike - self.span:
            return np.empty(0, dtype=np.int64)
        newest: Any = self._newest[self._owners[row]] if self._alike is None else self._alike
        return np.flatnonzero((pane <= newest - self.span) & (newest != _NOT_YET))

    def _panes_at(self, times: Int64Array | int) -> Int64Array:
        """Return the newest pane of each model at these times."""
        given = np.asarray(times, dtype=np.int64)
        return np.maximum(self._newest, np.where(given == NO_TIME, _NOT_YET, given // self.width))

    def _rows_of(self, models: Int64Array) -> Int64Array:
        chosen = np.zeros(len(self._newest), dtype=np.bool_)
        chosen[models] = True
        return np.flatnonzero(chosen[self._owners])

    def _clear(self, before: int, after: int, models: Int64Array) -> None:
        """Clear the panes after `before`, up to `after`, for these models."""
        rows = self._rows_of(models) if len(models) < len(self._newest) else None
        self._slots.clear(max(before + 1, after - self.span + 1), after, rows)

    def add(self, pane: Int64Array, row: Int64Array, cell: Int64Array, count: Int64Array) -> None:
        """Add to cells.

        Args:
            pane: pane of each change.
            row: row of the table.
            cell: column of the table.
            count: change of the count; may be negative.
        """
        if len(pane):
            changes = PaneChanges(pane, row, cell, count)
            ahead = self._slots.add(changes, self._newest, self._owners)
            self.ahead.add(*(column[ahead] for column in changes))

    def fold(self, row: int, into: int) -> None:
        """Add the counts of a row to another one of the same model, and set them to 0.

        Args:
            row: its number.
            into: number of the other one.
        """
        self._slots.fold(row, into)
        self.ahead.fold(row, into)

    def drop(self, row: int) -> None:
        """Set the counts of a row, by its number, to 0."""
        self._slots.drop(row)
        self.ahead.drop(row)

    def sum(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of panes, int64 (rows, cells).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: to read, each once.
        """
        total = np.zeros((len(rows), self.cells), dtype=np.int64)
        for some, newest in self._by_newest(rows):
            chosen = rows[some]
            for _, slots in self._slots.runs(start, end, newest, len(chosen)):
                total[some] += self._slots.taken(slots, chosen).sum(axis=0, dtype=np.int64)
        _, place, cell, count = self.ahead.placed(start, end, rows)
        np.add.at(total, (place, cell), count)
        return total

    def table(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """Return the counts of each pane, (panes, rows, cells).

        Args:
            start: first pane.
            end: first pane after the last.
            rows: to read, each once.
        """
        table = np.zeros((end - start, len(rows), self.cells), dtype=np.int64)
        for some, newest in self._by_newest(rows):
            chosen = rows[some]
            for pane, slots in self._slots.runs(start, end, newest, len(chosen)):
                panes = slice(pane - start, pane - start + slots.stop - slots.start)
                table[panes, some] = self._slots.taken(slots, chosen)
        pane, place, cell, count = self.ahead.placed(start, end, rows)
        np.add.at(table, (pane - start, place, cell), count)
        return table

    def series(self, row: int) -> tuple[Int64Array, Int64Array]:
        """Return the numbers of all panes, those ahead included, and one row's counts in each."""
        rows = np.array([row])
        pane, _, cell, count = self.ahead.placed(_NOT_YET, -_NOT_YET, rows)
        ahead, place = np.unique(pane, return_inverse=True)
        beyond = np.zeros((len(ahead), self.cells), dtype=np.int64)
        np.add.at(beyond, (place, cell), count)
        newest = self.newest(int(self._owners[row]))
        if newest is None:
            return ahead, beyond
        panes = np.append(np.arange(newest - self.span + 1, newest + 1), ahead)
        oldest, held = (newest + 1) % self.span, self._slots.counts[:, row]
        counts = np.concatenate([held[oldest:], held[:oldest], beyond], dtype=np.int64)
        return panes, counts

    def last(self, row: int, cells: slice) -> int | None:
        """Return the latest pane in which some cells of a row are above 0; None without one.

        Panes that are more than a day ahead, of events that were set aside, are left out.

        Args:
            row: its number.
            cells: the cells of the row to read.
        """
        newest = self.newest(int(self._owners[row]))
        panes, counts = self.ahead.of_row(row, cells)
        near = True if newest is None else panes <= newest + -(-DAY_MS // self.width)
        ahead = panes[(counts > 0) & near]
        if len(ahead):
            return int(ahead.max())
        return None if newest is None else self._slots.last(row, cells, newest)

    def first(self, row: int, cells: slice, since: int) -> int | None:
        """Return the earliest pane in which some cells of a row are not 0; None without one.

        Args:
            row: its number.
            cells: the cells of the row to read.
            since: the first pane to read.
        """
        newest = self.newest(int(self._owners[row]))
        if newest is not None:
            for pane, slots in self._slots.runs(since, newest + 1, newest, 1):
                busy = np.flatnonzero(self._slots.counts[slots, row, cells].any(axis=1))
                if len(busy):
                    return pane + int(busy[0])
        panes, _ = self.ahead.of_row(row, cells)
        return min(panes[panes >= since].tolist(), default=None)

    def reaches_back(self, pane: int, model: int) -> bool:
        """Return whether a pane is in the ring of a model or ahead of it.

        Args:
            pane: number of the pane.
            model: its number.
        """
        newest = self.newest(model)
        return newest is None or pane > newest - self.span

    def state(self) -> State:
        """Serializable state: every pane with counts, those ahead included.

        Panes are numbered as those of the model that is furthest; the slots of the others
        are the same.
        """
        furthest = int(self._newest.max(initial=_NOT_YET))
        panes = np.empty(0, dtype=np.int64)
        if furthest != _NOT_YET:
            panes = np.arange(furthest - self.span + 1, furthest + 1)
            panes = panes[self._slots.written[panes % self.span]]
        counts = self._slots.counts[panes % self.span, : self.rows]
        held = counts.any(axis=(1, 2))
        return {
            "width": self.width,
            "span": self.span,
            "newest": self._newest.copy(),
            "panes": panes[held],
            "counts": counts[held],
            "ahead": self.ahead.entries(),
        }

    def restore(
        self, state: State, rows: Int64Array, models: Int64Array, owners: Int64Array
    ) -> None:
        """Load what `state` of a ring of the same pane width returned.

        Args:
            state: of an earlier run. In one from before models had times of their own, all
                have the same newest pane.
            rows: old numbers of the rows that are still there.
            models: old numbers of the models that are still there.
            owners: new model number of each of these rows.

        Raises:
            ValueError: the panes have another width.
        """
        if state["width"] != self.width:
            raise ValueError(f"PaneRing: panes are {self.width} ms, got {state['width']}")
        counts, newest = state["counts"], state["newest"]
        if not isinstance(newest, np.ndarray):
            common = _NOT_YET if newest is None else newest
            newest = np.full(int(models.max(initial=-1)) + 1, common, dtype=np.int64)
        kept = rows[rows < counts.shape[1]]
        self._owners, self._newest = owners[: len(kept)], newest[models[models < len(newest)]]
        self._note_newest()
        self._slots, self.ahead = pane_slots(self.span, self.cells), AheadCounts()
        self._slots.counts = np.zeros((self.span, len(kept), self.cells), dtype=counts.dtype)
        for some, last in self._by_newest(np.arange(len(kept))):
            panes = last - (last - state["panes"]) % state["span"]
            inside = np.flatnonzero(panes > last - self.span)
            slots, chosen = panes[inside] % self.span, np.arange(len(kept))[some]
            self._slots.written[slots] = True
            self._slots.counts[np.ix_(slots, chosen)] = counts[np.ix_(inside, kept[chosen])]
        pane, row, cell, count = state["ahead"].T
        row = renumbered(row, rows)
        left = row != GONE
        self.ahead.add(pane[left], row[left], cell[left], count[left])

    def _note_newest(self) -> None:
        """Remember when panes begin anew, and whether all models have the same newest pane."""
        newest = self._newest
        self._next = np.where(newest == _NOT_YET, NO_TIME + 1, (newest + 1) * self.width)
        alike = len(newest) > 0 and bool((newest == newest[0]).all())
        self._alike = int(newest[0]) if alike else None

    def _by_newest(self, rows: Int64Array) -> Iterator[tuple[Rows, int]]:
        """Yield rows with the same newest pane, as places in `rows`, and that pane."""
        if self._alike is not None:
            if self._alike != _NOT_YET:
                yield slice(None), self._alike
            return
        newest = self._newest[self._owners[rows]]
        for pane in np.unique(newest).tolist():
            if pane != _NOT_YET:
                same = newest == pane
                yield (slice(None) if same.all() else np.flatnonzero(same)), pane
