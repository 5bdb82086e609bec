"""The join of predictions and labels, on columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from monitor.events.audit_marks import are_audit_values
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    NO_TIME,
    CountDeltas,
    Int64Array,
    Labels,
    Outcomes,
    Predictions,
    rows_where,
)
from monitor.events.renumbering import Numbers, State
from monitor.join import packing as words
from monitor.join import unlabelled
from monitor.join.class_labels import Misnamed
from monitor.join.compiled_rules import MetLabels
from monitor.join.count_sources import CountSources
from monitor.join.deltas import CELLS, DeltaRoom, Deltas
from monitor.join.external_counts import CountedOutcomes
from monitor.join.forgetting import Forgetting, Over
from monitor.join.label_rules import LabelRules
from monitor.join.memory import JoinMemory
from monitor.join.packed_rows import (
    has_repeats,
    outcome_deltas,
    population_deltas,
    predicted_words,
    with_groups,
)
from monitor.join.prediction_rules import NO_PREDICTIONS, PredictionRules
from monitor.join.rounds import RepeatedIds, Round, rounds_of
from monitor.join.sampling import NO_STRATUM
from monitor.join.terms import ENDLESS

_ROUNDS_AT_ONCE = 64


class Join:
    """Joins labels to predictions by key, and returns what counts as deltas.

    A label is late if and only if it is dated more than the label timeout after its
    prediction; a label in the record of its prediction always counts. Predictions are
    forgotten by event time alone, see `forgetting`. Therefore a batch has the same effect
    as its records one by one, as long as the watermark stays within one step of
    forgetting; the caller cuts a batch where it does not.

    Args:
        catalogue: numbers of groups and models, and the models' settings.
        max_pending: most predictions to remember, of which the earliest to arrive are evicted
            first; and most labels to hold, of which those of the earliest time are.

    Attributes:
        books: where every prediction and every label went.
        shadows: predictions of shadow versions.
        forgetting: when predictions are forgotten.
        audits: of predictions.
        label_sources: labels of sources.
    """

    def __init__(self, catalogue: Catalogue, max_pending: int) -> None:
        self._max_pending = max_pending
        self._catalogue = catalogue
        self._memory = memory = JoinMemory(catalogue)
        self._table, self._held, self._terms = memory.table, memory.held, memory.terms
        self._predictions = PredictionRules(memory)
        self._labels = LabelRules(memory)
        self.books, self.shadows, self.audits = memory.books, memory.shadows, memory.audits
        self.label_sources = memory.sources
        self._counted = CountedOutcomes(catalogue, self.books)
        horizons = [s.horizon_ms or ENDLESS for s in catalogue.possible_settings]
        self.forgetting = Forgetting.of(min(horizons))

    @property
    def held(self) -> int:
        """Labels that wait for their prediction."""
        return len(self._held)

    @property
    def sources(self) -> CountSources:
        """The systems that send counts."""
        return self._counted.sources

    @property
    def nbytes(self) -> int:
        """Memory of the tables, bytes."""
        shadows = self.shadows.store.table.nbytes if self.shadows.in_use else 0
        return self._table.nbytes + self._held.nbytes + shadows

    def steps(self, predictions: Predictions, labels: Labels, over: Over) -> Iterator[Deltas]:
        """Join a batch.

        Args:
            predictions: in the order of their records, duplicates included, with groups of the
                catalogue. What those of shadow versions change is among `Shadows.changes`.
            labels: in the order of their records.
            over: moments before which horizons have ended, see `Forgetting`.

        Yields:
            What changes, after each step of bounded work; take all before anything else is applied.
        """
        self._memory.learn_models()
        over, labels = over.of(len(self._terms)), self.label_sources.numbered(labels)
        joined = self._steps_with_shadows if self._catalogue.has_shadows else self._steps
        yield from joined(predictions, labels, over)

    def _steps_with_shadows(
        self, predictions: Predictions, labels: Labels, over: Over
    ) -> Iterator[Deltas]:
        """Join a batch that may have predictions of shadow versions.

        A label in the record of a shadow prediction counts like one that came alone.
        """
        self.shadows.begin(over)
        shadow = self._catalogue.shadows[predictions.group]
        shadows = predictions.take(shadow)
        if len(shadows):
            theirs = np.isin(labels.row, shadows.row)
            times = np.where(theirs, NO_TIME, labels.prediction_time)
            predictions, labels = predictions.take(~shadow), replace(labels, prediction_time=times)
        yield from self._steps(predictions, labels, over)
        self.shadows.apply(shadows)

    def _steps(self, predictions: Predictions, labels: Labels, over: Over) -> Iterator[Deltas]:
        labels = self._memory.without_stale(predictions, labels, over)
        room = DeltaRoom(len(predictions) + 2 * len(labels))
        if self._predictions.remember_all(predictions, over, room):
            new = predictions.key, NO_PREDICTIONS
            yield self._labels.meet([], new, labels, over, room)
            return
        slots, repeat = self._memory.known(predictions, over), has_repeats(predictions.key)
        if repeat or (slots >= 0).any():
            in_order = self._predictions.taking_over(predictions, slots, over)
            if len(in_order):
                one_by_one = self._predictions.one_by_one(predictions, slots, over)
                ids = RepeatedIds(in_order, predictions.key[slots >= 0], one_by_one)
                yield from self._in_rounds(rounds_of(predictions, labels, ids), over)
                return
        yield self._take(predictions, slots, labels, over, repeat=repeat)

    def _in_rounds(self, rounds: Iterator[Round], over: Over) -> Iterator[Deltas]:
        """Join a batch in which the order of some ids' records matters."""
        while some := [*islice(rounds, _ROUNDS_AT_ONCE)]:
            changes = []
            for predictions, labels in some:
                slots = self._memory.known(predictions, over)
                repeat = has_repeats(predictions.key)
                changes.append(self._take(predictions, slots, labels, over, repeat=repeat))
            yield Deltas.concatenate(changes)

    def _take(
        self,
        predictions: Predictions,
        slots: Int64Array,
        labels: Labels,
        over: Over,
        *,
        repeat: bool,
    ) -> Deltas:
        """Join predictions, of which none of a new id supersedes another one, and then labels."""
        changes = self._predictions.supersede(predictions, slots)
        fresh = predictions.take(rows_where(slots < 0))
        if repeat:
            fresh = self._predictions.distinct(fresh)
        room = DeltaRoom(len(fresh) + 2 * len(labels))
        remembered = self._predictions.remember(fresh, changes, over, room)
        return self._labels.meet(changes, remembered, labels, over, room)

    def add(self, counts: CountDeltas) -> Deltas:
        """Add outcomes that another system counted; return what changes."""
        self._memory.learn_models()
        return self._counted.apply(counts)

    def count(self, outcomes: Outcomes) -> Deltas:
        """Count outcomes without an id: immediately and irrevocably."""
        self._memory.learn_models()
        when = words.when_words(outcomes.time, outcomes.group)
        what = predicted_words(outcomes)
        model = self._catalogue.model_of_group[outcomes.group]
        self._memory.enter_predictions(model, what, +1)
        label = outcomes.actual_positive.astype(np.int64)
        labelled = what | words.strata_words(np.maximum(outcomes.actual_class, NO_STRATUM))
        counted = self._labels.count_for_good(when, labelled, outcomes.label_time, label)
        return Deltas.concatenate([population_deltas(when, what, +1), counted])

    def remembered(self) -> Iterator[Deltas]:
        """Yield the deltas that all remembered predictions and their labels in force make."""
        for slots in self._table.chunks():
            when, what = self._table.when(slots), self._table.what(slots)
            yield population_deltas(when, words.prediction_part(what), +1)
            outcome = unlabelled.outcomes_of(what)
            rows = np.flatnonzero(outcome != unlabelled.NO_OUTCOME)
            when, what = when[rows], what[rows]
            yield outcome_deltas(when, what, words.label_times_of(what), outcome[rows], +1)

    def met(self) -> list[MetLabels]:
        """Return the labels without a prediction of their own that met one since the last call."""
        return self._labels.met()

    def misnamed(self) -> list[Misnamed]:
        """Return the labels with a class that their model does not have, since the last call."""
        return self._labels.misnamed()

    def advance(self, over: Over) -> None:
        """Forget held labels and deliveries of counts that are past the horizon.

        The labels become orphaned; so do the earliest above `max_pending`.

        Args:
            over: moments before which horizons have ended.
        """
        self._memory.learn_models()
        if len(self._terms):
            before = over.common - int(self._terms.horizon.max())
            self.books.orphaned += self._held.expire(before)
            self.books.orphaned += self._held.give_up_above(self._max_pending)
            self._counted.expire(before)
            self.label_sources.trim(over.of(len(self._terms)))
        if self.shadows.in_use:
            self.shadows.begin(over.of(len(self._terms)))
            self.shadows.advance()

    def may_tidy(self, predictions: Predictions, over: Over) -> bool:
        """Tell whether `tidy` could have work after these predictions.

        Args:
            predictions: about to be applied.
            over: moments before which horizons have ended after them.
        """
        self._memory.learn_models()
        if len(self._table) + len(predictions) > self._max_pending:
            return True
        if not len(self._terms):
            return False
        before = self._terms.earliest_kept(over.of(len(self._terms)))
        if self.shadows.store.may_tidy(len(predictions), self._max_pending, before):
            return True
        return self._table.holds(before) or int(predictions.time.min()) < before

    def tidy(self, over: Over, times: Int64Array) -> Iterator[Deltas]:
        """Free the memory of final predictions, and evict the earliest above the limit.

        Which predictions are evicted depends on when this is called: call it at
        positions of the stream that do not depend on batches, and take all that it yields
        before anything else is applied.

        Args:
            over: moments before which horizons have ended.
            times: of each model by number, epoch milliseconds.

        Yields:
            After each chunk of predictions, what no longer counts: evicted predictions whose
            label timeout had not passed, of models where a missing label counts as a negative.
        """
        self._memory.learn_models()
        if not len(self._terms):
            return
        over = over.of(len(self._terms))
        if self._catalogue.has_shadows:
            self.shadows.begin(over)
        while len(slots := self._table.front(before=self._terms.earliest_kept(over))):
            self._memory.drop(slots[self._memory.is_over(slots, over)], self.books.dropped)
            if not self._table.free_front():
                break
            yield Deltas()
        while len(self._table) > self._max_pending:
            evicted = self._memory.evict(self._table.front(), times)
            freed = self._table.free_front()
            yield evicted
            if not freed:
                break  # the last chunk is still being filled
        if self._catalogue.has_shadows:
            for _ in self.shadows.store.tidy(self._max_pending, times):
                yield Deltas()

    def expired(self, times: Int64Array) -> Int64Array:
        """Return how many predictions of each model got no label within the label timeout.

        Args:
            times: of each model by number, epoch milliseconds; `NO_TIME` for none.
        """
        self._memory.learn_models()
        since = np.where(times == NO_TIME, NO_TIME, times - self._terms.label_timeout)
        groups = self._catalogue.model_of_group
        return self.books.dropped + unlabelled.expired(self._table, groups, since)

    def young(self, times: Int64Array, before: Int64Array) -> Int64Array:
        """Return predictions whose label timeout has not passed, by group and cell.

        Only of models where a missing label counts as a negative after the label timeout.

        Args:
            times: of each model by number, epoch milliseconds.
            before: only predictions made before this moment, by model, epoch milliseconds.

        Returns:
            Counts of remembered predictions, (groups, cells); for cells see `monitor.join.deltas`.
        """
        self._memory.learn_models()
        groups = self._catalogue.model_of_group
        if not self._terms.silence_is_negative.any():
            return np.zeros((len(groups), CELLS), dtype=np.int64)
        timeout = self._terms.label_timeout
        since = np.where(self._terms.silence_is_negative, times - timeout, ENDLESS)
        return unlabelled.young(self._table, groups, since, before)

    def state(self) -> State:
        """Serializable state."""
        self._memory.learn_models()
        return {
            "predictions": self._table.state(),
            "held": self._held.state(),
            "delivered": self._counted.state(),
            "books": self.books.state(),
            "audits": self.audits.state(),
            "label_sources": self.label_sources.state(),
            **({"shadows": self.shadows.state()} if self._catalogue.has_shadows else {}),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Restore the state.

        Args:
            state: from `state`.
            left: models and groups of that state that still exist.
        """
        self._table.restore(with_groups(state["predictions"], left.groups))
        self._held.restore(state["held"])
        self._counted.restore(state["delivered"], left.groups)
        self.books.restore(state["books"], left.models)
        if "audits" in state:
            waiting = int(are_audit_values(state["held"]["value"]).sum())
            self.audits.restore(state["audits"], left, waiting)
        if "label_sources" in state:
            self.label_sources.restore(state["label_sources"], left)
        if "shadows" in state and self._catalogue.has_shadows:
            self.shadows.restore(state["shadows"], left)
