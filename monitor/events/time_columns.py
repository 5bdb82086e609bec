"""Times of many models at once, for events that lie within the pace of their streams.

Nearly all events do. What `ModelTime` does with such events one model at a time, this module
does for all models of a batch by whole columns. Models with other events, and those whose
stream has not settled yet, are left to `ModelTime`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from monitor.events.columns import NO_TIME, BoolArray, Int64Array, KeyArray
from monitor.events.plausible_times import CLOCK_SLACK_MS

RANK = 3
"""The time of a model is its highest event time of this rank."""
NEVER = 1 << 60
_ABOVE = RANK - 1
_NO_TOPS = np.array([[NO_TIME, 0, 0]] * _ABOVE, dtype=np.int64)
_KEYS = 1 << 64
_LATEST = 512
"""The last events of a batch, among which the highest nearly always are."""

Naming = Callable[[Int64Array], tuple[KeyArray, Int64Array | int]]
"""Returns keys and kinds (see `EventKind`) of some rows."""


class ModelRow(NamedTuple):
    """One model of `TimeColumns`.

    Attributes:
        time: as there.
        settled: as there.
        events: as there.
        jump: as there.
        near: as there.
        highest: time, key and kind of the events above the time.
    """

    time: int
    settled: bool
    events: int
    jump: int
    near: int
    highest: tuple[tuple[int, int, int], ...]


class TimeColumns(NamedTuple):
    """The state that events in pace change, by model number; its arrays are never changed in place.

    Attributes:
        time: epoch milliseconds; `NO_TIME` before three distinct events.
        settled: True where the bulk of the stream has decided the time.
        events: events so far.
        jump: length of a jump, milliseconds.
        near: time of the model at which the first of the events counts that are set aside;
            `NEVER` without one.
        tops: (n, 2, 3), the highest events above the time: time, key and kind of each; the time
            is `NO_TIME` where there is none.
    """

    time: Int64Array
    settled: BoolArray
    events: Int64Array
    jump: Int64Array
    near: Int64Array
    tops: Int64Array

    @classmethod
    def of(cls, models: int, jump_ms: int) -> Self:
        """Return the columns of models without events.

        Args:
            models: how many.
            jump_ms: length of a jump, milliseconds.
        """
        return cls(
            time=np.full(models, NO_TIME, dtype=np.int64),
            settled=np.zeros(models, dtype=np.bool_),
            events=np.zeros(models, dtype=np.int64),
            jump=np.full(models, jump_ms, dtype=np.int64),
            near=np.full(models, NEVER, dtype=np.int64),
            tops=np.tile(_NO_TOPS, (models, 1, 1)),
        )

    def joined(self, more: TimeColumns) -> TimeColumns:
        """Return these models, and more after them."""
        return TimeColumns._make(np.concatenate(pair) for pair in zip(self, more, strict=True))

    def chosen(self, where: BoolArray, other: TimeColumns) -> TimeColumns:
        """Return some models as another has them.

        Args:
            where: flags of the models.
            other: of the same models.
        """
        if where.all():
            return other
        found = TimeColumns._make(column.copy() for column in self)
        for column, its in zip(found, other, strict=True):
            column[where] = its[where]
        return found

    def row(self, number: int) -> ModelRow:
        """Return one model."""
        tops = [top for top in self.tops[number].tolist() if top[0] != NO_TIME]
        highest = tuple((time, key % _KEYS, kind) for time, key, kind in tops)
        time, settled, events, jump, near = (column[number].item() for column in self[:-1])
        return ModelRow(time, settled, events, jump, near, highest)

    def with_row(self, number: int, row: ModelRow) -> TimeColumns:
        """Return these models with one changed.

        Args:
            number: of the model.
            row: what it is from now on.
        """
        found = TimeColumns._make(column.copy() for column in self)
        values: tuple[Any, ...] = row[:-1]
        for column, value in zip(found[:-1], values, strict=True):
            column[number] = value
        found.tops[number] = _NO_TOPS
        for place, (time, key, kind) in enumerate(row.highest):
            signed = key - _KEYS if key >= _KEYS // 2 else key
            found.tops[number, place] = time, signed, kind
        return found

    @property
    def shown(self) -> Int64Array:
        """Time of each model as far as it is settled, epoch milliseconds; else `NO_TIME`."""
        return np.where(self.settled, self.time, NO_TIME)

    def at_most(self, heard: Int64Array) -> Int64Array | None:
        """Return upper bounds of the times once labels have carried them, epoch milliseconds.

        A time is that of an event which the model knows: one above its time, or a label.

        Args:
            heard: time of the latest label of each model; `NO_TIME` without one.

        Returns:
            None where a label may bring near what is set aside, or settle the time.
        """
        if ((heard != NO_TIME) & ~(self.settled & (self.near == NEVER))).any():
            return None
        above: Int64Array = self.tops[:, :, 0].max(axis=1)
        return np.maximum(np.maximum(self.time, heard), above)

    def after(
        self, model: Int64Array, time: Int64Array, earliest: int | None, naming: Naming
    ) -> tuple[TimeColumns, BoolArray, BoolArray]:
        """Take events that lie in pace.

        Args:
            model: model number of each event.
            time: time of each event, epoch milliseconds.
            earliest: earliest arrival of them, epoch milliseconds; None where none is known.
            naming: names some of the events, by index.

        Returns:
            What this is after the events; which models have changed so; and which have
            other events and are as they were: not all of these are in pace, or they bring near
            what is set aside.
        """
        limit = self._limit(earliest)
        early = slice(0, max(0, len(model) - _LATEST))
        late = slice(early.stop, None)
        before = _most(len(self.time), model[early], time[early])
        most = np.maximum(before, _most(len(before), model[late], time[late]))
        present = most != NO_TIME
        fits = present & self.settled & (most <= limit)
        if not fits.any():
            return self, fits, present
        least = _thirds(len(most), model[late], time[late])
        floor = np.where(fits, np.maximum(least, self.time), NEVER)
        rows = np.arange(early.stop, len(model))
        if (behind := before > floor).any():
            more = behind[model[early]].nonzero()[0]
            rows = np.concatenate([more[time[more] > floor[model[more]]], rows])
            least = _thirds(len(most), model[rows], time[rows])
            floor = np.where(fits, np.maximum(least, self.time), NEVER)
        its, when = model[rows], time[rows]
        rows = rows[(when >= floor[its]) & (when > self.time[its])]
        found = self
        if len(rows):
            found = self._with_tops(least, model[rows], time[rows], *naming(rows))
        fits &= found.time < self.near
        events = self.events + np.bincount(model, minlength=len(most))
        found = self.chosen(fits, found._replace(events=events))
        return found, fits, present & ~fits

    def all_in_pace(
        self,
        compiled: Any,
        events: tuple[Int64Array, Int64Array, KeyArray],
        model_of_group: Int64Array,
        kind: int,
        earliest: int | None,
    ) -> tuple[TimeColumns, BoolArray] | None:
        """Take events as `after` does, in the compiled kernel, where all of them are in pace.

        Args:
            compiled: the module `monitor.kernel.compiled`.
            events: group, time and key of each.
            model_of_group: model number of each group.
            kind: of all of them.
            earliest: as in `after`.

        Returns:
            What this is after them, and which models have changed; None where some are not in
            pace.
        """
        group, time, key = map(np.ascontiguousarray, events)
        found = self._replace(
            time=self.time.copy(), events=self.events.copy(), tops=self.tops.copy()
        )
        present = np.zeros(len(self.time), dtype=np.bool_)
        fit = compiled.in_pace(
            (group, time, key),
            model_of_group,
            kind,
            (self._limit(earliest), self.near, self.settled),
            (found.time, found.events, found.tops),
            present,
        )
        return (found, present) if fit else None

    def _limit(self, earliest: int | None) -> Int64Array:
        """Return the latest time by model that is in pace.

        Args:
            earliest: as in `after`.
        """
        limit: Int64Array = self.time + self.jump
        if earliest is None:
            return limit
        latest: Int64Array = np.maximum(self.time, earliest) + CLOCK_SLACK_MS
        return np.minimum(limit, latest)

    def _with_tops(
        self,
        least: Int64Array,
        model: Int64Array,
        time: Int64Array,
        key: KeyArray,
        kind: Int64Array | int,
    ) -> TimeColumns:
        """Advance by the highest events of some models, all later than the times of these.

        Args:
            least: third-highest of these times that differ, by model; `NO_TIME` without three.
            model: model number of each event.
            time: time of each event, epoch milliseconds.
            key: what distinguishes events of the same time and kind.
            kind: of each event, or of all.
        """
        touched = np.zeros(len(self.time), dtype=np.bool_)
        touched[model] = True
        numbers = touched.nonzero()[0]
        events = np.empty((len(model), 4), dtype=np.int64)
        events[:, 0], events[:, 1] = model, time
        events[:, 2], events[:, 3] = key.view(np.int64), kind
        in_order = (least > self.tops[:, 0, 0])[numbers].all()
        if in_order and len(events) == RANK * len(numbers):  # three of each, after all before
            ordered = events[np.lexsort((time, model))].reshape(-1, RANK, 4)
            return self._reached(numbers, ordered[:, 0, 1], ordered[:, :0:-1, 1:])
        return self._merged(numbers, events)

    def _merged(self, numbers: Int64Array, events: Int64Array) -> TimeColumns:
        """Advance by events some of which are known already, or as late as known ones.

        Args:
            numbers: models that have events.
            events: (n, 4), model, time, key and kind of each.
        """
        known = np.empty((len(numbers) * _ABOVE, 4), dtype=np.int64)
        known[:, 0] = numbers.repeat(_ABOVE)
        known[:, 1:] = self.tops[numbers].reshape(-1, 3)
        events = np.concatenate([known[known[:, 1] != NO_TIME], events])
        events = events[np.lexsort(events.T[::-1])[::-1]]
        fresh = np.ones(len(events), dtype=np.bool_)
        np.any(events[1:] != events[:-1], axis=1, out=fresh[1:])
        events = events[fresh]
        length = np.bincount(events[:, 0])[numbers]
        first = len(events) - np.cumsum(length)
        at = first[:, None] + np.arange(RANK)
        ranked = events[np.minimum(at, len(events) - 1), 1:]
        time = np.where(length >= RANK, ranked[:, -1, 0], self.time[numbers])
        tops = ranked[:, :_ABOVE]
        above = (np.arange(_ABOVE) < length[:, None]) & (tops[:, :, 0] > time[:, None])
        return self._reached(numbers, time, np.where(above[:, :, None], tops, _NO_TOPS))

    def _reached(self, numbers: Int64Array, time: Int64Array, tops: Int64Array) -> TimeColumns:
        """Return these models with other times, and other events above them, of some."""
        times, all_tops = self.time.copy(), self.tops.copy()
        times[numbers], all_tops[numbers] = time, tops
        return self._replace(time=times, tops=all_tops)


def _most(models: int, model: Int64Array, time: Int64Array) -> Int64Array:
    """Return the highest time of each model; `NO_TIME` without one."""
    most = np.full(models, NO_TIME, dtype=np.int64)
    np.maximum.at(most, model, time)
    return most


def _thirds(models: int, model: Int64Array, time: Int64Array) -> Int64Array:
    """Return the third-highest distinct time of each model; `NO_TIME` without three."""
    least = _most(models, model, time)
    for _ in range(_ABOVE):
        below = (time < least[model]).nonzero()[0]
        model, time = model[below], time[below]
        least = _most(models, model, time)
    return least
