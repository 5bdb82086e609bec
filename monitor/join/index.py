"""A hash index of keys that grows incrementally.

A place is 32 bits: a reference to a slot, and in the remaining bits a mark from the hash.
Places are searched in groups of eight, so that one comparison finds the candidates or
shows that there are none, and rows of other keys are hardly ever read. It takes about
seven bytes a row. A forgotten row leaves its place taken. Once too many places are taken,
a larger table is allocated, and each `enter` moves some thousand rows to it. Until all have
moved, both are searched, so that no batch waits for a rebuild.

Groups of places with marks are the idea of Swiss tables (Benzaquen, Evlogimenov,
Kulukundis and Perepelitsa 2018, "Swiss Tables Design Notes"), here for whole columns
of keys.

The index knows only keys and slots; `table` has the rows. The compiled kernel searches the
same places in the same sequence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.kernel import compiled_module, kernel_in_use

_ROOM = 1.8
"""Places for each row in a new table."""
_MAX_LOAD = 0.85
"""Share of places taken at which a larger table is allocated."""
_PACE = 24
"""Rows that move for each row that is entered."""
LEAST_PLACES = 1 << 20
"""Places at the start, 4 MiB: most monitors never outgrow them."""
_JUMPS = 32
_GROUP = 8
"""Places of a group; a search compares them all at once."""
_HALF = np.uint64(32)
_MULTIPLIER = np.uint64(hash("places of keys") % 2**64 | 1)
"""Odd; another one in each process, as Python salts its own dictionaries, so that nobody can choose
keys that crowd one part of the index (Dietzfelbinger et al. 1997: multiply-shift is universal).
Only where rows are looked for depends on it, never what is found."""
_ONE, _TOP = np.uint64(1), np.uint64(56)
_ORDINALS = np.uint64(0x0001020304050607)
_WORD = np.dtype("<u8")


class KeyIndex:
    """Finds the slots of keys.

    Args:
        keys_at: gives the keys of slots; 0 for a forgotten row.
        slots_of: gives the remembered slots of a chunk of rows.
        rows: gives all rows by slot, (rows, words), the first word being the key, for the
            compiled kernel; None to search without it.
    """

    def __init__(
        self,
        keys_at: Callable[[Int64Array], KeyArray],
        slots_of: Callable[[int], Int64Array],
        rows: Callable[[], KeyArray] | None = None,
    ) -> None:
        self._keys_at = keys_at
        self._slots_of = slots_of
        self._rows = rows if kernel_in_use() == "c" else None
        self._places = self._of_size(LEAST_PLACES, LEAST_PLACES)
        self._former: _Places | None = None
        self._to_move: deque[int] = deque()

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._places.nbytes + (self._former.nbytes if self._former else 0)

    def find(self, keys: KeyArray) -> Int64Array:
        """Return the slot of each key; -1 if it is not remembered."""
        slots = self._places.find(keys, self._keys_at)
        if self._former is not None:
            missing = (slots < 0).nonzero()[0]
            slots[missing] = self._former.find(keys.take(missing), self._keys_at)
        return slots

    def make_room(self, more: int, chunks: Iterable[int], rows: int, slots: int) -> None:
        """Reserve places for more rows; call it before the rows are written.

        Args:
            more: number of rows to come.
            chunks: the chunks that hold rows now, the last one not full.
            rows: number of rows now.
            slots: exclusive upper bound of all slots, of present and coming rows.
        """
        enough = self._places.taken + more <= _MAX_LOAD * len(self._places)
        if enough and slots <= self._places.slots:
            return
        while self._to_move:
            self._move_chunk(self._to_move.popleft())
        size = max(int(_ROOM * (rows + more)), LEAST_PLACES)
        self._former, self._places = self._places, self._of_size(size, slots)
        self._to_move = deque(chunks)
        if self._to_move:
            self._move_chunk(self._to_move.pop())

    def enter(self, keys: KeyArray, slots: Int64Array) -> None:
        """Add rows.

        Args:
            keys: distinct, and not remembered yet.
            slots: the slot of each.
        """
        self._places.enter(keys, slots)
        self._move(len(keys))

    @property
    def memory(self) -> tuple[NDArray[np.uint32], int, int]:
        """Places, the exclusive bound of slots and the multiplier, for the compiled kernel."""
        return self._places.memory, self._places.slots, int(_MULTIPLIER)

    @property
    def is_whole(self) -> bool:
        """True unless rows are moving to a larger table, so that two have to be searched."""
        return self._former is None

    def note_entered(self, count: int) -> None:
        """Count rows that the compiled kernel has entered; `enter` is for all others.

        Args:
            count: how many.
        """
        self._places.taken += count
        self._move(count)

    def _move(self, entered: int) -> None:
        """Move rows to the larger table, some for each row that was entered."""
        rows = _PACE * entered
        while self._to_move and rows > 0:
            rows -= self._move_chunk(self._to_move.popleft())
        if not self._to_move:
            self._former = None

    def leave(self, chunk: int) -> None:
        """Skip a chunk that no longer holds rows when moving rows."""
        if chunk in self._to_move:
            self._to_move.remove(chunk)

    def _of_size(self, size: int, slots: int) -> _Places:
        if self._rows is None:
            return _Places(size, slots)
        return _CompiledPlaces(size, slots, self._rows)

    def _move_chunk(self, chunk: int) -> int:
        slots = self._slots_of(chunk)
        self._places.enter(self._keys_at(slots), slots)
        return len(slots)


class _Places:
    """Groups of eight places; in each the lowest are taken first, and 0 is a free place.

    Args:
        size: least number of places.
        slots: exclusive upper bound of the slots.
    """

    def __init__(self, size: int, slots: int) -> None:
        groups = -(-size // _GROUP)
        self._places = _aligned(groups)
        self._groups = np.uint64(groups)
        self.slots = 1 << max(slots, size).bit_length()  # exceeds the rows that fit
        self._slot = np.uint32(self.slots - 1)
        self.taken = 0

    def __len__(self) -> int:
        return self._places.size

    @property
    def nbytes(self) -> int:
        return self._places.nbytes

    @property
    def memory(self) -> NDArray[np.uint32]:
        """All places, (groups, 8)."""
        return self._places

    def find(self, keys: KeyArray, keys_at: Callable[[Int64Array], KeyArray]) -> Int64Array:
        """Return the slot of each key; -1 if it has no place here."""
        slots = np.full(len(keys), -1, dtype=np.int64)
        todo, step = np.arange(len(keys)), 0
        group, marks = self._first(keys)
        while len(todo):
            places = self._places.take(group, axis=0)
            alike = _words((places & ~self._slot) == marks[:, None])
            while len(which := alike.nonzero()[0]):
                place = places.reshape(-1).take(which * _GROUP + _lowest(alike.take(which)))
                found = (place & self._slot).astype(np.int64)
                hit = keys_at(found) == keys.take(which)
                slots[todo.take(which[hit])] = found[hit]
                alike &= alike - _ONE
                alike[which[hit]] = 0
            onward = ((places[:, -1] != 0) & (slots.take(todo) < 0)).nonzero()[0]
            step += 1
            todo, keys, marks = todo.take(onward), keys.take(onward), marks.take(onward)
            group = self._next(group.take(onward), step)
        return slots

    def enter(self, keys: KeyArray, slots: Int64Array) -> None:
        """Add distinct keys that have no place yet."""
        self.taken += len(keys)
        places = self._places.reshape(-1)
        group, marks = self._first(keys)
        mine = marks | slots.astype(np.uint32)
        steps = np.zeros(len(keys), dtype=np.int64)
        while len(mine):
            free = _words(self._places.take(group, axis=0) == 0)
            some = free.nonzero()[0]
            at = group.take(some) * _GROUP + _lowest(free.take(some))
            places[at] = mine.take(some)
            left = np.ones(len(mine), dtype=np.bool_)
            left[some] = places.take(at) != mine.take(some)  # only one of several keys gets a place
            onward = left.nonzero()[0]
            full = free.take(onward) == 0
            mine, steps = mine.take(onward), steps.take(onward) + full
            group = group.take(onward)
            group = np.where(full, self._next(group, steps), group)

    def _first(self, keys: KeyArray) -> tuple[Int64Array, NDArray[np.uint32]]:
        """Return the group where the search for each key begins, and its mark, never 0.

        The group comes from the upper half of the mixed bits, scaled to the number of
        groups; the mark from lower bits, which hardly depend on the group.
        """
        mixed = keys * _MULTIPLIER
        group = (((mixed >> _HALF) * self._groups) >> _HALF).astype(np.int64)
        marks: NDArray[np.uint32] = mixed.astype(np.uint32) & ~self._slot
        np.maximum(marks, np.uint32(self.slots), out=marks)
        return group, marks

    def _next(self, group: Int64Array, step: Int64Array | int) -> Int64Array:
        """Return the next group to search: first wider jumps, which break up clusters, then all."""
        group = group + np.where(np.less(step, _JUMPS), step, 1)
        return np.where(group < len(self._places), group, group - len(self._places))


class _CompiledPlaces(_Places):
    """Places that the compiled kernel searches.

    Args:
        size: least number of places.
        slots: exclusive upper bound of the slots.
        rows: gives all rows by slot, the first word being the key.
    """

    def __init__(self, size: int, slots: int, rows: Callable[[], KeyArray]) -> None:
        super().__init__(size, slots)
        self._kernel: Any = compiled_module()
        self._rows = rows

    def find(self, keys: KeyArray, keys_at: Callable[[Int64Array], KeyArray]) -> Int64Array:  # noqa: ARG002
        """Return the slot of each key; -1 if it has no place here."""
        keys, slots = np.ascontiguousarray(keys), np.empty(len(keys), dtype=np.int64)
        self._kernel.find(self._places, self.slots, int(_MULTIPLIER), keys, self._rows(), slots)
        return slots

    def enter(self, keys: KeyArray, slots: Int64Array) -> None:
        """Add distinct keys that have no place yet."""
        self.taken += len(keys)
        keys, slots = np.ascontiguousarray(keys), np.ascontiguousarray(slots)
        self._kernel.enter(self._places, self.slots, int(_MULTIPLIER), keys, slots)


def _aligned(groups: int) -> NDArray[np.uint32]:
    """Return free places, (groups, 8); no group crosses a cache line."""
    memory = np.zeros(groups * _GROUP + _GROUP - 1, dtype=np.uint32)
    first = -memory.ctypes.data % (4 * _GROUP) // 4
    return memory[first : first + groups * _GROUP].reshape(groups, _GROUP)


def _words(flags: BoolArray) -> KeyArray:
    """Return the eight flags of each row as the bytes of one word."""
    return flags.view(_WORD).reshape(-1)


def _lowest(words: KeyArray) -> Int64Array:
    """Return the index, 0 to 7, of the lowest byte that is 1, in words of bytes 0 or 1."""
    lowest = words & (~words + _ONE)
    return ((lowest * _ORDINALS) >> _TOP).astype(np.int64)
