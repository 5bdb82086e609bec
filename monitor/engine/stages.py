"""The stages that count events: join, windows, label delays, scores and detectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from monitor.config import Config
from monitor.engine.come_expired import ComeExpired
from monitor.engine.course import Course
from monitor.engine.day_cuts import DayCuts, judged_times
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EventBatch, Int64Array
from monitor.events.forgotten import Forgotten
from monitor.events.intake import Received
from monitor.events.model_times import EPOCH_ROWS, ModelTimes
from monitor.events.parts import in_plans, in_slices, last_row, parts_of, rows_of
from monitor.events.renumbering import Numbers, State
from monitor.events.silences import Silences
from monitor.events.version_places import VersionPlaces
from monitor.join import Deltas, Join, Over
from monitor.labels.delays import LabelDelays
from monitor.labels.forwarding import Forwarding
from monitor.labels.learned_errors import LearnedErrors
from monitor.labels.maturity import Maturities
from monitor.labels.sources_found import SourcesFound
from monitor.labels.unknown_classes import UnknownClasses
from monitor.watch import Watch
from monitor.windows import Windows
from monitor.windows.pair_counts import PairCounts
from monitor.windows.range_counts import RangeCounts
from monitor.windows.range_scores import RangeScores
from monitor.windows.scores import RECENT_MS, Scores
from monitor.windows.value_scores import ValueScores
from monitor.windows.version_counts import VersionCounts

SLICE_ROWS = 16_384
"""Rows of a batch that are counted in one step, at most."""
GROUPS_AT_ONCE = 2048
"""Groups of a batch that are numbered in one step, at most: each may be a new combination."""
TIDY_EVERY = 8192
"""Predictions after which the join frees memory, wherever batches end."""
_NO_LABELS: Int64Array = np.zeros(0, dtype=np.int64)


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
        label_errors: how often labels are wrong, configured or learned from audits.
        label_sources: how sources label the same cases.
        maturities: ages at which windows end.
        scores: score histograms by day.
        value_scores: score histograms by segment value and day.
        judges: whether verdicts and detectors are stepped.
        watch: verdicts and detectors.
        forwarding: changes of counts that are to be forwarded.
        ranges: counts of stretches of event time.
        range_scores: labelled scores of stretches of event time.
        versions: counts of the models that keep the version of a prediction.
        places: gives series of versions that have ended to others.
        unknown_classes: records that name a class which their model does not have.
        pairs: counts of the ids that a shadow version scored as well.
        times: of the models, by all records so far.
        come_expired: predictions that were past their horizon as they came.
        days: of the models, where they close.
        forgotten: sums over the models that were forgotten.
        silences: of the models, in steps of the common time.
        forget_after_ms: silence after which a model is forgotten; None for none.
    """

    def __init__(self, config: Config, catalogue: Catalogue, windows: State | None) -> None:
        self._catalogue = catalogue
        self.judges = True
        self.received = Received(catalogue)
        self.join = Join(catalogue, config.max_pending)
        self.windows = Windows(config, catalogue, windows)
        self.delays = LabelDelays(config, catalogue)
        self.label_errors = LearnedErrors(
            catalogue,
            self.join.audits,
            self.windows,
            times=lambda: self.times.settled,
            age=lambda model, time: self.maturities.judged(model, time=time),
        )
        self.unknown_classes = UnknownClasses(catalogue, self.windows)
        self.label_sources = SourcesFound(self.join.label_sources, catalogue)
        self.maturities = Maturities(catalogue, self.windows, self.delays, self.label_errors)
        self.scores = Scores(catalogue)
        self.value_scores = ValueScores(catalogue, self.scores)
        self.forwarding = Forwarding(catalogue, self.join, self.windows.pane_ms)
        self.ranges: list[RangeCounts] = []
        self.range_scores: list[RangeScores] = []
        self.versions = VersionCounts(catalogue)
        self.places = VersionPlaces(config, catalogue, self.received.versions)
        self.pairs = PairCounts(catalogue)
        counted = self.windows, self.scores, self.delays, self.received.versions
        self.watch = Watch(
            catalogue, *counted, errors=self.label_errors, unknown_classes=self.unknown_classes
        )
        self.days = DayCuts(self.maturities, self.windows.step_ms, self.watch.awaits)
        self.times = ModelTimes(self.join.forgetting.step)
        self.times.ensure(len(catalogue.models))
        self.come_expired = ComeExpired(catalogue)
        self._over, self._entered = Over.nothing(), np.zeros(0, dtype=np.int64)
        self.forgotten = Forgotten()
        self.silences = Silences()
        self.forget_after_ms = config.forget_after_ms

    @property
    def repeated(self) -> tuple[int, int]:
        """Predictions that came again, and labels of predictions that already had one."""
        books = self.join.books
        return int(books.duplicates.sum()) + self.forgotten.duplicates, books.duplicate_labels

    def steps(self, batch: EventBatch) -> Iterator[None]:
        """Count a batch in steps of bounded work.

        Args:
            batch: its rows in the order of their records.

        Yields:
            Nothing; after each step.
        """
        for _ in self.received.number_groups(batch, GROUPS_AT_ONCE):
            self.times.ensure(len(self._catalogue.models))  # a snapshot may be taken here
            yield
        rows, predictions = self.received.events.total(), self.received.predictions
        self.unknown_classes.add_rejected(batch.rejected)
        batch = self._with_reached(self.received.count(batch))
        self.times.ensure(len(self._catalogue.models))
        self._course = Course(self.times, self._carriers)
        came, end = (rows, predictions), rows + rows_of(batch)
        for part in in_plans(batch, came, self._planned, self._outdated):
            before, slowest = self.times.common, self.times.slowest
            until = None if rows + rows_of(part) == end else last_row(part)
            self.received.note_versions(until)
            self._catalogue.come.reach(until)
            for some in in_slices(part, SLICE_ROWS):
                yield from self._join_and_count(some)
            passed, rows = rows // EPOCH_ROWS, rows + rows_of(part)
            tidied, predictions = predictions // TIDY_EVERY, predictions + len(part.predictions)
            ends = rows // EPOCH_ROWS > passed
            if ends:
                self.times.end_epoch()
            if ends or (before, slowest) != (self.times.common, self.times.slowest):
                self._over = self._over_now(self.times)
                self.join.advance(self._over)
            if self.forget_after_ms is not None and before != self.times.common:
                self.silences.step(self.times.common, len(self._catalogue.models))
            if self.judges:
                yield from self._judge(part, ends_batch=rows == end)
            if predictions // TIDY_EVERY > tidied:
                for evicted in self.join.tidy(self._over, self.times.settled):
                    self._count(evicted)
                    yield
                self.pairs.apply(self.join.shadows.changes())

    def carry(self, times: Mapping[int, int]) -> Iterator[None]:
        """Carry models to times that no record of theirs has, and judge what is mature by then.

        Args:
            times: by model number, epoch milliseconds.

        Yields:
            Nothing; after each step of bounded work.
        """
        self.times.carry(times)
        self._advance(self.times.settled)
        if self.judges:
            due = self.days.due(self.times, self.watch.step_ms, _NO_LABELS, whole=True)
            yield from self.watch.steps(due, self.days.age_at)

    def _judge(self, part: EventBatch, *, ends_batch: bool) -> Iterator[None]:
        """Judge the models whose day begins or closes with a part of a batch.

        The open days of all are looked at where the batch ends.
        """
        due = self.days.due(self.times, self.watch.step_ms, part.labels.time)
        yield from self.watch.steps(due, self.days.age_at)
        if ends_batch:
            judged = judged_times(self.times, self.watch.step_ms)
            yield from self.watch.open_days.steps(judged, self.days.known_age)

    @property
    def _carriers(self) -> Int64Array:
        """Model number of each group; of shadow versions, which carry no time, its complement."""
        model = self._catalogue.model_of_group
        if not self._catalogue.has_shadows:
            return model
        return np.where(self._catalogue.shadows, ~model, model)

    def _planned(self, batch: EventBatch, rows: int, predictions: int) -> Iterator[EventBatch]:
        """Cut a batch, or the rest of it, where the order of its records matters.

        That is where the common time, or the slowest, enters another step, a day at most, so that
        no pane is dropped before its verdicts are judged; where a day of a model begins or closes,
        see `monitor.engine.day_cuts`; behind every `EPOCH_ROWS` rows; and behind every
        `TIDY_EVERY` predictions, if the join has memory to free then.

        Args:
            batch: as received.
            rows: that came before it.
            predictions: that came before it.
        """
        seen, more = self._course.seen(batch, rows), len(batch.predictions)
        tidies = (predictions + more) // TIDY_EVERY > predictions // TIDY_EVERY
        tidies = tidies and self.join.may_tidy(batch.predictions, self._over_now(seen))
        ends = (rows + rows_of(batch)) // EPOCH_ROWS > rows // EPOCH_ROWS
        days = self.judges and self.days.any_in(batch, self.times, seen)
        enters = self.times.may_enter_another(seen)
        if not (tidies or ends or days or enters):
            return iter((batch,))
        paths = self._course.paths(batch, rows) if days or enters else []
        steps = {*self.times.steps(paths)} if enters else set[int]()
        if days:
            steps |= self.days.places(batch, paths, self.times)
        return parts_of(batch, sorted(steps), (rows, EPOCH_ROWS), (predictions, TIDY_EVERY))

    def _outdated(self) -> bool:
        return self.days.outdated or self._course.outdated

    def _with_reached(self, batch: EventBatch) -> EventBatch:
        """Note how far the sources of counts have come; let the slowest hold the others back."""
        if not len(batch.counts):
            return batch
        model = self._catalogue.model_of_group[batch.counts.group].tolist()
        names = [*map(self._catalogue.models.__getitem__, model)]
        return replace(batch, counts=self.join.sources.with_reached(batch.counts, names))

    def _over_now(self, times: ModelTimes) -> Over:
        return self.join.forgetting.over(times.settled, times.slowest)

    def _advance(self, times: Int64Array) -> None:
        """Move all panes on; those of half-hours and longer ones where a model enters another."""
        self.windows.advance(times)
        self.value_scores.advance(times)
        self.versions.advance(times)
        self.pairs.advance(times)
        if not np.array_equal(entered := times // RECENT_MS, self._entered):
            self._entered = entered
            self.scores.advance(times)
            self.delays.advance(times)

    def _join_and_count(self, batch: EventBatch) -> Iterator[None]:
        spoke = self.times.advance(batch, self._carriers)
        self._advance(self.times.settled)
        for joined in self._joined(batch):
            deltas = classes.apply(joined) if (classes := self.windows.classes).in_use else joined
            self.delays.apply(deltas)
            self.scores.apply(deltas)
            self.value_scores.apply(deltas)
            for scored in self.range_scores:
                scored.apply(deltas)
            self._count(deltas)
            yield
        self.pairs.apply(self.join.shadows.changes())
        for misnamed in self.join.misnamed():
            self.unknown_classes.add(*misnamed)
        heard = [spoke, *(self.times.hear(*labels) for labels in self.join.met())]
        for models in heard if self.forget_after_ms is not None else ():
            self.silences.hear(models)
        yield

    def _count(self, deltas: Deltas) -> None:
        self.windows.apply(deltas)
        self.versions.apply(deltas)
        self.forwarding.add(deltas)
        for counted in self.ranges:
            counted.apply(deltas)

    def _joined(self, batch: EventBatch) -> Iterator[Deltas]:
        """Yield the deltas of a batch, by type of event."""
        self.come_expired.add(batch.predictions, self._over)
        if len(batch.predictions) or len(batch.labels):
            yield from self.join.steps(batch.predictions, batch.labels, self._over)
        if len(batch.outcomes):
            yield self.join.count(batch.outcomes)
        if len(batch.counts):
            yield self.join.add(batch.counts)

    def state(self) -> State:
        """Return the state of all stages, as plain values."""
        return {
            "times": self.times.state(),
            "over": self._over._asdict(),
            "join": self.join.state(),
            "windows": self.windows.state(),
            "delays": self.delays.state(),
            "scores": self.scores.state(),
            "watch": self.watch.state(),
            "day_cuts": self.days.state(),
            "label_quarters": self.days.quarters.state(),
            "ranges": [counted.state() for counted in self.ranges],
            **({"label_errors": errors} if (errors := self.label_errors.state()) else {}),
            **({"value_scores": values} if (values := self.value_scores.state()) else {}),
            **({"version_counts": versions} if (versions := self.versions.state()) else {}),
            **({"pair_counts": pairs} if (pairs := self.pairs.state()) else {}),
            **({"unknown_classes": few} if (few := self.unknown_classes.state()) else {}),
            "come_expired": self.come_expired.state(),
            **self.received.state(),
            "forgotten": self.forgotten._asdict(),
            **({"silences": self.silences.state()} if self.forget_after_ms is not None else {}),
            **({"forwarding": self.forwarding.state()} if self.forwarding.is_on else {}),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Restore the state of all stages.

        Args:
            state: of a monitor.
            left: models, series and groups that are left of that monitor's.
        """
        self.times.restore(state.get("times", state.get("watermark", {})), left.models)
        if "over" in state:
            self._over = Over(**state["over"]).left(left.models)
        else:  # of before models had times of their own
            self._over = self._over_now(self.times)
        self.times.ensure(len(self._catalogue.models))
        self.come_expired.restore(state.get("come_expired", {}), left.models)
        self.join.restore(state["join"], left)
        self.windows.restore(state["windows"], left)
        self.delays.restore(state["delays"], left.models)
        self.scores.restore(state["scores"], left.models)
        self.value_scores.restore(state.get("value_scores", {}), left.models)
        self.ranges += [RangeCounts.restored(self._catalogue, r, left) for r in state["ranges"]]
        self.versions.restore(state.get("version_counts"), left, self.times.settled)
        self.pairs.restore(state.get("pair_counts", {}), left, self.times.settled)
        self.unknown_classes.restore(state.get("unknown_classes", {}))
        self.label_errors.restore(state.get("label_errors", {}), left.models)
        self.watch.restore(state["watch"], left)
        judged = judged_times(self.times, self.watch.step_ms)
        self.days.restore(state.get("day_cuts", []), left.models, judged)
        self.days.quarters.restore(state.get("label_quarters", []))
        self.received.restore(state)
        self.forgotten = Forgotten(**state.get("forgotten", {}))
        self.silences.restore(state.get("silences"), left.models)
        if "forwarding" in state:
            self.forwarding.restore(state["forwarding"], left.groups)
