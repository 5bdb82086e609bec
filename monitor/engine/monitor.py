"""The engine: batches of events in, snapshots out.

Leads events through the rooms in their order; what each does is its own business.
No I/O, no clock, no randomness: the state is a function of the sequence of records,
whatever the batches they came in (but for when detectors step, see the README) and,
inside the horizon, of the records whatever their order. A snapshot besides depends on
`now`, the moment that windows end by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from monitor.config import Config
from monitor.engine.snapshots import Reading
from monitor.events.batches import concatenate, in_row_order
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EventBatch
from monitor.events.intake import Received
from monitor.events.parts import in_slices, parts_of
from monitor.events.renumbering import State
from monitor.events.watermark import Watermark
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import Deltas, Join
from monitor.labels.delays import LabelDelays
from monitor.labels.maturity import Maturities
from monitor.metrics.histogram import ScoreHistogram
from monitor.snapshot import Snapshot
from monitor.watch import Watch
from monitor.windows import Windows
from monitor.windows.pane_widths import HOUR_MS
from monitor.windows.range_scores import RangeScores
from monitor.windows.ranges import RangeCounts
from monitor.windows.recalled import Recalled
from monitor.windows.scores import Scores
from monitor.windows.windows import HISTORY_DAYS, History

__all__ = ["Monitor"]

SLICE_ROWS = 16_384
"""Rows of a batch that are counted in one step, at most."""
TIDY_EVERY = 8192
"""Predictions after which the join gives back room, wherever batches end."""
_BUFFERED = 2_000


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
        self._watch = Watch(self._catalogue, self._windows, self._scores, self._delays)
        self._watermark = Watermark()
        self._received = Received(self._catalogue)
        self._reading = Reading(
            self.config,
            self._catalogue,
            received=self._received,
            join=self._join,
            windows=self._windows,
            delays=self._delays,
            maturities=self._maturities,
            watch=self._watch,
        )
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
        """Count a batch: each of its events, or its reason to be rejected."""
        for _ in self.steps(batch):
            pass

    def steps(self, batch: EventBatch) -> Iterator[None]:
        """Count a batch in steps of bounded work; `apply` takes all of them at once.

        Only after the last step is the batch counted. Between two steps a program may
        read the monitor; it must neither feed it nor save its state.

        Yields:
            Nothing; after each step.
        """
        batch = in_row_order(batch)
        yield from self._received.enter(batch, SLICE_ROWS)
        batch = self._received.book(batch)
        came = self._received.events["prediction"] - len(batch.predictions)
        for part in self._parts(batch, came):
            before = self._watermark
            for rows in in_slices(part, SLICE_ROWS):
                self._join_and_count(rows)
                yield
            yield from self._advance(before)
            tidied, came = came // TIDY_EVERY, came + len(part.predictions)
            if came // TIDY_EVERY > tidied:
                self._count(self._join.tidy(self._watermark.moment))

    def _parts(self, batch: EventBatch, came: int) -> Iterator[EventBatch]:
        """Cut a batch where the order of its records matters.

        That is where the watermark enters another step of forgetting, a day at most, so
        that no pane leaves the rings before its verdicts are judged; and after every
        `TIDY_EVERY` predictions, where the join has room to give back.

        Args:
            batch: as booked.
            came: predictions before it.
        """
        seen, step = self._watermark.seeing(batch), self._join.forgetting.step
        tidies = (came + len(batch.predictions)) // TIDY_EVERY > came // TIDY_EVERY
        tidies = tidies and self._join.may_tidy(batch.predictions, seen.moment)
        if not tidies and not self._watermark.enters_another(step, seen):
            return iter((batch,))
        return parts_of(batch, self._watermark, step, (came, TIDY_EVERY))

    def _join_and_count(self, batch: EventBatch) -> None:
        before, self._watermark = self._watermark, self._watermark.seeing(batch)
        now = self._watermark.time
        if now is not None:
            self._windows.advance(now)
            self._scores.advance(now)
            self._delays.advance(now)
        for deltas in self._joined(batch, before.moment):
            self._delays.apply(deltas)
            self._scores.apply(deltas)
            for scored in self._range_scores:
                scored.apply(deltas)
            self._count(deltas)

    def _advance(self, before: Watermark) -> Iterator[None]:
        """Let event time move on in the join and the detectors, in steps of bounded work.

        Args:
            before: the watermark at the last call.
        """
        now = self._watermark.time
        if now is None:
            return
        self._join.advance(now)
        if before.enters_another(self._join.forgetting.step, self._watermark):
            self._join.forget_deliveries(now)
        yield from self._watch.steps(now, self._maturities.judged_by_the_pane(now))

    def _count(self, deltas: Deltas) -> None:
        self._windows.apply(deltas)
        for counted in self._ranges:
            counted.apply(deltas)

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

    def snapshot(
        self, now_ms: int | None = None, between: Callable[[], object] | None = None
    ) -> Snapshot:
        """The state now, frozen.

        Args:
            now_ms: the moment that windows end by, epoch milliseconds; the
                watermark where it is left out or lies before it.
            between: called after each model; with a thousand of them somebody may not
                want to wait until the last. It may read the monitor, and not feed it.
        """
        self.flush()
        watermark = self._watermark.time
        now = watermark if watermark is None or now_ms is None else max(now_ms, watermark)
        return self._reading.snapshot(watermark, now, between)

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
            **self._received.state(),
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
        self._received.restore(state)
        if len(left.models) == len(state["catalogue"]["models"]):
            self._maturities.restore(state["maturities"])
        else:  # models are gone, and what was counted of theirs: the books must close
            self._received.events = self._reading.events_in_the_books()

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
        if self._buffer or self._received.events.total():
            raise ValueError("count_range: events came already; ask before the first of them")
        counted = RangeCounts(self._catalogue, opens_ms, closes_ms, block_ms)
        self._ranges.append(counted)
        return counted

    def count_scores(self, opens_ms: int, closes_ms: int, model: str | None = None) -> RangeScores:
        """Count the labelled scores of the whole days of a stretch of event time.

        Args:
            opens_ms: first moment, epoch milliseconds.
            closes_ms: first moment after it.
            model: the only one that is counted; all if left out.

        Returns:
            What fills up with the events that come from now on.
        """
        counted = RangeScores(self._catalogue, opens_ms, closes_ms, model)
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

    def scores_by_day(self, model: str, opens: int, closes: int) -> ScoreHistogram | None:
        """A model's scores in the whole days of a stretch of event time, (days, bins).

        Args:
            model: its name.
            opens: first moment, epoch milliseconds; rounded up to a day (UTC).
            closes: first moment after it; rounded down.

        Returns:
            None where not all of these days are kept, or one class has no label in them.
            Those of the reference are kept as they were when it was found.

        Raises:
            ValueError: no such model is configured or was seen.
        """
        self.flush()
        number = self._catalogue.models.index(model)
        if not self._scores.keeps(opens):
            return self._watch.scores_of_reference(number, opens, closes)
        days = self._scores.days(number, opens, closes)
        return days if days.positive.any() and days.negative.any() else None

    def _take(self, fields: dict[str, Any]) -> None:
        batch = self._decoder.decode_lines(msgspec.json.encode(fields), source="", first_line=1)
        for rejection in batch.rejected:
            raise ValueError(f"{fields['type']} {fields['id']!r}: {rejection.detail}")
        self._buffer.append(batch)
        if len(self._buffer) >= _BUFFERED:
            self.flush()
