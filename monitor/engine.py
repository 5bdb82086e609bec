"""The engine: batches of events in, snapshots out.

No I/O, no clock, no randomness: the state is a function of the events, whatever
the batches they came in and, inside the horizon, whatever their order. A
snapshot besides depends on `now`, the moment that windows end by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from monitor.catalogue import NO_ROW, UNKNOWN_GROUP, Catalogue
from monitor.config import Config, Labelling
from monitor.events import (
    EARLIEST_MS,
    LATEST_MS,
    EventBatch,
    FloatArray,
    Int64Array,
    RejectReason,
    by_stretch,
    concatenate,
)
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL, Deltas, Join
from monitor.kept import State
from monitor.maturity import Ages, Maturities
from monitor.measure import Measurements
from monitor.metrics.histogram import ScoreHistogram
from monitor.regimes import REASONS, REFUSED, Evidence
from monitor.snapshot import CountedBy, LabelBooks, ModelState, Snapshot, Watched, Window
from monitor.watch import Watch
from monitor.watermark import Watermark
from monitor.windows import HISTORY_DAYS, HOUR_MS, History, Windows
from monitor.windows.delays import PUBLISHED_EDGES_SECONDS, LabelDelays
from monitor.windows.range_scores import RangeScores
from monitor.windows.ranges import RangeCounts
from monitor.windows.recalled import Recalled
from monitor.windows.scores import Scores

__all__ = ["Monitor"]

STRETCH_MS = 86_400_000
"""Batches that reach further ahead are taken a day at a time, so that no pane is
left behind before it could be judged."""
_BUFFERED = 2_000
_LIFETIME = "all"
_GROUPED = ("predictions", "outcomes", "counts")
_EVENT_OF_COLUMNS = {
    "predictions": "prediction",
    "labels": "label",
    "outcomes": "outcome",
    "counts": "counts",
}
_LABEL_NAMES = ("negative", "positive", "retracted")


class Monitor:
    """A monitor of any number of models, to be fed and read by one thread.

    Args:
        config: models, windows, segments and limits; any model is taken, and labels
            never time out, without one.
        state: what `state` of another monitor gave, to go on from there. A monitor of
            the same configuration is then as that one was. For what another
            configuration does to it see the README.

    Raises:
        ConfigError: the state cannot serve this configuration.

    >>> monitor = Monitor()
    >>> for i, (predicted, actual) in enumerate([(1, 1), (1, 0), (0, 0), (1, 1)]):
    ...     monitor.predict(f"order-{i}", ts=60 * i, prediction=predicted)
    ...     monitor.label(f"order-{i}", ts=60 * i + 30, label=actual)
    >>> monitor.snapshot().lifetime.counts
    ConfusionCounts(tp=[2], fp=[1], fn=[0], tn=[1])
    """

    def __init__(self, config: Config | None = None, state: State | None = None) -> None:
        self.config = config or Config.without_file()
        self._catalogue = Catalogue(self.config)
        self._join = Join(self._catalogue, self.config.max_pending)
        windows = None if state is None else state["windows"]
        self._windows = Windows(self.config, self._catalogue, windows)
        self._delays = LabelDelays(self.config, self._catalogue)
        self._maturities = Maturities(self._catalogue, self._windows, self._delays)
        self._scores = Scores(self._catalogue)
        self._ranges: list[RangeCounts] = []
        self._range_scores: list[RangeScores] = []
        self._watch = Watch(self._catalogue, self._windows, self._scores)
        self._watermark = Watermark()
        self._versions: dict[str, tuple[int, str]] = {}
        self._records = 0
        self._events: Counter[str] = Counter()
        self._rejected: Counter[RejectReason] = Counter()
        self._overflowed = 0
        self._ratios = _class_ratios(self.config)
        self._measurements = {
            name: Measurements(name, self._ratios) for name in (_LIFETIME, *self._windows.names)
        }
        self._decoder = Decoder(DecodeSettings.from_config(self.config))
        self._buffer: list[EventBatch] = []
        if state is not None:
            self._restore(state)

    @property
    def watermark_ms(self) -> int | None:
        """Third-highest event time seen, epoch milliseconds; None before three events came."""
        return self._watermark.time

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that are configured or were seen."""
        return self._catalogue.models

    def apply(self, batch: EventBatch) -> None:
        """Take a batch of events; every one is counted, or has its reason."""
        for part in by_stretch(batch, self._watermark.time, STRETCH_MS):
            self._apply(part)

    def _apply(self, batch: EventBatch) -> None:
        before = BEFORE_ALL if self._watermark.time is None else self._watermark.time
        batch = self._booked(batch)
        self._watermark.advance(batch)
        now = self._watermark.time
        if now is not None:
            self._windows.advance(now)
            self._scores.advance(now)
            self._delays.advance(now)
        for deltas in self._joined(batch, before):
            self._windows.apply(deltas)
            self._delays.apply(deltas)
            self._scores.apply(deltas)
            for counted in self._ranges:
                counted.apply(deltas)
            for scored in self._range_scores:
                scored.apply(deltas)
        if now is not None:
            forgotten = self._join.advance(now)
            self._windows.apply(forgotten)
            for counted in self._ranges:
                counted.apply(forgotten)
            self._watch.advance(now, self._maturities.judged_by_the_pane(now))

    def _joined(self, batch: EventBatch, watermark: int) -> Iterator[Deltas]:
        """What a batch changes, kind by kind of its events."""
        if len(batch.predictions) or len(batch.labels):
            yield self._join.apply(batch.predictions, batch.labels, watermark)
        if len(batch.outcomes):
            yield self._join.count(batch.outcomes)
        if len(batch.counts):
            yield self._join.add(batch.counts)

    def predict(
        self,
        id: str,  # noqa: A002  # the event's own field name
        *,
        ts: float | str,
        prediction: bool | None = None,
        score: float | None = None,
        model: str | None = None,
        version: str | None = None,
        segment: Mapping[str, str] | None = None,
    ) -> None:
        """Take one prediction: the fields of a `prediction` event, and the same rules.

        A thin front to `apply` for a program that embeds the monitor. Events
        are applied some thousand at a time, and whenever a snapshot is taken.

        Raises:
            ValueError: the event cannot be used; the text says why.
        """
        fields = {
            "prediction": prediction,
            "score": score,
            "model": model,
            "version": version,
            "segment": segment,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        self._take({"type": "prediction", "id": id, "ts": ts, **given})

    def label(
        self,
        id: str,  # noqa: A002  # the event's own field name
        *,
        ts: float | str,
        label: bool | None,
        sampling_probability: float | None = None,
    ) -> None:
        """Take one label, None to retract it: the fields of a `label` event, and the same rules.

        Raises:
            ValueError: the event cannot be used; the text says why.
        """
        fields = {"type": "label", "id": id, "ts": ts, "label": label}
        if sampling_probability is not None:
            fields["sampling_probability"] = sampling_probability
        self._take(fields)

    def flush(self) -> None:
        """Apply what `predict` and `label` have taken and not yet applied."""
        if self._buffer:
            buffered, self._buffer = self._buffer, []
            self.apply(concatenate(buffered))

    def snapshot(self, now_ms: int | None = None) -> Snapshot:
        """The state now, frozen.

        Args:
            now_ms: the moment that windows end by, epoch milliseconds; the
                watermark where it is left out or lies before it.
        """
        self.flush()
        watermark = self._watermark.time
        now = watermark if watermark is None or now_ms is None else max(now_ms, watermark)
        ages = self._maturities.ages(watermark)
        return Snapshot(
            series=self._catalogue.series,
            windows=tuple(self._window(name, now, ages) for name in self._windows.names),
            lifetime=self._lifetime(),
            models=self._models(ages, now),
            labels=self._label_books(),
            records=self._records,
            events={event: self._events[event] for event in _EVENT_OF_COLUMNS.values()},
            rejected={reason: self._rejected[reason] for reason in RejectReason},
            watermark_ms=watermark,
            now_ms=now,
            pending_bytes=self._join.nbytes,
            delay_edges=PUBLISHED_EDGES_SECONDS,
            overflowed_values=self._overflowed,
            sources=tuple(
                CountedBy(name, source.records, source.watermark_ms, source.late)
                for name, source in self._join.sources
            ),
        )

    def state(self) -> State:
        """All that the monitor knows, as plain values; a copy.

        A function of the events that were applied and of the configuration. Caches
        are no part of it.
        """
        self.flush()
        return {
            "catalogue": self._catalogue.state(),
            "watermark": self._watermark.state(),
            "join": self._join.state(),
            "windows": self._windows.state(),
            "delays": self._delays.state(),
            "scores": self._scores.state(),
            "maturities": self._maturities.state(),
            "watch": self._watch.state(),
            "ranges": [counted.state() for counted in self._ranges],
            "versions": {name: list(known) for name, known in self._versions.items()},
            "records": self._records,
            "events": dict(self._events),
            "rejected": {str(reason): count for reason, count in self._rejected.items()},
            "overflowed": self._overflowed,
        }

    def _restore(self, state: State) -> None:
        left = self._catalogue.restore(state["catalogue"])
        self._watermark.restore(state["watermark"])
        self._join.restore(state["join"], left)
        self._windows.restore(state["windows"], left)
        self._delays.restore(state["delays"], left.models)
        self._scores.restore(state["scores"], left.models)
        for kept in state["ranges"]:
            counted = RangeCounts(self._catalogue, kept["opens"], kept["closes"], kept["block_ms"])
            counted.restore(kept, left)
            self._ranges.append(counted)
        self._watch.restore(state["watch"], left)
        self._versions = {
            model: (time, version)
            for model, (time, version) in state["versions"].items()
            if model in self._catalogue.models
        }
        self._records, self._overflowed = state["records"], state["overflowed"]
        self._events = Counter(state["events"])
        self._rejected = Counter({RejectReason(r): n for r, n in state["rejected"].items()})
        if len(left.models) == len(state["catalogue"]["models"]):
            self._maturities.restore(state["maturities"])
        else:
            self._count_events_anew()

    def _count_events_anew(self) -> None:
        """Models are gone, and with them what was counted of theirs: the books must close."""
        books = self._join.books
        self._events = Counter(
            prediction=int(books.predictions.sum() + books.duplicates.sum()),
            label=self._label_books().received,
        )

    def count_range(self, opens_ms: int, closes_ms: int, block_ms: int) -> RangeCounts:
        """Count a stretch of event time exactly, wherever it lies; ask before events come.

        Args:
            opens_ms: first moment, epoch milliseconds.
            closes_ms: first moment after it.
            block_ms: length of the blocks of time that are told apart.

        Returns:
            What fills up with the events that come from now on.

        Raises:
            ValueError: the range is empty, or events came already.
        """
        if self._buffer or self._events.total():
            raise ValueError("count_range: events came already; ask before the first of them")
        counted = RangeCounts(self._catalogue, opens_ms, closes_ms, block_ms)
        self._ranges.append(counted)
        return counted

    def count_scores(self, opens_ms: int, closes_ms: int) -> RangeScores:
        """Count the labelled scores of the whole days of a stretch of event time.

        Args:
            opens_ms: first moment, epoch milliseconds.
            closes_ms: first moment after it.

        Returns:
            What fills up with the events that come from now on.
        """
        counted = RangeScores(self._catalogue, opens_ms, closes_ms)
        self._range_scores.append(counted)
        return counted

    def history(self, model: str) -> History:
        """A model's totals by the hour, a year back at most.

        Raises:
            ValueError: no such model is configured or was seen.
        """
        self.flush()
        return self._windows.history(self._catalogue.models.index(model))

    def recall(self, model: str, opens: int, closes: int, block_ms: int) -> Recalled:
        """A stretch of event time that has passed, as far back as it is kept: a year.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds; a whole hour.
            closes: first moment after it; a whole hour.
            block_ms: length of the blocks that are told apart: an hour or a day.

        Raises:
            ValueError: no such model is configured or was seen, or the bounds are not
                whole hours in their order, or lie further back than is kept.
        """
        if opens % HOUR_MS or closes % HOUR_MS or opens >= closes:
            raise ValueError(f"recall: must be whole hours in order, got [{opens}, {closes})")
        self.flush()
        if not self._windows.keeps(opens, closes):
            raise ValueError(f"recall: hours are kept for {HISTORY_DAYS} days, got {opens}")
        return self._windows.recall(self._catalogue.models.index(model), opens, closes, block_ms)

    def scores(self, model: str, opens: int, closes: int) -> ScoreHistogram:
        """How a model's scores fall in whole days of event time, as far back as they are kept.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds; rounded down to its day (UTC).
            closes: first moment after it; rounded up.

        Raises:
            ValueError: no such model is configured or was seen.
        """
        self.flush()
        number = self._catalogue.models.index(model)
        return self._scores.histogram(number, opens, closes)

    def _take(self, fields: dict[str, Any]) -> None:
        batch = self._decoder.decode_lines(msgspec.json.encode(fields), source="", first_line=1)
        for rejection in batch.rejected:
            raise ValueError(f"{fields['type']} {fields['id']!r}: {rejection.detail}")
        self._buffer.append(batch)
        if len(self._buffer) >= _BUFFERED:
            self.flush()

    def _booked(self, batch: EventBatch) -> EventBatch:
        """The batch with the catalogue's groups; events of models beyond the cap taken out."""
        self._records += batch.records
        self._rejected.update(rejection.reason for rejection in batch.rejected)
        batch = _with_groups_in_use(batch)
        numbers = self._catalogue.groups_of(batch.groups)
        self._note_versions(batch, numbers)
        overflowed = self._catalogue.overflowed(batch.groups, numbers)
        for name in _GROUPED:
            columns = getattr(batch, name)
            if len(columns):
                self._overflowed += int(overflowed[columns.group].sum())
                group = numbers[columns.group]
                known = np.flatnonzero(group != UNKNOWN_GROUP)
                self._rejected[RejectReason.UNKNOWN_MODEL] += len(group) - len(known)
                columns = replace(columns, group=group)
                taken = columns if len(known) == len(group) else columns.take(known)
                batch = replace(batch, **{name: taken})
        for name, event in _EVENT_OF_COLUMNS.items():
            self._events[event] += len(getattr(batch, name))
        return batch

    def _note_versions(self, batch: EventBatch, numbers: Int64Array) -> None:
        """Remember the version of each model's latest prediction."""
        latest = np.full(len(batch.groups), BEFORE_ALL, dtype=np.int64)
        np.maximum.at(latest, batch.predictions.group, batch.predictions.time)
        for group, number, time in zip(batch.groups, numbers, latest.tolist(), strict=True):
            if group.version and number != UNKNOWN_GROUP and time > BEFORE_ALL:
                known = self._versions.get(group.model, (BEFORE_ALL, ""))
                self._versions[group.model] = max(known, (time, group.version))

    def _window(self, name: str, now: int | None, ages: Ages) -> Window:
        watermark, at = self._watermark.time, np.array([age or 0 for age in ages], dtype=np.int64)
        bounds, cells = self._windows.view(name, now or 0, at)
        evidence = self._maturities.evidence(name, now or 0, watermark, ages, cells.copy())
        return self._measured(name, bounds[self._catalogue.model_of_series()], evidence)

    def _lifetime(self) -> Window:
        cells = self._settled_lifetime()
        bounds = np.tile(np.array([EARLIEST_MS, LATEST_MS]), (len(cells), 1))
        return self._measured(_LIFETIME, bounds, self._maturities.lifetime(cells))

    def _settled_lifetime(self) -> Int64Array:
        """Everything ever counted; where silence is a negative, of predictions old enough."""
        cells = self._windows.lifetime.copy()
        owner, watermark = self._catalogue.model_of_series(), self._watermark.time
        before = np.zeros(len(self._catalogue.models), dtype=np.int64)
        for model, setting in enumerate(self._catalogue.settings):
            rows = np.flatnonzero(owner == model)
            if setting.labelling is not Labelling.NEGATIVES_BY_TIMEOUT:
                continue
            if watermark is None:
                cells[rows] = 0
                continue
            before[model], young = self._windows.since(watermark - (setting.label_timeout or 0))
            cells[rows] -= young[rows]
        if watermark is not None and before.any():
            self._take_off(cells, self._join.young(watermark, before))
        return self._windows.settled(cells, np.arange(len(cells)))

    def _take_off(self, cells: Int64Array, by_group: Int64Array) -> None:
        """Take counts by group off counts by series."""
        rows = self._catalogue.rows
        group, column = np.nonzero(rows != NO_ROW)
        np.subtract.at(cells, rows[group, column], by_group[group])

    def _measured(self, name: str, bounds: Int64Array, evidence: Evidence) -> Window:
        asked = self._asked()[self._catalogue.model_of_series()]
        return self._measurements[name].window(bounds, evidence, asked)

    def _asked(self) -> FloatArray:
        """(models, class ratios): 1 where a model asks for precision at the ratio, else NaN."""
        settings = self._catalogue.settings
        asked = [[1.0 if r in s.class_ratios else np.nan for r in self._ratios] for s in settings]
        return np.array(asked, dtype=np.float64).reshape(len(settings), len(self._ratios))

    def _models(self, ages: Ages, now: int | None) -> tuple[ModelState, ...]:
        watermark = self._watermark.time
        judged = self._maturities.judged(watermark)
        expired = self._join.expired(BEFORE_ALL if watermark is None else watermark)
        return tuple(
            replace(
                self._model(number, name, ages[number], int(expired[number])),
                watched=Watched() if now is None else self._watched(number, now, judged[number]),
            )
            for number, name in enumerate(self._catalogue.models)
        )

    def _watched(self, number: int, now: int, age: int | None) -> Watched:
        paces = self._delays.paces(number, self._watermark.time)
        return self._watch.of(number, now, age, paces)

    def _model(self, number: int, name: str, maturity: int | None, expired: int) -> ModelState:
        books = self._join.books
        evicted = int(books.evicted[number])
        negative, positive = books.predictions[number].tolist()
        setting, matched = self._catalogue.settings[number], int(books.matched[number])
        pending = int(books.unmatched[number]) - expired - evicted
        if setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            matched, expired = matched + expired, 0
        refused = REFUSED.get(setting.labelling, {})
        delay_counts, delay_sum = self._delays.published(number)
        return ModelState(
            name=name,
            version=self._versions.get(name, (0, ""))[1],
            row=self._catalogue.totals_row(name),
            predictions_positive=positive,
            predictions_negative=negative,
            labels=dict(zip(_LABEL_NAMES, books.labels[number].tolist(), strict=True)),
            labelled=int(books.applied[number]),
            matched=matched,
            pending=pending,
            expired=expired,
            evicted=evicted,
            duplicates=int(books.duplicates[number]),
            transitions=books.transitions[number].copy(),
            maturity_ms=maturity,
            delay_counts=delay_counts,
            delay_sum=delay_sum,
            segments=tuple(setting.segments),
            labelling=str(setting.labelling),
            refused=refused,
            refused_because=" ".join(REASONS[reason] for reason in sorted(set(refused.values()))),
            objective=setting.objective.model_dump(exclude_none=True),
            maturity_settled=self._maturities.is_settled(number, maturity, self._watermark.time),
        )

    def _label_books(self) -> LabelBooks:
        books = self._join.books
        return LabelBooks(
            applied=int(books.applied.sum()),
            held=self._join.held,
            duplicate=books.duplicate_labels,
            late=books.late,
            orphaned=books.orphaned,
        )


def _with_groups_in_use(batch: EventBatch) -> EventBatch:
    """The batch without groups that only rejected records named: these make no model."""
    columns = {name: getattr(batch, name) for name in _GROUPED}
    named = np.zeros(len(batch.groups), dtype=np.bool_)
    for column in columns.values():
        named[column.group] = True
    if named.all():
        return batch
    used = np.flatnonzero(named)
    place = np.zeros(len(batch.groups), dtype=np.int64)
    place[used] = np.arange(len(used))
    renumbered = {name: replace(c, group=place[c.group]) for name, c in columns.items() if len(c)}
    return replace(batch, groups=tuple(batch.groups[i] for i in used.tolist()), **renumbered)


def _class_ratios(config: Config) -> tuple[float, ...]:
    settings = [*config.models.values()] or [config.defaults]
    return tuple(sorted({ratio for s in settings for ratio in s.class_ratios}))
