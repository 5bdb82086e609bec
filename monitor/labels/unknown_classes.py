"""Labels that name a class which their model does not have: how many, by day of the prediction.

Such a label changes nothing, so that its prediction has no label. Where these are many, the cases
that have one are not like the others: those of a class that nobody configured are left out.
"""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.drift.verdict import DEGRADED, Verdict
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.labels.faults import LabelFault
from monitor.verdicts import WindowVerdict
from monitor.windows import Windows
from monitor.windows.panes import PaneRing

_TOO_MANY = 0.01
"""Share of the labels from which on the others do not stand for all cases."""
_FEWEST = 10
_DAYS = 400


class UnknownClasses:
    """Labels of classes that their models do not have, by model and day.

    Args:
        catalogue: models.
        windows: outcomes, which have the labels of known classes.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue, self._windows = catalogue, windows
        self._days = PaneRing(width=DAY_MS, span=_DAYS, cells=1)

    def add(self, model: Int64Array, time: Int64Array) -> None:
        """Count labels.

        Args:
            model: number of the model of each prediction.
            time: event time of each prediction, epoch milliseconds.
        """
        self._days.ensure(np.arange(len(self._catalogue.models)))
        day = self._days.pane_of(time)
        self._days.add(day, model, np.zeros_like(day), np.ones_like(day))

    def advance(self, times: Int64Array) -> None:
        """Move on to the times of the models, as `PaneRing.advance` takes them."""
        if self._days.rows:
            self._days.ensure(np.arange(len(self._catalogue.models)))
            self._days.advance(times)

    def count(self, model: int, opens: int, closes: int) -> int:
        """Return how many labels name an unknown class, of predictions of some days.

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
        """Return whether they are too many for the other labels of some days to be trusted.

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
    """Return whether labels of unknown classes are too many for the others to be trusted.

    Args:
        unknown: labels of unknown classes.
        outcomes: of the same days, with a label of a known class.

    >>> are_too_many(10, 990), are_too_many(10, 991), are_too_many(9, 0)
    (True, False, False)
    """
    return unknown >= _FEWEST and unknown >= _TOO_MANY * (unknown + outcomes)


def untrusted_classes(found: WindowVerdict) -> WindowVerdict:
    """Return a verdict where too many labels name an unknown class.

    What certainly became worse stays so: of cases of the known classes all labels are there.

    Args:
        found: the verdict by the other labels.
    """
    if found.verdict in DEGRADED:
        return found
    fault = str(LabelFault.CLASSES_UNKNOWN)
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=fault)
