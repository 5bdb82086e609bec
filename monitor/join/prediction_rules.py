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

    def one_by_one(self, predictions: Predictions, slots: Int64Array, over: Over) -> KeyArray:
        """Return the keys of ids of which no two predictions are joined at once.

        They are those with a prediction past its horizon, which the next one may find forgotten,
        and all while pairs with shadow versions are counted.

        Args:
            predictions: of the batch.
            slots: as in `taking_over`.
            over: as in `taking_over`.
        """
        if self._memory.shadows.in_use:
            return predictions.key
        when, _ = words_of(predictions)
        ends = self._terms.may_end(when, over)
        known = np.flatnonzero(slots >= 0)
        ends[known] |= self._terms.may_end(self._table.when(slots[known]), over)
        return predictions.key[ends]

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
            predictions: of any ids, in the order of their records.
            slots: of remembered predictions of the same ids, -1 for none.

        Returns:
            What changes.
        """
        again = np.flatnonzero(slots >= 0)
        if not len(again):
            return []
        slots, (when, what) = slots[again], words_of(predictions.take(again))
        known = self._table.when(slots), self._table.what(slots)
        ahead, before = self._precedes(when, what, *known), known[0]
        if ahead.any() and has_repeats(slots):
            order = np.argsort(slots, kind="stable")
            slots, when, what = slots[order], when[order], what[order]
            ahead, before = self._in_turn(slots, (when, what), (known[0][order], known[1][order]))
        model, counted = self._terms.model_of(when), self._terms.model_of(before)
        np.add.at(self._books.duplicates, model, 1)
        self._books.share(np.where(ahead, counted, model), np.where(ahead, model, counted))
        if not ahead.any():
            return []
        return self._replace(slots[ahead], when[ahead], what[ahead])

    def _in_turn(
        self,
        slots: Int64Array,
        own: tuple[KeyArray, KeyArray],
        known: tuple[KeyArray, KeyArray],
    ) -> tuple[BoolArray, KeyArray]:
        """Tell which predictions supersede the one of their id that counts when they come.

        Args:
            slots: of the predictions, those of one next to each other in their order.
            own: both words of each.
            known: both words of the remembered prediction.

        Returns:
            Which they are, and the first word of the one that counts before each.
        """
        opens = np.flatnonzero(np.diff(slots, prepend=-1))
        number = np.repeat(np.arange(len(opens)), np.diff(opens, append=len(slots)))
        when, what = (
            np.insert(mine, opens, theirs[opens]) for mine, theirs in zip(own, known, strict=True)
        )
        behind = np.insert(number, opens, np.arange(len(opens)))
        found = self._precede_all(behind, when, what)
        ahead = np.delete(found, opens + np.arange(len(opens)))
        latest = np.maximum.accumulate(np.where(ahead, np.arange(len(slots)), -1))
        latest = np.append(-1, latest[:-1])
        return ahead, np.where(latest >= opens[number], own[0][latest], known[0])

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
        """Supersede remembered predictions by earlier ones of the same ids.

        Args:
            slots: of remembered predictions; of several for one each supersedes the one before it,
                next to it.
            when: first word of the earlier ones.
            what: second word.
        """
        first = np.append(True, slots[1:] != slots[:-1])
        number, last = np.cumsum(first) - 1, np.append(first[1:], True)
        old_when, own = self._table.when(slots), self._table.what(slots)
        model = self._terms.model_of(when)
        late = words.label_times_of(own) - words.times_of(when) > self._terms.label_timeout[model]
        so_far = np.cumsum(late)
        lost = so_far > (so_far - late)[first][number]  # a label that was late once is gone
        what = np.where(lost, what, words.with_label_of(own, what))
        old_when = np.where(first, old_when, np.roll(when, 1))
        old_what = np.where(first, own, np.roll(what, 1))
        labelled = words.label_values_of(old_what) >= 0
        self._table.rewrite(slots[last], when[last], what[last])
        gone = np.logical_or.reduceat(lost & labelled, np.flatnonzero(first))
        self._memory.sources.move(slots[last], old_when[first], gone)
        if self._memory.shadows.in_use:
            keys = self._table.keys(slots)
            self._memory.shadows.move(keys, (old_when, old_what), (when, what))
        self._books.before_taking_back()
        old_model = self._terms.model_of(old_when)
        self._memory.enter_predictions(old_model, old_what, -1)
        self._memory.enter_predictions(model, what, +1)
        np.add.at(self._books.applied, old_model[labelled], -1)
        np.add.at(self._books.applied, model[labelled & ~lost], 1)
        self._books.late += int((labelled & lost).sum())
        population = [population_deltas(old_when, old_what, -1), population_deltas(when, what, +1)]
        return [*population, *self._memory.move(old_when, old_what, when, what)]


def _preference(what: KeyArray) -> Int64Array:
    """Order of predictions of one moment and group: called negative first, then the lower bin."""
    predicted = words.predicted_positive_of(what).astype(np.int64)
    return (predicted << 10) | words.score_bins_of(what)
