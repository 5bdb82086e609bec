"""The first pane of each model, and sums of its counts from there on.

A reference of the first days that waits for enough outcomes reads these at every step.
Only panes that have changed since the last step are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.events.columns import Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.windows.panes import PaneRing

_MADE = slice(PREDICTED_POSITIVE, PREDICTED_NEGATIVE + 1)
_EARLIEST, _NEVER = -(1 << 60), 1 << 60


@dataclass(slots=True)
class _Beginning:
    """Cached sums of one model.

    Attributes:
        row: series of its totals.
        first: its first pane; None where it predicted nothing.
        ends: panes up to which its counts are summed, in rising order.
        cells: sums from one of these ends to the next, the first one from `first` on.
    """

    row: int
    first: int | None = None
    ends: list[int] = field(default_factory=list)
    cells: list[Int64Array] = field(default_factory=list)


class Beginnings:
    """First panes of models, and sums of their totals from there on.

    A cache of the ring: call `note` after each addition to the ring.

    Args:
        ring: of panes.
        read: returns the counts of panes [start, end) in some rows, (panes, rows, 6), with
            silence as a negative where the regime says so.
    """

    def __init__(self, ring: PaneRing, read: Callable[[int, int, Int64Array], Int64Array]) -> None:
        self._ring = ring
        self._read = read
        self._known: dict[int, _Beginning] = {}
        self._changed = np.empty(0, dtype=np.int64)

    def note(self, model: Int64Array, pane: Int64Array) -> None:
        """Invalidate panes whose counts have changed.

        Args:
            model: model number of each change.
            pane: pane of each change.
        """
        if not self._known or not len(model):
            return
        self._ensure(int(model.max()) + 1)
        np.minimum.at(self._changed, model, pane)

    def memory(self, models: int) -> Int64Array | None:
        """Return the first pane by model whose counts have changed; None where none is asked for.

        Args:
            models: how many there are.
        """
        if not self._known:
            return None
        self._ensure(models)
        return self._changed

    def first(self, model: int, row: int) -> int | None:
        """Return the earliest stored pane with a prediction of a model; None without any.

        Args:
            model: its number.
            row: series of its totals.
        """
        return self._now(model, row).first

    def sums(self, model: int, row: int, ends: Sequence[int]) -> Int64Array:
        """Return the counts from a model's first pane up to each of some panes, (ends, 6).

        Args:
            model: its number; it has a first pane.
            row: series of its totals.
            ends: panes in rising order, exclusive.
        """
        known = self._now(model, row)
        shared = len(known.ends) if known.ends == list(ends[: len(known.ends)]) else 0
        del known.ends[shared:], known.cells[shared:]
        start = known.first if not shared else known.ends[-1]
        assert start is not None  # noqa: S101  # its caller knows the first pane
        for end in ends[shared:]:
            table = self._read(start, end, np.array([row]))[:, 0]
            known.ends.append(end)
            known.cells.append(table.sum(axis=0))
            start = end
        return np.cumsum(known.cells[: len(ends)], axis=0)

    def forget(self, model: int) -> None:
        """Drop the cached sums of a model."""
        self._known.pop(model, None)

    def _now(self, model: int, row: int) -> _Beginning:
        """Return the cached sums of a model without those that have changed."""
        self._ensure(model + 1)
        changed, known = int(self._changed[model]), self._known.get(model)
        if known is None or known.row != row:
            changed, known = _EARLIEST, _Beginning(row)
            self._known[model] = known
        self._changed[model] = _NEVER
        first = _NEVER if known.first is None else known.first
        if first >= changed != _NEVER or not self._ring.reaches_back(first, model):
            known.first = self._ring.first(row, _MADE, min(changed, first))
            if known.first != first:
                changed = _EARLIEST
        valid = sum(end <= changed for end in known.ends)
        del known.ends[valid:], known.cells[valid:]
        return known

    def _ensure(self, models: int) -> None:
        more = models - len(self._changed)
        if more > 0:
            fresh = np.full(more, _EARLIEST, dtype=np.int64)
            self._changed = np.concatenate([self._changed, fresh])
