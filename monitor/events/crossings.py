"""Where in a batch event time enters another step or another day.

Days are closed, and panes judged, behind each part of a batch. A part that spans several
days would close them with labels that came days later, so a batch is cut where a model
enters another day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from monitor.events.batches import in_sequence
from monitor.events.columns import NO_TIME, EventBatch, Int64Array
from monitor.events.time_columns import NEVER


class Crossing(NamedTuple):
    """A record with which the time of a model enters another stretch.

    Attributes:
        place: in the sequence of the batch's rows.
        model: its number.
        entered: the stretch, in stretches since 1970.
    """

    place: int
    model: int
    entered: int


class TimePath(NamedTuple):
    """How the settled time of a model goes through a batch.

    Attributes:
        model: its number.
        place: of each of its events in the sequence of the batch's rows, in order.
        time: before the first of them and after each, epoch milliseconds; `NO_TIME` before it
            is settled.
        reached: where the model stands, see `Standing.reached`.
    """

    model: int
    place: Int64Array
    time: Int64Array
    reached: Int64Array

    def behind(self, rows: int) -> TimePath:
        """Return the path through the rest of the batch.

        Args:
            rows: number of the first rows of the batch that are left out.
        """
        first = int(np.searchsorted(self.place, rows))
        place = self.place[first:] - rows
        return TimePath(self.model, place, self.time[first:], self.reached[first:])


def crossings(paths: Iterable[TimePath], width_ms: int, begins: Int64Array) -> list[Crossing]:
    """Return where in a batch the time of each model enters another stretch, in order.

    Args:
        paths: of the models.
        width_ms: length of the stretches, milliseconds.
        begins: moment at which those of each model begin, milliseconds.
    """
    found: list[Crossing] = []
    for model, place, time, _ in paths:
        entered = (time - begins[model]) // width_ms
        changes = np.flatnonzero(entered[1:] > entered[:-1])
        where = place[changes].tolist()
        found += map(Crossing, where, [model] * len(where), entered[1:][changes].tolist())
    return sorted(found)


def places_of(batch: EventBatch) -> Int64Array:
    """Return the place of each row of a batch in the sequence of its rows, kind after kind."""
    order = in_sequence(batch)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def common_steps(crossings: Iterable[Crossing], steps: dict[int, int], reached: int) -> list[int]:
    """Return the places where the second-highest step of the models rises.

    Args:
        crossings: in the order of their places.
        steps: of each settled model before the batch.
        reached: step that the models had in common before the batch.
    """
    found, now = [], dict(steps)
    for place, model, entered in crossings:
        now[model] = entered
        common = sorted(now.values())[-2:][0]
        if common > reached:
            reached = common
            found.append(place)
    return found


def slowest_steps(paths: Iterable[TimePath], width_ms: int, reached: Sequence[int]) -> list[int]:
    """Return the places where the step of the model furthest behind changes.

    It falls where a model that was unknown is further behind.

    Args:
        paths: of the models.
        width_ms: length of a step, milliseconds.
        reached: where each model stands before the batch, epoch milliseconds; `NEVER` of those
            that hold nothing back, until an event.
    """
    changes: list[Crossing] = []
    for model, places, _, time in paths:
        stretch = time // width_ms
        enters = stretch[1:] != stretch[:-1]
        enters[:1] |= reached[model] == NEVER
        at = np.flatnonzero(enters)
        where = places[at].tolist()
        changes += map(Crossing, where, [model] * len(where), stretch[1:][at].tolist())
    now, found = [time // width_ms for time in reached], []
    lowest = min(now, default=NEVER)
    for place, number, entered in sorted(changes):
        rises, now[number] = now[number] == lowest, entered
        new = min(now) if rises else min(lowest, entered)
        if new != lowest:
            lowest = new
            found.append(place)
    return found


def second_highest(times: Int64Array) -> int:
    """Return the second-highest time, since one model alone carries no other; of one, its own.

    Args:
        times: of the models, epoch milliseconds.

    Returns:
        Epoch milliseconds; `NO_TIME` without models.
    """
    if not len(times):
        return NO_TIME
    ordered = times.copy()
    ordered.sort()
    return int(ordered[-2:][0])
