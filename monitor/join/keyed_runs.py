"""Columns by key, to which rows are added, and from which those of some keys are taken.

They are stored as sorted columns, a large run and a small recent one, so that adding and
taking are fast for a few rows as for millions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray, Rows

_SMALL = 20_000


class _Keyed(Protocol):
    """Columns of which one is a key, and one a time."""

    @property
    def key(self) -> KeyArray: ...
    @property
    def time(self) -> Int64Array: ...
    def __len__(self) -> int: ...
    def take(self, index: Rows) -> Self: ...
    def concatenate(self, parts: Sequence[Self]) -> Self: ...


C = TypeVar("C", bound=_Keyed)


class KeyedRuns(Generic[C]):
    """Rows by key; a key may have any number of them.

    Args:
        none: the columns without a row.
    """

    def __init__(self, none: C) -> None:
        self._none = none
        self._large, self._recent = _Run(none), _Run(none)

    def __len__(self) -> int:
        return self._large.alive + self._recent.alive

    @property
    def stored(self) -> int:
        """Rows that take memory, taken ones among them."""
        return self._large.stored + self._recent.stored

    def add(self, rows: C) -> None:
        """Store rows."""
        if not len(rows):
            return
        self._recent = _Run(self._none.concatenate([self._recent.rows(), rows]))
        if self._recent.alive > max(_SMALL, self._large.alive // 4):
            self._large, self._recent = _Run(self.rows()), _Run(self._none)

    def rows(self) -> C:
        """Return all rows."""
        return self._none.concatenate([self._large.rows(), self._recent.rows()])

    def take(self, keys: KeyArray) -> C:
        """Remove and return the rows of keys.

        Args:
            keys: distinct.
        """
        found = [run.take(keys) for run in (self._large, self._recent) if run.alive]
        return self._none.concatenate([self._none, *found])

    def find(self, keys: KeyArray) -> tuple[Int64Array, C]:
        """Return, for each row of any of these keys, the index of its key; and the rows.

        Args:
            keys: distinct or not.
        """
        found = [run.find(keys) for run in (self._large, self._recent)]
        of_key = np.concatenate([key for key, _ in found])
        return of_key, self._none.concatenate([rows for _, rows in found])

    def expire(self, before: int) -> int:
        """Remove rows with a time before a moment (epoch milliseconds); return how many."""
        return self._large.expire(before) + self._recent.expire(before)

    def drop_earliest(self, number: int) -> None:
        """Remove the rows with the earliest times; of one time those with the lowest keys.

        Args:
            number: how many at least, above 0; all rows of the last key and time go.
        """
        rows = self.rows()
        last = int(np.partition(rows.time, number - 1)[number - 1])
        at_last = rows.key[rows.time == last]
        left = number - int((rows.time < last).sum())
        key = int(np.partition(at_last, left - 1)[left - 1])
        for run in (self._large, self._recent):
            run.drop_to(last, key)

    def restore(self, rows: C) -> None:
        """Replace all rows."""
        self._large, self._recent = _Run(rows), _Run(self._none)


class _Run(Generic[C]):
    """Rows sorted by key, with a mask of those that are not taken."""

    def __init__(self, rows: C) -> None:
        self._rows = rows.take(np.argsort(rows.key, kind="stable"))
        self._alive: BoolArray = np.ones(len(rows), dtype=np.bool_)
        self.alive = len(rows)
        self._earliest = int(rows.time.min()) if len(rows) else 0

    @property
    def stored(self) -> int:
        return len(self._rows)

    def rows(self) -> C:
        return self._rows.take(self._alive)

    def take(self, keys: KeyArray) -> C:
        rows, _ = self._places(keys)
        found = self._rows.take(rows)
        self._drop(rows)
        return found

    def find(self, keys: KeyArray) -> tuple[Int64Array, C]:
        rows, of_key = self._places(keys)
        return of_key, self._rows.take(rows)

    def expire(self, before: int) -> int:
        if not self.alive or self._earliest >= before:
            return 0
        rows = np.flatnonzero(self._alive & (self._rows.time < before))
        self._drop(rows)
        if self.alive:
            self._earliest = int(self._rows.time[self._alive].min())
        return len(rows)

    def drop_to(self, time: int, key: int) -> None:
        """Remove the rows before a moment, and those of it with this key or a lower one."""
        earlier = self._rows.time < time
        earlier |= (self._rows.time == time) & (self._rows.key <= key)
        self._drop(np.flatnonzero(self._alive & earlier))

    def _places(self, keys: KeyArray) -> tuple[Int64Array, Int64Array]:
        first = np.searchsorted(self._rows.key, keys, side="left")
        after = np.searchsorted(self._rows.key, keys, side="right")
        rows = _spans(first, after)
        of_key = np.repeat(np.arange(len(keys)), after - first)
        alive = self._alive[rows]
        return rows[alive], of_key[alive]

    def _drop(self, rows: Int64Array) -> None:
        self._alive[rows] = False
        self.alive -= len(rows)
        if len(self._rows) > 2 * self.alive + _SMALL:
            left = self._rows.take(self._alive)
            self._rows, self._alive = left, np.ones(len(left), dtype=np.bool_)


def _spans(first: Int64Array, after: Int64Array) -> Int64Array:
    """Return all indices of the spans [first, after), one span after the other."""
    lengths = after - first
    starts = np.repeat(first - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return starts + np.arange(int(lengths.sum()))
