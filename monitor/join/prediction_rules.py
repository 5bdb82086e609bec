"""Rules for predictions: which one of an id counts, and which are duplicates."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray, Predictions
from monitor.join import packing as words
from monitor.join.compiled_rules import compiled_rules
from monitor.join.deltas import DeltaRoom, Deltas
from monitor.join.forgetting import Over
from monitor.join.memory import JoinMemory
from monitor.join.packed_rows import has_repeats, population_deltas, words_of

NO_PREDICTIONS = Predictions()
"""None at all."""


class PredictionRules:
    """Enters predictions into the memory of the join.

    Args:
        memory: of the join.
    """

    def __init__(self, memory: JoinMemory) -> None:
        self._memory = memory
        self._catalogue = memory.catalogue
        self._table = memory.table
        self._terms = memory.terms
        self._books = memory.books
        self._compiled = compiled_rules(memory)

    def taking_over(self, predictions: Predictions, slots: Int64Array, over: Over) -> KeyArray:
        """Return the keys of ids for which the order of records in the batch matters.

        These have a prediction that supersedes an earlier record, remembered or in this
        batch, or that repeats one past its horizon. Then it matters which labels come
        before it and which after it.

        Args:
            predictions: of the batch.
            slots: of remembered predictions of the same ids, -1 for none.
            over: horizons that end before these moments have ended, see `Forgetting`.
        """
        when, what = words_of(predictions)
        again = np.flatnonzero(slots >= 0)
        ahead = np.zeros(len(predictions), dtype=np.bool_)
        if len(again):
            known = self._table.when(slots[again]), self._table.what(slots[again])
            ahead[again] = self._precedes(when[again], what[again], *known)
            ahead[again] |= self._terms.may_end(known[0], over)
        if has_repeats(predictions.key):
            order = np.argsort(predictions.key, kind="stable")
            key = predictions.key[order]
            pairs = np.flatnonzero(key[1:] == key[:-1])
            first, then = order[pairs], order[pairs + 1]
            ahead[then] |= self._terms.may_end(when[first], over)
            before = self._precedes(when[then], what[then], when[first], what[first])
            if before.any():
                number = np.cumsum(np.append(False, key[1:] != key[:-1]))
                of_all = self._precede_all(number, when[order], what[order])[pairs + 1]
                if ahead.any() or of_all.any():  # else each is behind a still earlier one
                    ahead[then] |= before
        return np.unique(predictions.key[ahead])

    def remember_all(self, predictions: Predictions, over: Over, room: DeltaRoom) -> bool:
        """Remember predictions in the compiled kernel, if their ids are new and each comes once.

        Args:
            predictions: of any ids.
            over: predictions that ended before these moments are not remembered.
            room: for a row for each; written to.

        Returns:
            False where `remember` and the rules for ids that come again have to look at them, or
            there is no kernel; then nothing has changed.
        """
        if not len(predictions):
            return True
        if self._compiled is None or not self._table.has_one_index:
            return False
        return self._compiled.remember(predictions, over, room)

    def remember(
        self, fresh: Predictions, changes: list[Deltas], over: Over, room: DeltaRoom
    ) -> tuple[KeyArray, Predictions]:
        """Remember predictions of new ids.

        Args:
            fresh: the predictions, each id once.
            changes: the deltas are appended to it.
            over: predictions that ended before these moments are not remembered.
            room: for a row for each; the kernel writes their deltas to it.

        Returns:
            Keys that are now remembered, for which labels may be held; and predictions
            that are too old to be remembered.
        """
        if len(fresh) and self._compiled and self._compiled.remember(fresh, over, room):
            return fresh.key, NO_PREDICTIONS
        when, what = words_of(fresh)
        model = self._catalogue.model_of_group[fresh.group]
        self._memory.enter_predictions(model, what, +1)
        changes.append(population_deltas(when, what, +1))
        past = fresh.time + self._terms.retention(model) < over.by_model[model]
        if not past.any():
            self._append(fresh.key, when, what)
            return fresh.key, NO_PREDICTIONS
        np.add.at(self._books.dropped, model[past], 1)
        key = fresh.key[~past]
        self._append(key, when[~past], what[~past])
        return key, fresh.take(past)

    def _append(self, keys: KeyArray, when: KeyArray, what: KeyArray) -> None:
        self._table.append(keys, when, what)
        if self._memory.shadows.in_use:
            self._memory.shadows.appear(keys, when, what)

    def distinct(self, predictions: Predictions) -> Predictions:
        """Return the first prediction of each id of a batch; count the others as duplicates."""
        order = np.argsort(predictions.key, kind="stable")
        key = predictions.key[order]
        again = np.zeros(len(order), dtype=np.bool_)
        again[1:] = key[1:] == key[:-1]
        first = np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))
        model = self._catalogue.model_of_group[predictions.group]
        np.add.at(self._books.duplicates, model[order[again]], 1)
        self._books.share(model[order[again]], model[order[first[again]]])
        repeated = np.zeros(len(order), dtype=np.bool_)
        repeated[order] = again
        return predictions.take(~repeated)

    def supersede(self, predictions: Predictions, slots: Int64Array) -> list[Deltas]:
        """Count predictions of remembered ids as duplicates; earlier ones supersede.

        Args:
            predictions: of any ids.
            slots: of remembered predictions of the same ids, -1 for none.

        Returns:
            What changes.
        """
        again = np.flatnonzero(slots >= 0)
        if not len(again):
            return []
        slots, (when, what) = slots[again], words_of(predictions.take(again))
        model = self._terms.model_of(when)
        np.add.at(self._books.duplicates, model, 1)
        ahead = self._precedes(when, what, self._table.when(slots), self._table.what(slots))
        known = self._terms.model_of(self._table.when(slots))
        self._books.share(np.where(ahead, known, model), np.where(ahead, model, known))
        if not ahead.any():
            return []
        return self._replace(slots[ahead], when[ahead], what[ahead])

    def _precedes(
        self, when: KeyArray, what: KeyArray, other_when: KeyArray, other_what: KeyArray
    ) -> BoolArray:
        """Tell which predictions supersede others of the same ids.

        At one time the names of their groups decide, which no prediction has a part in: of two
        versions that score the same cases, all cases count for the same one.
        """
        time, other_time = words.times_of(when), words.times_of(other_when)
        rank = self._catalogue.names_rank()
        mine, theirs = rank[words.groups_of(when)], rank[words.groups_of(other_when)]
        inside = _preference(what) < _preference(other_what)
        tied = (mine < theirs) | ((mine == theirs) & inside)
        ahead: BoolArray = (time < other_time) | ((time == other_time) & tied)
        return ahead

    def _precede_all(self, number: Int64Array, when: KeyArray, what: KeyArray) -> BoolArray:
        """Tell which predictions precede all those of their id before them, as in `_precedes`.

        Args:
            number: of the id of each, from 0 on; non-decreasing.
            when: of each.
            what: of each.
        """
        rank = self._catalogue.names_rank()
        names = _preference(what), rank[words.groups_of(when)], words.times_of(when)
        by = np.lexsort(names)
        differ = [np.diff(column[by], prepend=column[by[:1]]) != 0 for column in names]
        place = np.empty(len(by), dtype=np.int64)
        place[by] = np.cumsum(np.logical_or.reduce(differ))
        place -= number * len(by)  # the next id begins before all of this one
        earliest = np.minimum.accumulate(place)
        return np.append(True, place[1:] < earliest[:-1])

    def _replace(self, slots: Int64Array, when: KeyArray, what: KeyArray) -> list[Deltas]:
        """Supersede remembered predictions by earlier ones of the same ids."""
        old_when, old_what = self._table.when(slots), self._table.what(slots)
        label_time = words.label_times_of(old_what)
        model = self._terms.model_of(when)
        late = label_time - words.times_of(when) > self._terms.label_timeout[model]
        labelled = words.label_values_of(old_what) >= 0
        what = np.where(late, what, words.with_label_of(old_what, what))
        self._table.rewrite(slots, when, what)
        self._memory.sources.move(slots, old_when, late & labelled)
        if self._memory.shadows.in_use:
            keys = self._table.keys(slots)
            self._memory.shadows.move(keys, (old_when, old_what), (when, what))
        self._books.before_taking_back()
        old_model = self._terms.model_of(old_when)
        self._memory.enter_predictions(old_model, old_what, -1)
        self._memory.enter_predictions(model, what, +1)
        np.add.at(self._books.applied, old_model[labelled], -1)
        np.add.at(self._books.applied, model[labelled & ~late], 1)
        self._books.late += int((labelled & late).sum())
        population = [population_deltas(old_when, old_what, -1), population_deltas(when, what, +1)]
        return [*population, *self._memory.move(old_when, old_what, when, what)]


def _preference(what: KeyArray) -> Int64Array:
    """Order of predictions of one moment and group: called negative first, then the lower bin."""
    predicted = words.predicted_positive_of(what).astype(np.int64)
    return (predicted << 10) | words.score_bins_of(what)
