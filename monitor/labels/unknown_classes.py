"""Labels and predictions that name a class which their model does not have, by hour.

A label of such a class changes nothing, so that its prediction has no label; a prediction of one is
rejected. Where these are many, the cases that count are not like the others: those of a class that
nobody configured are left out.

A label of a class that its own model alone does not have counts by the time of its prediction. A
rejected label counts by its own time, and only where one model alone is configured: it names no
model, and its prediction is not looked up. What is sent again counts again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from monitor.clock import HOUR_MS
from monitor.counts import Outcome
from monitor.drift.verdict import DEGRADED, Verdict
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.reject_reasons import Rejection
from monitor.events.renumbering import State
from monitor.labels.faults import LabelFault
from monitor.verdicts import WindowVerdict
from monitor.windows import Windows

_TOO_MANY = 0.01
"""Share of the labels, or of the predictions, from which on the others do not stand for all."""
_FEWEST = 10
_MOST_HOURS = 400 * 24
_MOST_MODELS = 1_000
_LABEL = "label"


class UnknownCounts(NamedTuple):
    """Records that name an unknown class.

    Attributes:
        labels: labels.
        predictions: predictions.
    """

    labels: int = 0
    predictions: int = 0

    def are_too_many(self, outcomes: int, predictions: int) -> bool:
        """Return whether the labels, or the predictions, of known classes do not stand for all.

        Args:
            outcomes: of the same time, with a label of a known class.
            predictions: of the same time, of a known class.

        >>> [UnknownCounts(10).are_too_many(known, 5_000) for known in (990, 991)]
        [True, False]
        >>> UnknownCounts(9, 9).are_too_many(0, 0)
        False
        """
        both = (self.labels, outcomes), (self.predictions, predictions)
        return any(n >= _FEWEST and n >= _TOO_MANY * (n + known) for n, known in both)


class UnknownClasses:
    """Records that name classes which their models of many do not have, by model and hour.

    Models are known by their names, a thousand at most: the first records of a model may be
    rejected, and these create none. Hours are stored for 400 days with such records.

    Args:
        catalogue: models.
        windows: outcomes and predictions of the known classes.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue, self._windows = catalogue, windows
        self._hours: dict[str, dict[int, UnknownCounts]] = {}

    def add(self, model: Int64Array, time: Int64Array) -> None:
        """Count labels; those of models of two classes, which stand for none, are left out.

        Args:
            model: number of the model of each prediction.
            time: event time of each prediction, epoch milliseconds.
        """
        pairs, counts = np.unique(np.stack([model, time // HOUR_MS]), axis=1, return_counts=True)
        for number, hour, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            if self._catalogue.settings[number].has_many_classes:
                self._count(self._catalogue.models[number], hour, UnknownCounts(count))

    def add_rejected(self, rejected: Iterable[Rejection]) -> None:
        """Count the rejected records that name an unknown class.

        Args:
            rejected: all records that were rejected.
        """
        for one in rejected:
            if (case := one.unknown_class) is not None:
                is_label = one.field == _LABEL
                found = UnknownCounts(int(is_label), int(not is_label))
                self._count(case.model, case.time // HOUR_MS, found)

    def count(self, model: int, opens: int, closes: int) -> UnknownCounts:
        """Return how many records of a stretch of time name an unknown class.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded down to an hour.
            closes: first moment after it; rounded up.
        """
        first, end = opens // HOUR_MS, -(-closes // HOUR_MS)
        hours = self._hours.get(self._catalogue.models[model], {})
        inside = [counts for hour, counts in hours.items() if first <= hour < end]
        return UnknownCounts(*map(sum, zip(*inside, strict=True))) if inside else UnknownCounts()

    def spoil(self, model: int, opens: int, closes: int) -> bool:
        """Return whether they are too many for the other records of a window to stand for all.

        Args:
            model: its number.
            opens: first moment of the window, epoch milliseconds; rounded down to an hour, or to a
                coarse pane where that is longer.
            closes: first moment after it; rounded up.
        """
        step = self._windows.step_ms
        width = max(HOUR_MS, step)
        first, end = opens // width * width, -(-closes // width) * width
        unknown = self.count(model, first, end)
        if max(unknown) < _FEWEST:
            return False
        row = np.array([self._catalogue.totals_row(self._catalogue.models[model])])
        cells = self._windows.panes(first // step, end // step, row)
        known = cells[..., : len(Outcome)], cells[..., len(Outcome) :]
        return unknown.are_too_many(*(int(some.sum()) for some in known))

    def _count(self, model: str, hour: int, more: UnknownCounts) -> None:
        if model not in self._hours and len(self._hours) >= _MOST_MODELS:
            return
        hours = self._hours.setdefault(model, {})
        before = hours.get(hour, UnknownCounts())
        hours[hour] = UnknownCounts(*map(sum, zip(before, more, strict=True)))
        if len(hours) > _MOST_HOURS:
            del hours[min(hours)]

    def state(self) -> State:
        """Serializable state: labels and predictions by model and hour; empty without any."""
        return {
            model: [[hour, *hours[hour]] for hour in sorted(hours)]
            for model, hours in sorted(self._hours.items())
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; empty of one that counted no such records.
        """
        self._hours = {
            model: {hour: UnknownCounts(*counts) for hour, *counts in hours}
            for model, hours in state.items()
        }


def untrusted_classes(found: WindowVerdict) -> WindowVerdict:
    """Return a verdict where too many records name an unknown class.

    What certainly became worse stays so: of cases of the known classes all labels are there.

    Args:
        found: the verdict by the other records.
    """
    if found.verdict in DEGRADED:
        return found
    fault = str(LabelFault.CLASSES_UNKNOWN)
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=fault)
