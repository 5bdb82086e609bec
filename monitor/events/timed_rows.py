"""The rows of a batch that carry the times of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from monitor.counts import named
from monitor.events.carrying import carrying
from monitor.events.columns import KINDS, NO_TIME, BoolArray, EventBatch, Int64Array, KeyArray
from monitor.events.crossings import places_of
from monitor.events.identity import event_keys
from monitor.events.time_columns import TimeColumns
from monitor.events.timed_events import (
    OWN_TIME,
    TimedEvents,
    arrivals_of,
    timed_events,
    times_of,
)

_FEW_MODELS = 1 << 16


class TimedRows:
    """The predictions, outcomes and counts of a batch that may carry times, in turn.

    Args:
        batch: its groups by their numbers.
        model_of_group: model number of each group; of a shadow version, which carries no
            time, its complement (`~`).

    Attributes:
        far: models, and how many of their events carry no time, as these are too far ahead of
            the clock.
        time: event time of each, epoch milliseconds.
        earliest: earliest arrival of a row, epoch milliseconds; None where none is known.
        latest: latest arrival of any record, labels included; `NO_TIME` where none is known.
        reporting: models of counts whose source reports how far it has come.
    """

    def __init__(self, batch: EventBatch, model_of_group: Int64Array) -> None:
        self._whole, self._model_of_group = batch, model_of_group
        silent = model_of_group < 0
        found = carrying(batch, silent if silent.any() else None)
        batch, self._kept, far = found
        self._batch = batch
        self.far = [*Counter(_numbers(model_of_group[far]).tolist()).items()] if len(far) else []
        self._kinds = [name for name in OWN_TIME if len(getattr(batch, name))]
        columns = [getattr(batch, name) for name in self._kinds]
        self._group = _joined([each.group for each in columns])
        self.time = _joined([times_of(each) for each in columns])
        self.earliest, self.latest = self._arrivals()
        counts = batch.counts
        self.reporting = model_of_group[counts.group[counts.reached != NO_TIME]]

    def __len__(self) -> int:
        """Rows."""
        return len(self.time)

    def advance(
        self, columns: TimeColumns, compiled: Any
    ) -> tuple[TimeColumns, BoolArray, BoolArray]:
        """Return times after the rows, as `TimeColumns.after` does.

        Args:
            columns: the times before.
            compiled: the module `monitor.kernel.compiled`; None for Python.
        """
        if compiled is not None and len(self._kinds) == 1:
            (name,) = self._kinds
            key = event_keys(getattr(self._batch, name), slice(None))
            events = self._group, self.time, key
            taken = columns.all_in_pace(
                compiled, events, self._model_of_group, int(OWN_TIME[name]), self.earliest
            )
            if taken is not None:
                return *taken, np.zeros(len(taken[1]), dtype=np.bool_)
        model = self._model_of_group[self._group]
        return columns.after(model, self.time, self.earliest, self.naming)

    def naming(self, rows: Int64Array) -> tuple[KeyArray, Int64Array | int]:
        """Return keys and kinds of some rows, by index, in order.

        Args:
            rows: in ascending order.
        """
        if len(self._kinds) == 1:
            (name,) = self._kinds
            return event_keys(getattr(self._batch, name), rows), int(OWN_TIME[name])
        keys: list[KeyArray] = []
        kinds: list[Int64Array] = []
        begins = 0
        for name in self._kinds:
            end = begins + len(getattr(self._batch, name))
            chosen = rows[np.searchsorted(rows, begins) : np.searchsorted(rows, end)] - begins
            keys.append(event_keys(getattr(self._batch, name), chosen))
            kinds.append(np.full(len(chosen), OWN_TIME[name], dtype=np.int64))
            begins = end
        return np.concatenate(keys), np.concatenate(kinds)

    def spoken(self, spoke: BoolArray) -> Int64Array:
        """Return the numbers of the models with events, those that carry no time included.

        Args:
            spoke: flags of the models with events that may carry time.
        """
        if self._kept is None:
            return spoke.nonzero()[0]
        groups = np.concatenate([getattr(self._whole, name).group for name in OWN_TIME])
        models = _numbers(self._model_of_group[groups])
        return (spoke | named(models, len(spoke))).nonzero()[0]

    @property
    def places(self) -> Int64Array:
        """Place of each row of all kinds in turn in the sequence of the whole batch."""
        places = places_of(self._whole)
        return places if self._kept is None else places[self._kept]

    def by_model(self, models: BoolArray) -> Iterator[tuple[int, TimedEvents, Int64Array]]:
        """Yield the events of some models, and what their sources report, model by model.

        Args:
            models: flags by number.

        Yields:
            Model number, its events in the order of the sequence, and their indices into the
            rows of all kinds in turn.
        """
        found = [*timed_events(self._batch)]
        if not found:
            return
        groups, rows, indices, timed = zip(*found, strict=True)
        row, index = np.concatenate(rows), np.concatenate(indices)
        model = self._model_of_group[np.concatenate(groups)]
        events = TimedEvents(*(np.concatenate(column) for column in zip(*timed, strict=True)))
        chosen = np.flatnonzero(models[model])
        chosen = chosen[np.argsort(row[chosen], kind="stable")]
        number = model[chosen]
        if len(models) < _FEW_MODELS:
            number = number.astype(np.uint16)
        chosen = chosen[np.argsort(number, kind="stable")]
        ordered = model[chosen]
        bounds = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])).tolist()
        for first, end in zip(bounds, [*bounds[1:], len(ordered)], strict=True):
            if end > first:
                its = chosen[first:end]
                yield int(ordered[first]), events.rows(its), index[its]

    def _arrivals(self) -> tuple[int | None, int]:
        batch = self._batch
        if not batch.arrivals:
            return None, NO_TIME
        rows = {name: getattr(self._whole, name).row for name in KINDS}
        arrived = {name: arrivals_of(batch, row) for name, row in rows.items() if len(row)}
        earliest = [int(arrived[name].min()) for name in self._kinds]  # or before
        latest = max((int(each.max()) for each in arrived.values()), default=NO_TIME)
        return min(earliest, default=None), latest


def _numbers(model: Int64Array) -> Int64Array:
    """Return the numbers of models, also where they are given by their complements."""
    return np.where(model < 0, ~model, model)


def _joined(columns: list[Int64Array]) -> Int64Array:
    if len(columns) == 1:
        return columns[0]
    return np.concatenate([np.zeros(0, dtype=np.int64), *columns])
