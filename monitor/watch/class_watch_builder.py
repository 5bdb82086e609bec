"""Builds what watches the classes of a model: their views, references, watches and steppers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import ModelConfig
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.regime import LabelRegime
from monitor.watch.class_verdicts import occupied
from monitor.watch.cuts import Cuts
from monitor.watch.further_classes import with_further_classes
from monitor.watch.level import Stretch
from monitor.watch.model_days import RecentDays
from monitor.watch.model_watch import ModelWatch
from monitor.watch.reference import MatureReference
from monitor.watch.reference_cut import cut_reference
from monitor.watch.stepping import Stepper
from monitor.watch.watch_builder import JudgedCounts, WatchBuilder
from monitor.windows.class_view import ClassView
from monitor.windows.weights import SUMS

_WHOLE = 0
"""Series of a class that holds all outcomes of the model."""
_REGIME = LabelRegime.of(ModelConfig())
"""How labels of models of many classes come: no other labelling than complete goes with them."""


class ClassDays:
    """Reads days of one class; see `model_days.DayReader`.

    Args:
        view: of the class.
    """

    def __init__(self, view: ClassView) -> None:
        self._view = view

    def days(self, model: int, cuts: Cuts, first: int, end: int) -> RecentDays:  # noqa: ARG002  # the view is of one model
        """As `DayReader.days`; days without a prediction are left out."""
        cells = self._view.days(first, end)
        held = np.flatnonzero(cells[:, _WHOLE].any(axis=1))
        weights = np.zeros((len(held), cells.shape[1], SUMS), dtype=np.int64)
        return RecentDays(first + held, cells[held], weights)


@dataclass(slots=True)
class OneClassWatch:
    """One class of a model, and what watches it.

    Attributes:
        builder: builds its watch.
        stepper: steps its detectors.
        reference: its part of the model's reference.
        watch: its detectors, judge and detections; None before the first step.
    """

    builder: WatchBuilder
    stepper: Stepper
    reference: MatureReference
    watch: ModelWatch | None = None


class WatchedModel(NamedTuple):
    """The classes of a model, and the reference of the whole that theirs were cut by.

    Attributes:
        whole: the reference.
        cuts: the actual classes, as segments of each class.
        classes: in the configured order.
    """

    whole: MatureReference
    cuts: Cuts
    classes: tuple[OneClassWatch, ...]

    @property
    def watches(self) -> list[ModelWatch]:
        """Those that have begun."""
        return [one.watch for one in self.classes if one.watch is not None]

    def state(self) -> list[State]:
        """Serializable state: reference and evidence of each class."""
        return [
            {"reference": one.reference.state(), "watch": one.watch.state()}
            for one in self.classes
            if one.watch is not None
        ]

    def days(self) -> Int64Array:
        """Return the matrices of the reference by days since it opened, (days, ...)."""
        blocks, each = self._blocks(), max(1, DAY_MS // max(self.whole.block_ms, 1))
        return occupied(np.add.reduceat(blocks, np.arange(0, len(blocks), each), axis=0))

    def _blocks(self) -> Int64Array:
        columns = [one.reference.series[1:] for one in self.classes]
        found = np.stack([one[..., Outcome.FP] for one in columns])
        for number, one in enumerate(columns):
            found[number, number] = one[number, :, Outcome.TP]
        return np.moveaxis(found, -1, 0)


class ClassWatchBuilder:
    """Builds the watches of the classes of a model.

    Args:
        catalogue: models and their settings.
        counts: of the models.
    """

    def __init__(self, catalogue: Catalogue, counts: JudgedCounts) -> None:
        self._catalogue = catalogue
        self._counts = counts
        self._windows = counts.windows

    def following(
        self, known: WatchedModel | None, model: int, whole: MatureReference
    ) -> WatchedModel:
        """Return the classes of a model, cut anew where the reference of the whole is another.

        Args:
            known: the classes so far; None before the first reference.
            model: its number.
            whole: reference of the whole model.
        """
        if known is not None and known.whole is whole:
            return known
        cuts, views = self._views(model)
        watches = [None] * len(views) if known is None else [one.watch for one in known.classes]
        classes = []
        for view, watch in zip(views, watches, strict=True):
            one = self._class(view, cuts, whole, None)
            one.watch = watch
            classes.append(one)
        return WatchedModel(whole, cuts, tuple(classes))

    def grown(self, known: WatchedModel, model: int) -> WatchedModel:
        """Return the classes of a model that has learned further ones; see `restored`.

        Args:
            known: the classes so far.
            model: its number.
        """
        grown = self.restored(known.state(), model, known.whole)
        return self.following(None, model, known.whole) if grown is None else grown

    def restored(
        self, saved: list[State], model: int, whole: MatureReference
    ) -> WatchedModel | None:
        """Return the classes of a model as they were saved; None where there are fewer than saved.

        Where there are more, the references of all have these, without a case; pages, what was
        detected, and how days scatter stay. The level is the reference again.

        Args:
            saved: `reference` and `watch` of each class.
            model: number of the model.
            whole: its reference.
        """
        names = self._catalogue.settings[model].classes
        if not saved or len(saved) > len(names):
            return None
        rows = np.arange(len(saved) + 1)
        left = Numbers(models=rows, series=rows, groups=rows)
        cuts, views = self._views(model)
        known = [MatureReference.restored(one["reference"], left) for one in saved]
        references = with_further_classes(known, len(names))
        classes = [
            self._class(view, cuts, whole, own) for view, own in zip(views, references, strict=True)
        ]
        before = Cuts(_WHOLE, (rows[1:],))
        for made, own, one in zip(classes, known, saved, strict=False):
            watch = made.builder.restored(model, own, before, one["watch"], left)
            if len(saved) < len(names):
                until = watch.learned_until
                watch = made.builder.following(watch, model, made.reference, cuts, None)
                watch.learned_until = until
                watch.level.learned.restored(one["watch"]["learned"])
            made.watch = watch
        for made in classes[len(saved) :]:
            made.watch = made.builder.started(model, made.reference, cuts)
        return WatchedModel(whole, cuts, tuple(classes))

    def _views(self, model: int) -> tuple[Cuts, list[ClassView]]:
        size = len(self._catalogue.settings[model].classes)
        cuts = Cuts(_WHOLE, (np.arange(1, size + 1),))
        return cuts, [ClassView(self._windows, model, c, size) for c in range(size)]

    def _class(
        self, view: ClassView, cuts: Cuts, whole: MatureReference, own: MatureReference | None
    ) -> OneClassWatch:
        """Return a class without a watch; its reference is cut like that of the whole, or given."""

        def cut(_: int, stretch: Stretch) -> MatureReference:
            return cut_reference(view, stretch, cuts, _REGIME)

        if own is None:
            stretch = Stretch(whole.source, whole.opens or 0, whole.closes or 0)
            own = replace(cut_reference(view, stretch, cuts, _REGIME), version=whole.version)
        counts = self._counts._replace(reader=view)
        builder = WatchBuilder(self._catalogue, counts, cut, whole.outcomes)
        stepper = Stepper(self._catalogue, view, ClassDays(view), builder.replace_level)
        return OneClassWatch(builder, stepper, own)
