"""The fault of a model since its reference, which is no part of longer first days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.watch.class_watch import ClassWatch
from monitor.watch.cuts import CutsByModel
from monitor.watch.first_days import is_too_small_to_page
from monitor.watch.model_watch import ModelWatch
from monitor.watch.small_reference import is_worse
from monitor.watch.stepping import Stepper
from monitor.watch.version_news import VersionNews
from monitor.watch.young_reference import AllDays, likely_fall


class ModelFault(NamedTuple):
    """A fault of a model since its reference.

    Attributes:
        began: until this moment the model was as in its reference, epoch milliseconds.
        over: the page has ended.
    """

    began: int
    over: bool


class ModelFaults:
    """Finds the fault for which a model pages, an alarm awaits judgement, or that is over.

    A model whose reference pages the dead alone may look worse instead.

    Args:
        watches: of the models of two classes, by number.
        classes: watches of the others.
        news: when models changed, and with what version.
        stepper: judges the last days.
        cuts: series of the models.
    """

    def __init__(
        self,
        watches: Mapping[int, ModelWatch],
        classes: ClassWatch,
        news: VersionNews,
        stepper: Stepper,
        cuts: CutsByModel,
    ) -> None:
        self._watches, self._classes, self._news = watches, classes, news
        self._stepper, self._cuts = stepper, cuts

    def of(self, mature: int, age: int, model: int) -> ModelFault | None:
        """Return the fault of a model, and note on its watch that it holds longer days back.

        Args:
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            age: age at which they are, milliseconds.
            model: its number; longer first days than those of its reference are known.
        """
        if (known := self._watches.get(model)) is None:
            until = self._classes.unmoved_until(model, mature, age)
            return None if until is None else ModelFault(until, over=False)
        before = known.judge.reference
        closes = before.closes or 0
        if known.page.active or known.awaits_page(mature + age):
            known.held = before.source == "first"
            return ModelFault(closes, over=False)
        pages = (one.at for one in known.detections if one.kind == "model_degraded")
        faults = (self._news.fault_began(model, before, at) for at in pages if at > closes)
        return next((ModelFault(began, over=True) for began in faults), None)

    def looks_worse(self, mature: int, model: int, days: AllDays) -> bool:
        """Return whether a model that pages only if it is dead looks worse; note it on its watch.

        Args:
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            model: its number; longer first days than those of its reference are known.
            days: returns all of its days so far.

        Returns:
            As its days show where one closes, and for the rest of the day after it. A short
            reference of many outcomes may be better than usual by days that hang together, so
            that beside it only a change of level among all days counts.
        """
        known, end = self._watches.get(model), mature // DAY_MS
        if known is None or known.hold_ends is None:
            return False
        if not (known.held and known.day >= end):
            found = self._stepper.judged_until(model, known, self._cuts.of(model), end)
            few = is_too_small_to_page(known.judge.reference.counts)
            worse = (few or known.held) and is_worse(found, already=known.held)
            if not (worse or known.held):
                so_far = days()
                worse = so_far is not None and likely_fall(so_far)
            known.held = worse
        return known.held
