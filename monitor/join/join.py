"""The rules of the join, on columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.config import Labelling
from monitor.counts import add_at
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    BoolArray,
    CountDeltas,
    Int64Array,
    KeyArray,
    Labels,
    Outcomes,
    Predictions,
    rows_where,
)
from monitor.events.renumbering import GONE, Numbers, State, renumbered
from monitor.join import packing as words
from monitor.join import unlabelled as silence
from monitor.join.count_sources import CountSources
from monitor.join.counters import Books
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE, Deltas
from monitor.join.early_labels import HeldLabels
from monitor.join.external_counts import CountedOutcomes
from monitor.join.label_order import succession
from monitor.join.sampling import NO_STRATUM, strata
from monitor.join.table import PredictionTable

ENDLESS = 1 << 60
"""A duration, in milliseconds, that never ends."""
BEFORE_ALL = -(1 << 60)
"""A watermark before anything came."""

_NO_OUTCOME = silence.NO_OUTCOME


class Join:
    """Predictions and labels in, deltas of what counts out.

    Args:
        catalogue: numbers of groups and models, and the models' settings.
        max_pending: predictions to remember at most; the earliest arrived go first.
    """

    def __init__(self, catalogue: Catalogue, max_pending: int) -> None:
        self._catalogue = catalogue
        self._max_pending = max_pending
        self._table = PredictionTable()
        self._held = HeldLabels()
        self._label_timeout = np.zeros(0, dtype=np.int64)
        self._horizon = np.zeros(0, dtype=np.int64)
        self._weighted = np.zeros(0, dtype=np.bool_)
        self._silent = np.zeros(0, dtype=np.bool_)
        self.books = Books()
        self._counted = CountedOutcomes(catalogue, self.books)

    @property
    def held(self) -> int:
        """Labels that wait for their prediction."""
        return len(self._held)

    @property
    def sources(self) -> CountSources:
        """Who sends counts."""
        return self._counted.sources

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self._table.nbytes + self._held.nbytes

    def apply(self, predictions: Predictions, labels: Labels, watermark: int) -> Deltas:
        """Take a batch; its groups are numbers of the catalogue.

        Args:
            predictions: in any order, duplicates included.
            labels: the same.
            watermark: of all that came before this batch, epoch milliseconds.
        """
        self._learn_models()
        remembered, changes = self._remember(predictions, watermark)
        if self.held and len(remembered):
            labels = Labels.concatenate([self._held.release(remembered), labels])
        return Deltas.concatenate([*changes, *self._label(labels, watermark)])

    def add(self, counts: CountDeltas) -> Deltas:
        """Take outcomes that another system has counted."""
        self._learn_models()
        return self._counted.apply(counts)

    def count(self, outcomes: Outcomes) -> Deltas:
        """Take outcomes that came without an id: they count at once and for good."""
        self._learn_models()
        model = self._catalogue.model_of_group[outcomes.group]
        predicted = outcomes.predicted_positive.astype(np.int64)
        actual = outcomes.actual_positive.astype(np.int64)
        cell = silence.OUTCOME[actual, predicted]
        add_at(self.books.predictions, model, predicted, 1)
        np.add.at(self.books.matched, model, 1)
        np.add.at(self.books.applied, model, 1)
        add_at(self.books.labels, model, actual, 1)
        self.books.move(model, np.full_like(cell, _NO_OUTCOME), cell)
        when = words.when_words(outcomes.time, outcomes.group)
        what = words.what_words(outcomes.predicted_positive, outcomes.score)
        counted = _deltas(when, what, outcomes.label_time, cell, +1)
        return Deltas.concatenate([_population(when, what, +1), counted])

    def advance(self, watermark: int) -> Deltas:
        """Let time pass: forget what can change no more.

        Args:
            watermark: of all that has come, epoch milliseconds.

        Returns:
            What ceases to count: predictions that had to be forgotten before their
            silence could make them a negative.
        """
        self._learn_models()
        if not len(self._horizon):
            return Deltas()
        before = watermark - int(self._horizon.max())
        self.books.orphaned += self._held.expire(before)
        self._counted.expire(before)
        while len(slots := self._table.front(before=watermark - int(self._horizon.min()))):
            self._drop(slots[self._is_over(slots, watermark)], self.books.dropped)
            if not self._table.free_front():
                break
        changes = []
        while len(self._table) > self._max_pending:
            changes.append(self._evict(self._table.front(), watermark))
            if not self._table.free_front():
                break  # what is left is the chunk that is being filled
        return Deltas.concatenate(changes)

    def expired(self, watermark: int) -> Int64Array:
        """Predictions, by model, whose label never came within the label timeout."""
        self._learn_models()
        expired = self.books.dropped.copy()
        if not len(expired) or watermark - int(self._label_timeout.min()) < BEFORE_ALL // 2:
            return expired
        groups = self._catalogue.model_of_group
        return expired + silence.expired(self._table, groups, self._label_timeout, watermark)

    def young(self, watermark: int, before: Int64Array) -> Int64Array:
        """Predictions that are too young for their silence to say anything.

        Only of models where silence past the label timeout is a negative.

        Args:
            watermark: of all that has come, epoch milliseconds.
            before: only predictions made before this moment, by model, epoch milliseconds.

        Returns:
            Counts by group and cell (see `monitor.join.deltas`) of what is remembered
            and no older than the label timeout.
        """
        self._learn_models()
        groups = self._catalogue.model_of_group
        if not self._silent.any():
            return np.zeros((len(groups), CELLS), dtype=np.int64)
        since = np.where(self._silent, watermark - self._label_timeout, ENDLESS)
        return silence.young(self._table, groups, since, before)

    def state(self) -> State:
        """Predictions, labels that wait, deliveries and books."""
        self._learn_models()
        return {
            "predictions": self._table.state(),
            "held": self._held.state(),
            "delivered": self._counted.state(),
            "books": self.books.state(),
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Go on from what `state` gave, with the models and groups that are left."""
        self._table.restore(_of_groups(state["predictions"], left.groups))
        self._held.restore(state["held"])
        self._counted.restore(state["delivered"], left.groups)
        self.books.restore(state["books"], left.models)

    def _learn_models(self) -> None:
        settings = self._catalogue.settings[len(self._horizon) :]
        if not settings:
            return
        self.books.ensure(len(self._catalogue.settings))
        timeout = [s.label_timeout or ENDLESS for s in settings]
        horizon = [s.horizon_ms or ENDLESS for s in settings]
        self._label_timeout = np.concatenate([self._label_timeout, np.array(timeout)])
        self._horizon = np.concatenate([self._horizon, np.array(horizon)])
        weighted = [s.labelling is Labelling.WEIGHTED for s in settings]
        silent = [s.labelling is Labelling.NEGATIVES_BY_TIMEOUT for s in settings]
        self._weighted = np.concatenate([self._weighted, np.array(weighted)])
        self._silent = np.concatenate([self._silent, np.array(silent)])

    def _remember(self, predictions: Predictions, watermark: int) -> tuple[KeyArray, list[Deltas]]:
        """Enter predictions; the keys that labels may be held for, and what changed."""
        given = self._distinct(predictions)
        when = words.when_words(given.time, given.group)
        what = words.what_words(given.predicted_positive, given.score)
        slots = self._table.find(given.key)
        changes = self._supersede(slots, when, what)
        fresh = rows_where(slots < 0)
        key, when, what = given.key[fresh], when[fresh], what[fresh]
        model = self._catalogue.model_of_group[given.group[fresh]]
        self._enter_books(model, what, +1)
        changes.append(_population(when, what, +1))
        over = given.time[fresh] + self._retention(model) < watermark
        np.add.at(self.books.dropped, model[over], 1)
        kept = rows_where(~over)
        self._table.append(key[kept], when[kept], what[kept])
        return key[kept], changes

    def _distinct(self, predictions: Predictions) -> Predictions:
        """One prediction for each id of a batch: the earliest; the others are duplicates."""
        ordered = np.sort(predictions.key)
        if not (ordered[1:] == ordered[:-1]).any():
            return predictions
        rank = self._catalogue.names_rank()[predictions.group]
        what = words.what_words(predictions.predicted_positive, predictions.score)
        order = np.lexsort((rank, _preference(what), predictions.time, predictions.key))
        ordered = predictions.key[order]
        repeated = np.concatenate([[False], ordered[1:] == ordered[:-1]])
        model = self._catalogue.model_of_group[predictions.group[order[repeated]]]
        np.add.at(self.books.duplicates, model, 1)
        return predictions.take(order[~repeated])

    def _supersede(self, slots: Int64Array, when: KeyArray, what: KeyArray) -> list[Deltas]:
        """Predictions that came again: duplicates, unless an earlier one takes the place."""
        again = np.flatnonzero(slots >= 0)
        if not len(again):
            return []
        slots, when, what = slots[again], when[again], what[again]
        model = self._catalogue.model_of_group[words.groups_of(when)]
        np.add.at(self.books.duplicates, model, 1)
        ahead = self._precedes(when, what, self._table.when(slots), self._table.what(slots))
        if not ahead.any():
            return []
        return self._replace(slots[ahead], when[ahead], what[ahead])

    def _precedes(
        self, when: KeyArray, what: KeyArray, other_when: KeyArray, other_what: KeyArray
    ) -> BoolArray:
        time, other_time = words.times_of(when), words.times_of(other_when)
        rank = self._catalogue.names_rank()
        mine, theirs = _preference(what), _preference(other_what)
        named = rank[words.groups_of(when)] < rank[words.groups_of(other_when)]
        tied = (mine < theirs) | ((mine == theirs) & named)
        ahead: BoolArray = (time < other_time) | ((time == other_time) & tied)
        return ahead

    def _replace(self, slots: Int64Array, when: KeyArray, what: KeyArray) -> list[Deltas]:
        """Put earlier predictions in the place of those that were taken for them."""
        old_when, old_what = self._table.when(slots), self._table.what(slots)
        label_time = words.label_times_of(old_what)
        model = self._catalogue.model_of_group[words.groups_of(when)]
        late = label_time - words.times_of(when) > self._label_timeout[model]
        labelled = words.label_values_of(old_what) >= 0
        what = np.where(late, what, words.with_label_of(old_what, what))
        self._table.rewrite(slots, when, what)
        self.books.before_taking_back()
        old_model = self._catalogue.model_of_group[words.groups_of(old_when)]
        self._enter_books(old_model, old_what, -1)
        self._enter_books(model, what, +1)
        np.add.at(self.books.applied, old_model[labelled], -1)
        np.add.at(self.books.applied, model[labelled & ~late], 1)
        self.books.late += int((labelled & late).sum())
        population = [_population(old_when, old_what, -1), _population(when, what, +1)]
        return [*population, *self._move(old_when, old_what, when, what)]

    def _label(self, labels: Labels, watermark: int) -> list[Deltas]:
        """Let labels meet their predictions; what changed."""
        slots = self._table.find(labels.key)
        known = rows_where(slots >= 0)
        if not isinstance(known, slice):
            self._hold(labels.take(slots < 0), watermark)
        slots, labels = slots[known], labels.take(known)
        when, what = self._table.when(slots), self._table.what(slots)
        model = self._catalogue.model_of_group[words.groups_of(when)]
        delay = labels.time - words.times_of(when)
        late = (delay > self._label_timeout[model]) | self._past(when, what, model, watermark)
        self.books.late += int(late.sum())
        timely = rows_where(~late)
        return self._put(slots[timely], labels.take(timely))

    def _put(self, slots: Int64Array, labels: Labels) -> list[Deltas]:
        """Labels in time compete for their predictions; the winners stay in force."""
        given = words.label_words(labels.time, labels.value, self._strata(slots, labels))
        own = self._table.what(slots)
        given |= words.prediction_part(own)
        if _repeats(slots):
            slots, own, given = succession(slots, given, own)
        after = np.maximum(own, given)
        self._table.label(slots, given)
        when = self._table.when(slots)
        model = self._catalogue.model_of_group[words.groups_of(when)]
        first = words.label_values_of(own) < 0
        np.add.at(self.books.applied, model[first], 1)
        self.books.duplicate_labels += len(slots) - int(first.sum())
        changed = rows_where(own != after)
        when, own, after = when[changed], own[changed], after[changed]
        add_at(self.books.labels, model[changed], words.label_values_of(after), 1)
        return self._move(when, own, when, after)

    def _strata(self, slots: Int64Array, labels: Labels) -> Int64Array:
        """How each label was sampled; not told where its model does not weigh labels."""
        stratum = np.full(len(slots), NO_STRATUM, dtype=np.int64)
        if self._weighted.any():
            group = words.groups_of(self._table.when(slots))
            weighed = np.flatnonzero(self._weighted[self._catalogue.model_of_group[group]])
            taken = labels.sampling_probability[weighed]
            stratum[weighed] = strata(taken, labels.key[weighed])
        return stratum

    def _move(
        self, old_when: KeyArray, old_what: KeyArray, when: KeyArray, what: KeyArray
    ) -> list[Deltas]:
        """Deltas of outcomes that change their place, their label, or the label's time."""
        old, new = silence.outcomes_of(old_what), silence.outcomes_of(what)
        old_model = self._catalogue.model_of_group[words.groups_of(old_when)]
        model = self._catalogue.model_of_group[words.groups_of(when)]
        np.add.at(self.books.matched, old_model[old >= 0], -1)
        np.add.at(self.books.matched, model[new >= 0], 1)
        moved = old != new
        self.books.move(model[moved], old[moved], new[moved])
        gone, come = rows_where(old >= 0), rows_where(new >= 0)
        return [
            _deltas(
                old_when[gone], old_what[gone], words.label_times_of(old_what[gone]), old[gone], -1
            ),
            _deltas(when[come], what[come], words.label_times_of(what[come]), new[come], +1),
        ]

    def _hold(self, labels: Labels, watermark: int) -> None:
        if not len(labels):
            return
        horizon = int(self._horizon.max(initial=0)) or ENDLESS
        stale = labels.time + horizon < watermark
        self.books.late += int(stale.sum())
        self._held.add(labels.take(~stale))

    def _enter_books(self, model: Int64Array, what: KeyArray, sign: int) -> None:
        predicted = words.predicted_positive_of(what).astype(np.int64)
        add_at(self.books.predictions, model, predicted, sign)

    def _retention(self, model: Int64Array) -> Int64Array:
        return np.maximum(self._horizon, self._label_timeout)[model]

    def _past(self, when: KeyArray, what: KeyArray, model: Int64Array, watermark: int) -> BoolArray:
        """Whether a prediction can change no more: matched ones wait for the horizon alone."""
        matched = silence.outcomes_of(what) != _NO_OUTCOME
        keep = np.where(matched, self._horizon[model], self._retention(model))
        over: BoolArray = words.times_of(when) + keep < watermark
        return over

    def _is_over(self, slots: Int64Array, watermark: int) -> BoolArray:
        when = self._table.when(slots)
        model = self._catalogue.model_of_group[words.groups_of(when)]
        return self._past(when, self._table.what(slots), model, watermark)

    def _evict(self, slots: Int64Array, watermark: int) -> Deltas:
        """Forget predictions for want of room; those whose time is up have expired."""
        when, what = self._table.when(slots), self._table.what(slots)
        model = self._catalogue.model_of_group[words.groups_of(when)]
        waiting = silence.is_waiting(when, self._label_timeout[model], watermark)
        lost = self._silent[model] & waiting & (silence.outcomes_of(what) == _NO_OUTCOME)
        self._drop(slots[~waiting], self.books.dropped)
        self._drop(slots[waiting], self.books.evicted)
        return _population(when[lost], what[lost], -1)

    def _drop(self, slots: Int64Array, book: NDArray[np.int64]) -> None:
        """Forget predictions; those without an outcome are entered in a book."""
        if not len(slots):
            return
        model = self._catalogue.model_of_group[words.groups_of(self._table.when(slots))]
        unmatched = silence.outcomes_of(self._table.what(slots)) == _NO_OUTCOME
        np.add.at(book, model[unmatched], 1)
        self._table.forget(slots)


def _of_groups(table: KeyArray, left: Int64Array) -> KeyArray:
    """Rows of the table with the groups' new numbers; those of groups that are gone forgotten."""
    if np.array_equal(left, np.arange(len(left))):
        last = words.groups_of(table[:, 1]).max(initial=-1)
        if last < len(left):
            return table
    group = renumbered(words.groups_of(table[:, 1]), left)
    table = table.copy()
    table[group == GONE, 0] = 0
    table[:, 1] = words.when_words(words.times_of(table[:, 1]), np.maximum(group, 0))
    return table


def _preference(what: KeyArray) -> Int64Array:
    """Order of predictions of one moment: called negative first, then the lower score bin."""
    predicted = words.predicted_positive_of(what).astype(np.int64)
    return (predicted << 10) | words.score_bins_of(what)


def _repeats(slots: Int64Array) -> bool:
    ordered = np.sort(slots)
    return bool((ordered[1:] == ordered[:-1]).any())


def _population(when: KeyArray, what: KeyArray, sign: int) -> Deltas:
    called = words.predicted_positive_of(what)
    cell = np.where(called, PREDICTED_POSITIVE, PREDICTED_NEGATIVE)
    return _deltas(when, what, words.times_of(when), cell, sign)


def _deltas(
    when: KeyArray, what: KeyArray, label_time: Int64Array, cell: Int64Array, sign: int
) -> Deltas:
    return Deltas(
        time=words.times_of(when),
        label_time=label_time,
        group=words.groups_of(when),
        cell=cell,
        score_bin=words.score_bins_of(what),
        stratum=words.strata_of(what),
        count=np.full(len(when), sign, dtype=np.int64),
    )
