"""The engine: batches of events in, snapshots out.

`Stages` runs join, windows and detectors on each batch. The engine has no I/O, no clock
and no randomness: its state is a function of the sequence of records, however they are
batched (for exceptions see `monitor/labels/README.md`). Inside the horizon it does not
depend on the order of records either. A snapshot also depends on `now`, the end of windows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from monitor.config import Config
from monitor.engine.forgotten_sums import sums_of
from monitor.engine.pieces import pieces
from monitor.engine.recorded_end import carried
from monitor.engine.silent_models import silent_models
from monitor.engine.snapshots import SnapshotReader
from monitor.engine.stages import Stages
from monitor.events.batches import in_row_order
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, EventBatch, Int64Array
from monitor.events.renumbering import State
from monitor.feeds import scalars
from monitor.feeds.decode.reasons import Fields
from monitor.feeds.scalar_events import ScalarEvents
from monitor.labels.forwarding import Forwarding
from monitor.metrics.histogram import ScoreHistogram
from monitor.snapshot import Snapshot
from monitor.watch.live_versions import LiveVersions
from monitor.windows.history import HISTORY_DAYS, History
from monitor.windows.range_counts import RangeCounts
from monitor.windows.range_scores import RangeScores
from monitor.windows.recalled import Recalled


class Monitor:
    """A monitor of any number of models. Not thread-safe: feed and read it from one thread.

    Args:
        config: models, windows, segments, limits; by default any model, without label timeouts.
        state: state to restore, from `state` of another monitor. With the same configuration the
            monitor equals that one; for the effects of another see `monitor/state/README.md`.

    Raises:
        ConfigError: the state does not fit this configuration.

    Attributes:
        config: models, windows, segments and limits.
        versions: compares versions of a model.
        classes, label_errors, label_sources, unknown_classes: counts by class, audits, labels by
            source, and records that name an unknown class; all without buffered events.

    >>> monitor = Monitor()
    >>> for i, (predicted, actual) in enumerate([(1, 1), (1, 0), (0, 0), (1, 1)]):
    ...     monitor.predict(f"order-{i}", ts=60 * i, prediction=predicted)
    ...     monitor.label(f"order-{i}", ts=60 * i + 30, label=actual)
    >>> monitor.snapshot().lifetime.counts
    ConfusionCounts(tp=[2], fp=[1], fn=[0], tn=[1])
    """

    judges = True  # False in `CountingMonitor`

    def __init__(self, config: Config | None = None, state: State | None = None) -> None:
        self.config = config or Config.without_file()
        self._events = ScalarEvents(self.config)
        self._begin(state)

    @property
    def watermark_ms(self) -> int | None:
        """Time of the model that is furthest, epoch milliseconds; None before its third event."""
        return self._stages.times.highest

    @property
    def times(self) -> Mapping[str, int]:
        """Time of each model that has one, epoch milliseconds."""
        now = self._stages.times.now.tolist()
        return {name: t for name, t in zip(self.models, now, strict=False) if t != NO_TIME}

    @property
    def forwarding(self) -> Forwarding:
        """Changes of counts for another monitor."""
        return self._stages.forwarding

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the configured models and of those seen in events."""
        return self._catalogue.models

    def apply(self, batch: EventBatch) -> None:
        """Count all events of a batch, and its rejected records by reason."""
        for _ in self.steps(batch):
            pass

    def steps(self, batch: EventBatch) -> Iterator[None]:
        """Count a batch in steps of bounded work; `apply` runs all of them at once.

        The batch is counted after the last step. Between two steps a program may read
        the monitor, but neither feed it nor save its state.

        Args:
            batch: its groups and rows as decoded.

        Yields:
            Nothing; after each step.
        """
        for piece in pieces(lambda: self._stages, in_row_order(batch)):
            yield from self._stages.steps(piece)
            if len(silent := silent_models(self._stages)):
                self._forget(silent)

    def carry(self, until: Mapping[str, int]) -> None:
        """Carry models to the end of a recording, and on to the times that its labels reach.

        Args:
            until: by model, epoch milliseconds; for where a model stops before it see `carried`.
        """
        self.flush()
        reached = {n: until[name] for n, name in enumerate(self.models) if name in until}
        for _ in carried(self._stages, reached):
            pass

    def predict(
        self,
        id: scalars.Id,  # noqa: A002  # the event's own field name
        *,
        ts: scalars.Moment,
        prediction: bool | str | None = None,
        score: float | None = None,
        scores: scalars.Scores | None = None,
        model: str | int | None = None,
        version: str | int | None = None,
        segment: Mapping[str, str | int] | None = None,
    ) -> None:
        """Record one prediction; fields and rules are those of a `prediction` event.

        For programs that embed the monitor. Each value may be Python's or NumPy's. Events are
        checked at once, and applied some thousand at a time and before each snapshot.

        Args:
            id: unique among predictions; labels refer to it. An integer or a UUID is its text.
            ts: event time, epoch seconds, ISO 8601 with its zone, or a `datetime`, `date`,
                pandas' `Timestamp` or NumPy's `datetime64`; UTC where these have no zone.
            prediction: the class predicted; may be left out where the score, or scores, decide.
            score: in [0, 1].
            scores: of each class of a model of many, by name or in order; a series is by name.
            model: name of the model; the default model if left out. An integer is its text.
            version: of the model, likewise.
            segment: segment values by key.

        Raises:
            ValueError: the event is invalid; the message names the field.
        """
        given: Fields = {"score": score, "scores": scores, "model": model, "version": version}
        self._take(scalars.prediction_fields(id, ts, prediction, segment=segment, **given))

    def label(
        self,
        id: scalars.Id,  # noqa: A002  # the event's own field name
        *,
        ts: scalars.Moment,
        label: bool | str | None,
        sampling_probability: float | None = None,
        audit: bool = False,
        source: str | int | None = None,
    ) -> None:
        """Record one label; fields and rules are those of a `label` event.

        Args:
            id: of the prediction, as in `predict`.
            ts: event time of the label, as in `predict`.
            label: the actual class; None retracts the label. While there is none, leave the
                call out: NaN, which stands for no label in a table, is refused.
            sampling_probability: of the label, in (0, 1].
            audit: True for a second, trusted look at the case, which revises no label.
            source: who labelled, such as a reviewer or a system. An integer is its text.

        Raises:
            ValueError: the event is invalid; the message names the field.
        """
        given = {"sampling_probability": sampling_probability, "source": source}
        self._take(scalars.label_fields(id, ts, label, audit=audit or None, **given))

    def flush(self) -> None:
        """Apply the buffered events of `predict` and `label`."""
        if self._events:
            self.apply(self._events.drained())

    def snapshot(
        self,
        now_ms: int | Mapping[str, int] | None = None,
        between: Callable[[], object] | None = None,
    ) -> Snapshot:
        """Return an immutable snapshot of all metrics and verdicts.

        Args:
            now_ms: end of the windows, epoch milliseconds, of all models or by model; the
                time of the model if left out or earlier.
            between: called after each model, so that other work need not wait for
                all models. It may read the monitor, but not feed it.
        """
        self.flush()
        times = [*map(self.times.get, self.models)]
        moments = now_ms if isinstance(now_ms, Mapping) else dict.fromkeys(self.models, now_ms)
        now = [
            time if time is None or (moment := moments.get(name)) is None else max(moment, time)
            for name, time in zip(self.models, times, strict=True)
        ]
        return self._reading.snapshot(times, now, between)

    def state(self) -> State:
        """Return a copy of the state as plain values, without caches.

        It is a function of the applied events and the configuration.
        """
        self.flush()
        return self._state()

    def _state(self) -> State:
        return {"catalogue": self._catalogue.state(), **self._stages.state()}

    def _begin(self, state: State | None, without: Collection[str] = ()) -> None:
        """Begin with a state, or empty; leave out models by name."""
        self._catalogue = Catalogue(self.config)
        self._stages = stages = Stages(self.config, self._catalogue, (state or {}).get("windows"))
        stages.judges = self.judges
        self._windows, self._scores, self._watch = stages.windows, stages.scores, stages.watch
        self.news, self.classes = stages.watch.news, stages.windows.classes
        self.label_errors, self.label_sources = stages.label_errors, stages.label_sources
        self.unknown_classes, self.value_scores = stages.unknown_classes, stages.value_scores
        counted = stages.versions, stages.pairs, stages.value_scores, stages.received
        self.versions = LiveVersions(self._catalogue, *counted, books=stages.join.books)
        self._reading = SnapshotReader(self.config, self._catalogue, stages, self.versions)
        if state is None:
            return
        left = self._catalogue.restore(state["catalogue"], without)
        stages.restore(state, left)
        if len(left.models) + len(without) < len(state["catalogue"]["models"]):
            # counts of models that are gone: events received must match the books
            stages.received.events = self._reading.events_in_the_books()

    def _forget(self, models: Int64Array) -> None:
        """Forget models by their numbers; their sums stay."""
        forgotten = self._stages.forgotten.plus(sums_of(models, self._catalogue, self._stages))
        state = {**self._state(), "forgotten": forgotten._asdict()}
        self._begin(state, [self.models[number] for number in models.tolist()])

    def count_range(self, opens_ms: int, closes_ms: int, block_ms: int) -> RangeCounts:
        """Count a range of event time exactly; call this before the first event.

        Args:
            opens_ms: start, epoch milliseconds.
            closes_ms: end, exclusive.
            block_ms: length of the blocks that are counted separately.

        Returns:
            Counts, updated by all events from now on.

        Raises:
            ValueError: the range is empty, or events were applied already.
        """
        if self._events or self._stages.received.events.total():
            raise ValueError("count_range: events came already; call it before the first event")
        counted = RangeCounts(self._catalogue, opens_ms, closes_ms, block_ms)
        self._stages.ranges.append(counted)
        return counted

    def count_scores(self, opens_ms: int, closes_ms: int, model: str | None = None) -> RangeScores:
        """Count the labelled scores in the whole days of a range of time, by segment value too.

        Args:
            opens_ms: start, epoch milliseconds.
            closes_ms: end, exclusive.
            model: name of the model to count; all models if left out.

        Returns:
            Counts, updated by all events from now on.
        """
        counted = RangeScores(self._catalogue, opens_ms, closes_ms, model)
        self._stages.range_scores.append(counted)
        return counted

    def history(self, model: str) -> History:
        """Return a model's totals by hour, for at most a year.

        Raises:
            ValueError: the model is neither configured nor seen in events.
        """
        self.flush()
        return self._windows.past.history(self._catalogue.models.index(model))

    def recall(self, model: str, opens: int, closes: int, block_ms: int) -> Recalled:
        """Return the counts of a past range of event time, at most a year back.

        Args:
            model: name of the model.
            opens: start, epoch milliseconds; a whole hour.
            closes: end, exclusive; a whole hour.
            block_ms: length of the blocks that are counted separately: an hour or a day.

        Raises:
            ValueError: the model is neither configured nor seen in events; the bounds
                are not whole hours in order, or lie before the stored history.
        """
        self.flush()
        number = self._catalogue.models.index(model)
        if not self._windows.past.holds(number, opens, closes):
            raise ValueError(f"recall: hours are stored for {HISTORY_DAYS} days, got {opens}")
        return self._windows.past.recall(number, opens, closes, block_ms)

    def scores(self, model: str, opens: int, closes: int) -> ScoreHistogram:
        """Return the histogram of a model's scores over whole days of event time.

        Args:
            model: name of the model.
            opens: start, epoch milliseconds; rounded down to a day (UTC). Of what is older
                than two months, the weeks that lie inside as a whole count.
            closes: end, exclusive; rounded up.

        Raises:
            ValueError: the model is neither configured nor seen in events.
        """
        self.flush()
        return self._scores.histogram(self._catalogue.models.index(model), opens, closes)

    def scores_by_block(self, model: str, opens: int, closes: int) -> ScoreHistogram | None:
        """Return a model's score histograms by day, of older days by week, (blocks, bins).

        Args:
            model: name of the model.
            opens: start, epoch milliseconds; rounded up to a day (UTC).
            closes: end, exclusive; rounded down.

        Returns:
            None where one class has no label in them. An old reference is as it was found.

        Raises:
            ValueError: the model is neither configured nor seen in events.
        """
        self.flush()
        number = self._catalogue.models.index(model)
        known = None
        if not self._scores.keeps(number, opens):
            known = self._watch.scores_of_reference(number, opens, closes)
        return known or self._scores.labelled(number, opens, closes)

    def _take(self, fields: Fields) -> None:
        self._events.add(fields)
        if self._events.are_many:
            self.flush()
