"""Builds what watches one model: its judges, detectors, live class ratio and estimates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.drift.day_detector import day_threshold
from monitor.drift.detectors import is_too_small, margin_of, page_threshold
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.delays import LabelDelays
from monitor.labels.learned_errors import LearnedErrors
from monitor.labels.regime import LabelRegime
from monitor.labels.stopped_reports import Reports
from monitor.verdicts import Detected, ReferenceOutcomes
from monitor.watch.cuts import Cuts
from monitor.watch.day_detection import DayDetection
from monitor.watch.detection import AlarmLimits, Detection, RiverDetection
from monitor.watch.first_days import FIRST_MS, is_too_small_to_page
from monitor.watch.judging import Judge
from monitor.watch.level import Stretch
from monitor.watch.live_ratio import LiveRatio
from monitor.watch.model_watch import ModelWatch
from monitor.watch.nowcasts import Nowcasts
from monitor.watch.page import ModelPage
from monitor.watch.reference import MatureReference
from monitor.watch.skill_trend import restored_trend
from monitor.watch.small_reference import hold_ends, pages_only_the_dead
from monitor.windows import Windows
from monitor.windows.outcome_reader import OutcomeReader
from monitor.windows.scores import Scores

_DETECTORS = 2
"""Detectors, by pane and by day, that share a model's budget of false pages."""


class JudgedCounts(NamedTuple):
    """What a watch rests on.

    Attributes:
        windows: counts.
        scores: score histograms.
        delays: delays of labels.
        errors: how often labels are wrong.
        reader: of the outcomes that are judged: the windows, or a class against the others.
    """

    windows: Windows
    scores: Scores
    delays: LabelDelays
    errors: LearnedErrors
    reader: OutcomeReader


class WatchBuilder:
    """Builds the watch of a model.

    Args:
        catalogue: models, their settings and series.
        counts: what it rests on.
        cut: returns the outcomes of a stretch of time of a model, by its number, as a reference.
        whole: outcomes of the model by whose number longer windows are judged, so that they are the
            same for all its classes; None for those of each reference.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        counts: JudgedCounts,
        cut: Callable[[int, Stretch], MatureReference],
        whole: ReferenceOutcomes | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._windows, self._scores, self._delays, self._errors, self._reader = counts
        self._cut, self._whole = cut, whole

    def started(self, model: int, reference: MatureReference, cuts: Cuts) -> ModelWatch:
        """Return the watch of a model against a reference, from its end on.

        A trailing reference moves on with a model that decays slowly. Detectors and pages
        therefore rest on a level of their own, and windows are judged against both.

        Args:
            model: its number.
            reference: of the model.
            cuts: its series by segment key.
        """
        first, step = self._reader.first_pane(model) or 0, self._reader.step_ms
        done = first if reference.closes is None else reference.closes // step
        day = -(-done * step // DAY_MS)
        judge = self.judge(model, reference)
        return ModelWatch(
            detection=self._detection(model, judge, cuts.watched),
            by_day=self._day_detection(model, reference, cuts),
            judge=judge,
            level=judge,
            page=ModelPage(),
            done=done,
            day=day,
            learned_until=day,
            ratio=self.ratio(model, reference),
            nowcasts=self._nowcasts(model),
            hold_ends=self._hold_ends(model, reference),
        )

    def following(
        self,
        known: ModelWatch | None,
        model: int,
        reference: MatureReference,
        cuts: Cuts,
        since: int | None,
        *,
        fell: bool = False,
    ) -> ModelWatch:
        """Return the watch of a model against the reference that it has now.

        Args:
            known: the watch so far; None before the first reference.
            model: its number.
            reference: of the model.
            cuts: its series by segment key.
            since: references that open before this moment hold no longer, epoch
                milliseconds; None where all do.
            fell: it ends before a change now: days since are judged as after an alarm.
        """
        if known is None:
            return self.started(model, reference, cuts)
        if self.follows(known, model, reference, cuts):
            return known
        if known.judge.reference.is_before(since):
            fresh = self.started(model, reference, cuts)
            fresh.detections = known.detections
            return fresh
        if reference.source == "trailing":
            known.judge = self.judge(model, reference)
            known.ratio = self.ratio(model, reference)
            return known
        fresh = self.started(model, reference, cuts)
        fresh.done, fresh.day, fresh.learned_until = known.done, known.day, known.day
        fresh.page, fresh.paged, fresh.detections = known.page, known.paged, known.detections
        fresh.trend = known.trend
        fresh.nowcasts = known.nowcasts
        fresh.shifted_at = known.shifted_at
        if fell:
            fresh.learned_until = -(-(reference.closes or 0) // DAY_MS)
            fresh.page.fire(fresh.day * DAY_MS)
        return fresh

    def restored(
        self,
        model: int,
        reference: MatureReference,
        cuts: Cuts,
        state: State,
        left: Numbers,
    ) -> ModelWatch:
        """Return the watch of a model as it was saved.

        Args:
            model: its number.
            reference: of the model.
            cuts: its series by segment key.
            state: of the watch.
            left: the models and series that are still there.
        """
        level = reference
        if state["level"] is not None:
            level = MatureReference.restored(state["level"], left)
        watch = self.started(model, level, cuts)
        if level is not reference:
            watch.judge, watch.ratio = self.judge(model, reference), self.ratio(model, reference)
        watch.level.learned.restored(state["learned"])
        if watch.detection is not None and state["detection"] is not None:
            watch.detection.restore(state["detection"], left)
        if watch.by_day is not None and state["by_day"] is not None:
            watch.by_day.restore(state["by_day"], left)
        watch.page.restored(state["page"])
        if watch.nowcasts is not None and state.get("nowcasts") is not None:
            watch.nowcasts.restored(state["nowcasts"])
        watch.done, watch.day = state["done"], state["day"]
        watch.paged, watch.lost = state["paged"], state.get("lost", 0.0)
        watch.held = state.get("held", False)
        watch.trend = restored_trend(state.get("trend"))
        watch.learned_until, watch.shifted_at = state["learned_until"], state["shifted_at"]
        watch.detections = [Detected(at, kind) for at, kind in state["detections"]]
        return watch

    def follows(
        self, watch: ModelWatch, model: int, reference: MatureReference | None, cuts: Cuts
    ) -> bool:
        """Take over other rates of wrong labels; return whether the reference is still the same.

        Args:
            watch: of the model; its evidence and pages stay.
            model: its number.
            reference: of the model, at the rates learned by now; None for none.
            cuts: its series by segment key.
        """
        known = watch.judge.reference
        if reference is known:
            return True
        if reference is None or reference.as_labelled is None or not reference.is_of(known):
            return False
        self._follow_rates(model, watch, reference, cuts)
        return True

    def _follow_rates(
        self, model: int, watch: ModelWatch, reference: MatureReference, cuts: Cuts
    ) -> None:
        """Go on with other rates of wrong labels."""
        alone = watch.level is not watch.judge
        level = watch.level.reference.at_rates(self._errors.of(model)) if alone else reference
        learned, watch.level = watch.level.learned.state(), self.judge(model, level)
        watch.level.learned.restored(learned)
        watch.judge = self.judge(model, reference) if alone else watch.level
        by_day = self._day_detection(model, level, cuts)
        if by_day is not None and watch.by_day is not None:
            by_day.continue_from(watch.by_day)
        watch.by_day = by_day
        watch.ratio = self.ratio(model, reference)

    def replace_level(self, model: int, watch: ModelWatch, cuts: Cuts, stretch: Stretch) -> None:
        """Rest detectors and pages on another level from the last closed day on.

        Args:
            model: its number.
            watch: of the model.
            cuts: its series by segment key.
            stretch: the outcomes of the level.
        """
        opens, closes = stretch.opens, stretch.closes
        reference = self._cut(model, stretch)
        known, watch.level = watch.level.learned, self.judge(model, reference)
        if stretch.source == "renewed":
            watch.level.learned.follow(known, (closes - opens) // DAY_MS)
        if not isinstance(watch.detection, RiverDetection):
            watch.detection = self._detection(model, watch.level, cuts.watched)
        watch.by_day = self._day_detection(model, reference, cuts)
        watch.learned_until, watch.lost = watch.day, stretch.lost

    def judge(self, model: int, reference: MatureReference) -> Judge:
        """Return the judge of a model's windows.

        Args:
            model: its number.
            reference: what windows are compared with.
        """
        regime = self._regime(model, reference)
        reports, timeout = None, self._catalogue.settings[model].label_timeout
        if regime.labelling is Labelling.NEGATIVES_BY_TIMEOUT and timeout is not None:
            reports = Reports(model, self._windows, self._delays, timeout)
        alike = self._alike(model)
        return Judge(
            model,
            reference,
            self._reader,
            regime=regime,
            reports=reports,
            longer=self._windows.longer,
            whole=self._whole,
            alike=alike,
            scores=self._scores if regime.is_plain else None,
            audited=partial(self._errors.audited, model),
        )

    def ratio(self, model: int, reference: MatureReference) -> LiveRatio:
        """Return the live class ratio of a model.

        Args:
            model: its number.
            reference: what its windows are compared with.
        """
        edition = partial(self._windows.history_edition, model)
        return LiveRatio(reference, self._reader, self._windows.shortest, edition)

    def _nowcasts(self, model: int) -> Nowcasts | None:
        if self._regime(model).is_estimated or self._catalogue.settings[model].has_many_classes:
            return None
        return Nowcasts(model, self._windows, self._scores)

    def _detection(
        self, model: int, judge: Judge, cuts: list[Int64Array]
    ) -> Detection | RiverDetection | None:
        """Create the detectors by pane.

        None where the reference is too small, and where outcomes are estimated: a pane has few
        labels of a sample, some of great weight, and the rates of sampling may change; of labels
        with errors it has too few to correct.
        """
        settings, reference = self._catalogue.settings[model], judge.reference
        if self._regime(model).is_estimated or is_too_small(reference.counts):
            return None
        if settings.river_detector is not None:
            return RiverDetection(reference, settings.river_detector)
        seconds, pages = self._windows.step_ms / 1000, settings.false_pages_per_year
        series = self._alike(model)
        threshold = page_threshold(pages / _DETECTORS, series=series, pane_seconds=seconds)
        limits = AlarmLimits(threshold, margin_of(series))
        return Detection(reference, cuts, limits, judge.learned.scatter)

    def _day_detection(
        self, model: int, reference: MatureReference, cuts: Cuts
    ) -> DayDetection | None:
        """Create the detector by days.

        None where a detector of river takes its place, and where the reference is too small:
        without it the model does not page.
        """
        settings, counts = self._catalogue.settings[model], reference.counts
        stands_in = pages_only_the_dead(reference, settings.reference.first or FIRST_MS)
        if is_too_small(counts) or (stands_in and is_too_small_to_page(counts)):
            return None
        regime = self._regime(model, reference)
        if settings.river_detector is not None and not regime.is_estimated:
            return None
        alike = self._alike(model)
        threshold = day_threshold(settings.false_pages_per_year / alike / _DETECTORS)
        return DayDetection(reference, regime, cuts, AlarmLimits(threshold, margin_of(alike)))

    def _hold_ends(self, model: int, reference: MatureReference) -> int | None:
        """Return until when a reference holds longer days back; None where it pages.

        A provisional one pages where its days are not tested for a fall: of estimated outcomes.
        """
        settings = self._catalogue.settings[model]
        first = settings.reference.first or FIRST_MS
        plain = settings.river_detector is None and not settings.has_many_classes
        tested = not self._errors.of(model).is_estimated or is_too_small_to_page(reference.counts)
        dead_alone = plain and tested and pages_only_the_dead(reference, first)
        return hold_ends(reference.opens or 0, first) if dead_alone else None

    def _alike(self, model: int) -> int:
        """Return how many watches share a model's budget of false pages: one for each class."""
        settings = self._catalogue.settings[model]
        return len(settings.classes) if settings.has_many_classes else 1

    def _regime(self, model: int, reference: MatureReference | None = None) -> LabelRegime:
        """Return how labels come, and how often they are wrong as its reference has it."""
        regime = self._errors.of(model)
        if reference is None or reference.as_labelled is None:
            return regime
        return reference.as_labelled.regime
