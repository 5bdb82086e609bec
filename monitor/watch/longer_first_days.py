"""The first days that a provisional reference stands in for: when they replace it, and when not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.events.catalogue import Catalogue
from monitor.events.renumbering import Numbers, State
from monitor.labels.learned_errors import LearnedErrors
from monitor.watch.first_days import FIRST_MS
from monitor.watch.level import Stretch
from monitor.watch.model_faults import ModelFault
from monitor.watch.reference import MatureReference
from monitor.watch.small_reference import hold_ends
from monitor.watch.young_reference import AllDays
from monitor.windows import Windows

Cut = Callable[[int, Stretch], MatureReference]
"""Returns the outcomes of a mature stretch of time of a model, by its number, as a reference."""
LooksWorse = Callable[[int, AllDays], bool]
"""Returns whether a model, by its number, that has no fault looks worse, by all of its days."""


def days_after(first: ConfusionCounts, later: ConfusionCounts) -> ConfusionCounts:
    """Return days, and those that follow them, one axis.

    Args:
        first: outcomes by day.
        later: the same.
    """
    return ConfusionCounts.from_cells(np.concatenate([first.cells, later.cells]))


class LongerFirstDays:
    """Finds what replaces provisional references.

    Args:
        catalogue: models and their settings.
        windows: counts.
        errors: how often labels are wrong.
        cut: returns stretches as references.
    """

    def __init__(
        self, catalogue: Catalogue, windows: Windows, errors: LearnedErrors, cut: Cut
    ) -> None:
        self._catalogue, self._windows, self._errors = catalogue, windows, errors
        self._cut = cut
        self._known: dict[int, MatureReference] = {}

    def after(
        self,
        model: int,
        provisional: MatureReference,
        mature: int,
        fault: ModelFault | None,
        looks_worse: LooksWorse,
    ) -> MatureReference | None:
        """Return what replaces a provisional reference once longer first days are known.

        Args:
            model: its number.
            provisional: its reference.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            fault: of the model since its reference; None where it had none.
            looks_worse: see `LooksWorse`.

        Returns:
            None while it stays.
        """
        if fault is not None and fault.over:
            return replace(provisional, cut_short=fault.began)
        longer = self._longer(model, provisional)
        if fault is not None:
            found = self._until(model, provisional, fault.began)
        elif (
            longer is None
            or longer.cut_short is not None
            or not looks_worse(model, partial(self._all_days, model, longer, mature))
        ):
            found = longer
        elif mature < hold_ends(provisional.opens or 0, self._length(model)):
            found = None
        else:
            found = replace(longer, worse_since=provisional.closes)
        if found is None or found.closes == provisional.closes:
            return found
        return replace(found, version=provisional.version + 1)

    def _all_days(self, model: int, longer: MatureReference, mature: int) -> ConfusionCounts | None:
        """Return the longer first days and the whole ones since; None where they are not known."""
        closes = longer.closes or 0
        end = closes + (mature // DAY_MS * DAY_MS - closes) // DAY_MS * DAY_MS
        if longer.by_day is None or end <= closes:
            return longer.by_day
        since = self._cut(model, Stretch("first", closes, end)).by_day
        return None if since is None else days_after(longer.by_day, since)

    def known(self, model: int) -> MatureReference | None:
        """Return the longer first days of a model; None before they are known."""
        return self._known.get(model)

    def forget(self, model: int) -> None:
        """Drop what is known of a model: its reference is no provisional one of these days."""
        self._known.pop(model, None)

    def state(self, model: int) -> State:
        """Serializable state of one model, a part of that of its reference."""
        known = self._known.get(model)
        return {} if known is None else {"longer": known.state()}

    def restore(self, model: int, state: State, left: Numbers) -> None:
        """Load what `state` returned of an earlier run.

        Args:
            model: its number now.
            state: of its reference.
            left: the models and series that are still there.
        """
        if "longer" in state:
            found = MatureReference.restored(state["longer"], left)
            self._known[model] = found.examined(self._errors.of(model))

    def _longer(self, model: int, provisional: MatureReference) -> MatureReference | None:
        """Return the longer first days, up to a change of level that they hold.

        They are cut once, as soon as they are known: the panes of days that are held back are
        not stored until the end. None where that has happened.
        """
        opens, first = provisional.opens, self._windows.first_pane(model)
        if model not in self._known and opens is not None and first is not None:
            if first * self._windows.step_ms > opens:
                return None
            found = self._cut(model, Stretch("first", opens, opens + self._length(model)))
            found = found.examined(self._errors.of(model))
            self._known[model] = self._before_change(model, provisional, found)
        return self._known.get(model)

    def _before_change(
        self, model: int, provisional: MatureReference, found: MatureReference
    ) -> MatureReference:
        """Return longer first days up to the change of level that they hold, if they hold one.

        They are those known so far where no more days lie before it.
        """
        change = found.outcomes.level_changed
        many = self._catalogue.settings[model].has_many_classes
        if many or change is None or provisional.level_change is not None:
            return found
        shorter = self._until(model, provisional, change)
        return replace(provisional if shorter is None else shorter, cut_short=change)

    def _until(
        self, model: int, provisional: MatureReference, until: int
    ) -> MatureReference | None:
        """Cut the first days up to a moment; None where no more are known, or stored."""
        step, first = self._windows.step_ms, self._windows.first_pane(model)
        opens, closes = provisional.opens, provisional.closes
        if opens is None or closes is None or first is None or first * step > opens:
            return None
        end = min(until // step * step, opens + self._length(model))
        if end <= closes:
            return None
        return self._cut(model, Stretch("first", opens, end)).examined(self._errors.of(model))

    def _length(self, model: int) -> int:
        return self._catalogue.settings[model].reference.first or FIRST_MS
