"""Counts by hour and group of the models that keep the version of a prediction.

Every other table counts the values of each segment key apart. To compare versions at the same
mix of cases takes their outcomes by combinations of all keys: the groups of the catalogue.
Models without `version` among their segments are not counted here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import HOUR_MS
from monitor.counts import add_at
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, VERSION_KEY, BoolArray, Int64Array
from monitor.events.renumbering import GONE, Numbers, State, renumbered
from monitor.join import CELLS, Deltas

HELD_HOURS = 92 * 24
"""Hours of event time for which groups are counted."""
MOST_ROWS = 1 << 17
"""Hours times groups of one model; beyond it the oldest hours are dropped."""
_NEVER = -(1 << 60)


class HeldHours(NamedTuple):
    """Counts of a model by hour and group, a row for each pair that has any.

    Attributes:
        hour: hours since 1970, ascending.
        group: number of the group.
        cells: int64 (rows, cells), see `monitor.join.deltas`.
    """

    hour: Int64Array
    group: Int64Array
    cells: Int64Array


class _Hour:
    """Counts of one hour by group."""

    def __init__(self, width: int) -> None:
        self.groups = np.zeros(0, dtype=np.int64)
        self.cells = np.zeros((0, width), dtype=np.int64)

    def add(self, group: Int64Array, cell: Int64Array, count: Int64Array) -> None:
        fresh = np.setdiff1d(group, self.groups)
        if len(fresh):
            groups = np.append(self.groups, fresh)
            order = np.argsort(groups)
            more = np.zeros((len(fresh), self.cells.shape[1]), dtype=np.int64)
            cells = np.append(self.cells, more, axis=0)
            self.groups, self.cells = groups[order], cells[order]
        add_at(self.cells, np.searchsorted(self.groups, group), cell, count)


class _ModelHours:
    """The hours of one model, and how many rows they have together."""

    def __init__(self, width: int, since: int = _NEVER) -> None:
        self.width = width
        self.hours: dict[int, _Hour] = {}
        self.rows = 0
        self.since = since
        self.read_to = _NEVER
        self.changes = 0

    def add(self, deltas: Deltas) -> None:
        hours = deltas.time // HOUR_MS
        held = np.flatnonzero(hours >= self.since)
        hours, deltas = hours[held], deltas.take(held)
        for number in np.unique(hours).tolist():
            rows = np.flatnonzero(hours == number)
            hour = self.hours.setdefault(number, _Hour(self.width))
            known = len(hour.groups)
            hour.add(deltas.group[rows], deltas.cell[rows], deltas.count[rows])
            self.rows += len(hour.groups) - known
            self.changes += number < self.read_to
        while self.rows > MOST_ROWS:
            self.forget(min(self.hours) + 1)

    def forget(self, since: int) -> None:
        """Drop the hours before one, and whatever comes of them later."""
        if since <= self.since:
            return
        self.since = since
        for number in [number for number in self.hours if number < since]:
            self.rows -= len(self.hours.pop(number).groups)
            self.changes += 1


class VersionCounts:
    """Counts by hour and group of each model that keeps the version.

    Args:
        catalogue: numbers of models and groups.
    """

    width = CELLS
    """Cells of each row."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._of: dict[int, _ModelHours] = {}
        self._in_use = any(VERSION_KEY in one.segments for one in catalogue.possible_settings)
        self._owners = np.zeros(0, dtype=np.bool_)

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        if not self._in_use or not len(deltas):
            return
        model = self._catalogue.model_of_group[self._catalogued(deltas.group)]
        for number in np.unique(model[self._keeps()[model]]).tolist():
            table = self._of.setdefault(number, _ModelHours(self.width))
            table.add(deltas.take(np.flatnonzero(model == number)))

    def advance(self, times: Int64Array) -> None:
        """Drop the hours that are too old for the times of their models.

        Args:
            times: of each model, epoch milliseconds; `NO_TIME` for no time yet.
        """
        for model, table in self._of.items():
            if times[model] != NO_TIME:
                table.forget(int(times[model]) // HOUR_MS - HELD_HOURS)

    def keeps(self, model: int) -> bool:
        """Return whether a model keeps the version.

        Args:
            model: its number.
        """
        return self._in_use and bool(self._keeps()[model])

    def held_since(self, model: int) -> int | None:
        """Return the first moment that is not dropped, epoch milliseconds; None if all are held.

        Args:
            model: its number.
        """
        table = self._of.get(model)
        return None if table is None or table.since == _NEVER else table.since * HOUR_MS

    def edition(self, model: int, closes: int) -> int:
        """Return a number that differs after every change of the hours before a moment.

        Args:
            model: its number.
            closes: epoch milliseconds; changes are noticed before the latest one asked for.
        """
        table = self._of.get(model)
        if table is None:
            return 0
        hour = -(-closes // HOUR_MS)
        if hour > table.read_to:
            table.read_to, table.changes = hour, table.changes + 1
        return table.changes

    def held(self, model: int) -> HeldHours:
        """Return all counts of a model.

        Args:
            model: its number.
        """
        table = self._of.get(model, _ModelHours(self.width))
        numbers = sorted(table.hours)
        parts = [table.hours[number] for number in numbers]
        return HeldHours(
            np.repeat(np.array(numbers, np.int64), [len(part.groups) for part in parts]),
            np.concatenate([np.zeros(0, np.int64), *(part.groups for part in parts)]),
            np.concatenate([np.zeros((0, self.width), np.int64), *(part.cells for part in parts)]),
        )

    def state(self) -> State:
        """Serializable state."""
        found = {}
        for model, table in self._of.items():
            held = self.held(model)
            found[str(model)] = {"since": table.since, **held._asdict()}
        return found

    def restore(self, state: State | None, left: Numbers, times: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; None from a release without these counts, of which
                everything up to now is left out.
            left: the models and groups that are still there.
            times: of each model, as `advance` takes them.
        """
        self._of, self._owners = {}, np.zeros(0, dtype=np.bool_)
        for model, old in enumerate(left.models.tolist()):
            if state is None:
                if times[model] != NO_TIME and self.keeps(model):
                    since = int(times[model]) // HOUR_MS + 1
                    self._of[model] = _ModelHours(self.width, since)
            elif str(old) in state:
                saved = state[str(old)]
                self._of[model] = self._restored(saved, self._numbered(saved["group"], left))

    def _catalogued(self, groups: Int64Array) -> Int64Array:
        """Return the groups of the catalogue that rows belong to."""
        return groups

    def _numbered(self, groups: Int64Array, left: Numbers) -> Int64Array:
        """Return the new numbers of rows, `GONE` for those that are not left."""
        return renumbered(groups, left.groups)

    def _restored(self, state: State, group: Int64Array) -> _ModelHours:
        table, hours = _ModelHours(self.width, state["since"]), state["hour"]
        for number in np.unique(hours).tolist():
            rows = np.flatnonzero((hours == number) & (group != GONE))
            order = rows[np.argsort(group[rows])]
            hour = table.hours.setdefault(number, _Hour(self.width))
            hour.groups, hour.cells = group[order], state["cells"][order].copy()
            table.rows += len(order)
        return table

    def _keeps(self) -> BoolArray:
        """Return which models keep the version."""
        if len(self._owners) != len(self._catalogue.models):
            kept = [VERSION_KEY in setting.segments for setting in self._catalogue.settings]
            self._owners = np.array(kept, dtype=np.bool_)
        return self._owners
