"""Builds the snapshot of a monitor from the join, windows, labels and watch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.config import Config, Labelling
from monitor.engine.class_windows import ClassWindows
from monitor.engine.measurements import Measurements
from monitor.engine.score_skills import ScoreSkills
from monitor.engine.stages import Stages
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EARLIEST_MS, LATEST_MS, NO_TIME, FloatArray, Int64Array
from monitor.events.counter_totals import CounterTotals
from monitor.events.intake import EVENT_OF_COLUMNS, SHADOW_EVENT
from monitor.events.label_totals import LabelTotals
from monitor.events.reject_reasons import RejectReason
from monitor.join.shadow_store import Book
from monitor.labels.evidence import Evidence
from monitor.labels.faults import LabelFault
from monitor.labels.maturity import Ages, Times
from monitor.labels.published_delays import PUBLISHED_EDGES_SECONDS
from monitor.labels.refusals import REASONS, refused, refused_by
from monitor.snapshot import ModelState, Snapshot, SourceProgress, Window
from monitor.verdicts import NOT_COMPARED, ShadowsNow, Watched
from monitor.watch.live_versions import LiveVersions
from monitor.watch.windows_in_use import windows_in_use

_EVENTS = tuple(EVENT_OF_COLUMNS.values())
_LIFETIME = "all"
_SHADOW_STATES = ("matched", "expired", "evicted", "duplicate")
_LABEL_NAMES = ("negative", "positive", "retracted")


class _View(NamedTuple):
    """Bounds of a window for each model, and its counts."""

    name: str
    bounds: Int64Array
    cells: Int64Array


class SnapshotReader:
    """Builds snapshots of one monitor.

    Args:
        config: of the monitor.
        catalogue: numbers of models, groups and series.
        stages: what counts and judges.
        versions: compares versions.
    """

    def __init__(
        self, config: Config, catalogue: Catalogue, stages: Stages, versions: LiveVersions
    ) -> None:
        self._catalogue, self._stages = catalogue, stages
        self._received, self._join = stages.received, stages.join
        self._windows, self._delays = stages.windows, stages.delays
        self._maturities, self._times = stages.maturities, stages.times
        self._watch = stages.watch
        self._versions = versions
        self._skills = ScoreSkills(stages.scores)
        self._score_metrics = config.exporter.score_metrics
        self._classes = ClassWindows(catalogue, stages.windows)
        self._lengths = config.window_lengths
        self._by_volume = config.windows == "auto"
        self._ratios = _class_ratios(config)
        self._measurements = {
            name: Measurements(name, self._ratios)
            for name in (_LIFETIME, *self._windows.names, *self._windows.longer)
        }

    def snapshot(
        self,
        times: Times,
        now: Times,
        between: Callable[[], object] | None = None,
    ) -> Snapshot:
        """Return an immutable snapshot of the current state.

        Args:
            times: up to which events of each model have come, epoch milliseconds; None
                before any.
            now: the moment that windows of each model end by, epoch milliseconds; None
                before any event.
            between: called after each model, to let other work run; it must not change the state.
        """
        ages = [self._maturities.age(model, time) for model, time in enumerate(times)]
        received, lifetime = self._received, self._lifetime(times)
        furthest = max((moment for moment in now if moment is not None), default=None)
        moments = np.array([furthest or 0 if m is None else m for m in now], dtype=np.int64)
        longer = [name for name in self._windows.longer if self._watch.uses(name)]
        views = [self._view(name, moments, ages) for name in (*self._windows.names, *longer)]
        models = self._models(ages, (times, now), between or _nothing, lifetime, longer)
        faults = [[_fault_of(model, view.name) for model in models] for view in views]
        windows = tuple(
            self._window(view, times, moments, ages, fault)
            for view, fault in zip(views, faults, strict=True)
        )
        return Snapshot(
            series=self._catalogue.series,
            windows=windows,
            lifetime=lifetime,
            models=self._classes.added(
                self._skills.added(models, windows), windows, lifetime, moments.tolist(), ages
            ),
            labels=self._label_books(),
            lost_audits=self._stages.label_errors.lost(),
            records=received.records,
            events={event: received.events[event] for event in (*_EVENTS, SHADOW_EVENT)},
            rejected={reason: received.rejected[reason] for reason in RejectReason},
            watermark_ms=max((time for time in times if time is not None), default=None),
            now_ms=furthest,
            pending_bytes=self._join.nbytes,
            delay_edges=PUBLISHED_EDGES_SECONDS,
            overflowed_values=received.overflowed,
            forgotten=self._stages.forgotten,
            score_metrics=self._score_metrics,
            sources=tuple(
                SourceProgress(name, source.records, source.watermark_ms, source.late)
                for name, source in self._join.sources
            ),
        )

    def events_in_the_books(self) -> Counter[str]:
        """Count predictions and labels of the models that are still configured or known."""
        books, forgotten = self._join.books, self._stages.forgotten
        shadows = int(self._join.shadows.store.books(0)[:, Book.RECEIVED].sum()) + forgotten.shadows
        return Counter(
            {
                **({SHADOW_EVENT: shadows} if shadows else {}),
                "prediction": int(books.predictions.sum() + books.duplicates.sum())
                + forgotten.predictions,
                "label": self._label_books().received,
            }
        )

    def _view(self, name: str, now: Int64Array, ages: Ages) -> _View:
        """Move a window and read it; verdicts read the moved window afterwards."""
        at = np.array([age or 0 for age in ages], dtype=np.int64)
        bounds, cells = self._windows.view(name, now, at)
        return _View(name, bounds, cells.copy())

    def _window(
        self,
        view: _View,
        times: Times,
        now: Int64Array,
        ages: Ages,
        faults: list[str],
    ) -> Window:
        name, bounds, cells = view
        evidence = self._maturities.evidence(name, now, times, ages, cells, faults=faults)
        return self._measured(name, bounds[self._catalogue.model_of_series()], evidence)

    def _lifetime(self, times: Times) -> Window:
        cells = self._settled_lifetime(times)
        bounds = np.tile(np.array([EARLIEST_MS, LATEST_MS]), (len(cells), 1))
        return self._measured(_LIFETIME, bounds, self._maturities.lifetime(cells))

    def _settled_lifetime(self, times: Times) -> Int64Array:
        """Return the counts since the start; where silence is a negative, of mature predictions."""
        cells = self._windows.lifetime.copy()
        before = np.zeros(len(self._catalogue.models), dtype=np.int64)
        for model, setting in enumerate(self._catalogue.settings):
            if setting.labelling is not Labelling.NEGATIVES_BY_TIMEOUT:
                continue
            rows, time = self._catalogue.rows_of(model), times[model]
            if time is None:
                cells[rows] = 0
                continue
            moment = time - (setting.label_timeout or 0)
            before[model], young = self._windows.since(moment, rows)
            cells[rows] -= young
        if before.any():
            self._take_off(cells, self._join.young(_as_array(times), before))
        return self._windows.as_negatives(cells, np.arange(len(cells)))

    def _take_off(self, cells: Int64Array, by_group: Int64Array) -> None:
        """Subtract counts by group from counts by series."""
        group, row = self._catalogue.series_of_groups(np.arange(len(by_group)))
        np.subtract.at(cells, row, by_group[group])

    def _measured(self, name: str, bounds: Int64Array, evidence: Evidence) -> Window:
        asked = self._asked()[self._catalogue.model_of_series()]
        return self._measurements[name].window(bounds, evidence, asked)

    def _asked(self) -> FloatArray:
        """Return (models, class ratios): 1 where a model configures the ratio, else NaN."""
        settings = self._catalogue.settings
        asked = [[1.0 if r in s.class_ratios else np.nan for r in self._ratios] for s in settings]
        return np.array(asked, dtype=np.float64).reshape(len(settings), len(self._ratios))

    def _models(
        self,
        ages: Ages,
        moments: tuple[Times, Times],
        between: Callable[[], object],
        lifetime: Window,
        longer: Sequence[str],
    ) -> tuple[ModelState, ...]:
        times, now = moments
        expired = self._join.expired(_as_array(times))
        by_state = self._join.shadows.store.states(_as_array(times))
        aside, states = self._times.aside, []
        for number, (age, time, moment) in enumerate(zip(ages, times, now, strict=True)):
            state = self._model(number, age, int(expired[number]), lifetime)
            settled = self._maturities.is_settled(number, age, time)
            watched = Watched()
            if moment is not None:
                paces = self._delays.paces(number, time)
                judged = self._maturities.judged(number, time)
                watched = self._watch.of(number, moment, judged, paces)
            unused = self._unused(watched, longer)
            state = replace(
                state,
                maturity_settled=settled,
                watched=_without(watched, unused),
                unused_windows=unused,
                watermark_ms=time,
                now_ms=moment,
                below_zero=self._windows.below_zero(number),
                aside=aside[number],
                jumps=self._times.model(number).jumps,
                came_expired=self._stages.come_expired.of(number),
            )
            compared = self._versions.now(number, state.mature_until)
            if compared is not None:
                shadows = self._shadows(number, by_state[number])
                state = replace(state, versions_now=compared._replace(shadows=shadows))
            states.append(state)
            between()
        return tuple(states)

    def _shadows(self, number: int, books: Int64Array) -> ShadowsNow | None:
        if not self._catalogue.settings[number].shadow_versions:
            return None
        received, *states = books.tolist()
        by_state = dict(zip(_SHADOW_STATES, states, strict=True))
        return ShadowsNow(
            self._received.shadows(self._catalogue.models[number]).appeared,
            {"pending": received - sum(states), **by_state},
        )

    def _model(
        self, number: int, maturity: int | None, expired: int, lifetime: Window
    ) -> ModelState:
        name, books = self._catalogue.models[number], self._join.books
        evicted = int(books.evicted[number])
        negative, positive = books.predictions[number].tolist()
        setting, matched = self._catalogue.settings[number], int(books.matched[number])
        pending = int(books.unmatched[number]) - expired - evicted
        if setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            matched, expired = matched + expired, 0
        row, regime = self._catalogue.totals_row(name), self._stages.label_errors.of(number)
        versions, delays = self._received.versions(name), self._delays.published(number)
        no = {**refused(lifetime.fault_of(row)), **refused_by(setting)}
        (passed, flagged), applied = (book[number].tolist() for book in books.ever)
        return ModelState(
            name=name,
            version=versions.latest,
            versions=versions.appeared,
            version_last_ms={name: one.last for name, one in versions.times.items()},
            row=row,
            predictions_positive=positive,
            predictions_negative=negative,
            labels=dict(zip(_LABEL_NAMES, books.labels[number].tolist(), strict=True)),
            labelled=int(books.applied[number]),
            matched=matched,
            pending=pending,
            expired=expired,
            evicted=evicted,
            duplicates=int(books.duplicates[number]),
            shared_ids=books.shared_ids(number, self._catalogue.models),
            transitions=books.transitions[number].copy(),
            maturity_ms=maturity,
            label_timeout_ms=setting.label_timeout,
            delay_counts=delays.counts,
            delay_sum=delays.sums,
            delay_within=delays.within,
            segments=tuple(setting.segments),
            labelling=str(setting.labelling),
            label_errors=regime.errors,
            configured_label_errors=regime.configured,
            label_limits=regime.limits,
            earlier_label_errors=regime.earlier,
            label_errors_by_value=regime.by_value,
            audits=self._stages.label_errors.findings(number),
            label_sources=self._stages.label_sources.of(number),
            refused=no,
            refused_because=" ".join(REASONS[reason] for reason in sorted(set(no.values()))),
            last_prediction_ms=self._windows.last_prediction(number),
            last_label_ms=self._delays.last_label(number),
            objective=setting.objective.model_dump(exclude_none=True),
            counters=CounterTotals(
                predicted_positive=flagged, predicted_negative=passed, labelled=applied
            ),
        )

    def _unused(self, watched: Watched, longer: Sequence[str]) -> tuple[str, ...]:
        if not self._by_volume:
            return tuple(name for name in longer if name not in watched.verdicts)
        used = windows_in_use(self._lengths, watched.reference)
        return tuple(name for name in self._lengths if name not in used)

    def _label_books(self) -> LabelTotals:
        books = self._join.books
        return LabelTotals(
            applied=int(books.applied.sum()) + self._stages.forgotten.labels,
            held=self._join.held,
            duplicate=books.duplicate_labels,
            late=books.late,
            orphaned=books.orphaned,
            misnamed=books.misnamed,
            audits=books.audits,
        )


def _as_array(times: Times) -> Int64Array:
    return np.array([NO_TIME if time is None else time for time in times], dtype=np.int64)


def _nothing() -> None:
    """Do nothing between two models."""


def _without(watched: Watched, unused: tuple[str, ...]) -> Watched:
    """Leave out the verdicts on windows that the model does not use."""
    if not unused:
        return watched
    used = {name: found for name, found in watched.verdicts.items() if name not in unused}
    return replace(watched, verdicts=used)


def _fault_of(model: ModelState, window: str) -> str:
    """Return the fault of labels for which metrics are withheld; "" for none."""
    found = model.watched.verdicts.get(window, NOT_COMPARED).label_fault
    return "" if found == LabelFault.LABEL_ERRORS_CHANGED else found


def _class_ratios(config: Config) -> tuple[float, ...]:
    settings = [*config.models.values()] or [config.defaults]
    return tuple(sorted({ratio for s in settings for ratio in s.class_ratios}))
