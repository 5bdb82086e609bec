"""Labels that came before their prediction, and wait for it.

They are stored as sorted columns, a large run and a small recent one, so that adding and
releasing are fast for a few labels as for millions. All labels of an id are stored: which
of them counts is decided when the prediction comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.events.columns import BoolArray, Columns, FloatArray, Int64Array, KeyArray, Labels
from monitor.events.renumbering import State

_SMALL = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting(Columns):
    """The stored columns of waiting labels, see `monitor.events.Labels`."""

    key: KeyArray
    time: Int64Array
    value: Int64Array
    sampling_probability: FloatArray

    @classmethod
    def of(cls, labels: Labels) -> _Waiting:
        """Select these columns of labels that came without a prediction."""
        return cls(**{name: getattr(labels, name) for name in cls.names()})


_NONE = _Waiting.of(Labels())


def _by_name(labels: _Waiting) -> State:
    return {name: getattr(labels, name) for name in labels.names()}


class HeldLabels:
    """Labels that wait for their predictions.

    >>> held = HeldLabels()
    >>> held.add(Labels(key=np.array([5, 5], np.uint64), time=np.array([1, 2]),
    ...     value=np.array([0, 1]), sampling_probability=np.array([np.nan, np.nan])))
    >>> held.release(np.array([5], np.uint64)).time.tolist(), len(held)
    ([1, 2], 0)
    """

    def __init__(self) -> None:
        self._large = _Run(_NONE)
        self._recent = _Run(_NONE)

    def __len__(self) -> int:
        return self._large.waiting + self._recent.waiting

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._large.nbytes + self._recent.nbytes

    def add(self, labels: Labels) -> None:
        """Store labels whose predictions are unknown."""
        if not len(labels):
            return
        self._recent = _Run(_Waiting.concatenate([self._recent.labels(), _Waiting.of(labels)]))
        if self._recent.waiting > max(_SMALL, self._large.waiting // 4):
            self._large = _Run(_Waiting.concatenate([self._large.labels(), self._recent.labels()]))
            self._recent = _Run(_NONE)

    def release(self, keys: KeyArray) -> Labels:
        """Remove and return the labels of predictions that are known now."""
        found = [run.release(keys) for run in (self._large, self._recent) if run.waiting]
        return Labels(**_by_name(_Waiting.concatenate([_NONE, *found])))

    def expire(self, before: int) -> int:
        """Drop labels whose event time (epoch ms) is before a moment; return how many."""
        return self._large.expire(before) + self._recent.expire(before)

    def state(self) -> State:
        """Return all waiting labels, by column."""
        return _by_name(_Waiting.concatenate([self._large.labels(), self._recent.labels()]))

    def restore(self, state: State) -> None:
        """Restore from `state`."""
        self._large, self._recent = _Run(_Waiting(**state)), _Run(_NONE)


class _Run:
    """Labels sorted by key, with a mask of those that still wait."""

    def __init__(self, labels: _Waiting) -> None:
        self._labels = labels.take(np.argsort(labels.key, kind="stable"))
        self._alive: BoolArray = np.ones(len(labels), dtype=np.bool_)
        self.waiting = len(labels)
        self._earliest = int(labels.time.min()) if len(labels) else 0

    @property
    def nbytes(self) -> int:
        return 33 * len(self._labels)

    def labels(self) -> _Waiting:
        return self._labels.take(self._alive)

    def release(self, keys: KeyArray) -> _Waiting:
        first = np.searchsorted(self._labels.key, keys, side="left")
        after = np.searchsorted(self._labels.key, keys, side="right")
        rows = _spans(first, after)
        rows = rows[self._alive[rows]]
        self._drop(rows)
        return self._labels.take(rows)

    def expire(self, before: int) -> int:
        if not self.waiting or self._earliest >= before:
            return 0
        rows = np.flatnonzero(self._alive & (self._labels.time < before))
        self._drop(rows)
        if self.waiting:
            self._earliest = int(self._labels.time[self._alive].min())
        return len(rows)

    def _drop(self, rows: Int64Array) -> None:
        self._alive[rows] = False
        self.waiting -= len(rows)
        if len(self._labels) > 2 * self.waiting + _SMALL:
            left = self._labels.take(self._alive)
            self._labels, self._alive = left, np.ones(len(left), dtype=np.bool_)


def _spans(first: Int64Array, after: Int64Array) -> Int64Array:
    """Return all indices of the spans [first, after), one span after the other."""
    lengths = after - first
    starts = np.repeat(first - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return starts + np.arange(int(lengths.sum()))
