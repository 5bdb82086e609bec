"""The stages that count events: join, windows, label delays, scores and detectors."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EventBatch
from monitor.events.intake import Received
from monitor.events.parts import in_slices, parts_of
from monitor.events.renumbering import Numbers, State
from monitor.events.watermark import Watermark
from monitor.join import Deltas, Join
from monitor.labels.delays import LabelDelays
from monitor.labels.maturity import Maturities
from monitor.watch import Watch
from monitor.windows import Windows
from monitor.windows.range_counts import RangeCounts
from monitor.windows.range_scores import RangeScores
from monitor.windows.scores import Scores

SLICE_ROWS = 16_384
"""Rows of a batch that are counted in one step, at most."""
TIDY_EVERY = 8192
"""Predictions after which the join frees memory, wherever batches end."""


class Stages:
    """Runs join, windows and detectors on each batch.

    Args:
        config: of the monitor.
        catalogue: numbers of models, groups and series.
        windows: state of the windows to be restored; None without one.

    Attributes:
        received: records received and rejected.
        join: joins labels to predictions.
        windows: counts by pane.
        delays: of labels.
        maturities: ages at which windows end.
        scores: score histograms by day.
        watch: verdicts and detectors.
        ranges: counts of stretches of event time.
        range_scores: labelled scores of stretches of event time.
        watermark: of all records so far.
    """

    def __init__(self, config: Config, catalogue: Catalogue, windows: State | None) -> None:
        self._catalogue = catalogue
        self.received = Received(catalogue)
        self.join = Join(catalogue, config.max_pending)
        self.windows = Windows(config, catalogue, windows)
        self.delays = LabelDelays(config, catalogue)
        self.maturities = Maturities(catalogue, self.windows, self.delays)
        self.scores = Scores(catalogue)
        self.ranges: list[RangeCounts] = []
        self.range_scores: list[RangeScores] = []
        self.watch = Watch(catalogue, self.windows, self.scores, self.delays)
        self.watermark = Watermark()

    def steps(self, batch: EventBatch) -> Iterator[None]:
        """Count a batch in steps of bounded work.

        Args:
            batch: its rows in the order of their records.

        Yields:
            Nothing; after each step.
        """
        yield from self.received.number_groups(batch, SLICE_ROWS)
        batch = self.received.count(batch)
        came = self.received.events["prediction"] - len(batch.predictions)
        for part in self._parts(batch, came):
            before = self.watermark
            for rows in in_slices(part, SLICE_ROWS):
                self._join_and_count(rows)
                yield
            yield from self._advance(before)
            tidied, came = came // TIDY_EVERY, came + len(part.predictions)
            if came // TIDY_EVERY > tidied:
                self._count(self.join.tidy(self.watermark.moment))

    def _parts(self, batch: EventBatch, came: int) -> Iterator[EventBatch]:
        """Cut a batch where the order of its records matters.

        That is where the watermark enters another step of forgetting, a day at most, so
        that no pane is dropped before its verdicts are judged; and after every
        `TIDY_EVERY` predictions, where the join may free memory.

        Args:
            batch: as received.
            came: predictions before it.
        """
        seen, step = self.watermark.seeing(batch), self.join.forgetting.step
        tidies = (came + len(batch.predictions)) // TIDY_EVERY > came // TIDY_EVERY
        tidies = tidies and self.join.may_tidy(batch.predictions, seen.moment)
        if not tidies and not self.watermark.enters_another(step, seen):
            return iter((batch,))
        return parts_of(batch, self.watermark, step, (came, TIDY_EVERY))

    def _join_and_count(self, batch: EventBatch) -> None:
        before, self.watermark = self.watermark, self.watermark.seeing(batch)
        now = self.watermark.time
        if now is not None:
            self.windows.advance(now)
            self.scores.advance(now)
            self.delays.advance(now)
        for deltas in self._joined(batch, before.moment):
            self.delays.apply(deltas)
            self.scores.apply(deltas)
            for scored in self.range_scores:
                scored.apply(deltas)
            self._count(deltas)

    def _advance(self, before: Watermark) -> Iterator[None]:
        """Advance event time in the join and the detectors, in steps of bounded work.

        Args:
            before: the watermark at the last call.
        """
        now = self.watermark.time
        if now is None:
            return
        self.join.advance(now)
        if before.enters_another(self.join.forgetting.step, self.watermark):
            self.join.forget_deliveries(now)
        yield from self.watch.steps(now, self.maturities.judged_by_the_pane(now))

    def _count(self, deltas: Deltas) -> None:
        self.windows.apply(deltas)
        for counted in self.ranges:
            counted.apply(deltas)

    def _joined(self, batch: EventBatch, watermark: int) -> Iterator[Deltas]:
        """Yield the deltas of a batch, by type of event."""
        if len(batch.predictions) or len(batch.labels):
            yield self.join.apply(batch.predictions, batch.labels, watermark)
        if len(batch.outcomes):
            yield self.join.count(batch.outcomes)
        if len(batch.counts):
            yield self.join.add(batch.counts)

    def state(self) -> State:
        """Return the state of all stages, as plain values."""
        return {
            "watermark": self.watermark.state(),
            "join": self.join.state(),
            "windows": self.windows.state(),
            "delays": self.delays.state(),
            "scores": self.scores.state(),
            "maturities": self.maturities.state(),
            "watch": self.watch.state(),
            "ranges": [counted.state() for counted in self.ranges],
            **self.received.state(),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Restore the state of all stages.

        Args:
            state: of a monitor.
            left: models, series and groups that are left of that monitor's.
        """
        self.watermark.restore(state["watermark"])
        self.join.restore(state["join"], left)
        self.windows.restore(state["windows"], left)
        self.delays.restore(state["delays"], left.models)
        self.scores.restore(state["scores"], left.models)
        for saved in state["ranges"]:
            counted = RangeCounts(
                self._catalogue, saved["opens"], saved["closes"], saved["block_ms"]
            )
            counted.restore(saved, left)
            self.ranges.append(counted)
        self.watch.restore(state["watch"], left)
        self.received.restore(state)
        if len(left.models) == len(state["catalogue"]["models"]):
            self.maturities.restore(state["maturities"])
