"""The remembered predictions: 24 bytes each, found by key.

Rows are stored in chunks in the order of arrival, which is nearly the order of time. Rows
are forgotten from the front, chunk by chunk, and a freed chunk is used again. Rows move
only out of the front chunk, so that growing allocates no more than the added chunks. A row
is three 64-bit words: its key, and the two of `monitor.join.packing`.

This module owns memory and layout. `monitor.join.join` has the rules of what may change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray
from monitor.join import packing as words
from monitor.join.index import KeyIndex

CHUNK = 8192
"""Rows of a chunk; a chunk is freed as a whole."""

_WORDS = 3
_KEY, _WHEN, _WHAT = range(_WORDS)
_GROWTH = 64
_NO_SLOTS: Int64Array = np.empty(0, dtype=np.int64)
_NO_WHEN: KeyArray = np.empty(0, dtype=np.uint64)


class Reserved(NamedTuple):
    """Slots for rows that are about to be added.

    Attributes:
        runs: first slot and end of each run of slots, (runs, 2).
        chunks: unused chunks that some of them are in.
    """

    runs: Int64Array
    chunks: list[int]

    @property
    def slots(self) -> Int64Array:
        """The slots, in order."""
        return np.concatenate([_NO_SLOTS, *(np.arange(*run) for run in self.runs.tolist())])


class PredictionTable:
    """Rows of predictions, with an index by key.

    A *slot* is the index of a row; it is valid until the next `append` or `forget`. Key 0
    marks a forgotten row: keys are expected to be hashes, and a hash of 0 is stored as 1.

    >>> table = PredictionTable()
    >>> table.append(np.array([7, 9], np.uint64), np.zeros(2, np.uint64), np.zeros(2, np.uint64))
    array([0, 1])
    >>> table.find(np.array([9, 8], np.uint64))
    array([ 1, -1])

    Attributes:
        earliest: the earliest `when` of each chunk, see `monitor.join.packing`.
    """

    def __init__(self) -> None:
        self._rows = np.zeros((0, _WORDS), dtype=np.uint64)
        self._chunks: deque[int] = deque()
        self._unused: list[int] = []
        self._filled = CHUNK
        self.earliest = _NO_WHEN
        self._index = KeyIndex(self.keys, self._remembered, self.all_rows)

    def __len__(self) -> int:
        """Rows from the first to the last remembered one, including forgotten ones between."""
        return len(self._chunks) * CHUNK - (CHUNK - self._filled)

    @property
    def nbytes(self) -> int:
        """Memory held for rows and index."""
        return self._rows.nbytes + self._index.nbytes

    def find(self, keys: KeyArray) -> Int64Array:
        """Return the slot of each key; -1 if it is not remembered."""
        return self._index.find(_storable(keys))

    def append(self, keys: KeyArray, when: KeyArray, what: KeyArray) -> Int64Array:
        """Add predictions.

        Args:
            keys: distinct, and not remembered yet.
            when: their times and groups, see `monitor.join.packing`.
            what: their other values, see `monitor.join.packing`.

        Returns:
            Their slots.
        """
        keys = _storable(keys)
        reserved = self.reserve(len(keys))
        done = 0
        for first, end in reserved.runs.tolist():
            rows, part = self._rows[first:end], slice(done, done + end - first)
            rows[:, _KEY], rows[:, _WHEN], rows[:, _WHAT] = keys[part], when[part], what[part]
            chunk = first // CHUNK
            self.earliest[chunk] = min(self.earliest[chunk], when[part].min())
            done = part.stop
        slots = reserved.slots
        self._index.enter(keys, slots)
        self._count(reserved)
        return slots

    def reserve(self, rows: int) -> Reserved:
        """Return the slots of the next rows; `fill` or `give_back` has to follow.

        Args:
            rows: how many.
        """
        reach = len(self.earliest) * CHUNK + rows + CHUNK
        self._index.make_room(rows, self._chunks, len(self), reach)
        runs, chunks = [], []
        first = self._chunks[-1] * CHUNK + self._filled if self._filled < CHUNK else 0
        most = CHUNK - self._filled
        while rows > 0:
            if not most:
                chunks.append(self._unused_chunk())
                first, most = chunks[-1] * CHUNK, CHUNK
            taken = min(rows, most)
            runs.append((first, first + taken))
            rows, most = rows - taken, 0
        return Reserved(np.array(runs, dtype=np.int64).reshape(-1, 2), chunks)

    def fill(self, reserved: Reserved) -> None:
        """Count rows that the kernel has written into reserved slots and entered in the index."""
        self._index.note_entered(self._count(reserved))

    def give_back(self, reserved: Reserved) -> None:
        """Leave reserved slots unused."""
        self._unused.extend(reversed(reserved.chunks))

    @property
    def index_memory(self) -> tuple[Any, int, int]:
        """Places of the index, the exclusive bound of its slots, and its multiplier."""
        return self._index.memory

    @property
    def has_one_index(self) -> bool:
        """True unless rows are moving to a larger index, so that two have to be searched."""
        return self._index.is_whole

    def keys(self, slots: Int64Array) -> KeyArray:
        """Return the keys of rows; 0 for forgotten ones."""
        return self._word(slots, _KEY)

    def when(self, slots: Int64Array) -> KeyArray:
        """Return times and groups of rows, see `monitor.join.packing`."""
        return self._word(slots, _WHEN)

    def what(self, slots: Int64Array) -> KeyArray:
        """Return predictions and labels of rows, see `monitor.join.packing`."""
        return self._word(slots, _WHAT)

    def label(self, slots: Int64Array, labelled: KeyArray) -> None:
        """Apply labels to rows; of each row the greatest `what` stays.

        Args:
            slots: the rows; one may occur several times.
            labelled: `what` of each row with the new label.
        """
        np.maximum.at(self._rows[:, _WHAT], slots, labelled)

    def rewrite(self, slots: Int64Array, when: KeyArray, what: KeyArray) -> None:
        """Replace the values of rows; their keys stay.

        Args:
            slots: the rows, distinct.
            when: new times and groups.
            what: new predictions and labels.
        """
        self._rows[slots, _WHEN] = when
        self._rows[slots, _WHAT] = what
        np.minimum.at(self.earliest, slots // CHUNK, when)

    def chunks(self, before: int | None = None) -> Iterator[Int64Array]:
        """Yield slots of remembered rows, a chunk at a time, in the order of arrival.

        Args:
            before: skip chunks without a prediction made before this moment, epoch
                milliseconds; None to skip none.
        """
        for chunk in self._chunks:
            if self._may_hold(chunk, before):
                yield self._remembered(chunk)

    def front(self, before: int | None = None) -> Int64Array:
        """Return slots of remembered rows in the first chunk; none while it is not full.

        Args:
            before: none also if all were made at this moment or later, epoch milliseconds.
        """
        if len(self) < CHUNK or not self._may_hold(self._chunks[0], before):
            return _NO_SLOTS
        return self._remembered(self._chunks[0])

    def holds(self, before: int) -> bool:
        """Return whether the first chunk may hold a prediction made before a moment (epoch ms)."""
        return bool(self._chunks) and self._may_hold(self._chunks[0], before)

    def forget(self, slots: Int64Array) -> None:
        """Forget rows; their memory is free again once they are in a freed front chunk."""
        self._rows[slots, _KEY] = 0

    def free_front(self) -> bool:
        """Free the first chunk if at most a quarter of it is remembered; return whether it was.

        The rest, predictions dated far ahead of the others, moves to the end.
        """
        remaining = self.front()
        if len(self) < CHUNK or len(remaining) > CHUNK // 4:
            return False
        rows = self._rows[remaining]
        self.forget(remaining)
        chunk = self._chunks.popleft()
        self._index.leave(chunk)
        self._unused.append(chunk)
        if not self._chunks:
            self._filled = CHUNK
        if len(rows):
            self.append(rows[:, _KEY], rows[:, _WHEN], rows[:, _WHAT])
        return True

    def all_rows(self) -> KeyArray:
        """Return the memory of the table, (slots, 3), with rows that hold nothing."""
        return self._rows

    def rows(self) -> KeyArray:
        """Return all remembered rows, (n, 3), in the order of arrival; a copy."""
        remembered: KeyArray = self._rows[np.concatenate([_NO_SLOTS, *self.chunks()])]
        return remembered

    def state(self) -> KeyArray:
        """Return all rows, (n, 3), in the order of arrival, with forgotten ones; a copy."""
        rows: KeyArray = np.empty((len(self), _WORDS), dtype=np.uint64)
        for number, chunk in enumerate(self._chunks):  # far faster than one fancy index
            part = rows[number * CHUNK : (number + 1) * CHUNK]
            part[:] = self._rows[chunk * CHUNK : chunk * CHUNK + len(part)]
        return rows

    def restore(self, rows: KeyArray) -> None:
        """Replace all rows by those from `state`."""
        chunks = -(-len(rows) // CHUNK)
        self._rows = np.zeros((chunks * CHUNK, _WORDS), dtype=np.uint64)
        self._rows[: len(rows)] = rows
        self._chunks, self._unused = deque(range(chunks)), []
        self._filled = CHUNK - (chunks * CHUNK - len(rows))
        firsts = np.arange(0, len(rows), CHUNK)
        self.earliest = np.minimum.reduceat(rows[:, _WHEN], firsts) if len(rows) else _NO_WHEN
        self._index = KeyIndex(self.keys, self._remembered, self.all_rows)
        self._index.make_room(len(rows), (), 0, chunks * CHUNK)
        for slots in self.chunks():
            self._index.enter(self.keys(slots), slots)

    def _count(self, reserved: Reserved) -> int:
        """Count the rows in reserved slots; return how many there are."""
        rows = int((reserved.runs[:, 1] - reserved.runs[:, 0]).sum())
        self._chunks.extend(reserved.chunks)
        self._filled += rows - CHUNK * len(reserved.chunks)
        return rows

    def _unused_chunk(self) -> int:
        if not self._unused:
            self._grow()
        chunk = self._unused.pop()
        self.earliest[chunk] = words.LAST_WHEN
        return chunk

    def _grow(self) -> None:
        """Add chunks at the end, without a copy where the system can extend the memory."""
        chunks = len(self.earliest)
        more = 1 + chunks // _GROWTH
        self._rows.resize(((chunks + more) * CHUNK, _WORDS), refcheck=False)
        self.earliest = np.append(self.earliest, np.zeros(more, dtype=np.uint64))
        self._unused.extend(range(chunks + more - 1, chunks - 1, -1))

    def _may_hold(self, chunk: int, before: int | None) -> bool:
        return before is None or bool(self.earliest[chunk] < words.first_when(before))

    def _remembered(self, chunk: int) -> Int64Array:
        first = chunk * CHUNK
        return first + np.flatnonzero(self._rows[first : first + CHUNK, _KEY])

    def _word(self, slots: Int64Array, word: int) -> KeyArray:
        """Return one word of rows; `take` of a flat view is twice as fast as two indices."""
        return self._rows.reshape(-1).take(slots * _WORDS + word)


def _storable(keys: KeyArray) -> KeyArray:
    return keys if keys.min(initial=1) else np.maximum(keys, np.uint64(1))
