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
from monitor.join.forgetting import Forgetting
from monitor.join.label_order import succession
from monitor.join.rounds import rounds_of
from monitor.join.sampling import NO_STRATUM, strata
from monitor.join.table import PredictionTable

ENDLESS = 1 << 60
"""A duration, in milliseconds, that never ends."""
BEFORE_ALL = -(1 << 60)
"""A watermark before anything came."""

_NO_OUTCOME = silence.NO_OUTCOME
_NO_PREDICTIONS = Predictions()


class Join:
    """Predictions and labels in, deltas of what counts out.

    A label is late if it is dated more than the label timeout after its prediction, and
    not otherwise; one that came in the record of its prediction counts always. What is
    remembered of an id ends by event time alone, as `forgetting` says. So what a batch does
    is what its records do one by one, as long as the watermark enters no other step of
    forgetting among them; where it does, the batch is to be cut.

    Args:
        catalogue: numbers of groups and models, and the models' settings.
        max_pending: predictions to remember at most; the earliest arrived go first.

    Attributes:
        books: where every prediction and every label went.
        forgetting: when what is remembered ends.
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
        horizons = [s.horizon_ms or ENDLESS for s in catalogue.possible_settings]
        self.forgetting = Forgetting.of(min(horizons))

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
            predictions: in the order of their records, duplicates included.
            labels: the same.
            watermark: of all that came before this batch, epoch milliseconds.
        """
        self._learn_models()
        over = self.forgetting.moment(watermark)
        slots, repeat = self._known(predictions, over), _repeats(predictions.key)
        if repeat or (slots >= 0).any():
            taking_over = self._taking_over(predictions, slots, over)
            if len(taking_over):
                return self._in_rounds(predictions, labels, taking_over, over)
        return self._take(predictions, slots, labels, over, repeat=repeat)

    def _in_rounds(
        self, predictions: Predictions, labels: Labels, taking_over: KeyArray, over: int
    ) -> Deltas:
        """Take a batch in which the order of some ids' records matters."""
        changes = []
        for some, theirs in rounds_of(predictions, labels, taking_over):
            slots, repeat = self._known(some, over), _repeats(some.key)
            changes.append(self._take(some, slots, theirs, over, repeat=repeat))
        return Deltas.concatenate(changes)

    def _take(
        self,
        predictions: Predictions,
        slots: Int64Array,
        labels: Labels,
        over: int,
        *,
        repeat: bool,
    ) -> Deltas:
        """Take predictions of which none takes the place of another one of these, and labels."""
        changes = self._supersede(predictions, slots)
        fresh = predictions.take(rows_where(slots < 0))
        if repeat:
            fresh = self._distinct(fresh)
        remembered, past = self._remember(fresh, changes, over)
        if self.held and len(remembered):
            labels = Labels.concatenate([self._held.release(remembered), labels])
        return Deltas.concatenate([*changes, *self._label(labels, past, over)])

    def add(self, counts: CountDeltas) -> Deltas:
        """Take outcomes that another system has counted."""
        self._learn_models()
        return self._counted.apply(counts)

    def count(self, outcomes: Outcomes) -> Deltas:
        """Take outcomes that came without an id: they count at once and for good."""
        self._learn_models()
        when = words.when_words(outcomes.time, outcomes.group)
        what = words.what_words(outcomes.predicted_positive, outcomes.score)
        self._enter_books(self._catalogue.model_of_group[outcomes.group], what, +1)
        label = outcomes.actual_positive.astype(np.int64)
        counted = self._count_for_good(when, what, outcomes.label_time, label)
        return Deltas.concatenate([_population(when, what, +1), counted])

    def advance(self, watermark: int) -> None:
        """Let time pass: labels that waited too long for their prediction are orphaned.

        Args:
            watermark: of all that has come, epoch milliseconds.
        """
        self._learn_models()
        if len(self._horizon):
            before = self.forgetting.moment(watermark) - int(self._horizon.max())
            self.books.orphaned += self._held.expire(before)

    def may_tidy(self, predictions: Predictions, watermark: int) -> bool:
        """Whether `tidy` could find anything to do while these come.

        Args:
            predictions: that are to come.
            watermark: when they have, epoch milliseconds.
        """
        self._learn_models()
        if len(self._table) + len(predictions) > self._max_pending:
            return True
        if not len(self._horizon):
            return False
        before = self.forgetting.moment(watermark) - int(self._horizon.min())
        return self._table.holds(before) or int(predictions.time.min()) < before

    def tidy(self, watermark: int) -> Deltas:
        """Give back the room of what can change no more, and make room where it is short.

        Which predictions are evicted depends on when this is called: call it at places
        of the stream that do not depend on its batches.

        Args:
            watermark: of all that has come, epoch milliseconds.

        Returns:
            What ceases to count: predictions that had to be forgotten before their
            silence could make them a negative.
        """
        self._learn_models()
        if not len(self._horizon):
            return Deltas()
        over = self.forgetting.moment(watermark)
        while len(slots := self._table.front(before=over - int(self._horizon.min()))):
            self._drop(slots[self._is_over(slots, over)], self.books.dropped)
            if not self._table.free_front():
                break
        changes = []
        while len(self._table) > self._max_pending:
            changes.append(self._evict(self._table.front(), watermark))
            if not self._table.free_front():
                break  # what is left is the chunk that is being filled
        return Deltas.concatenate(changes)

    def forget_deliveries(self, watermark: int) -> None:
        """Forget counts that can be delivered again no more; called in each step of forgetting."""
        self._learn_models()
        if len(self._horizon):
            before = self.forgetting.moment(watermark) - int(self._horizon.max())
            self._counted.expire(before)

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

    def _known(self, predictions: Predictions, over: int) -> Int64Array:
        """Slots of predictions whose ids are remembered, -1 for others; what is over is not."""
        slots = self._table.find(predictions.key)
        found = np.flatnonzero(slots >= 0)
        if len(found):
            past = found[self._is_over(slots[found], over)]
            self._drop(np.unique(slots[past]), self.books.dropped)
            slots[past] = -1
        return slots

    def _taking_over(self, predictions: Predictions, slots: Int64Array, over: int) -> KeyArray:
        """Ids with a prediction that takes the place of one before it, known or of this batch.

        And those that repeat and may be over by then. What labels before and after such a
        prediction do, only their order can tell.
        """
        when, what = _words_of(predictions)
        again = np.flatnonzero(slots >= 0)
        ahead = np.zeros(len(predictions), dtype=np.bool_)
        if len(again):
            known = self._table.when(slots[again]), self._table.what(slots[again])
            ahead[again] = self._precedes(when[again], what[again], *known)
            ahead[again] |= self._may_end(known[0], over)
        if _repeats(predictions.key):
            order = np.argsort(predictions.key, kind="stable")
            key = predictions.key[order]
            pairs = np.flatnonzero(key[1:] == key[:-1])
            first, then = order[pairs], order[pairs + 1]
            ahead[then] |= self._precedes(when[then], what[then], when[first], what[first])
            ahead[then] |= self._may_end(when[first], over)
        return np.unique(predictions.key[ahead])

    def _remember(
        self, fresh: Predictions, changes: list[Deltas], over: int
    ) -> tuple[KeyArray, Predictions]:
        """Enter predictions of ids that are not known, and add what changes.

        Returns:
            The keys that labels may be held for; and predictions that are too old to be
            remembered.
        """
        when, what = _words_of(fresh)
        model = self._catalogue.model_of_group[fresh.group]
        self._enter_books(model, what, +1)
        changes.append(_population(when, what, +1))
        past = fresh.time + self._retention(model) < over
        if not past.any():
            self._table.append(fresh.key, when, what)
            return fresh.key, _NO_PREDICTIONS
        np.add.at(self.books.dropped, model[past], 1)
        key = fresh.key[~past]
        self._table.append(key, when[~past], what[~past])
        return key, fresh.take(past)

    def _distinct(self, predictions: Predictions) -> Predictions:
        """The first prediction of each id of a batch; the others are duplicates."""
        order = np.argsort(predictions.key, kind="stable")
        ordered = predictions.key[order]
        repeated = np.zeros(len(order), dtype=np.bool_)
        repeated[order[1:]] = ordered[1:] == ordered[:-1]
        model = self._catalogue.model_of_group[predictions.group[repeated]]
        np.add.at(self.books.duplicates, model, 1)
        return predictions.take(~repeated)

    def _supersede(self, predictions: Predictions, slots: Int64Array) -> list[Deltas]:
        """Predictions that came again: duplicates, unless an earlier one takes the place."""
        again = np.flatnonzero(slots >= 0)
        if not len(again):
            return []
        slots, (when, what) = slots[again], _words_of(predictions.take(again))
        model = self._model_of(when)
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
        model = self._model_of(when)
        late = label_time - words.times_of(when) > self._label_timeout[model]
        labelled = words.label_values_of(old_what) >= 0
        what = np.where(late, what, words.with_label_of(old_what, what))
        self._table.rewrite(slots, when, what)
        self.books.before_taking_back()
        old_model = self._model_of(old_when)
        self._enter_books(old_model, old_what, -1)
        self._enter_books(model, what, +1)
        np.add.at(self.books.applied, old_model[labelled], -1)
        np.add.at(self.books.applied, model[labelled & ~late], 1)
        self.books.late += int((labelled & late).sum())
        population = [_population(old_when, old_what, -1), _population(when, what, +1)]
        return [*population, *self._move(old_when, old_what, when, what)]

    def _label(self, labels: Labels, past: Predictions, over: int) -> list[Deltas]:
        """Let labels meet their predictions; what changed.

        Args:
            labels: in their order.
            past: predictions that came with them and are not remembered.
            over: what ended before this moment is not known, see `Forgetting`.
        """
        slots = self._table.find(labels.key)
        known = rows_where(slots >= 0)
        changes = []
        if not isinstance(known, slice):
            unknown = labels.take(slots < 0)
            together = ~unknown.alone & np.isin(unknown.key, past.key)
            changes.append(self._meet_past(unknown.take(together), past))
            self._hold(unknown.take(~together), over)
        slots, labels = slots[known], labels.take(known)
        when = self._table.when(slots)
        if (ending := self._may_end(when, over)).any():
            if _repeats(slots[ending]):
                return [*changes, *self._one_by_one(slots, labels, past, over)]
            gone = self._ended(when, self._table.what(slots), over) & labels.alone
            self._drop(slots[gone], self.books.dropped)
            self._hold(labels.take(gone), over)
            slots, labels, when = slots[~gone], labels.take(~gone), when[~gone]
        late = labels.time - words.times_of(when) > self._label_timeout[self._model_of(when)]
        if late.any():
            late &= labels.alone
            self.books.late += int(late.sum())
        timely = rows_where(~late)
        return [*changes, *self._put(slots[timely], labels.take(timely))]

    def _one_by_one(
        self, slots: Int64Array, labels: Labels, past: Predictions, over: int
    ) -> list[Deltas]:
        """Labels of predictions that may be over as soon as they match: the first of each first."""
        order = np.argsort(slots, kind="stable")
        opens = np.flatnonzero(np.diff(slots[order], prepend=-1))
        nth = np.empty(len(slots), dtype=np.int64)
        nth[order] = np.arange(len(slots)) - np.repeat(opens, np.diff(opens, append=len(slots)))
        changes = []
        for number in range(int(nth.max()) + 1):
            changes += self._label(labels.take(nth == number), past, over)
        return changes

    def _meet_past(self, labels: Labels, past: Predictions) -> Deltas:
        """Labels that came with predictions too old to be remembered: they count for good."""
        if not len(labels):
            return Deltas()
        order = np.argsort(past.key)
        met = past.take(order[np.searchsorted(past.key[order], labels.key)])
        when, what = _words_of(met)
        model = self._catalogue.model_of_group[met.group]
        np.add.at(self.books.dropped, model, -1)
        what |= words.label_words(labels.time, labels.value, self._strata(model, labels))
        return self._count_for_good(when, what, labels.time, labels.value)

    def _count_for_good(
        self, when: KeyArray, what: KeyArray, label_time: Int64Array, label: Int64Array
    ) -> Deltas:
        """Outcomes whose prediction is entered and not remembered."""
        group = words.groups_of(when)
        model = self._catalogue.model_of_group[group]
        cell = silence.OUTCOME[label, words.predicted_positive_of(what).astype(np.int64)]
        np.add.at(self.books.matched, model, 1)
        np.add.at(self.books.applied, model, 1)
        add_at(self.books.labels, model, label, 1)
        self.books.move(model, np.full_like(cell, _NO_OUTCOME), cell)
        return _deltas(when, what, label_time, cell, +1)

    def _put(self, slots: Int64Array, labels: Labels) -> list[Deltas]:
        """Labels in time compete for their predictions; the winners stay in force."""
        when = self._table.when(slots)
        model = self._model_of(when)
        given = words.label_words(labels.time, labels.value, self._strata(model, labels))
        own = self._table.what(slots)
        given |= words.prediction_part(own)
        if _repeats(slots):
            slots, own, given = succession(slots, given, own)
            when = self._table.when(slots)
            model = self._model_of(when)
        after = np.maximum(own, given)
        self._table.label(slots, given)
        first = words.label_values_of(own) < 0
        np.add.at(self.books.applied, model[first], 1)
        self.books.duplicate_labels += len(slots) - int(first.sum())
        changed = rows_where(own != after)
        when, own, after = when[changed], own[changed], after[changed]
        add_at(self.books.labels, model[changed], words.label_values_of(after), 1)
        return self._move(when, own, when, after)

    def _strata(self, model: Int64Array, labels: Labels) -> Int64Array:
        """How each label was sampled; not told where its model does not weigh labels."""
        stratum = np.full(len(labels), NO_STRATUM, dtype=np.int64)
        if self._weighted.any():
            weighed = np.flatnonzero(self._weighted[model])
            taken = labels.sampling_probability[weighed]
            stratum[weighed] = strata(taken, labels.key[weighed])
        return stratum

    def _move(
        self, old_when: KeyArray, old_what: KeyArray, when: KeyArray, what: KeyArray
    ) -> list[Deltas]:
        """Deltas of outcomes that change their place, their label, or the label's time."""
        old, new = silence.outcomes_of(old_what), silence.outcomes_of(what)
        old_model = self._model_of(old_when)
        model = self._model_of(when)
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

    def _hold(self, labels: Labels, over: int) -> None:
        if not len(labels):
            return
        horizon = int(self._horizon.max(initial=0)) or ENDLESS
        stale = labels.time + horizon < over
        self.books.late += int(stale.sum())
        self._held.add(labels.take(~stale))

    def _enter_books(self, model: Int64Array, what: KeyArray, sign: int) -> None:
        predicted = words.predicted_positive_of(what).astype(np.int64)
        add_at(self.books.predictions, model, predicted, sign)

    def _retention(self, model: Int64Array) -> Int64Array:
        return np.maximum(self._horizon, self._label_timeout)[model]

    def _may_end(self, when: KeyArray, over: int) -> BoolArray:
        """Which predictions are over, or would be as soon as a label matched them."""
        time = words.times_of(when)
        if not len(time) or int(time.min()) + int(self._horizon.min()) >= over:
            return np.zeros(len(time), dtype=np.bool_)
        ended: BoolArray = time + self._horizon[self._model_of(when)] < over
        return ended

    def _ended(self, when: KeyArray, what: KeyArray, over: int) -> BoolArray:
        """Whether a prediction can change no more: matched ones wait for the horizon alone."""
        ended = self._may_end(when, over)
        if not ended.any():
            return ended
        waits = words.times_of(when) + self._retention(self._model_of(when)) >= over
        unmatched = silence.outcomes_of(what) == _NO_OUTCOME
        return np.asarray(ended & ~(waits & unmatched))

    def _is_over(self, slots: Int64Array, over: int) -> BoolArray:
        return self._ended(self._table.when(slots), self._table.what(slots), over)

    def _model_of(self, when: KeyArray) -> Int64Array:
        """Number of the model of each prediction."""
        model: Int64Array = self._catalogue.model_of_group[words.groups_of(when)]
        return model

    def _evict(self, slots: Int64Array, watermark: int) -> Deltas:
        """Forget predictions for want of room; those whose time is up have expired."""
        when, what = self._table.when(slots), self._table.what(slots)
        model = self._model_of(when)
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


def _words_of(predictions: Predictions) -> tuple[KeyArray, KeyArray]:
    """The two words of predictions without a label."""
    when = words.when_words(predictions.time, predictions.group)
    return when, words.what_words(predictions.predicted_positive, predictions.score)


def _preference(what: KeyArray) -> Int64Array:
    """Order of predictions of one moment: called negative first, then the lower score bin."""
    predicted = words.predicted_positive_of(what).astype(np.int64)
    return (predicted << 10) | words.score_bins_of(what)


def _repeats(values: Int64Array | KeyArray) -> bool:
    ordered = np.sort(values)
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
