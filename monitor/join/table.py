"""The predictions that are remembered: 24 bytes each, found by key.

Rows lie in a ring in the order of their arrival, which is nearly the order of
time: what is forgotten is forgotten from the front, chunk by chunk. An index of
open addressing finds a row by its key. A row is three 64-bit words:

    key                                                                     64
    time, ms since 1900              44 | group                             20
    label time, ms since 1900        44 | label rank 2 | stratum 7 | score bin 10 | predicted 1

so that of two labels of one prediction the winner is simply the greater third
word: the later one, at the same time null before 1 before 0, and of equal ones
that with the rarer sampling (see `strata`). No label is 0.

Owns memory and layout. The rules of what may change live in `monitor.join`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.catalogue import MAX_GROUPS
from monitor.events import (
    EARLIEST_MS,
    RETRACTED,
    BoolArray,
    FloatArray,
    Int64Array,
    KeyArray,
    score_bins,
)

CHUNK = 8192
"""Rows that are forgotten together."""

_GROUP_BITS = np.uint64(MAX_GROUPS.bit_length() - 1)
_GROUP_MASK = np.uint64(MAX_GROUPS - 1)
_LABEL_BITS = np.uint64(18)
_STRATUM_BITS = np.uint64(11)
_STRATUM_MASK = np.uint64((1 << 7) - 1)
_PREDICTION_MASK = np.uint64((1 << 11) - 1)
_RANK_OF_VALUE = np.array([1, 2, 3], dtype=np.uint64)
_VALUE_OF_RANK = np.array([-1, 0, 1, RETRACTED], dtype=np.int64)
_KEY, _WHEN, _WHAT = 0, 1, 2
_MAX_LOAD = 0.66
_NO_SLOTS: Int64Array = np.empty(0, dtype=np.int64)


def when_words(time: Int64Array, group: Int64Array) -> KeyArray:
    """Second word of rows: event time and group of a prediction."""
    since = (time - EARLIEST_MS).astype(np.uint64)
    return (since << _GROUP_BITS) | group.astype(np.uint64)


def what_words(predicted_positive: BoolArray, score: FloatArray) -> KeyArray:
    """Third word of rows that have no label yet."""
    bins = score_bins(score).astype(np.uint64)
    return (bins << np.uint64(1)) | predicted_positive.astype(np.uint64)


def label_words(time: Int64Array, value: Int64Array, stratum: Int64Array | int = 0) -> KeyArray:
    """The label part of third words, to be combined with a row's own by `PredictionTable.label`."""
    since = (time - EARLIEST_MS).astype(np.uint64)
    label = ((since << np.uint64(2)) | _RANK_OF_VALUE[value]) << _LABEL_BITS
    return label | (np.asarray(stratum).astype(np.uint64) << _STRATUM_BITS)


def times_of(when: KeyArray) -> Int64Array:
    """Event time of a prediction, epoch milliseconds, from its second word."""
    return (when >> _GROUP_BITS).astype(np.int64) + EARLIEST_MS


def groups_of(when: KeyArray) -> Int64Array:
    """Group of a prediction, from its second word."""
    return (when & _GROUP_MASK).astype(np.int64)


def predicted_positive_of(what: KeyArray) -> BoolArray:
    """What was predicted, from the third word."""
    return (what & np.uint64(1)).astype(np.bool_)


def score_bins_of(what: KeyArray) -> Int64Array:
    """Score bin, from the third word."""
    return ((what & _PREDICTION_MASK) >> np.uint64(1)).astype(np.int64)


def label_values_of(what: KeyArray) -> Int64Array:
    """Label in force, from the third word: 0, 1, `RETRACTED`, or -1 where none came."""
    return _VALUE_OF_RANK[((what >> _LABEL_BITS) & np.uint64(3)).astype(np.int64)]


def label_times_of(what: KeyArray) -> Int64Array:
    """Event time of the label in force, epoch milliseconds; 1900 where none came."""
    return (what >> (_LABEL_BITS + np.uint64(2))).astype(np.int64) + EARLIEST_MS


def strata_of(what: KeyArray) -> Int64Array:
    """Stratum of the label in force, from the third word; 0 where none came."""
    return ((what >> _STRATUM_BITS) & _STRATUM_MASK).astype(np.int64)


def with_label_of(labelled: KeyArray, what: KeyArray) -> KeyArray:
    """Third words of other predictions, with the labels that were in force for these."""
    return (labelled & ~_PREDICTION_MASK) | (what & _PREDICTION_MASK)


class PredictionTable:
    """Rows of predictions in a ring, with an index by key.

    A *slot* is a row's place in the ring; it holds until the next `append` or
    `forget`. Key 0 marks a row that is no more: keys are expected to be hashes,
    and a true 0 is stored as 1.

    Args:
        capacity: rows to make room for at first.

    >>> table = PredictionTable()
    >>> table.append(np.array([7, 9], np.uint64), np.zeros(2, np.uint64), np.zeros(2, np.uint64))
    array([0, 1])
    >>> table.find(np.array([9, 8], np.uint64))
    array([ 1, -1])
    """

    def __init__(self, capacity: int = CHUNK) -> None:
        chunks = max(1, -(-capacity // CHUNK))
        self._rows = np.empty((chunks * CHUNK, 3), dtype=np.uint64)
        self._head = 0
        self._tail = 0
        self._build_index(capacity)

    def __len__(self) -> int:
        """Rows from the first to the last that is remembered, forgotten ones between included."""
        return self._tail - self._head

    @property
    def nbytes(self) -> int:
        """Memory held for rows and index."""
        return self._rows.nbytes + self._index.nbytes

    def find(self, keys: KeyArray) -> Int64Array:
        """Slot of each key; -1 where it is not remembered."""
        keys = _storable(keys)
        slots = np.full(len(keys), -1, dtype=np.int64)
        todo = np.arange(len(keys))
        at = (keys & self._mask).astype(np.int64)
        step = 0
        while len(todo):
            found = self._index[at].astype(np.int64) - 1
            occupied = found >= 0
            hit = occupied & (self._rows[found, _KEY] == keys)
            slots[todo[hit]] = found[hit]
            onward = occupied & ~hit
            step += 1
            todo, keys = todo[onward], keys[onward]
            at = (at[onward] + step) & self._last
        return slots

    def append(self, keys: KeyArray, when: KeyArray, what: KeyArray) -> Int64Array:
        """Remember predictions whose keys are distinct and not remembered yet; their slots."""
        self._make_room(len(keys))
        slots = (self._tail + np.arange(len(keys))) % len(self._rows)
        keys = _storable(keys)
        self._rows[slots, _KEY] = keys
        self._rows[slots, _WHEN] = when
        self._rows[slots, _WHAT] = what
        self._tail += len(keys)
        self._enter(keys, slots)
        return slots

    def when(self, slots: Int64Array) -> KeyArray:
        """Second words of rows."""
        words: KeyArray = self._rows[slots, _WHEN]
        return words

    def what(self, slots: Int64Array) -> KeyArray:
        """Third words of rows."""
        words: KeyArray = self._rows[slots, _WHAT]
        return words

    def label(self, slots: Int64Array, labels: KeyArray) -> None:
        """Let labels (words of `label_words`) compete for rows; the greatest stays in force."""
        own = self._rows[slots, _WHAT] & _PREDICTION_MASK
        np.maximum.at(self._rows[:, _WHAT], slots, labels | own)

    def rewrite(self, slots: Int64Array, when: KeyArray, what: KeyArray) -> None:
        """Replace what rows say, under the same keys."""
        self._rows[slots, _WHEN] = when
        self._rows[slots, _WHAT] = what

    def chunks(self) -> Iterator[Int64Array]:
        """Slots of remembered rows, a chunk at a time, the earliest arrived first."""
        for start in range(self._head, self._tail, CHUNK):
            slots = self._slots(start, min(start + CHUNK, self._tail))
            yield slots[self._rows[slots, _KEY] != 0]

    def front(self) -> Int64Array:
        """Slots of remembered rows in the first chunk; none while it is not full."""
        return next(self.chunks()) if len(self) >= CHUNK else _NO_SLOTS

    def forget(self, slots: Int64Array) -> None:
        """Forget rows; their places are free again when the front chunk is given back."""
        self._rows[slots, _KEY] = 0

    def free_front(self) -> bool:
        """Give back the first chunk if at most a quarter of it is remembered; whether it was.

        The few that are, stragglers from the future, move to the end.
        """
        kept = self.front()
        if len(self) < CHUNK or len(kept) > CHUNK // 4:
            return False
        rows = self._rows[kept]
        self.forget(kept)
        self._head += CHUNK
        if len(rows):
            self.append(rows[:, _KEY], rows[:, _WHEN], rows[:, _WHAT])
        return True

    def rows(self) -> KeyArray:
        """All remembered rows, (n, 3), in the order of arrival; a copy."""
        remembered: KeyArray = self._rows[np.concatenate([_NO_SLOTS, *self.chunks()])]
        return remembered

    def state(self) -> KeyArray:
        """All rows in the order of arrival, (n, 3), with those forgotten between; a copy."""
        rows, room = self._rows, len(self._rows)
        head, end = self._head % room, self._head % room + len(self)
        if end <= room:
            return rows[head:end].copy()
        return np.concatenate([rows[head:], rows[: end - room]])

    def restore(self, rows: KeyArray) -> None:
        """Take over what `state` gave, in the place of all that is remembered."""
        self._rows = np.empty((max(1, -(-len(rows) // CHUNK)) * CHUNK, 3), dtype=np.uint64)
        self._rows[: len(rows)] = rows
        self._head, self._tail = 0, len(rows)
        self._build_index(len(rows))

    def _slots(self, start: int, end: int) -> Int64Array:
        return np.arange(start, end, dtype=np.int64) % len(self._rows)

    def _make_room(self, more: int) -> None:
        if len(self) + more > len(self._rows):
            self._grow(len(self) + more)
        if self._entered + more > _MAX_LOAD * len(self._index):
            self._build_index(len(self) + more)

    def _grow(self, needed: int) -> None:
        chunks = -(-max(needed, len(self._rows) * 5 // 4) // CHUNK)
        rows = np.empty((chunks * CHUNK, 3), dtype=np.uint64)
        old = self._slots(self._head, self._tail)
        moved = len(old) > 0 and old[0] != 0
        rows[: len(old)] = self._rows[old] if moved else self._rows[: len(old)]
        self._rows, self._head, self._tail = rows, 0, len(old)
        if moved:
            self._build_index(needed)

    def _build_index(self, expected: int) -> None:
        size = 1 << max(10, int(np.ceil(np.log2(max(expected, 1) / (_MAX_LOAD * 0.75)))))
        self._index = np.zeros(size, dtype=np.uint32)
        self._last = size - 1
        self._mask = np.uint64(self._last)
        self._entered = 0
        for slots in self.chunks():
            self._enter(self._rows[slots, _KEY], slots)

    def _enter(self, keys: KeyArray, slots: Int64Array) -> None:
        self._entered += len(keys)
        references = (slots + 1).astype(np.uint32)
        at = (keys & self._mask).astype(np.int64)
        step = 0
        while len(references):
            free = self._index[at] == 0
            self._index[at[free]] = references[free]
            onward = self._index[at] != references
            step += 1
            references = references[onward]
            at = (at[onward] + step) & self._last


def _storable(keys: KeyArray) -> KeyArray:
    return np.maximum(keys, np.uint64(1))
