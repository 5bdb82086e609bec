"""Sums the changes of counts, by pane, since they were last forwarded.

A monitor that sees a part of the events can forward its counts to another one, see
`monitor.service.forwarder`. The changes are summed here, so that they take memory for each
distinct place and not for each event, however long the receiver is away.

A change is sent with the pane of its prediction, and with a label time that stands for the
actual one: it has the same delay in terms of `LabelDelays`, and where both are possible the
same hour, so that the receiver learns the delays and misses absent labels as this monitor
does. For models whose windows go by the label it has the same pane instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.clock import HOUR_MS
from monitor.config import WindowClock
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Int64Array
from monitor.events.key_order import beginnings, ordered
from monitor.events.renumbering import GONE, State, renumbered
from monitor.join import Deltas, Join
from monitor.join.deltas import CELLS
from monitor.labels.delay_bins import FIRST_MS, LAST_MS, bins_of

_UNSORTED = 1 << 16
"""Changes that are stored as they come, at least, before they are summed."""
_KEYS = 5
"""Numbers that a change is summed by: pane, group, hour or pane of the label, bin of the delay,
and stratum and cell as one."""


class PaneCounts(NamedTuple):
    """Changes of counts by place, in the order of models and panes; those of 0 come last.

    Attributes:
        groups: model and segment values by key of each group of the places.
        watermarks: event time that each model has reached, by name, epoch milliseconds.
        late: labels that came too late to count.
        group: index into `groups` of each place.
        time: start of the pane, epoch milliseconds.
        label_time: epoch milliseconds.
        stratum: how the labels were sampled, see `monitor.join.sampling`.
        cells: what is added, (places, 6), see `monitor.join.deltas`.
    """

    groups: list[tuple[str, dict[str, str]]]
    watermarks: dict[str, int]
    late: int
    group: Int64Array
    time: Int64Array
    label_time: Int64Array
    stratum: Int64Array
    cells: Int64Array


class Forwarding:
    """Changes of counts that are still to be forwarded; off until `switch`.

    Args:
        catalogue: numbers of models and groups.
        join: remembers the predictions.
        pane_ms: width of a pane, milliseconds.

    Attributes:
        dropped: changes that `restore` found of models that are gone, or start anew.
    """

    def __init__(self, catalogue: Catalogue, join: Join, pane_ms: int) -> None:
        self._catalogue = catalogue
        self._join = join
        self._pane = pane_ms
        self._is_on = False
        self.dropped = 0
        self._fresh: list[Deltas] = []
        self._unsorted = self._waiting = self._late = 0
        self._keys: Int64Array = np.zeros((_KEYS, 0), dtype=np.int64)
        self._count: Int64Array = np.zeros(0, dtype=np.int64)

    @property
    def is_on(self) -> bool:
        """True if changes are collected."""
        return self._is_on

    @property
    def waiting(self) -> int:
        """Single changes of a count that were collected and not yet taken; for telemetry."""
        return self._waiting

    def holds(self, models: Int64Array) -> NDArray[np.bool_]:
        """Return for each of some models whether changes of it were not yet taken.

        Args:
            models: their numbers.
        """
        self._sum_up()
        return np.isin(models, self._catalogue.model_of_group[self._keys[1]])

    def switch(self, *, on: bool) -> None:
        """Begin to collect, with all that is remembered; or forget what was collected.

        Args:
            on: whether to collect; nothing happens where that is so already.
        """
        if on and not self._is_on:
            self.collect_again()
        elif not on:
            self._is_on = False
            self._clear()

    def collect_again(self) -> None:
        """Begin anew with the counts of all remembered predictions: those within the horizon."""
        self._is_on = True
        self._clear()
        for deltas in self._join.remembered():
            self.add(deltas)

    def add(self, deltas: Deltas) -> None:
        """Collect changes."""
        if not self._is_on or not len(deltas):
            return
        self._fresh.append(deltas)
        self._unsorted += len(deltas)
        self._waiting += len(deltas)
        if self._unsorted >= max(_UNSORTED, len(self._count)):
            self._sum_up()

    def take(self, times: Mapping[str, int]) -> PaneCounts:
        """Return what was collected, and begin anew with nothing.

        Args:
            times: of the models, epoch milliseconds. A model that has one and did not change
                has a place with counts of 0, which carries its watermark.
        """
        self._sum_up()
        place, cells = self._places(np.concatenate([self._keys, self._silent(times)], axis=1))
        owner, unchanged = self._catalogue.model_of_group[place[1]], ~cells.any(axis=1)
        order = np.lexsort((place[1], place[0], owner, unchanged))
        place, cells = place[:, order], cells[order]
        used, number = np.unique(place[1], return_inverse=True)
        names = self._catalogue.named_groups()
        late = self._join.books.late
        found = PaneCounts(
            groups=[names[group] for group in used.tolist()],
            watermarks=dict(times),
            late=late - self._late,
            group=number.astype(np.int64),
            time=place[0] * self._pane,
            label_time=place[2],
            stratum=place[3],
            cells=cells,
        )
        self._clear()
        self._late = late
        return found

    def state(self) -> State:
        """Return what was collected."""
        self._sum_up()
        return {"keys": self._keys, "count": self._count, "late": self._late}

    def restore(self, state: State, groups: Int64Array) -> None:
        """Restore from `state`, and collect from now on.

        Args:
            state: of an earlier run.
            groups: the group numbers that are left, in order.
        """
        keys, count = state["keys"].copy(), state["count"]
        keys[1] = renumbered(keys[1], groups)
        left = keys[1] != GONE
        self._is_on = True
        self.dropped = int(np.abs(count[~left]).sum())
        self._clear()
        self._keys, self._count, self._late = keys[:, left], count[left], state["late"]
        self._waiting = int(np.abs(self._count).sum())

    def _clear(self) -> None:
        self._fresh = []
        self._unsorted = self._waiting = self._late = 0
        self._keys = np.zeros((_KEYS, 0), dtype=np.int64)
        self._count = np.zeros(0, dtype=np.int64)

    def _sum_up(self) -> None:
        """Sum the changes that came since with those from before."""
        if not self._fresh:
            return
        fresh = Deltas.concatenate(self._fresh)
        self._fresh, self._unsorted = [], 0
        keys = np.concatenate([self._keys, self._keys_of(fresh)], axis=1)
        count = np.concatenate([self._count, fresh.count])
        order, first = ordered(keys)
        count = np.add.reduceat(count[order], first)
        left = count != 0
        self._keys, self._count = keys[:, order[first[left]]], count[left]

    def _keys_of(self, deltas: Deltas) -> Int64Array:
        pane, by_label = deltas.time // self._pane, self._by_label()[deltas.group]
        delay = np.where(by_label, 0, bins_of(deltas.label_time - deltas.time))
        at_once = (delay == 0) & (deltas.label_time >= deltas.time)
        hour = np.where(at_once, pane * self._pane, deltas.label_time) // HOUR_MS
        quantum = np.where(by_label, deltas.label_time // self._pane, hour)
        sampled = deltas.stratum * CELLS + deltas.cell
        return np.stack([pane, deltas.group, quantum, delay, sampled])

    def _places(self, keys: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the places that are sent, and what is added to each.

        Several hours or delays may have one label time: those of a long pane, or of early labels.

        Args:
            keys: those of the sums; then others, which do not change.

        Returns:
            Distinct (pane, group, label time, stratum), (4, places); and (places, 6).
        """
        pane, group, *_, sampled = keys
        place = np.stack([pane, group, self._label_times(keys), sampled // CELLS])
        order = np.lexsort(place[::-1])
        first = beginnings(place[:, order])
        number = np.empty_like(order)
        number[order] = np.repeat(np.arange(len(first)), np.diff([*first, len(order)]))
        cells = np.zeros((len(first), CELLS), dtype=np.int64)
        changes = len(self._count)
        np.add.at(cells, (number[:changes], sampled[:changes] % CELLS), self._count)
        return place[:, order[first]], cells

    def _label_times(self, keys: Int64Array) -> Int64Array:
        """Return a label time for each key, see the module."""
        pane, group, quantum, delay, _ = keys
        start, hour = pane * self._pane, quantum * HOUR_MS
        at_once = np.minimum(hour + HOUR_MS - 1, start)
        later = np.clip(hour, start + FIRST_MS[delay], start + LAST_MS[delay])
        by_prediction = np.where(delay == 0, at_once, later)
        found = np.where(self._by_label()[group], quantum * self._pane, by_prediction)
        return np.asarray(np.clip(found, EARLIEST_MS, LATEST_MS - 1))

    def _silent(self, times: Mapping[str, int]) -> Int64Array:
        """Return a key for each model that has a time and a group, and did not change."""
        owner = self._catalogue.model_of_group
        there = set(np.unique(owner[self._keys[1]]).tolist())
        found = []
        for number, first in zip(*np.unique(owner, return_index=True), strict=True):
            time = times.get(self._catalogue.models[number])
            if number not in there and time is not None:
                pane = time // self._pane
                by_label = self._by_label()[first]
                quantum = pane if by_label else pane * self._pane // HOUR_MS
                found.append([pane, first, quantum, 0, 0])
        return np.array(found, dtype=np.int64).reshape(-1, _KEYS).T

    def _by_label(self) -> NDArray[np.bool_]:
        """Return which groups are of models whose windows go by the label."""
        clocks = [setting.clock is WindowClock.LABEL for setting in self._catalogue.settings]
        return np.array(clocks, dtype=np.bool_)[self._catalogue.model_of_group]
