"""Labels that met their prediction, and may carry the time of its model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np

from monitor.events.columns import NO_TIME, BoolArray, Int64Array, KeyArray
from monitor.events.model_time import ModelTime
from monitor.events.renumbering import State
from monitor.events.time_columns import TimeColumns
from monitor.events.timed_events import EventKind, TimedEvents


class HeardLabels(NamedTuple):
    """Labels of known models.

    Attributes:
        model: model number of each.
        time: of each, epoch milliseconds.
        key: of its id.
    """

    model: Int64Array
    time: Int64Array
    key: KeyArray

    @classmethod
    def later(cls, parts: Sequence[HeardLabels], settled: Int64Array) -> HeardLabels:
        """Return the labels that are later than the times of their models, each once.

        Args:
            parts: at least one.
            settled: time of each model by number, epoch milliseconds.

        Returns:
            By model, then by time and key.
        """
        model, time, key = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((key, time, model))
        model, time, key = model[order], time[order], key[order]
        fresh: BoolArray = time > settled[model]
        same = (model[1:] == model[:-1]) & (time[1:] == time[:-1]) & (key[1:] == key[:-1])
        fresh[1:] &= ~same
        return cls(model[fresh], time[fresh], key[fresh])


class HeardSoFar:
    """The labels of known models that were heard since labels last carried the settled times."""

    def __init__(self) -> None:
        self._parts: list[HeardLabels] = []
        self._latest: Int64Array = np.zeros(0, dtype=np.int64)
        self._all: Int64Array = np.zeros(0, dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self._parts)

    def count(self, model: Int64Array) -> None:
        """Count labels of models by number, also those that are not later than the times."""
        more = np.bincount(model, minlength=len(self._all))
        more[: len(self._all)] += self._all
        self._all = more

    def most_are_later(self, settled: Int64Array) -> BoolArray:
        """Return flags of the models of which at least half of all labels are later.

        So it is where predictions have stopped. Where they go on, most labels are earlier, and
        those that are not may have false times.

        Args:
            settled: time of each model by number, epoch milliseconds.
        """
        later = np.bincount(self.labels(settled).model, minlength=len(settled))
        heard = np.append(self._all, np.zeros(max(0, len(settled) - len(self._all)), np.int64))
        most: BoolArray = 2 * later >= heard[: len(settled)]
        return most

    def add(self, labels: HeardLabels) -> None:
        """Add some labels, in any order."""
        self._parts.append(labels)
        self._latest = self.latest(1 + int(labels.model.max(initial=-1)))
        np.maximum.at(self._latest, labels.model, labels.time)

    def labels(self, settled: Int64Array) -> HeardLabels:
        """Return those that are later than the times of their models, each once.

        Args:
            settled: time of each model by number, epoch milliseconds.

        Returns:
            By model, then by time and key; call it where there are any.
        """
        self._parts = [HeardLabels.later(self._parts, settled)]
        return self._parts[0]

    def latest(self, models: int) -> Int64Array:
        """Return the time of the latest label of each model, epoch milliseconds; else `NO_TIME`.

        Args:
            models: number of models; those of the labels count at least.
        """
        more = max(0, models - len(self._latest))
        return np.append(self._latest, np.full(more, NO_TIME, dtype=np.int64))

    def state(self, settled: Int64Array) -> State:
        """Plain values.

        Args:
            settled: time of each model by number, epoch milliseconds.
        """
        labels = self.labels(settled) if self._parts else ()
        return {
            "heard": [*labels] if labels and len(labels[0]) else [],
            "heard_labels": self._all.tolist(),
        }

    @classmethod
    def restored(cls, state: State, new: Int64Array) -> Self:
        """Return what `state` returned.

        Args:
            state: of an earlier run.
            new: numbers of the models by their old numbers; -1 where one is gone.
        """
        found = cls()
        for number, heard in enumerate(state.get("heard_labels", [])):
            if new[number] >= 0:
                found.count(np.full(heard, new[number]))
        if state["heard"]:
            number, time, key = state["heard"]
            there = new[number] >= 0
            found.add(HeardLabels(new[number][there], time[there], key[there]))
        return found


def carried_by(
    labels: HeardLabels, columns: TimeColumns, model_at: Callable[[int], ModelTime]
) -> tuple[TimeColumns, dict[int, ModelTime]]:
    """Return the times that labels carry models to.

    Args:
        labels: as from `HeardLabels.later`.
        columns: of all models.
        model_at: gives a model by its number.

    Returns:
        The columns then, and the models by number whose labels are not in pace.
    """
    model, time, key = labels
    carried, _, late = columns.after(model, time, None, lambda rows: (key[rows], EventKind.LABEL))
    others = {}
    for number in late.nonzero()[0].tolist():
        chosen = model == number
        kind = np.full(int(chosen.sum()), EventKind.LABEL, dtype=np.int64)
        events = TimedEvents(time[chosen], key[chosen], kind, np.full_like(kind, NO_TIME))
        others[number] = model_at(number).after(events)
        carried = carried.with_row(number, others[number].row)
    return carried, others
