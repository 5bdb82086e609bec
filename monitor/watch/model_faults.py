"""The fault of a model since its reference, which is no part of longer first days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.watch.class_watch import ClassWatch
from monitor.watch.cuts import CutsByModel
from monitor.watch.model_watch import ModelWatch
from monitor.watch.small_reference import is_worse
from monitor.watch.stepping import Stepper
from monitor.watch.version_news import VersionNews


class ModelFault(NamedTuple):
    """A fault of a model since its reference.

    Attributes:
        began: until this moment the model was as in its reference, epoch milliseconds.
        over: the page has ended.
        pages: False where the reference is too small to page, and the model looks worse.
    """

    began: int
    over: bool
    pages: bool = True


class ModelFaults:
    """Finds the fault for which a model pages, an alarm awaits judgement, or that is over.

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
        """Return the fault of a model, and note on its watch whether it holds longer days back.

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
        if known.page.is_open(mature + age):
            known.held = before.source == "first"
            return ModelFault(closes, over=False)
        pages = (one.at for one in known.detections if one.kind == "model_degraded")
        faults = (self._news.fault_began(model, before, at) for at in pages if at > closes)
        over = next((ModelFault(began, over=True) for began in faults), None)
        return over or self._stated(model, known, mature)

    def _stated(self, model: int, known: ModelWatch, mature: int) -> ModelFault | None:
        """Return the fault that pages nobody, as the last days show where one closes."""
        if not known.few:
            return None
        closes, end = known.judge.reference.closes or 0, mature // DAY_MS
        if known.day >= end:  # as the day before showed: batches may end at any pane of this one
            return ModelFault(closes, over=False)
        found = self._stepper.judged_until(model, known, self._cuts.of(model), end)
        known.held = is_worse(found, already=known.held)
        return ModelFault(closes, over=False, pages=False) if known.held else None
