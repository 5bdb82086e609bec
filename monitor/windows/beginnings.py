"""How each model's counts begin: its first pane, and sums from there on.

Asked for again and again while a reference of the first days waits for enough
outcomes. Only what has changed since the last time is read again.
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
    """What is known of one model.

    Attributes:
        row: series of its totals.
        first: its first pane; None where it predicted nothing.
        ends: up to where its counts were summed, in rising order.
        cells: sums from one of these ends to the next, the first one from `first` on.
    """

    row: int
    first: int | None = None
    ends: list[int] = field(default_factory=list)
    cells: list[Int64Array] = field(default_factory=list)


class Beginnings:
    """First panes of models, and sums of their totals from there on.

    A cache of what the ring holds: whoever adds to the ring says so by `note`.

    Args:
        ring: where panes are kept.
        read: settled counts of panes [start, end) in some rows, (panes, rows, 6).
    """

    def __init__(self, ring: PaneRing, read: Callable[[int, int, Int64Array], Int64Array]) -> None:
        self._ring = ring
        self._read = read
        self._known: dict[int, _Beginning] = {}
        self._changed = np.empty(0, dtype=np.int64)

    def note(self, model: Int64Array, pane: Int64Array) -> None:
        """Take notice of panes whose counts have changed, one row each."""
        if not self._known or not len(model):
            return
        self._ensure(int(model.max()) + 1)
        np.minimum.at(self._changed, model, pane)

    def first(self, model: int, row: int) -> int | None:
        """The earliest kept pane in which a model predicted anything; None without any.

        Args:
            model: its number.
            row: series of its totals.
        """
        return self._now(model, row).first

    def sums(self, model: int, row: int, ends: Sequence[int]) -> Int64Array:
        """Settled counts from a model's first pane up to each of some panes, (ends, 6).

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
        """Nobody asks for this model any more, for now."""
        self._known.pop(model, None)

    def _now(self, model: int, row: int) -> _Beginning:
        """What is known of a model, but for what has changed since."""
        self._ensure(model + 1)
        changed, known = int(self._changed[model]), self._known.get(model)
        if known is None or known.row != row:
            changed, known = _EARLIEST, _Beginning(row)
            self._known[model] = known
        self._changed[model] = _NEVER
        first = _NEVER if known.first is None else known.first
        if first >= changed != _NEVER or not self._ring.reaches_back(first):
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
