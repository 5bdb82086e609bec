"""Looks whether confusions, or shares of classes, have certainly moved since the reference."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.change_point import change_point
from monitor.drift.class_moves import ClassMoves, class_moves
from monitor.drift.share_tests import cases_of, taken_for
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.watch.class_days import class_days
from monitor.watch.class_watch_builder import WatchedModel
from monitor.watch.level import WEEK
from monitor.windows import Windows

_LOOKS_MOVED = 0.01
_CERTAINLY_WORSE = 0.001
"""P-value of a confusion that pages: two looks a week page by chance once in ten years."""


class MovedClasses:
    """Compares days of models of many classes with their reference.

    Args:
        windows: counts.
    """

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._earliest: dict[int, tuple[WatchedModel, int, int | None]] = {}

    def worse(self, model: int, known: WatchedModel, first: int, end: int) -> list[int]:
        """Return the classes that are certainly predicted worse than in the reference.

        Args:
            model: its number.
            known: its classes.
            first: day since 1970, UTC; days of the reference are left out.
            end: day after the last one.
        """
        _, days = self._days(model, known, first, end)
        if not len(days):
            return []
        found = class_moves(known.days(), days, certain=_CERTAINLY_WORSE)
        return [int(number) for number in np.flatnonzero(found.worse)]

    def earliest(self, model: int, known: WatchedModel, mature: int) -> int | None:
        """Return the earliest moment at which what the last week shows moved may have moved.

        Args:
            model: its number.
            known: its classes.
            mature: outcomes up to this moment, epoch milliseconds, are mature.

        Returns:
            The start of a day, epoch milliseconds; None where the last 7 mature days show
            nothing that certainly moved. The answer stays for the day.
        """
        end, cached = mature // DAY_MS, self._earliest.get(model)
        if cached is None or cached[0] is not known or cached[1] != end:
            found = self._moved_on(model, known, end)
            cached = self._earliest[model] = known, end, found
        return cached[2]

    def state(self, model: int, known: WatchedModel) -> State:
        """Serializable state: the answer of `earliest` for the last day that was asked of.

        After a restart, labels that have come since would give another one.

        Args:
            model: its number.
            known: its classes.
        """
        cached = self._earliest.get(model)
        if cached is None or cached[0] is not known:
            return {}
        return {"day": cached[1], "moved": cached[2]}

    def restore(self, state: State, model: int, known: WatchedModel) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            model: number of the model.
            known: its classes.
        """
        if "day" in state:
            self._earliest[model] = known, state["day"], state["moved"]

    def _moved_on(self, model: int, known: WatchedModel, end: int) -> int | None:
        before, (_, week) = known.days(), self._days(model, known, end - WEEK, end)
        if not len(week) or not (moved := class_moves(before, week, certain=_LOOKS_MOVED)):
            return None
        held, days = self._days(model, known, 0, end)
        return int(held[_earliest(moved, known, days)]) * DAY_MS

    def _days(
        self, model: int, known: WatchedModel, first: int, end: int
    ) -> tuple[Int64Array, Int64Array]:
        """Return days after the reference: their numbers, and matrices."""
        first = max(first, -(-(known.whole.closes or 0) // DAY_MS))
        return class_days(self._windows, model, len(known.classes), first, max(first, end))


def _earliest(moved: ClassMoves, known: WatchedModel, days: Int64Array) -> int:
    """Return the first of some days on which any of what moved may have done so."""
    before, found = known.days().sum(axis=0), []
    for predicted, actual in zip(*np.nonzero(moved.rose | moved.fell), strict=True):
        found.append(
            change_point(
                taken_for(days, predicted, actual),
                taken_for(before, predicted, actual),
                recall_dispersion=float(known.classes[actual].reference.dispersion.recall),
            )
        )
    for actual in np.flatnonzero(moved.shares).tolist():
        dispersion = float(known.classes[actual].reference.dispersion.class_ratio)
        sides = (_cases_among_all(side, actual) for side in (days, before))
        found.append(change_point(*sides, recall_dispersion=dispersion))
    return min(one.earliest for one in found if one is not None)


def _cases_among_all(matrix: Int64Array, actual: int) -> ConfusionCounts:
    """Return the cases of a class as hits of one rate, its share, and the others as misses."""
    cases = cases_of(matrix, actual)
    return ConfusionCounts(tp=cases.tp, fp=0, fn=cases.tn, tn=0)
