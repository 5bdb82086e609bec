"""Counts of few of very many cells: sorted keys, each with a count."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import BoolArray, Int64Array

_NOTHING: Int64Array = np.empty(0, dtype=np.int64)
_MOST_ADDED = 1 << 16


class SparseCounts:
    """Counts by key; a key whose count is 0 takes no memory.

    Changes wait until the counts are read, or there are many, and are merged in then.

    >>> counts = SparseCounts()
    >>> counts.add(np.array([7, 3, 7]), np.array([1, 1, 1]))
    >>> counts.add(np.array([3]), np.array([-1]))
    >>> [part.tolist() for part in counts.between(0, 10)]
    [[7], [2]]
    """

    def __init__(self) -> None:
        self._keys = self._counts = _NOTHING
        self._added: list[tuple[Int64Array, Int64Array]] = []
        self._waiting = 0

    @property
    def nbytes(self) -> int:
        """Memory of the merged counts."""
        return self._keys.nbytes + self._counts.nbytes

    def add(self, keys: Int64Array, counts: Int64Array) -> None:
        """Add to counts.

        Args:
            keys: of the counts, in any order; one may come several times.
            counts: what to add to each; may be negative.
        """
        if not len(keys):
            return
        self._added.append((keys, counts))
        self._waiting += len(keys)
        if self._waiting > max(_MOST_ADDED, len(self._keys) // 8):
            self._merge()

    def between(self, first: int, end: int) -> tuple[Int64Array, Int64Array]:
        """Return the keys of a range, in order, and their counts.

        Args:
            first: least key.
            end: key behind the last.
        """
        self._merge()
        start, stop = np.searchsorted(self._keys, [first, end]).tolist()
        return self._keys[start:stop], self._counts[start:stop]

    def entries(self) -> tuple[Int64Array, Int64Array]:
        """Return all keys, in order, and their counts."""
        self._merge()
        return self._keys, self._counts

    def keep(self, wanted: BoolArray) -> None:
        """Drop counts.

        Args:
            wanted: which of `entries` stay.
        """
        if not wanted.all():
            self._keys, self._counts = self._keys[wanted], self._counts[wanted]

    def _merge(self) -> None:
        if not self._added:
            return
        added = [np.concatenate(parts) for parts in zip(*self._added, strict=True)]
        self._added, self._waiting = [], 0
        keys, inverse = np.unique(added[0], return_inverse=True)
        more = np.zeros(len(keys), dtype=np.int64)
        np.add.at(more, inverse, added[1])
        place = np.searchsorted(self._keys, keys)
        known = place < len(self._keys)
        known[known] = self._keys[place[known]] == keys[known]
        counts = self._counts.copy()
        counts[place[known]] += more[known]
        self._keys = np.insert(self._keys, place[~known], keys[~known])
        self._counts = np.insert(counts, place[~known], more[~known])
        self.keep(self._counts != 0)
