"""Watches models: judges windows against their reference, steps detectors as panes mature.

    windows -> reference   the stretch to compare with, found once it is mature
            -> stepping    evidence pane by pane: pages, annotations
            -> judging     verdict and causes for each window

The state is the references and the evidence; everything else is read from
`monitor.windows`. Outcomes are counted by the time of their prediction, whatever
clock a model's windows use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from monitor.config import Labelling, ModelConfig
from monitor.drift import Verdict
from monitor.drift.day_detector import day_threshold
from monitor.drift.detectors import page_threshold
from monitor.drift.live_class_ratio import UNKNOWN_RATIO
from monitor.drift.river_detector import RiverDetector
from monitor.drift.verdict import DEGRADED
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.checks import DOUBTFUL_PACE, pace_fault
from monitor.labels.delays import LabelDelays
from monitor.labels.pace import Pace
from monitor.labels.refusals import WITHOUT_DETECTORS
from monitor.labels.sampled_labels import SAMPLES
from monitor.labels.stopped_reports import Reports
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import Detected, ReferenceOutcomes, Watched, WindowVerdict
from monitor.watch.cuts import Cuts, CutsByModel
from monitor.watch.day_detection import DayDetection
from monitor.watch.detection import Detection, RiverDetection
from monitor.watch.judging import Judge
from monitor.watch.live_ratio import LiveRatio
from monitor.watch.missing_labels import MissingLabelTests
from monitor.watch.page import ModelPage
from monitor.watch.reference import MatureReference
from monitor.watch.reference_finder import ReferenceFinder
from monitor.watch.stepping import ModelWatch, Stepper
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.scores import Scores

_DETECTORS = 2
"""Detectors, by pane and by day, that share a model's budget of false pages."""


class Watch:
    """Watches every model as its panes mature.

    Args:
        catalogue: models, their settings and series.
        windows: counts.
        scores: score histograms.
        delays: delays of labels.
    """

    def __init__(
        self, catalogue: Catalogue, windows: Windows, scores: Scores, delays: LabelDelays
    ) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._scores = scores
        self._delays = delays
        self._references = ReferenceFinder(catalogue, windows, scores)
        self._models: dict[int, ModelWatch] = {}
        self._panes: dict[int, int] = {}
        self._cuts = CutsByModel(catalogue)
        self._missing_labels = MissingLabelTests(catalogue, windows, scores)
        self._stepper = Stepper(catalogue, windows)
        for settings in catalogue.possible_settings:
            if settings.river_detector is not None:  # an invalid option fails at the start
                RiverDetector(settings.river_detector.name, **settings.river_detector.options)

    def steps(self, times: Int64Array, age_at: Callable[[int, int], int | None]) -> Iterator[None]:
        """Step the detectors over the panes that have matured since the last call.

        Args:
            times: of each model, epoch milliseconds; `NO_TIME` for one whose time is not
                settled.
            age_at: returns the maturity of a model, by its number and time, in
                milliseconds; None where it is not known yet.

        Yields:
            Nothing; after each pane with outcomes, and after each model.
        """
        for model in np.flatnonzero(times != NO_TIME).tolist():
            now = int(times[model])
            if now // self._windows.step_ms == self._panes.get(model):
                continue
            self._panes[model] = now // self._windows.step_ms
            age = age_at(model, now)
            if age is None or self._labelling(model) is Labelling.FLAGGED_ONLY:
                continue
            mature = now - age
            known = self._models.get(model)
            moved = known is not None and known.page.is_open(mature + age)
            reference = self._references.of(model, mature, moved=moved)
            if reference is not None:
                watch = self._watched(model, reference)
                yield from self._stepper.steps(model, watch, self._cuts.of(model), mature, age)
            yield

    def of(
        self, model: int, now: int, age: int | None, paces: tuple[Pace, Pace] | None = None
    ) -> Watched:
        """Return the verdicts, evidence and detections of one model.

        Args:
            model: its number.
            now: the moment that windows end by, epoch milliseconds.
            age: its maturity, milliseconds; None where it is not known yet.
            paces: at which negatives and positives have got their labels lately.
        """
        watching, labelling = self._models.get(model), self._labelling(model)
        if off := WITHOUT_DETECTORS.get(labelling, ""):
            nothing = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE)
            verdicts = dict.fromkeys(self._windows.names, nothing)
            return Watched(
                verdicts=verdicts,
                prevalence_shift_detected=None,
                detectors_off=off,
                judged_age_ms=age,
            )
        if watching is None or age is None:
            shifted = None if labelling in SAMPLES else False
            return Watched(prevalence_shift_detected=shifted, judged_age_ms=age)
        fault = None if paces is None else pace_fault(paces)
        doubt = paces is not None and pace_fault(paces, DOUBTFUL_PACE) is not None
        detection = watching.detection
        cuts = self._cuts.of(model)
        verdicts = watching.judge.all(now, age, cuts, fault, doubt=doubt)
        if watching.level is not watching.judge:
            first = watching.level.all(now, age, cuts, fault, doubt=doubt)
            worse = {name: one for name, one in first.items() if one.verdict in DEGRADED}
            verdicts |= {n: w for n, w in worse.items() if verdicts[n].verdict not in DEGRADED}
        faulty = verdicts[min(verdicts, key=self._windows.length)].label_fault
        return Watched(
            reference=_before(watching.judge.reference),
            verdicts=verdicts,
            evidence=watching.evidence,
            warming_up=detection is not None and detection.warming_up,
            degradation_detected=watching.page.active,
            prevalence_shift_detected=None
            if detection is None
            else self._stepper.is_active(watching.shifted_at, now),
            detections=tuple(watching.detections),
            judged_age_ms=age,
            live_class_ratio=UNKNOWN_RATIO if faulty else watching.ratio.now,
            expected_class_ratio=watching.ratio.expected,
            missing_labels=self._missing_labels.of(model, cuts, now, age),
        )

    def _watched(self, model: int, reference: MatureReference) -> ModelWatch:
        known, cuts = self._models.get(model), self._cuts.of(model)
        watched = cuts.watched
        if known is not None and known.judge.reference is reference:
            if known.detection is not None:
                known.detection.follow(watched)
            return known
        if known is not None and reference.source == "trailing":
            known.judge = self._judge(model, reference)
            known.ratio = self._ratio(reference).restored(known.ratio.state())
            return known
        fresh = self._started(model, reference, cuts)
        if known is not None:
            fresh.done, fresh.day, fresh.learned_until = known.done, known.day, known.day
            fresh.page, fresh.paged, fresh.detections = known.page, known.paged, known.detections
            fresh.ratio = fresh.ratio.restored(known.ratio.state())
            fresh.shifted_at = known.shifted_at
        self._models[model] = fresh
        return fresh

    def _started(self, model: int, reference: MatureReference, cuts: Cuts) -> ModelWatch:
        """Return the watch of a model against a reference, from its end on.

        A trailing reference moves on with a model that decays slowly. Detectors and pages
        therefore rest on the first one for good, and windows are judged against both.
        """
        first, step = self._windows.first_pane(model) or 0, self._windows.step_ms
        done = first if reference.closes is None else reference.closes // step
        day = -(-done * step // DAY_MS)
        judge = self._judge(model, reference)
        return ModelWatch(
            detection=self._detection(model, judge, cuts.watched),
            by_day=self._day_detection(model, reference, cuts),
            judge=judge,
            level=judge,
            page=ModelPage(),
            done=done,
            day=day,
            learned_until=day,
            ratio=self._ratio(reference),
        )

    def _ratio(self, reference: MatureReference) -> LiveRatio:
        return LiveRatio(reference, self._windows.shortest, self._windows.step_ms)

    def _detection(
        self, model: int, judge: Judge, cuts: list[Int64Array]
    ) -> Detection | RiverDetection | None:
        """Create the detectors by pane; None where labels are a sample.

        A pane has few labels then, some of great weight, and the rates of sampling may change.
        """
        if self._labelling(model) in SAMPLES:
            return None
        settings, reference = self._catalogue.settings[model], judge.reference
        if settings.river_detector is not None:
            return RiverDetection(reference, settings.river_detector)
        seconds, pages = self._windows.step_ms / 1000, settings.false_pages_per_year
        threshold = page_threshold(pages / _DETECTORS, series=1, pane_seconds=seconds)
        return Detection(reference, cuts, threshold, judge.learned.scatter)

    def _day_detection(
        self, model: int, reference: MatureReference, cuts: Cuts
    ) -> DayDetection | None:
        """Create the detector by days; None where a detector of river takes its place."""
        settings = self._catalogue.settings[model]
        if settings.river_detector is not None and settings.labelling not in SAMPLES:
            return None
        threshold = day_threshold(settings.false_pages_per_year / _DETECTORS)
        return DayDetection(reference, settings.labelling, cuts, threshold)

    def _judge(self, model: int, reference: MatureReference) -> Judge:
        labelling = self._labelling(model)
        reports, timeout = None, self._catalogue.settings[model].label_timeout
        if labelling is Labelling.NEGATIVES_BY_TIMEOUT and timeout is not None:
            reports = Reports(model, self._windows, self._delays, timeout)
        windows, scores = self._windows, self._scores
        return Judge(model, reference, windows, scores, labelling=labelling, reports=reports)

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
        found = {m: self._references.found(m) for m in range(len(self._catalogue.models))}
        return {
            "panes": {str(model): pane for model, pane in self._panes.items()},
            "references": {str(m): r.state() for m, r in found.items() if r is not None},
            "watching": {str(m): w.state() for m, w in self._models.items()},
            "asked": [_asked(setting) for setting in self._catalogue.settings],
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        A model whose reference, labelling or detector is configured differently starts anew.
        The detectors of a state from before they stepped by days start anew from the end of
        the reference.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        panes = state.get("panes", {})
        for model, old in enumerate(left.models.tolist()):
            if str(old) in panes:
                self._panes[model] = panes[str(old)]
            kept = state["references"].get(str(old))
            if kept is None or state["asked"][old] != _asked(self._catalogue.settings[model]):
                continue
            reference = MatureReference.restored(kept, left)
            self._references.restore(model, reference)
            watching = state["watching"].get(str(old))
            if watching is not None and "page" in watching:
                self._models[model] = self._restored(model, reference, watching, left)

    def _restored(
        self, model: int, reference: MatureReference, state: State, left: Numbers
    ) -> ModelWatch:
        level = reference
        if state["level"] is not None:
            level = MatureReference.restored(state["level"], left)
        watch = self._started(model, level, self._cuts.of(model))
        if level is not reference:
            watch.judge, watch.ratio = self._judge(model, reference), self._ratio(reference)
        watch.level.learned.restored(state["learned"])
        if watch.detection is not None and state["detection"] is not None:
            watch.detection.restore(state["detection"], left)
        if watch.by_day is not None and state["by_day"] is not None:
            watch.by_day.restore(state["by_day"], left)
        watch.page.restored(state["page"])
        watch.ratio.restored(state["ratio"])
        watch.done, watch.day = state["done"], state["day"]
        watch.paged = state["paged"]
        watch.learned_until, watch.shifted_at = state["learned_until"], state["shifted_at"]
        watch.detections = [Detected(at, kind) for at, kind in state["detections"]]
        return watch

    def _labelling(self, model: int) -> Labelling:
        return self._catalogue.settings[model].labelling


def _before(reference: MatureReference) -> ReferenceOutcomes:
    return ReferenceOutcomes(
        source=reference.source,
        opens=reference.opens,
        closes=reference.closes,
        counts=reference.counts,
        version=reference.version,
    )


def _asked(setting: ModelConfig) -> State:
    """Return the settings that a reference and its detectors depend on."""
    river = setting.river_detector
    return {
        "reference": setting.reference.model_dump(),
        "labelling": str(setting.labelling),
        "river_detector": None if river is None else river.model_dump(),
    }
