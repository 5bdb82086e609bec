"""Where the row of a key lies: an index that grows little by little.

Open addressing over 32-bit references, some seven bytes a row. What is
forgotten leaves its reference behind; once too many places are taken, a fresh
array is begun, and every `enter` moves some thousand rows more into it. Until all
have moved both are searched, so that no batch ever waits for a rebuild.

Knows keys and slots alone. What a row says is `table`'s business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from monitor.events import Int64Array, KeyArray

_ROOM = 1.8
"""Places for each row when an array is begun."""
_MAX_LOAD = 0.75
"""Share of places taken at which the next array is begun."""
_PACE = 8
"""Rows that move for each row that is entered."""
_LEAST_PLACES = 1024
_JUMPS = 32
_HALF = np.uint64(32)
_MIXER = np.uint64(0x9E3779B97F4A7C15)


class KeyIndex:
    """Finds the slots of keys.

    Args:
        keys_at: the keys of slots; 0 where a row is no more.
        slots_of: the remembered slots of a chunk of rows.
    """

    def __init__(
        self, keys_at: Callable[[Int64Array], KeyArray], slots_of: Callable[[int], Int64Array]
    ) -> None:
        self._keys_at = keys_at
        self._slots_of = slots_of
        self._places = _Places(_LEAST_PLACES)
        self._former: _Places | None = None
        self._to_move: deque[int] = deque()

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._places.nbytes + (self._former.nbytes if self._former else 0)

    def find(self, keys: KeyArray) -> Int64Array:
        """Slot of each key; -1 where it is not remembered."""
        slots = self._places.find(keys, self._keys_at)
        if self._former is not None:
            missing = np.flatnonzero(slots < 0)
            slots[missing] = self._former.find(keys.take(missing), self._keys_at)
        return slots

    def make_room(self, more: int, chunks: Iterable[int], rows: int) -> None:
        """Be ready for more rows; to be called before they are written.

        Args:
            more: how many.
            chunks: those that hold rows now, the one that is being filled last.
            rows: how many these are.
        """
        if self._places.taken + more <= _MAX_LOAD * len(self._places):
            return
        while self._to_move:
            self._move_chunk(self._to_move.popleft())
        size = int(_ROOM * (rows + more)) + _LEAST_PLACES
        self._former, self._places = self._places, _Places(size)
        self._to_move = deque(chunks)
        if self._to_move:
            self._move_chunk(self._to_move.pop())

    def enter(self, keys: KeyArray, slots: Int64Array) -> None:
        """Enter rows whose keys are distinct and not remembered yet."""
        self._places.enter(keys, slots)
        rows = _PACE * len(keys)
        while self._to_move and rows > 0:
            rows -= self._move_chunk(self._to_move.popleft())
        if not self._to_move:
            self._former = None

    def leave(self, chunk: int) -> None:
        """Take note that a chunk holds no rows any more."""
        if chunk in self._to_move:
            self._to_move.remove(chunk)

    def _move_chunk(self, chunk: int) -> int:
        slots = self._slots_of(chunk)
        self._places.enter(self._keys_at(slots), slots)
        return len(slots)


class _Places:
    """One array: place by place a reference to a slot, which is the slot and 1; or 0.

    Args:
        size: number of places.
    """

    def __init__(self, size: int) -> None:
        self._references = np.zeros(size, dtype=np.uint32)
        self._size = np.uint64(size)
        self.taken = 0

    def __len__(self) -> int:
        return len(self._references)

    @property
    def nbytes(self) -> int:
        return self._references.nbytes

    def find(self, keys: KeyArray, keys_at: Callable[[Int64Array], KeyArray]) -> Int64Array:
        """Slot of each key; -1 where none of its references leads to it."""
        slots = np.full(len(keys), -1, dtype=np.int64)
        todo, at = np.arange(len(keys)), self._first(keys)
        step = 0
        while len(todo):
            found = self._references.take(at).astype(np.int64) - 1
            taken = np.flatnonzero(found >= 0)
            todo, at, found = todo.take(taken), at.take(taken), found.take(taken)
            keys = keys.take(taken)
            hit = keys_at(found) == keys
            slots[todo[hit]] = found[hit]
            onward = np.flatnonzero(~hit)
            step += 1
            todo, keys, at = todo.take(onward), keys.take(onward), self._next(at, onward, step)
        return slots

    def enter(self, keys: KeyArray, slots: Int64Array) -> None:
        """Enter distinct keys that have no reference yet."""
        self.taken += len(keys)
        references = (slots + 1).astype(np.uint32)
        at = self._first(keys)
        step = 0
        while len(references):
            free = np.flatnonzero(self._references.take(at) == 0)
            self._references[at.take(free)] = references.take(free)
            onward = np.flatnonzero(self._references.take(at) != references)
            step += 1
            references, at = references.take(onward), self._next(at, onward, step)

    def _first(self, keys: KeyArray) -> Int64Array:
        """Where the search for each key begins: its bits, mixed, scaled to the size."""
        return ((((keys * _MIXER) >> _HALF) * self._size) >> _HALF).astype(np.int64)

    def _next(self, at: Int64Array, onward: Int64Array, step: int) -> Int64Array:
        """Where it goes on: wider jumps against clusters, at last place by place to the end."""
        at = at.take(onward) + (step if step < _JUMPS else 1)
        return np.where(at < len(self), at, at - len(self))
