"""How far event time has come, by model; and what is common to all models.

Each model has a time of its own, by its own events, so that what one producer sends
changes nothing for the models of others. Labels carry the id of a prediction and no
model: those that meet their prediction carry the time of its model, those of unknown
ids carry none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from monitor.counts import named
from monitor.events.columns import NO_TIME, BoolArray, EventBatch, Int64Array, KeyArray
from monitor.events.crossings import TimePath, common_steps, crossings, slowest_steps
from monitor.events.furthest_behind import FurthestBehind, Standing
from monitor.events.heard_labels import HeardLabels, HeardSoFar, carried_by
from monitor.events.model_time import ModelTime
from monitor.events.plausible_times import CLOCK_SLACK_MS
from monitor.events.renumbering import State
from monitor.events.time_columns import NEVER, TimeColumns
from monitor.events.timed_events import TimedEvents
from monitor.events.timed_rows import TimedRows
from monitor.kernel import compiled_module, kernel_in_use

EPOCH_ROWS = 1 << 18
"""A model without an event for one to two times as many rows of others is silent."""


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
        self._columns = TimeColumns.of(0, step_ms)
        self._models: list[ModelTime] = []  # what events in pace do not change
        self._spoke: Int64Array = np.zeros(0, dtype=np.int64)
        self._behind = FurthestBehind.of(0)
        self._stood: Standing | None = None
        self._epoch, self._arrived, self.common = 0, NO_TIME, NO_TIME
        self._heard = HeardSoFar()
        self._views: Int64Array | None = None
        self._shown = self._columns, self._columns.shown
        self._foreseen: tuple[EventBatch, ModelTimes, Int64Array] | None = None
        self._compiled: Any = compiled_module() if kernel_in_use() == "c" else None

    def ensure(self, models: int) -> None:
        """Make room for so many models."""
        more = models - len(self._models)
        if more > 0:
            self._columns = self._columns.joined(TimeColumns.of(more, self._step))
            self._models += [ModelTime(self._step) for _ in range(more)]
            self._spoke = np.append(self._spoke, np.full(more, self._epoch))
            self._behind = self._behind.joined(FurthestBehind.of(more))
            self._views = None

    def with_room(self, models: int) -> ModelTimes:
        """Return a copy with room for so many models."""
        other = copy(self)
        other._models = [*self._models]  # noqa: SLF001  # its own class
        other.ensure(models)
        return other

    @property
    def settled(self) -> Int64Array:
        """Time of each model as far as it is settled, epoch milliseconds; else `NO_TIME`.

        What is forgotten rests on it.
        """
        if self._shown[0] is not self._columns:
            self._shown = self._columns, self._columns.shown
        return self._shown[1]

    @property
    def slowest(self) -> int:
        """Step that the model furthest behind has entered, by its first moment.

        What names no model waits by it. It falls where a new model begins further behind; epoch
        milliseconds, `NO_TIME` before there is a common time.
        """
        return self._standing.slowest

    @property
    def quiet(self) -> BoolArray:
        """Flags of the models that have been silent for too long to be the slowest."""
        return self._standing.quiet

    @property
    def now(self) -> Int64Array:
        """Time of each model, epoch milliseconds; `NO_TIME` before three distinct events.

        What is shown rests on it. Labels that met their prediction count, as far as the
        clock at the arrival of the latest record.
        """
        if self._views is None:
            carried = self._carried()[0].time if self._heard else self._columns.time
            self._views = np.maximum(self._columns.time, self._by_the_clock(carried))
        return self._views

    @property
    def at_most(self) -> Int64Array:
        """Upper bounds of `now`, which take less time while labels are heard."""
        heard = self._heard.latest(len(self._models))
        bounds = self._columns.at_most(heard) if self._views is None else None
        return self.now if bounds is None else bounds

    @property
    def highest(self) -> int | None:
        """Time of the model that is furthest, epoch milliseconds; None before any has one."""
        return None if (found := int(self.now.max(initial=NO_TIME))) == NO_TIME else found

    @property
    def aside(self) -> list[tuple[int, int]]:
        """Events of each model that are set aside now, and those that were so far."""
        return [(model.aside, model.aside_total) for model in self._models]

    def seeing(self, batch: EventBatch, model_of_group: Int64Array) -> ModelTimes:
        """Return what this is once it has taken a batch; see `advance`.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group, as in `TimedRows`.
        """
        seen = self.with_room(len(self._models))
        self._foreseen = batch, seen, seen.advance(batch, model_of_group)
        return seen

    def advance(self, batch: EventBatch, model_of_group: Int64Array) -> Int64Array:
        """Advance by the events of a batch; return the numbers of the models that have some.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group, as in `TimedRows`.
        """
        foreseen, self._foreseen, self._views = self._foreseen, None, None
        if foreseen is None or foreseen[0] is not batch:
            return self._take(TimedRows(batch, model_of_group))
        _, seen, spoke = foreseen
        self._columns, self._models, self._spoke = seen._columns, seen._models, seen._spoke  # noqa: SLF001  # its class
        self._behind, self._stood = seen._behind, seen._stood  # noqa: SLF001  # likewise
        self._arrived, self.common = seen._arrived, seen.common  # noqa: SLF001  # likewise
        return spoke

    def _take(self, rows: TimedRows) -> Int64Array:
        self._arrived = max(self._arrived, rows.latest)
        for number, count in rows.far:
            self._models[number] = self.model(number).with_far(count)
        if not len(rows):
            return rows.spoken(np.zeros(len(self._models), dtype=np.bool_))
        self._columns, fits, others = rows.advance(before := self._columns, self._compiled)
        if len(rows.reporting):
            others[rows.reporting] = True
            self._columns = before.chosen(fits & ~others, self._columns)
        spoke = fits | others
        self._spoke = np.where(spoke, self._epoch, self._spoke)
        if others.any():
            quiet = self.quiet
            for number, events, _ in rows.by_model(others):
                self._put(number, model := self.model(number).after(events))
                first = NEVER if model.settled else int(events.time.min())
                self._behind = self._behind.begun(number, first, anew=quiet[number])
        common = self.common
        self._note_common()
        self._behind = self._behind.after(spoke, common, self.common)
        return rows.spoken(spoke)

    def paths(self, batch: EventBatch, model_of_group: Int64Array) -> list[TimePath]:
        """Return how the settled time of each model goes through a batch.

        Args:
            batch: its groups by their numbers.
            model_of_group: model number of each group, as in `TimedRows`.
        """
        place = (rows := TimedRows(batch, model_of_group)).places
        each = rows.by_model(np.ones_like(self.settled, dtype=np.bool_))
        return [self._path(number, place[index], events) for number, events, index in each]

    def _path(self, number: int, place: Int64Array, events: TimedEvents) -> TimePath:
        time = np.append(self.settled[number], self.model(number).path(events))
        standing = self._behind.path(number, events.time, time, quiet=self.quiet[number])
        return TimePath(number, place, time, standing)

    def steps(self, paths: Sequence[TimePath]) -> list[int]:
        """Return the records with which the common time, or the slowest, enters another step.

        Args:
            paths: of the models through a batch that follows.

        Returns:
            Places in the sequence of the batch's rows.
        """
        step_of = (self.settled // self._step).tolist()
        steps = {n: step_of[n] for n in self._columns.settled.nonzero()[0].tolist()}
        entered = crossings(paths, self._step, np.zeros_like(self.settled))
        slowest = slowest_steps(paths, self._step, self._standing.reached.tolist())
        return common_steps(entered, steps, self.common // self._step) + slowest

    def may_enter_another(self, seen: ModelTimes) -> bool:
        """Return whether the common time, or the slowest, may have entered other steps by then.

        Args:
            seen: what this is later.
        """
        more = bool(seen._columns.settled.sum() > self._columns.settled.sum())  # its own class
        if more or self.common != seen.common or self.slowest != seen.slowest:
            return True
        return self._behind.begins_by(seen._behind, self.quiet)

    def hear(self, model: Int64Array, time: Int64Array, key: KeyArray) -> Int64Array:
        """Take labels that met their prediction, and return the numbers of their models.

        Args:
            model: model number of each.
            time: of the label, epoch milliseconds.
            key: of its id.
        """
        self._heard.count(model)
        spoke = named(model, len(self._models))
        self._spoke = np.where(spoke, self._epoch, self._spoke)
        later = (time > self.settled.take(model)).nonzero()[0]
        if len(later):
            self._heard.add(HeardLabels(model[later], time[later], key[later]))
            self._views = None
        return spoke.nonzero()[0]

    def end_epoch(self) -> None:
        """Let labels carry the settled times, and the common time carry silent models.

        Labels do so where most of those since the last epoch are later. Call this behind every
        `EPOCH_ROWS` rows of the sequence.
        """
        if self._heard:
            carried, models = self._carried()
            goes = carried.time <= self._by_the_clock(carried.time)
            goes &= self._heard.most_are_later(self.settled)
            self._columns = self._columns.chosen(goes, carried)
            for number, model in models.items():
                if goes[number]:
                    self._put(number, model)
        self._heard = HeardSoFar()
        silent = self._columns.settled & (self._spoke < self._epoch)
        speaking = self._columns.time[self._columns.settled & ~silent]
        if len(speaking):
            shared = int(np.sort(speaking)[-2:][0])
            self.carry(dict.fromkeys(np.flatnonzero(silent).tolist(), shared))
        self._note_common()
        self._epoch += 1
        self._views = None

    def carry(self, times: Mapping[int, int]) -> None:
        """Carry models to times that no event of theirs has.

        Args:
            times: by model number, epoch milliseconds; no time goes back.
        """
        for number, time in times.items():
            model = self.model(number)
            model.carry(time)
            self._put(number, model)
        self._note_common()
        self._views = None

    def state(self) -> State:
        """Plain values."""
        return {
            "models": [self.model(number).state() for number in range(len(self._models))],
            "spoke": self._spoke.tolist(),
            "epoch": self._epoch,
            "arrived": self._arrived,
            "common": self.common,
            "behind": [column.tolist() for column in self._behind],
            **self._heard.state(self.settled),
        }

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; if it has one time for all models, each continues from
                that.
            models: old numbers of the models that are still there.
        """
        if "models" not in state:
            self._restore_shared(state["time"], len(models))
            return
        left = [number for number in models.tolist() if number < len(state["models"])]
        self._epoch = state["epoch"]
        self.ensure(len(left))
        for number, old in enumerate(left):
            self._put(number, ModelTime.restored(self._step, state["models"][old]))
        self._spoke[: len(left)] = [state["spoke"][old] for old in left]
        behind = FurthestBehind.restored(state.get("behind"), left, state["common"])
        self._behind = behind.joined(FurthestBehind.of(len(self._models) - len(left)))
        self._arrived, self.common, self._views = state["arrived"], state["common"], None
        new = np.full(len(state["models"]), -1, dtype=np.int64)
        new[left] = np.arange(len(left))
        self._heard = HeardSoFar.restored(state, new)

    def _restore_shared(self, time: int | None, models: int) -> None:
        self.ensure(models)
        if time is not None:
            for number in range(models):
                model = ModelTime(self._step)
                model.settle_at(time)
                self._put(number, model)
            self.common = time

    @property
    def _standing(self) -> Standing:
        now = self._columns, self._behind, self.common
        if self._stood is None or not self._stood.is_of(*now):
            self._stood = Standing.of(*now, self._step)
        return self._stood

    def model(self, number: int) -> ModelTime:
        """Return a model with all its events, those in pace too."""
        return self._models[number].moved(self._columns.row(number))

    def _put(self, number: int, model: ModelTime) -> None:
        self._models[number] = model
        self._columns = self._columns.with_row(number, model.row)

    def _note_common(self) -> None:
        highest = np.sort(self._columns.time[self._columns.settled])[-2:]
        if len(highest):
            self.common = max(self.common, int(highest[0]) // self._step * self._step)

    def _by_the_clock(self, time: Int64Array) -> Int64Array:
        """Return times, at most the arrival of the latest record where that is known."""
        known = self._arrived != NO_TIME
        return np.minimum(time, self._arrived + CLOCK_SLACK_MS) if known else time

    def _carried(self) -> tuple[TimeColumns, dict[int, ModelTime]]:
        return carried_by(self._heard.labels(self.settled), self._columns, self.model)
