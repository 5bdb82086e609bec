"""Watches models of many classes: each class against the others, within the actual classes.

A class is watched as a binary model with segments is (see `monitor.windows.class_view`), by the
same detectors, verdicts and page. All classes share the model's budget of false pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import ModelConfig
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import block_seconds
from monitor.drift.class_attribution import ClassAttribution, Confusion, attribute_classes
from monitor.drift.day_scatter import days_behind
from monitor.drift.within_segments import accuracy_held
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.regime import LabelRegime
from monitor.verdicts import ClassesWatched, Watched, WindowVerdict
from monitor.watch.class_verdicts import changed_confusions, has_moved, verdict_on_whole
from monitor.watch.cuts import Cuts
from monitor.watch.level import Stretch
from monitor.watch.model_days import RecentDays
from monitor.watch.reference import MatureReference
from monitor.watch.reference_cut import cut_reference
from monitor.watch.stepping import ModelWatch, Stepper
from monitor.watch.watch_builder import JudgedCounts, WatchBuilder
from monitor.watch.watched_now import Moment, watched_now
from monitor.watch.windows_in_use import uses_longer
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
class _Class:
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


class _Model(NamedTuple):
    """The classes of a model, and the reference of the whole that theirs were cut by."""

    whole: MatureReference
    cuts: Cuts
    classes: tuple[_Class, ...]


class _Seen(NamedTuple):
    """What follows from the matrices of the reference and of a window."""

    before: Int64Array
    after: Int64Array
    verdicts: tuple[WindowVerdict, ...]
    causes: ClassAttribution
    confusions: tuple[Confusion, ...]
    held: bool

    def holds(
        self, before: Int64Array, after: Int64Array, verdicts: tuple[WindowVerdict, ...]
    ) -> bool:
        same = len(verdicts) == len(self.verdicts) and all(
            one is other for one, other in zip(verdicts, self.verdicts, strict=True)
        )
        return same and self.before is before and np.array_equal(self.after, after)


class ClassWatch:
    """Watches the classes of models of many.

    Args:
        catalogue: models and their settings.
        counts: of the models.
    """

    def __init__(self, catalogue: Catalogue, counts: JudgedCounts) -> None:
        self._catalogue = catalogue
        self._counts = counts
        self._windows = counts.windows
        self._models: dict[int, _Model] = {}
        self._matrices: dict[int, tuple[MatureReference, Int64Array]] = {}
        self._seen: dict[tuple[int, str], _Seen] = {}

    def page_is_open(self, model: int, at: int) -> bool:
        """Return whether a class pages, or an alarm of one awaits its judgement.

        Args:
            model: its number.
            at: event time, epoch milliseconds.
        """
        known = self._models.get(model)
        return known is not None and any(w.page.is_open(at) for w in _watches(known))

    def steps(
        self, model: int, whole: MatureReference, since: int | None, mature: int, age: int
    ) -> Iterator[None]:
        """Step the detectors of all classes over the panes that have matured.

        Args:
            model: its number.
            whole: reference of the whole model.
            since: references that open before this moment hold no longer; None where all do.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes and each day of each class.
        """
        known = self._following(model, whole)
        for one in known.classes:
            one.watch = one.builder.following(one.watch, model, one.reference, known.cuts, since)
            yield from one.stepper.steps(model, one.watch, known.cuts, mature, age)

    def of(self, model: int, at: Moment, since: int | None) -> Watched | None:
        """Return what is known of a model as a whole, and of each of its classes.

        Args:
            model: its number.
            at: the moment.
            since: references that open before this moment hold no longer; None where all do.

        Returns:
            None before its first reference.
        """
        known = self._models.get(model)
        if known is None or len(_watches(known)) < len(known.classes):
            return None
        if known.whole.is_before(since):
            return None
        names = self._catalogue.settings[model].classes
        by_class = {
            name: watched_now(one.watch, one.stepper, known.cuts, at)
            for name, one in zip(names, known.classes, strict=True)
            if one.watch is not None
        }
        windows = {
            name: self._window(model, name, at, by_class)
            for name in next(iter(by_class.values())).verdicts
        }
        of_classes = by_class.values()
        shifted = [one.prevalence_shift_detected for one in of_classes]
        return Watched(
            reference=replace(known.whole.outcomes, pooled=True),
            verdicts={
                name: verdict_on_whole(seen.verdicts, int(seen.after.sum()), held=seen.held)
                for name, seen in windows.items()
            },
            evidence=max(one.evidence for one in of_classes),
            warming_up=all(one.warming_up for one in of_classes),
            degradation_detected=any(one.degradation_detected for one in of_classes),
            prevalence_shift_detected=any(shifted),
            detections=tuple(sorted({d for one in of_classes for d in one.detections})),
            judged_age_ms=at.age,
            classes=ClassesWatched(
                by_class=by_class,
                reference=self._matrix(model).sum(axis=0),
                causes={name: seen.causes for name, seen in windows.items()},
                confusions={name: seen.confusions for name, seen in windows.items()},
            ),
        )

    def uses(self, window: str) -> bool:
        """Return whether the classes of some model are judged in a window.

        Args:
            window: its name.
        """
        watches = (watch for known in self._models.values() for watch in _watches(known))
        return any(window in watch.judge.names for watch in watches)

    def state(self) -> State:
        """Serializable state: references and evidence of the classes, by model number."""
        return {
            str(model): [
                {"reference": one.reference.state(), "watch": one.watch.state()}
                for one in known.classes
                if one.watch is not None
            ]
            for model, known in self._models.items()
        }

    def restore(self, state: State, model: int, old: int, whole: MatureReference) -> None:
        """Load what `state` returned for one model; nothing where its classes are others.

        Args:
            state: of an earlier run.
            model: number of the model.
            old: its number in that run.
            whole: its reference.
        """
        saved, names = state.get(str(old), ()), self._catalogue.settings[model].classes
        if not saved or len(saved) != len(names):
            return
        rows = np.arange(len(names) + 1)
        left = Numbers(models=rows, series=rows, groups=rows)
        cuts, views = self._views(model, whole)
        classes = []
        for view, one in zip(views, saved, strict=True):
            reference = MatureReference.restored(one["reference"], left)
            made = self._class(view, cuts, whole, reference)
            made.watch = made.builder.restored(model, reference, cuts, one["watch"], left)
            classes.append(made)
        self._models[model] = _Model(whole, cuts, tuple(classes))

    def _following(self, model: int, whole: MatureReference) -> _Model:
        """Return the classes of a model, cut anew where the reference of the whole is another."""
        known = self._models.get(model)
        if known is not None and known.whole is whole:
            return known
        cuts, views = self._views(model, whole)
        watches = [None] * len(views) if known is None else [one.watch for one in known.classes]
        classes = []
        for view, watch in zip(views, watches, strict=True):
            one = self._class(view, cuts, whole, None)
            one.watch = watch
            classes.append(one)
        self._models[model] = known = _Model(whole, cuts, tuple(classes))
        return known

    def _views(self, model: int, whole: MatureReference) -> tuple[Cuts, list[ClassView]]:
        size = len(self._catalogue.settings[model].classes)
        longer = self._windows.longer if uses_longer(whole.outcomes) else ()
        cuts = Cuts(_WHOLE, (np.arange(1, size + 1),))
        return cuts, [ClassView(self._windows, model, c, size, longer) for c in range(size)]

    def _class(
        self, view: ClassView, cuts: Cuts, whole: MatureReference, own: MatureReference | None
    ) -> _Class:
        """Return a class without a watch; its reference is cut like that of the whole, or given."""

        def cut(_: int, stretch: Stretch) -> MatureReference:
            return cut_reference(view, stretch, cuts, _REGIME)

        if own is None:
            stretch = Stretch(whole.source, whole.opens or 0, whole.closes or 0)
            own = replace(cut_reference(view, stretch, cuts, _REGIME), version=whole.version)
        builder = WatchBuilder(self._catalogue, self._counts._replace(reader=view), cut)
        stepper = Stepper(self._catalogue, view, ClassDays(view), builder.replace_level)
        return _Class(builder, stepper, own)

    def _matrix(self, model: int) -> Int64Array:
        """Return the matrices of a model's reference by blocks, (blocks, classes, classes)."""
        known, cached = self._models[model], self._matrices.get(model)
        if cached is None or cached[0] is not known.whole:
            columns = [one.reference.series[1:] for one in known.classes]
            found = np.stack([one[..., Outcome.FP] for one in columns])
            for number, one in enumerate(columns):
                found[number, number] = one[number, :, Outcome.TP]
            blocks = np.moveaxis(found, -1, 0)
            cached = self._matrices[model] = known.whole, _occupied(blocks)
        return cached[1]

    def _window(self, model: int, name: str, at: Moment, by_class: dict[str, Watched]) -> _Seen:
        """Return what follows from a window's matrices, computed again only where they changed."""
        own = tuple(watched.verdicts[name] for watched in by_class.values())
        moved = {one: has_moved(watched, name) for one, watched in by_class.items()}
        panes, length = self._windows.pane_range(name, at.now, at.age), self._windows.length(name)
        block_ms = int(block_seconds(length / 1000)) * 1000
        each = max(1, block_ms // self._windows.width(panes))
        after = self._windows.classes.blocks(model, panes, each)
        before, known = self._matrix(model), self._seen.get((model, name))
        if known is None or not known.holds(before, after, own):
            known = self._seen[model, name] = _Seen(
                before,
                after,
                own,
                attribute_classes(before, _occupied(after)),
                changed_confusions(before, _occupied(after), moved),
                self._accuracy_held(model, after, max(1, DAY_MS // block_ms)),
            )
        return known

    def _accuracy_held(self, model: int, after: Int64Array, blocks_a_day: int) -> bool:
        days = _pooled(self._models[model].whole)
        before, behind = self._matrix(model), days_behind(after.sum(axis=(1, 2)), blocks_a_day)
        return accuracy_held(before.sum(axis=0), after.sum(axis=0), days, behind)


def _pooled(reference: MatureReference) -> ConfusionCounts:
    """Return the right (tp) and wrong (fn) predictions of each day of a reference."""
    days = reference.by_day or reference.blocks
    return ConfusionCounts(tp=days.tp, fn=days.fp, fp=0, tn=0)


def _occupied(blocks: Int64Array) -> Int64Array:
    """Leave out the blocks of time without outcomes, but one."""
    held = blocks.any(axis=(1, 2))
    return blocks[held] if held.any() else blocks[:1]


def _watches(known: _Model) -> list[ModelWatch]:
    return [one.watch for one in known.classes if one.watch is not None]
