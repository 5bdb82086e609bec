"""How far event time has come, by model; and what is common to all models.

Each model has a time of its own, by its own events, so that what one producer sends
changes nothing for the models of others. Labels carry the id of a prediction and no
model: those that meet their prediction carry the time of its model, those of unknown
ids carry none.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np

from monitor.events.batches import in_sequence
from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array, KeyArray
from monitor.events.model_time import ModelTime
from monitor.events.plausible_times import CLOCK_SLACK_MS
from monitor.events.renumbering import State
from monitor.events.timed_events import (
    EventKind,
    TimedEvents,
    arrivals_of,
    timed_events,
)

EPOCH_ROWS = 1 << 16
"""A model without an event for one to two times as many rows of others is silent."""

_FEW_MODELS = 1 << 16


class ModelTimes:
    """The times of all models, by number; each is a function of the sequence of records.

    Args:
        step_ms: length of a step of event time, and of a jump, see `ModelTime`; milliseconds.

    Attributes:
        common: step of event time that the models share, by its first moment in epoch
            milliseconds: the one that the second-highest of the settled times has entered,
            so that one model alone carries no other; that of the only model where there is
            one. `NO_TIME` before any is settled. It never goes back.
    """

    def __init__(self, step_ms: int) -> None:
        self._step = step_ms
        self._models: list[ModelTime] = []
        self._spoke: list[int] = []
        self._epoch = 0
        self._arrived = NO_TIME
        self._heard: list[tuple[Int64Array, Int64Array, KeyArray]] = []
        self._views: Int64Array | None = None
        self.common = NO_TIME

    def ensure(self, models: int) -> None:
        """Make room for so many models."""
        for _ in range(models - len(self._models)):
            self._models.append(ModelTime(self._step))
            self._spoke.append(self._epoch)
            self._views = None

    @property
    def settled(self) -> Int64Array:
        """Time of each model as far as it is settled, epoch milliseconds; else `NO_TIME`.

        What is forgotten rests on it.
        """
        times = [model.time if model.settled else NO_TIME for model in self._models]
        return np.array(times, dtype=np.int64)

    @property
    def now(self) -> Int64Array:
        """Time of each model, epoch milliseconds; `NO_TIME` before three distinct events.

        What is shown rests on it. Labels that met their prediction count, as far as the
        clock at the arrival of the latest record.
        """
        if self._views is None:
            views = np.array([model.time for model in self._models], dtype=np.int64)
            for number, events in self._labels():
                carried = self._with(number, events).time
                views[number] = max(views[number], self._by_the_clock(carried))
            self._views = views
        return self._views

    @property
    def highest(self) -> int | None:
        """Time of the model that is furthest, epoch milliseconds; None before any has one."""
        found = int(self.now.max(initial=NO_TIME))
        return None if found == NO_TIME else found

    @property
    def aside(self) -> list[tuple[int, int]]:
        """Events of each model that are set aside now, and those that were so far."""
        return [(model.aside, model.aside_total) for model in self._models]

    def seeing(self, batch: EventBatch, model_of_group: Int64Array) -> ModelTimes:
        """Return what this is once it has taken a batch; see `advance`.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group.
        """
        seen = copy(self)
        seen._models, seen._spoke = [*self._models], [*self._spoke]  # noqa: SLF001
        seen.advance(batch, model_of_group)
        return seen

    def advance(self, batch: EventBatch, model_of_group: Int64Array) -> None:
        """Advance by the events of a batch.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group.
        """
        for number, events, _ in self._by_model(batch, model_of_group):
            self._models[number] = self._models[number].after(events)
            self._spoke[number] = self._epoch
        self._note_common()
        if batch.arrivals:
            rows = [row for name in KINDS if len(row := getattr(batch, name).row)]
            arrived = [int(arrivals_of(batch, row).max()) for row in rows]
            self._arrived = max([self._arrived, *arrived])
        self._views = None

    def steps(self, batch: EventBatch, model_of_group: Int64Array, seen: ModelTimes) -> list[int]:
        """Return the records of a batch with which the common time enters another step.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group.
            seen: what this is after the batch.

        Returns:
            Places in the sequence of the batch's rows, in order.
        """
        if not self.may_enter_another(seen):
            return []
        step = self._step
        order = in_sequence(batch)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        crossings: list[tuple[int, int, int]] = []
        for number, events, index in self._by_model(batch, model_of_group):
            after = self._models[number].path(events) // step
            before = np.append(self._settled(number) // step, after[:-1])
            changes = np.flatnonzero(after > before)
            where = place[index[changes]].tolist()
            crossings += zip(where, [number] * len(changes), after[changes].tolist(), strict=True)
        steps = {
            number: self._settled(number) // step
            for number, model in enumerate(self._models)
            if model.settled
        }
        found, reached = [], self.common // step
        for where, number, entered in sorted(crossings):
            steps[number] = entered
            common = sorted(steps.values())[-2:][0]
            if common > reached:
                reached = common
                found.append(where)
        return found

    def may_enter_another(self, seen: ModelTimes) -> bool:
        """Return whether the common time may have entered other steps by then.

        Args:
            seen: what this is later.
        """
        settled = sum(model.settled for model in self._models)
        more = sum(model.settled for model in seen._models) > settled  # its own class
        return more or self.common != seen.common

    def hear(self, model: Int64Array, time: Int64Array, key: KeyArray) -> None:
        """Take labels that met their prediction.

        Args:
            model: model number of each.
            time: of the label, epoch milliseconds.
            key: of its id.
        """
        later = np.flatnonzero(time > self.settled[model])
        for number in np.unique(model).tolist():
            self._spoke[number] = self._epoch
        if len(later):
            self._heard.append((model[later], time[later], key[later]))
            self._views = None

    def end_epoch(self) -> None:
        """Let labels carry the settled times, and the common time carry silent models.

        Call this behind every `EPOCH_ROWS` rows of the sequence.
        """
        for number, events in self._labels():
            carried = self._with(number, events)
            if carried.time <= self._by_the_clock(carried.time):
                self._models[number] = carried
        self._heard = []
        silent = [i for i, spoke in enumerate(self._spoke) if spoke < self._epoch]
        speaking = [m.time for i, m in enumerate(self._models) if i not in {*silent} and m.settled]
        if speaking:
            shared = sorted(speaking)[-2:][0]
            for number in silent:
                if self._models[number].settled:
                    model = self._models[number] = copy(self._models[number])
                    model.carry(shared)
        self._note_common()
        self._epoch += 1
        self._views = None

    def state(self) -> State:
        """Serializable state."""
        for _ in self._labels():
            pass  # sorts them, each once, and leaves out those that the models have reached
        return {
            "models": [model.state() for model in self._models],
            "spoke": list(self._spoke),
            "epoch": self._epoch,
            "arrived": self._arrived,
            "common": self.common,
            "heard": [*self._heard[0]] if self._heard else [],
        }

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; in one from before models had times of their own, all
                go on from the time they shared.
            models: old numbers of the models that are still there.
        """
        if "models" not in state:
            self._restore_shared(state["time"], len(models))
            return
        kept = [number for number in models.tolist() if number < len(state["models"])]
        self._models = [ModelTime.restored(self._step, state["models"][i]) for i in kept]
        self._spoke = [state["spoke"][i] for i in kept]
        self._epoch, self._arrived, self.common = (state[k] for k in ("epoch", "arrived", "common"))
        self._heard, self._views = [], None
        if state["heard"]:
            new = np.full(len(state["models"]), -1, dtype=np.int64)
            new[kept] = np.arange(len(kept))
            number, time, key = state["heard"]
            left = new[number] >= 0
            self._heard = [(new[number][left], time[left], key[left])]

    def _restore_shared(self, time: int | None, models: int) -> None:
        self.ensure(models)
        if time is not None:
            for model in self._models:
                model.settle_at(time)
            self.common = time

    def _settled(self, number: int) -> int:
        model = self._models[number]
        return model.time if model.settled else NO_TIME

    def _note_common(self) -> None:
        times = sorted(model.time for model in self._models if model.settled)
        if times:
            self.common = max(self.common, times[-2:][0] // self._step * self._step)

    def _by_the_clock(self, time: int) -> int:
        """Return a time, at most the arrival of the latest record where that is known."""
        return time if self._arrived == NO_TIME else min(time, self._arrived + CLOCK_SLACK_MS)

    def _with(self, number: int, labels: TimedEvents) -> ModelTime:
        return self._models[number].after(labels)

    def _labels(self) -> Iterator[tuple[int, TimedEvents]]:
        """Yield the labels heard of each model, in the order of their times, each once."""
        if not self._heard:
            return
        columns = [np.concatenate(column) for column in zip(*self._heard, strict=True)]
        order = np.lexsort((columns[2], columns[1], columns[0]))
        number, time, key = (column[order] for column in columns)
        settled = self.settled[number]
        fresh = time > settled
        same = (number[1:] == number[:-1]) & (time[1:] == time[:-1]) & (key[1:] == key[:-1])
        fresh[1:] &= ~same
        number, time, key = number[fresh], time[fresh], key[fresh]
        self._heard = [(number, time, key)] if len(number) else []
        for model in np.unique(number).tolist():
            chosen = number == model
            count = int(chosen.sum())
            kinds = np.full(count, EventKind.LABEL, dtype=np.int64)
            arrived = np.full(count, NO_TIME, dtype=np.int64)
            yield model, TimedEvents(time[chosen], key[chosen], kinds, arrived)

    def _by_model(
        self, batch: EventBatch, model_of_group: Int64Array
    ) -> Iterator[tuple[int, TimedEvents, Int64Array]]:
        """Yield a batch's events that name a model, by model, in the order of the sequence.

        Yields:
            Model number, its events, and their indices into the rows of all kinds in turn.
        """
        found = [*timed_events(batch)]
        if not found:
            return
        group, row, index, events = found[0]
        if len(found) > 1:
            groups, rows, indices, timed = zip(*found, strict=True)
            group, row, index = (np.concatenate(part) for part in (groups, rows, indices))
            events = TimedEvents(*(np.concatenate(column) for column in zip(*timed, strict=True)))
            by_row = np.argsort(row, kind="stable")
            group, index, events = group[by_row], index[by_row], events.rows(by_row)
        if len(self._models) == 1:
            yield 0, events, index
            return
        model = model_of_group[group]
        if len(self._models) < _FEW_MODELS:
            model = model.astype(np.uint16)
        by_model = np.argsort(model, kind="stable")
        ordered = model[by_model]
        bounds = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])).tolist()
        for first, end in zip(bounds, [*bounds[1:], len(ordered)], strict=True):
            chosen = by_model[first:end]
            yield int(ordered[first]), events.rows(chosen), index[chosen]
