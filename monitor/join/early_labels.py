"""Labels that came before their prediction, and wait for it.

All labels of an id are stored: which of them counts is decided when the prediction comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.events.columns import Columns, FloatArray, Int64Array, KeyArray, Labels
from monitor.events.renumbering import State
from monitor.join.keyed_runs import KeyedRuns
from monitor.join.source_names import NO_SOURCE, NumberedLabels, SourceArray

_BYTES = 34
"""Memory of a waiting label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting(Columns):
    """The stored columns of waiting labels, see `monitor.events.Labels`."""

    key: KeyArray
    time: Int64Array
    value: Int64Array
    sampling_probability: FloatArray
    source: SourceArray

    @classmethod
    def of(cls, labels: Labels) -> _Waiting:
        """Select these columns of labels that came without a prediction."""
        return cls(**{name: getattr(labels, name) for name in cls.names()})


_NONE = _Waiting.of(NumberedLabels())


class HeldLabels:
    """Labels that wait for their predictions.

    >>> held = HeldLabels()
    >>> held.add(Labels(key=np.array([5, 5], np.uint64), time=np.array([1, 2]),
    ...     value=np.array([0, 1]), sampling_probability=np.array([np.nan, np.nan])))
    >>> held.release(np.array([5], np.uint64)).time.tolist(), len(held)
    ([1, 2], 0)
    """

    def __init__(self) -> None:
        self._runs = KeyedRuns(_NONE)

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return _BYTES * self._runs.stored

    def add(self, labels: Labels) -> None:
        """Store labels whose predictions are unknown."""
        if len(labels):
            self._runs.add(_Waiting.of(labels.widened(NumberedLabels)))

    def release(self, keys: KeyArray) -> Labels:
        """Remove and return the labels of predictions that are known now."""
        found = self._runs.take(keys)
        columns = {name: getattr(found, name) for name in found.names()}
        if (found.source == NO_SOURCE).all():
            del columns["source"]
            return Labels(**columns)
        return NumberedLabels(**columns)

    def expire(self, before: int) -> int:
        """Drop labels whose event time (epoch ms) is before a moment; return how many."""
        return self._runs.expire(before)

    def give_up_above(self, most: int) -> int:
        """Drop the earliest labels where there are more than a number; return how many.

        An eighth of that number is free afterwards, so that it costs little a label.

        Args:
            most: labels to hold.
        """
        if (before := len(self)) > most:
            self._runs.drop_earliest(before - (most - most // 8))
        return before - len(self)

    def state(self) -> State:
        """Return all waiting labels, by column."""
        waiting = self._runs.rows()
        return {name: getattr(waiting, name) for name in waiting.names()}

    def restore(self, state: State) -> None:
        """Restore from `state`."""
        none = {"source": np.full(len(state["key"]), NO_SOURCE, np.int8)}
        self._runs.restore(_Waiting(**{**none, **state}))
