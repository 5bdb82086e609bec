"""Cases that name a class which their model does not have: how many, by day.

A label of such a class changes nothing, so that its prediction has no label; a prediction of one is
rejected. Where these are many, the cases that count are not like the others: those of a class that
nobody configured are left out.

A label that is rejected counts by its own time, and where one model alone is configured: its
prediction is not looked up. One that only its own model does not know counts by that of its
prediction.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.drift.verdict import DEGRADED, Verdict
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.reject_reasons import Rejection
from monitor.events.renumbering import State
from monitor.labels.faults import LabelFault
from monitor.verdicts import WindowVerdict
from monitor.windows import Windows
from monitor.windows.panes import PaneRing

_TOO_MANY = 0.01
"""Share of the cases from which on the others do not stand for all."""
_FEWEST = 10
_DAYS = 400


class UnknownClasses:
    """Cases of classes that their models do not have, by model and day.

    Args:
        catalogue: models.
        windows: outcomes, which have the labels of known classes.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue, self._windows = catalogue, windows
        self._days = PaneRing(width=DAY_MS, span=_DAYS, cells=1)

    def add(self, model: Int64Array, time: Int64Array) -> None:
        """Count labels; those of models of two classes, which stand for none, are left out.

        Args:
            model: number of the model of each prediction.
            time: event time of each prediction, epoch milliseconds.
        """
        settings = self._catalogue.settings
        many = np.array([settings[number].has_many_classes for number in model.tolist()], np.bool_)
        model, time = model[many], time[many]
        if not len(model):
            return
        self._days.ensure(np.arange(len(self._catalogue.models)))
        day = self._days.pane_of(time)
        self._days.add(day, model, np.zeros_like(day), np.ones_like(day))

    def add_rejected(self, rejected: Iterable[Rejection]) -> None:
        """Count the rejected records that name an unknown class of a known model."""
        numbers = self._catalogue.models
        found = [one.unknown_class for one in rejected if one.unknown_class is not None]
        placed = [(numbers.index(one.model), one.time) for one in found if one.model in numbers]
        if placed:
            self.add(*np.array(placed, dtype=np.int64).T)

    def advance(self, times: Int64Array) -> None:
        """Move on to the times of the models, as `PaneRing.advance` takes them."""
        if self._days.rows:
            self._days.ensure(np.arange(len(self._catalogue.models)))
            self._days.advance(times)

    def count(self, model: int, opens: int, closes: int) -> int:
        """Return how many cases of some days name an unknown class.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded down to a day.
            closes: first moment after it; rounded up.
        """
        if model >= self._days.rows:
            return 0
        first, end = opens // DAY_MS, -(-closes // DAY_MS)
        return int(self._days.sum(first, end, np.array([model])).sum())

    def spoil(self, model: int, opens: int, closes: int) -> bool:
        """Return whether they are too many for the other cases of some days to stand for all.

        Args:
            model: its number.
            opens: as in `count`; at most as far back as the longest window.
            closes: as in `count`.
        """
        unknown = self.count(model, opens, closes)
        if unknown < _FEWEST:
            return False
        row = np.array([self._catalogue.totals_row(self._catalogue.models[model])])
        step = self._windows.step_ms
        first, end = opens // DAY_MS * DAY_MS, -(-closes // DAY_MS) * DAY_MS
        cells = self._windows.panes(first // step, end // step, row)
        return are_too_many(unknown, int(cells[..., : len(Outcome)].sum()))

    def state(self) -> State:
        """Serializable state; empty before the first such label."""
        return self._days.state() if self._days.rows else {}

    def restore(self, state: State | None, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; None of one that counted no such labels.
            models: old numbers of the models that are still there.
        """
        if state is not None:
            self._days.restore(state, models, models, np.arange(len(models)))


def are_too_many(unknown: int, outcomes: int) -> bool:
    """Return whether cases of unknown classes are too many for the others to stand for all.

    Args:
        unknown: cases of unknown classes.
        outcomes: of the same days, of known classes.

    >>> are_too_many(10, 990), are_too_many(10, 991), are_too_many(9, 0)
    (True, False, False)
    """
    return unknown >= _FEWEST and unknown >= _TOO_MANY * (unknown + outcomes)


def untrusted_classes(found: WindowVerdict) -> WindowVerdict:
    """Return a verdict where too many cases name an unknown class.

    What certainly became worse stays so: of cases of the known classes all labels are there.

    Args:
        found: the verdict by the other cases.
    """
    if found.verdict in DEGRADED:
        return found
    fault = str(LabelFault.CLASSES_UNKNOWN)
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=fault)
