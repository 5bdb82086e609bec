"""Watching models: windows against their reference, detectors as panes mature.

    windows ─▶ reference   what "before" means, found once it is mature
            ─▶ detection   evidence pane by pane: pages, annotations
            ─▶ judging     verdict and causes for each window

State of its own are the references found and the evidence gathered; all else
is read from `monitor.windows`. Only outcomes by the time of their prediction
are looked at, whatever clock a model's windows show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from monitor.config import Labelling, ModelConfig
from monitor.counts import Outcome
from monitor.drift import Verdict
from monitor.drift.detectors import page_threshold
from monitor.drift.live_class_ratio import UNKNOWN_RATIO
from monitor.drift.river_detector import RiverDetector
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.labels.checks import DOUBTFUL_PACE, pace_fault
from monitor.labels.delays import LabelDelays
from monitor.labels.missing import concentrations, in_score_ranges
from monitor.labels.pace import Pace
from monitor.labels.refusals import WITHOUT_DETECTORS
from monitor.labels.stopped_reports import Reports
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import Detected, MissingLabels, ReferenceOutcomes, Watched, WindowVerdict
from monitor.watch.class_ratio import LiveRatio
from monitor.watch.detection import Detection, RiverDetection
from monitor.watch.judging import Cuts, Judge
from monitor.watch.reference import Reference, References
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.scores import Scores
from monitor.windows.windows import Edition

__all__ = ["Watch"]


@dataclass(slots=True, kw_only=True)
class _Watching:
    """What is remembered of one model; no detection where its labels allow none."""

    detection: Detection | RiverDetection | None
    judge: Judge
    done: int
    ratio: LiveRatio
    degraded_at: int | None = None
    confirmed: bool = False
    shifted_at: int | None = None
    detections: list[Detected] = field(default_factory=list)


class _Missing(NamedTuple):
    """Where labels are missing, and the counts and scores that this is of."""

    edition: Edition | None
    scores: ScoreHistogram | None
    found: tuple[MissingLabels, ...]

    def is_of(self, edition: Edition | None, scores: ScoreHistogram | None) -> bool:
        return edition is not None and self.edition == edition and self.scores is scores


class Watch:
    """Watches every model as its panes mature.

    Args:
        catalogue: models, their settings and series.
        windows: where counts are kept.
        scores: where score histograms are kept.
        delays: where delays of labels are kept.
    """

    def __init__(
        self, catalogue: Catalogue, windows: Windows, scores: Scores, delays: LabelDelays
    ) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._scores = scores
        self._delays = delays
        self._references = References(catalogue, windows, scores)
        self._watching: dict[int, _Watching] = {}
        self._pane: int | None = None
        self._known_cuts: dict[int, tuple[int, Cuts]] = {}
        self._known_missing: dict[int, _Missing] = {}
        for settings in catalogue.possible_settings:
            if settings.river_detector is not None:  # known at once, and not in a week
                RiverDetector(settings.river_detector.name, **settings.river_detector.options)

    def steps(self, now: int, maturity: list[int | None]) -> Iterator[None]:
        """Step the detectors over the panes that have matured since.

        Args:
            now: the watermark, epoch milliseconds.
            maturity: of each model, milliseconds; None where it is not known yet.

        Yields:
            Nothing; after each pane with outcomes, and after each model.
        """
        if now // self._windows.step_ms == self._pane:
            return
        self._pane = now // self._windows.step_ms
        for model, age in enumerate(maturity):
            if age is None or self._labelling(model) is Labelling.FLAGGED_ONLY:
                continue
            mature = now - age
            reference = self._references.of(model, mature)
            if reference is not None:
                yield from self._step(model, self._watched(model, reference), mature, age)
            yield

    def of(
        self, model: int, now: int, age: int | None, paces: tuple[Pace, Pace] | None = None
    ) -> Watched:
        """What watching one model has found.

        Args:
            model: its number.
            now: the moment that windows end by, epoch milliseconds.
            age: its maturity, milliseconds; None where it is not known yet.
            paces: at which negatives and positives get their labels of late.
        """
        watching, off = self._watching.get(model), WITHOUT_DETECTORS.get(self._labelling(model), "")
        if self._labelling(model) is Labelling.FLAGGED_ONLY:
            nothing = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE)
            verdicts = dict.fromkeys(self._windows.names, nothing)
            return Watched(verdicts=verdicts, detectors_off=off, judged_age_ms=age)
        if watching is None or age is None:
            return Watched(detectors_off=off, judged_age_ms=age)
        fault = None if paces is None else pace_fault(paces)
        doubt = paces is not None and pace_fault(paces, DOUBTFUL_PACE) is not None
        detection = watching.detection
        verdicts = watching.judge.all(now, age, self._cuts(model), fault, doubt=doubt)
        astray = verdicts[min(verdicts, key=self._windows.length)].label_fault
        return Watched(
            reference=_before(watching.judge.reference),
            verdicts=verdicts,
            evidence=float("nan") if detection is None else detection.evidence,
            warming_up=detection is not None and detection.warming_up,
            degradation_detected=self._holds(watching.degraded_at, now),
            prevalence_shift_detected=self._holds(watching.shifted_at, now),
            detections=tuple(watching.detections),
            detectors_off=off,
            judged_age_ms=age,
            live_class_ratio=UNKNOWN_RATIO if astray else watching.ratio.now,
            expected_class_ratio=watching.ratio.expected,
            missing_labels=self._missing(model, now, age),
        )

    def _watched(self, model: int, reference: Reference) -> _Watching:
        known, cuts = self._watching.get(model), self._cuts(model)
        watched = list(cuts.segments) or [np.array([cuts.totals])]
        if known is not None and known.judge.reference is reference:
            if known.detection is not None:
                known.detection.follow(watched)
            return known
        detection, judge = self._detection(model, reference, watched), self._judge(model, reference)
        if known is not None:
            known.detection, known.judge = detection, judge
            known.ratio.profile = reference.profile
            return known
        first = self._windows.first_pane(model) or 0
        closes, step = reference.closes, self._windows.step_ms
        done = first if closes is None else closes // step
        self._watching[model] = _Watching(
            detection=detection, judge=judge, done=done, ratio=self._ratio(reference)
        )
        return self._watching[model]

    def _ratio(self, reference: Reference) -> LiveRatio:
        return LiveRatio(reference, self._windows.shortest, self._windows.step_ms)

    def _detection(
        self, model: int, reference: Reference, cuts: list[Int64Array]
    ) -> Detection | RiverDetection | None:
        """Detectors against a reference; none where the labels allow none."""
        if self._labelling(model) in WITHOUT_DETECTORS:
            return None
        settings = self._catalogue.settings[model]
        if settings.river_detector is not None:
            return RiverDetection(reference, settings.river_detector)
        seconds, pages = self._windows.step_ms / 1000, settings.false_pages_per_year
        threshold = page_threshold(pages, series=1, pane_seconds=seconds)
        return Detection(reference, cuts, threshold)

    def _judge(self, model: int, reference: Reference) -> Judge:
        labelling = self._labelling(model)
        reports, timeout = None, self._catalogue.settings[model].label_timeout
        if labelling is Labelling.NEGATIVES_BY_TIMEOUT and timeout is not None:
            reports = Reports(model, self._windows, self._delays, timeout)
        windows, scores = self._windows, self._scores
        return Judge(model, reference, windows, scores, labelling=labelling, reports=reports)

    def scores_of_reference(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        """Labelled scores of a model's reference by day, (days, bins).

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
        """References found, evidence gathered and detections made, by model number."""
        found = {m: self._references.found(m) for m in range(len(self._catalogue.models))}
        return {
            "pane": self._pane,
            "references": {str(m): r.state() for m, r in found.items() if r is not None},
            "watching": {str(m): _state_of(w) for m, w in self._watching.items()},
            "asked": [_asked(setting) for setting in self._catalogue.settings],
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Go on from what `state` gave, with the models that are left.

        Where another reference or labelling is asked for, watching begins anew.
        """
        self._pane = state["pane"]
        for model, old in enumerate(left.models.tolist()):
            kept = state["references"].get(str(old))
            if kept is None or state["asked"][old] != _asked(self._catalogue.settings[model]):
                continue
            reference = Reference.restored(kept, left)
            self._references.keep(model, reference)
            watching = state["watching"].get(str(old))
            if watching is not None:
                self._watching[model] = self._restored(model, reference, watching, left)

    def _restored(self, model: int, reference: Reference, state: State, left: Numbers) -> _Watching:
        cuts = self._cuts(model)
        watched = list(cuts.segments) or [np.array([cuts.totals])]
        detection = self._detection(model, reference, watched)
        if detection is not None and state["detection"] is not None:
            detection.restore(state["detection"], left)
        return _Watching(
            detection=detection,
            judge=self._judge(model, reference),
            done=state["done"],
            ratio=self._ratio(reference).restored(state["ratio"]),
            degraded_at=state["degraded_at"],
            confirmed=state["confirmed"],
            shifted_at=state["shifted_at"],
            detections=[Detected(at, kind) for at, kind in state["detections"]],
        )

    def _cuts(self, model: int) -> Cuts:
        rows, known = self._catalogue.rows_of(model), self._known_cuts.get(model)
        if known is None or known[0] != len(rows):
            by_key: dict[str | None, list[int]] = {}
            for row in rows.tolist():
                by_key.setdefault(self._catalogue.series[row].segment, []).append(row)
            (totals,) = by_key.pop(None)
            cuts = Cuts(totals, tuple(np.array(rows) for rows in by_key.values()))
            known = self._known_cuts[model] = (len(rows), cuts)
        return known[1]

    def _step(self, model: int, watching: _Watching, mature: int, age: int) -> Iterator[None]:
        first, end = watching.done, mature // self._windows.step_ms
        if end <= first or watching.detection is None:
            return
        rows = self._catalogue.rows_of(model)
        table = self._windows.panes(first, end, rows)[..., : len(Outcome)]
        for i in np.flatnonzero(table.any(axis=(1, 2))).tolist():
            self._take(model, watching, watching.detection, first + i, table[i], age=age)
            watching.done = first + i + 1
            yield
        watching.done = end

    def _take(
        self,
        model: int,
        watching: _Watching,
        detection: Detection | RiverDetection,
        pane: int,
        cells: Int64Array,
        *,
        age: int,
    ) -> None:
        """Step the detectors of a model over one pane, (series, 4)."""
        step, rows = self._windows.step_ms, self._catalogue.rows_of(model)
        totals = self._catalogue.totals_row(self._catalogue.models[model])
        watching.ratio.update(cells[int(np.searchsorted(rows, totals))], pane)
        alarms = detection.update(cells, rows, pane * step, totals)
        at = (pane + 1) * step + age
        longest = max(self._windows.names, key=self._windows.length)
        silent = any(alarms) and watching.judge.reports_are_missing(longest, at, age)
        degraded = alarms.degraded and not silent
        self._note_degraded(model, watching, at, age, alarm=degraded)
        if not alarms.shifted or silent:
            return
        if not watching.judge.may_be_labels(at, age, totals):
            if not self._holds(watching.shifted_at, at):
                watching.detections.append(Detected(at, "prevalence_shift"))
            watching.shifted_at = at

    def _note_degraded(
        self, model: int, watching: _Watching, at: int, age: int, *, alarm: bool
    ) -> None:
        """A page is listed as soon as the detector has fired and a verdict agrees."""
        if not self._holds(watching.degraded_at, at):
            watching.confirmed = False
            watching.degraded_at = None
        if alarm:
            watching.degraded_at = at
        if watching.degraded_at is None or watching.confirmed:
            return
        if watching.judge.says_degraded(at, age, self._cuts(model)):
            watching.confirmed = True
            watching.detections.append(Detected(at, "model_degraded"))

    def _missing(self, model: int, now: int, age: int) -> tuple[MissingLabels, ...]:
        """Where labels are missing in the longest window."""
        if self._labelling(model) is not Labelling.COMPLETE:
            return ()
        name, length = max(self._windows.names, key=self._windows.length), self._windows.longest
        scores = None
        if length >= DAY_MS:
            scores = self._scores.histogram(model, now - age - length + DAY_MS, now - age - DAY_MS)
        edition = self._windows.edition(name, model, now, age)
        known = self._known_missing.get(model)
        if known is None or not known.is_of(edition, scores):
            found = self._missing_now(model, name, now, age, scores)
            known = self._known_missing[model] = _Missing(edition, scores, found)
        return known.found

    def _missing_now(
        self, model: int, name: str, now: int, age: int, scores: ScoreHistogram | None
    ) -> tuple[MissingLabels, ...]:
        length = self._windows.length(name)
        found: list[MissingLabels] = []
        for rows in self._cuts(model).segments:
            cells = self._windows.blocks(name, rows, now, age, length)[0]
            series = [self._catalogue.series[row] for row in rows.tolist()]
            labelled, made = cells[:, : len(Outcome)].sum(axis=1), cells[:, len(Outcome) :].sum(1)
            values = [one.value or "" for one in series]
            found += concentrations(series[0].segment or "", values, labelled, made)
        if scores is not None:
            found += in_score_ranges(scores)
        return tuple(found)

    def _labelling(self, model: int) -> Labelling:
        return self._catalogue.settings[model].labelling

    def _holds(self, at: int | None, now: int) -> bool:
        return at is not None and now - at <= self._windows.longest


def _before(reference: Reference) -> ReferenceOutcomes:
    return ReferenceOutcomes(
        source=reference.source,
        opens=reference.opens,
        closes=reference.closes,
        counts=reference.counts,
        version=reference.version,
    )


def _state_of(watching: _Watching) -> State:
    detection = watching.detection
    return {
        "detection": None if detection is None else detection.state(),
        "done": watching.done,
        "ratio": watching.ratio.state(),
        "degraded_at": watching.degraded_at,
        "confirmed": watching.confirmed,
        "shifted_at": watching.shifted_at,
        "detections": [[found.at, found.kind] for found in watching.detections],
    }


def _asked(setting: ModelConfig) -> State:
    """The settings that a reference and all that rests on it depend on."""
    river = setting.river_detector
    return {
        "reference": setting.reference.model_dump(),
        "labelling": str(setting.labelling),
        "river_detector": None if river is None else river.model_dump(),
    }
