"""Watches models: judges windows against their reference, steps detectors as panes mature.

    windows -> reference   the stretch to compare with, found once it is mature
            -> stepping    evidence pane by pane: pages, annotations
            -> judging     verdict and causes for each window
            -> predictions what is predicted, without labels: models that have died

The state is the references and the evidence; everything else is read from
`monitor.windows`. Outcomes are counted by the time of their prediction, whatever
clock a model's windows use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import gcd

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.drift.degenerate import DEAD
from monitor.drift.river_detector import RiverDetector
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.delays import LabelDelays
from monitor.labels.learned_errors import LearnedErrors
from monitor.labels.pace import Pace
from monitor.labels.refusals import detectors_off
from monitor.labels.regime import LabelRegime
from monitor.labels.unknown_classes import UnknownClasses, untrusted_classes
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import NOT_COMPARED, Watched
from monitor.watch.asked_settings import asked_settings
from monitor.watch.class_watch import ClassWatch
from monitor.watch.cuts import CutsByModel
from monitor.watch.judged_counts import untrusted
from monitor.watch.missing_labels import MissingLabelTests
from monitor.watch.model_days import SeriesDays
from monitor.watch.model_faults import ModelFaults
from monitor.watch.model_watch import ModelWatch
from monitor.watch.open_days import OpenDays
from monitor.watch.predictions import JUDGED_DAYS, PredictionWatch
from monitor.watch.reference_finder import ReferenceFinder
from monitor.watch.stepping import Stepper
from monitor.watch.version_news import VersionNews, VersionsOf
from monitor.watch.watch_builder import JudgedCounts, WatchBuilder
from monitor.watch.watched_now import Moment, watched_now
from monitor.windows import Windows
from monitor.windows.scores import Scores


class Watch:
    """Watches every model as its panes mature.

    Args:
        catalogue: models, their settings and series.
        windows: counts.
        scores: score histograms.
        delays: delays of labels.
        versions_of: returns the versions of a model.
        errors: how often labels are wrong.
        unknown_classes: records that name a class which their model does not have.

    Attributes:
        open_days: looks at days that have not closed; awaits: see `ReferenceFinder.awaits`.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        windows: Windows,
        scores: Scores,
        delays: LabelDelays,
        versions_of: VersionsOf,
        *,
        errors: LearnedErrors,
        unknown_classes: UnknownClasses,
    ) -> None:
        self._catalogue = catalogue
        self._errors, self._unknown_classes = errors, unknown_classes
        self._windows = windows
        self._references = ReferenceFinder(catalogue, windows, scores, errors)
        self._models: dict[int, ModelWatch] = {}
        self._panes: dict[int, int] = {}
        self._cuts = CutsByModel(catalogue)
        self._missing_labels = MissingLabelTests(catalogue, windows, scores)
        self._predictions = PredictionWatch(catalogue, windows, scores)
        self._news = VersionNews(catalogue, windows, versions_of, self._references.found)
        judged = JudgedCounts(windows, scores, delays, errors, windows)
        self._builder = WatchBuilder(catalogue, judged, self._references.cut)
        self._classes = ClassWatch(catalogue, judged)
        self.awaits = partial(self._references.awaits, restarts=self._news.restarts)
        days = SeriesDays(catalogue, windows)
        self._stepper = Stepper(catalogue, windows, days, self._builder.replace_level)
        self._faults = ModelFaults(
            self._models, self._classes, self._news, self._stepper, self._cuts
        )
        self.open_days = OpenDays(
            windows,
            self._models,
            self._classes,
            predictions=self._predictions,
            stepper=self._stepper,
            cuts=self._cuts,
        )
        for settings in catalogue.possible_settings:
            if settings.river_detector is not None:  # an invalid option fails at the start
                RiverDetector(settings.river_detector.name, **settings.river_detector.options)

    @property
    def step_ms(self) -> int:
        """Event time at whose multiples models are watched, milliseconds."""
        return gcd(self._windows.step_ms, self._predictions.step_ms)

    def steps(
        self, times: Int64Array | None, age_at: Callable[[int, int], int | None]
    ) -> Iterator[None]:
        """Find references, close days and step all detectors up to the time of each model.

        Args:
            times: of each model, epoch milliseconds; `NO_TIME`, or None, where none is judged.
            age_at: returns the maturity of a model, by number and time, milliseconds; or None.

        Yields:
            Nothing; after each pane with outcomes and each model.
        """
        if times is None:
            return
        yield from self._predictions.steps(times)
        for model in np.flatnonzero(times != NO_TIME).tolist():
            pane = int(times[model]) // self._windows.step_ms
            if pane == self._panes.get(model):
                continue
            self._panes[model], now = pane, pane * self._windows.step_ms
            age = age_at(model, now)
            if age is None or self._labelling(model) is Labelling.FLAGGED_ONLY:
                continue
            yield from self._steps_of(model, now - age, age)
            yield

    def _steps_of(self, model: int, mature: int, age: int) -> Iterator[None]:
        """Step the detectors of one model, and find its reference where a day closes.

        The panes of that day are stepped with the reference so far, in whatever batches they came.
        """
        restart = self._news.restarts(model, mature)
        since = None if restart is None else restart.at
        known, cuts = self._models.get(model), self._cuts.of(model)
        if self._is_idle(model, mature, since):
            return
        midnight, reference = mature // DAY_MS * DAY_MS, self._references.at_rates(model)
        fault = partial(self._faults.of, mature, age)
        worse = partial(self._faults.looks_worse, mature)
        if reference is not None and reference.is_before(since):
            reference = None
        closes = known is not None and known.day * DAY_MS < midnight
        if known is not None and closes and reference is not None and self._knows_rates(model):
            known = self._builder.following(known, model, reference, cuts, since)
            yield from self._stepper.pane_steps(model, known, cuts, midnight, age)
        reference = self._references.of(model, mature, fault, worse, since=since)
        if reference is not None and self._catalogue.settings[model].has_many_classes:
            yield from self._classes.steps(model, reference, since, mature, age)
        elif reference is not None and self._knows_rates(model):
            fell = self._references.ends_before_change(model, reference)
            watch = self._builder.following(known, model, reference, cuts, since, fell=fell)
            self._models[model] = watch
            yield from self._stepper.steps(model, watch, cuts, mature, age)
            judged = partial(self._stepper.judged, model, watch, cuts, JUDGED_DAYS)
            self._predictions.accept_by(model, watch.judge.reference, watch.day, judged)

    def _is_idle(self, model: int, mature: int, since: int | None) -> bool:
        """Return whether nothing would be stepped, whatever the rates of wrong labels are by now.

        To learn them takes longer than a step; they are learned where a day closes.
        """
        known, found = self._models.get(model), self._references.found(model)
        if known is None or found is None or found.as_labelled is None or found.is_before(since):
            return False
        if self._references.is_outdated(model, found, mature):
            return False
        return known.awaits_day(mature) and self._predictions.alarm_since(model) is None

    def of(
        self, model: int, now: int, age: int | None, paces: tuple[Pace, Pace] | None = None
    ) -> Watched:
        """Return the verdicts, evidence and detections of one model.

        Args:
            model: its number.
            now: current event time, epoch milliseconds; windows end maturity before it.
            age: its maturity, milliseconds; None where it is not known yet.
            paces: at which negatives and positives have got their labels lately.
        """
        found = self._judged(model, now, age, paces)
        if age is None:
            return found
        until, spoil = now - age, self._unknown_classes.spoil
        verdicts = {
            name: untrusted_classes(one)
            if spoil(model, until - self._windows.length(name), until)
            else one
            for name, one in found.verdicts.items()
        }
        return replace(found, verdicts=verdicts)

    def _judged(
        self, model: int, now: int, age: int | None, paces: tuple[Pace, Pace] | None
    ) -> Watched:
        """Return the same by the labels of the classes that the model has."""
        watching = self._models.get(model)
        predictions = self._predictions.of(model)
        if off := detectors_off(self._catalogue.settings[model]):
            verdicts = dict.fromkeys(self._windows.names, NOT_COMPARED)
            return Watched(
                verdicts=verdicts,
                prevalence_shift_detected=None,
                detectors_off=off,
                judged_age_ms=age,
                predictions=predictions,
            )
        if not self._errors.of(model).errors.known:
            unaudited = untrusted(self._errors.why_undefined(model))
            return Watched(
                verdicts=dict.fromkeys(self._windows.names, unaudited),
                prevalence_shift_detected=None,
                judged_age_ms=age,
                detections=() if watching is None else tuple(watching.detections),
                predictions=predictions,
            )
        reference = self._references.at_rates(model)
        if watching is not None:
            self._builder.follows(watching, model, reference, self._cuts.of(model))
        elif reference is not None and reference.as_labelled is not None:
            watching = self._builder.started(model, reference, self._cuts.of(model))
        restart = None if age is None else self._news.restarts(model, now - age)
        since = None if restart is None else restart.at
        known = 0 if age is None else age  # before the first label, which may come at once
        awaited = self._references.awaited(model, now - known, known, since=since)
        by_class = None if age is None else self._classes.of(model, Moment(now, age, paces), since)
        if by_class is not None:
            return replace(
                by_class,
                reference=self._news.with_versions(model, by_class.reference, restart),
                awaited=awaited,
                new_version=self._news.latest(model, now, None),
            )
        if watching is None or age is None or watching.judge.reference.is_before(since):
            regime = LabelRegime.of(self._catalogue.settings[model])
            shifted = None if regime.is_estimated else False
            if awaited is not None and restart is not None:
                awaited = awaited._replace(restarted_with=restart.version)
            return Watched(
                prevalence_shift_detected=shifted,
                judged_age_ms=age,
                awaited=awaited,
                detections=() if watching is None else tuple(watching.detections),
                predictions=predictions,
                new_version=self._news.latest(model, now, None),
            )
        cuts = self._cuts.of(model)
        at = Moment(now, age, paces, predictions.since if predictions.kind in DEAD else None)
        found = watched_now(watching, self._stepper, cuts, at)
        began = self._news.began(model, watching, found, now - age)
        return replace(
            found,
            reference=self._news.with_versions(model, found.reference, restart),
            missing_labels=self._missing_labels.of(model, cuts, now, age),
            awaited=awaited,
            predictions=predictions,
            began=began,
            new_version=self._news.latest(model, now, began),
        )

    @property
    def news(self) -> VersionNews:
        """When models changed, and with what version."""
        return self._news

    def uses(self, window: str) -> bool:
        """Return whether some model is judged in a window.

        Args:
            window: its name.
        """
        own = any(window in one.judge.names for one in self._models.values())
        return own or self._classes.uses(window)

    def scores_of_reference(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        """Return the labelled scores of a model's reference by day, (days, bins).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded up to a day (UTC).
            closes: first moment after it; rounded down.

        Returns:
            None where these are not the days of the reference, or it has no scores.
        """
        found = self._references.found(model)
        asked = -(-opens // DAY_MS), closes // DAY_MS
        return found.scores_by_day if found is not None and asked == found.days else None

    def state(self) -> State:
        """Serializable state: references, evidence and detections by model number."""
        return {
            "panes": {str(model): pane for model, pane in self._panes.items()},
            "references": self._references.states(),
            "watching": {str(m): w.state() for m, w in self._models.items()},
            "predictions": self._predictions.state(),
            **({"classes": classes} if (classes := self._classes.state()) else {}),
            "asked": [asked_settings(setting) for setting in self._catalogue.settings],
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        A model whose reference, labelling or detector is configured differently starts anew.
        The detectors of a state from before they stepped by days start anew from the end of
        the reference. What predictions are usual is learned anew from a state without it.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        panes = state.get("panes", {})
        if "predictions" in state:
            self._predictions.restore(state["predictions"], left)
        for model, old in enumerate(left.models.tolist()):
            if str(old) in panes:
                self._panes[model] = panes[str(old)]
            kept, asked = state["references"].get(str(old)), state["asked"][old]
            if kept is None or asked != asked_settings(self._catalogue.settings[model]):
                continue
            reference = self._references.restored(model, kept, left)
            self._classes.restore(state.get("classes", {}), model, old, reference)
            watching = state["watching"].get(str(old))
            if watching is not None and "page" in watching:
                self._models[model] = self._builder.restored(
                    model, reference, self._cuts.of(model), watching, left
                )

    def _knows_rates(self, model: int) -> bool:
        return self._errors.of(model).errors.known

    def _labelling(self, model: int) -> Labelling:
        return self._catalogue.settings[model].labelling
