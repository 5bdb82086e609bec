"""Watches models of many classes: each class against the others, within the actual classes.

A class is watched as a binary model with segments is (see `monitor.windows.class_view`), by the
same detectors, verdicts and page. All classes share the model's budget of false pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from monitor.events.catalogue import Catalogue
from monitor.events.renumbering import State
from monitor.verdicts import ClassesWatched, Watched
from monitor.watch.class_verdicts import verdict_on_whole
from monitor.watch.class_watch_builder import ClassWatchBuilder, WatchedModel
from monitor.watch.classes_together import ClassesTogether
from monitor.watch.level import WEEK
from monitor.watch.moved_classes import MovedClasses
from monitor.watch.page import JUDGED_DAYS
from monitor.watch.reference import MatureReference
from monitor.watch.watch_builder import JudgedCounts
from monitor.watch.watched_now import Moment, watched_now


class ClassWatch:
    """Watches the classes of models of many.

    Args:
        catalogue: models and their settings.
        counts: of the models.
    """

    def __init__(self, catalogue: Catalogue, counts: JudgedCounts) -> None:
        self._catalogue = catalogue
        self._builder = ClassWatchBuilder(catalogue, counts)
        self._together = ClassesTogether(catalogue, counts.windows)
        self._moves = MovedClasses(counts.windows)
        self._models: dict[int, WatchedModel] = {}

    def unmoved_until(self, model: int, mature: int, age: int) -> int | None:
        """Return until when a model was as in its reference; None where it does not look moved.

        It does while a confusion, or the share of a class, certainly moved; and while a class
        pages, or an alarm of one awaits its judgement.

        Args:
            model: its number.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Returns:
            Epoch milliseconds: the earliest day on which it may have moved, else the end of the
            reference.
        """
        known = self._known(model)
        if known is None:
            return None
        moved = self._moves.earliest(model, known, mature)
        if moved is None and any(one.page.is_open(mature + age) for one in known.watches):
            return known.whole.closes
        return moved

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
        known = self._builder.following(self._known(model), model, whole)
        self._models[model] = known
        for one in known.classes:
            one.watch = one.builder.following(one.watch, model, one.reference, known.cuts, since)
        began = min(watch.day for watch in known.watches)
        for one, watch in zip(known.classes, known.watches, strict=True):
            yield from one.stepper.steps(model, watch, known.cuts, mature, age)
        end = min(watch.day for watch in known.watches) // WEEK * WEEK
        if began < end:
            self._look_back(model, known, end, age)

    def open_panes(self, model: int, mature: int, age: int) -> Iterator[None]:
        """Step the detectors by pane of all classes within days that have not closed.

        Args:
            model: its number.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes of each class.
        """
        known = self._models.get(model)
        for one in () if known is None else known.classes:
            if known is not None and one.watch is not None:
                yield from one.stepper.open_panes(model, one.watch, known.cuts, mature, age)

    def _known(self, model: int) -> WatchedModel | None:
        """Return what watches the classes of a model, those included that it has learned since."""
        known = self._models.get(model)
        if known is not None and len(known.classes) < len(self._catalogue.settings[model].classes):
            known = self._models[model] = self._builder.grown(known, model)
        return known

    def _look_back(self, model: int, known: WatchedModel, end: int, age: int) -> None:
        """Page the classes that are certainly predicted worse in the weeks before day `end`."""
        for days in JUDGED_DAYS:
            for number in self._moves.worse(model, known, end - days, end):
                stepper, watch = known.classes[number].stepper, known.watches[number]
                stepper.start_page(model, watch, known.cuts, days, age)

    def of(self, model: int, at: Moment, since: int | None) -> Watched | None:
        """Return what is known of a model as a whole, and of each of its classes.

        Args:
            model: its number.
            at: the moment.
            since: references that open before this moment hold no longer; None where all do.

        Returns:
            None before its first reference.
        """
        known = self._known(model)
        if known is None or len(known.watches) < len(known.classes):
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
            name: self._together.window(model, known, name, at, by_class)
            for name in next(iter(by_class.values())).verdicts
            if all(name in one.verdicts for one in by_class.values())  # else a reference is new
        }
        for number, (name, one) in enumerate(by_class.items()):
            verdicts = {window: seen.judged.verdicts[number] for window, seen in windows.items()}
            by_class[name] = replace(one, verdicts=verdicts)
        of_classes = by_class.values()
        pages = any(one.degradation_detected for one in of_classes)
        shifted = [one.prevalence_shift_detected for one in of_classes]
        return Watched(
            reference=replace(known.whole.outcomes, pooled=True),
            verdicts={
                name: verdict_on_whole(
                    seen.judged.verdicts,
                    int(seen.after.sum()),
                    held=seen.judged.held,
                    moved=pages or bool(seen.changes),
                )
                for name, seen in windows.items()
            },
            evidence=max(one.evidence for one in of_classes),
            warming_up=all(one.warming_up for one in of_classes),
            degradation_detected=pages,
            prevalence_shift_detected=any(shifted),
            detections=tuple(
                sorted(
                    found._replace(of_class=name)
                    for name, one in by_class.items()
                    for found in one.detections
                )
            ),
            judged_age_ms=at.age,
            classes=ClassesWatched(
                by_class=by_class,
                reference=self._together.reference(model, known).sum(axis=0),
                causes={name: seen.causes for name, seen in windows.items()},
                changes={name: seen.changes for name, seen in windows.items()},
            ),
        )

    def uses(self, window: str) -> bool:
        """Return whether the classes of some model are judged in a window.

        Args:
            window: its name.
        """
        watches = (watch for known in self._models.values() for watch in known.watches)
        return any(window in watch.judge.names for watch in watches)

    def state(self) -> State:
        """Serializable state: references and evidence of the classes, by model number."""
        found = {str(model): known.state() for model, known in self._models.items()}
        looks = ((str(m), self._moves.state(m, known)) for m, known in self._models.items())
        moved = {model: one for model, one in looks if one}
        return {**found, "moved": moved} if moved else found

    def restore(self, state: State, model: int, old: int, whole: MatureReference) -> None:
        """Load what `state` returned for one model; nothing where its classes are others.

        Args:
            state: of an earlier run.
            model: number of the model.
            old: its number in that run.
            whole: its reference.
        """
        known = self._builder.restored(state.get(str(old), []), model, whole)
        if known is None:
            return
        self._models[model] = known
        if len(state[str(old)]) == len(known.classes):
            self._moves.restore(state.get("moved", {}).get(str(old), {}), model, known)
