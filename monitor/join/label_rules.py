"""Rules for labels: which one of a prediction is in force, and which are late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from monitor.counts import add_at
from monitor.events.audit_marks import are_audits, found_by
from monitor.events.class_names import FIRST_CLASS
from monitor.events.columns import (
    RETRACTED,
    Int64Array,
    KeyArray,
    Labels,
    Predictions,
    Rows,
    rows_where,
)
from monitor.join import packing as words
from monitor.join.class_labels import LabelClasses, Misnamed
from monitor.join.compiled_rules import MetLabels, compiled_rules
from monitor.join.deltas import DeltaRoom, Deltas
from monitor.join.forgetting import Over
from monitor.join.label_order import succession
from monitor.join.memory import JoinMemory
from monitor.join.packed_rows import has_repeats, outcome_deltas, words_of
from monitor.join.sampling import NO_STRATUM, strata
from monitor.join.unlabelled import NO_OUTCOME, OUTCOME


class LabelRules:
    """Joins labels to the predictions in the memory of the join.

    Args:
        memory: of the join.
    """

    def __init__(self, memory: JoinMemory) -> None:
        self._memory = memory
        self._catalogue = memory.catalogue
        self._table = memory.table
        self._terms = memory.terms
        self._books = memory.books
        self._classes = LabelClasses(memory.catalogue)
        self._compiled = compiled_rules(memory)
        self._met: list[MetLabels] = []
        self._misnamed: list[Misnamed] = []

    def meet(
        self,
        changes: list[Deltas],
        remembered: tuple[KeyArray, Predictions],
        labels: Labels,
        over: Over,
        room: DeltaRoom,
    ) -> Deltas:
        """Join labels and those that waited for the predictions of their batch.

        Args:
            changes: of the batch so far.
            remembered: keys of its predictions that are remembered now, and its predictions
                that are too old for that.
            labels: of the batch, in their order.
            over: predictions that ended before these moments are forgotten, see `Forgetting`.
            room: with changes so far, and room for two rows for each label.

        Returns:
            All that changes.
        """
        keys, past = remembered
        if len(keys) and len(self._memory.held):
            waited = self._memory.held.release(keys)
            self._memory.audits.unmet -= int(are_audits(waited).sum())
            labels = Labels.concatenate([waited, labels])
            changes.append(room.written)
            room = DeltaRoom(2 * len(labels))
        changes += self.apply(labels, past, over, room)
        return Deltas.concatenate([each for each in (*changes, room.written) if len(each)])

    def apply(self, labels: Labels, past: Predictions, over: Over, room: DeltaRoom) -> list[Deltas]:
        """Join labels to their predictions, and return what changes.

        Args:
            labels: in their order.
            past: predictions of the same batch that are too old to be remembered.
            over: predictions that ended before these moments are forgotten, see `Forgetting`.
            room: for two rows for each label; the kernel writes deltas to it, which are not
                among what is returned.
        """
        if len(labels) and labels.value.min() < 0:
            audits = are_audits(labels)
            self._audit(labels.take(audits), over)
            labels = labels.take(~audits)
        slots = self._table.find(labels.key)
        known = rows_where(slots >= 0)
        changes = []
        if not isinstance(known, slice):
            unknown = labels.take(slots < 0)
            together = ~unknown.alone & np.isin(unknown.key, past.key)
            changes.append(self._meet_past(unknown.take(together), past))
            self._memory.hold(unknown.take(~together), over)
        ranked = self._memory.sources.concern(labels)
        if not ranked and (met := self._met_plainly(slots, labels, over, room)) is not None:
            self._note_met(met)
            return changes
        slots, labels = slots[known], labels.take(known)
        when = self._table.when(slots)
        if (ending := self._terms.may_end(when, over)).any():
            if has_repeats(slots[ending]):
                return [*changes, *self._one_by_one(slots, labels, past, over)]
            gone = self._terms.ended(when, self._table.what(slots), over) & labels.alone
            self._memory.drop(slots[gone], self._books.dropped)
            self._memory.hold(labels.take(gone), over)
            slots, labels, when = slots[~gone], labels.take(~gone), when[~gone]
        model = self._terms.model_of(when)
        alone = rows_where(labels.alone)
        self._note_met(MetLabels(model[alone], labels.time[alone], labels.key[alone]))
        if self._classes.in_use:
            labels, named = self._named(when, model, labels)
            slots, when, model = slots[named], when[named], model[named]
        late = labels.time - words.times_of(when) > self._terms.label_timeout[model]
        if late.any():
            late &= labels.alone
            self._books.late += int(late.sum())
        timely = rows_where(~late)
        put = self._put_by_rank if ranked else self._put
        return [*changes, *put(slots[timely], labels.take(timely))]

    def _met_plainly(
        self, slots: Int64Array, labels: Labels, over: Over, room: DeltaRoom
    ) -> MetLabels | None:
        """Join labels in the compiled kernel; None if some are not plain, or there is none."""
        if self._compiled is None:
            return None
        if self._classes.in_use:
            known = slots >= 0
            model = self._terms.model_of(self._table.when(slots[known]))
            named = labels.value.copy()
            named[known], fit = self._classes.resolved(model, labels.value[known])
            if not fit.all():
                return None  # misnamed ones
            labels = replace(labels, value=named)
        return self._compiled.meet(slots, labels, over, room)

    def _audit(self, audits: Labels, over: Over) -> None:
        """Add audits to those of their predictions; hold those of unknown ones."""
        slots = self._table.find(audits.key)
        known = slots >= 0
        known[known] = ~self._memory.is_over(slots[known], over)
        self._memory.hold(audits.take(~known), over)
        slots, audits = slots[known], audits.take(known)
        value = found_by(audits)
        if self._classes.in_use:
            model = self._terms.model_of(self._table.when(slots))
            value, named = self._classes.resolved(model, value)
            named &= value <= RETRACTED
            self._books.misnamed += len(named) - int(named.sum())
            audits, value = audits.take(named), value[named]
        self._books.audits += len(audits)
        self._memory.audits.add(audits.key, audits.time, value)

    def met(self) -> list[MetLabels]:
        """Return labels whose records have no prediction and that met one since the last call."""
        met, self._met = self._met, []
        return met

    def _note_met(self, labels: MetLabels) -> None:
        if len(labels.key):
            self._met.append(labels)

    def _one_by_one(
        self, slots: Int64Array, labels: Labels, past: Predictions, over: Over
    ) -> list[Deltas]:
        """Join labels of predictions past their horizon: the first label of each, then the next."""
        order = np.argsort(slots, kind="stable")
        opens = np.flatnonzero(np.diff(slots[order], prepend=-1))
        nth = np.empty(len(slots), dtype=np.int64)
        nth[order] = np.arange(len(slots)) - np.repeat(opens, np.diff(opens, append=len(slots)))
        changes = []
        for number in range(int(nth.max()) + 1):
            some = labels.take(nth == number)
            room = DeltaRoom(2 * len(some))
            changes += self.apply(some, past, over, room)
            changes.append(room.written)
        return changes

    def _meet_past(self, labels: Labels, past: Predictions) -> Deltas:
        """Join labels to predictions of the same record that are too old to be remembered."""
        if not len(labels):
            return Deltas()
        order = np.argsort(past.key)
        met = past.take(order[np.searchsorted(past.key[order], labels.key)])
        when, what = words_of(met)
        model = self._catalogue.model_of_group[met.group]
        if self._classes.in_use:
            labels, named = self._named(when, model, labels)
            when, what, model = when[named], what[named], model[named]
        np.add.at(self._books.dropped, model, -1)
        given = self._label_words(model, labels)
        return self.count_for_good(when, what | given, labels.time, words.label_values_of(given))

    def count_for_good(
        self, when: KeyArray, what: KeyArray, label_time: Int64Array, label: Int64Array
    ) -> Deltas:
        """Count outcomes of predictions that are not remembered; nothing revises them.

        Args:
            when: first word of each prediction, see `packing`.
            what: second word of each.
            label_time: event time of the label, epoch milliseconds.
            label: 0 or 1, or `RETRACTED`.
        """
        group = words.groups_of(when)
        model = self._catalogue.model_of_group[group]
        cell = OUTCOME[label, words.predicted_positive_of(what).astype(np.int64)]
        np.add.at(self._books.matched, model, 1)
        np.add.at(self._books.applied, model, 1)
        add_at(self._books.labels, model, label, 1)
        self._books.move(model, np.full_like(cell, NO_OUTCOME), cell)
        return outcome_deltas(when, what, label_time, cell, +1)

    def _put(self, slots: Int64Array, labels: Labels) -> list[Deltas]:
        """Put timely labels in force where they win over the label in force."""
        when = self._table.when(slots)
        model = self._terms.model_of(when)
        given = self._label_words(model, labels)
        own = self._table.what(slots)
        given |= words.prediction_part(own)
        if has_repeats(slots):
            slots, own, given, _ = succession(slots, given, own)
        after = np.maximum(own, given)
        self._table.label(slots, given)
        return self._enter(slots, own, after)

    def _put_by_rank(self, slots: Int64Array, labels: Labels) -> list[Deltas]:
        """Put timely labels in force where they win by the rank of their source, then by time."""
        sources, own = self._memory.sources, self._table.what(slots)
        model = self._terms.model_of(self._table.when(slots))
        given = self._label_words(model, labels) | words.prediction_part(own)
        unlabelled = words.label_values_of(own) < 0
        in_force = np.where(unlabelled, -1, sources.ranks_in_force(slots, model))
        ranks = sources.ranks_of(labels, model), in_force
        sources.add(slots, labels)
        slots, own, after, outranked = succession(slots, given, own, ranks)
        last = np.append(slots[1:] != slots[:-1], True)[: len(slots)]
        ends = slots[last]
        self._table.rewrite(ends, self._table.when(ends), after[last])
        model = self._terms.model_of(self._table.when(slots))
        sources.outrank(model[outranked])
        return self._enter(slots, own, after)

    def _enter(self, slots: Int64Array, own: KeyArray, after: KeyArray) -> list[Deltas]:
        """Enter what labels change in the books, and return it.

        Args:
            slots: of the predictions, those of one in the order of its labels.
            own: `what` before each label.
            after: `what` after it.
        """
        when = self._table.when(slots)
        model = self._terms.model_of(when)
        first = words.label_values_of(own) < 0
        np.add.at(self._books.applied, model[first], 1)
        self._books.duplicate_labels += len(slots) - int(first.sum())
        changed = rows_where(own != after)
        when, own, after = when[changed], own[changed], after[changed]
        if self._memory.shadows.in_use:
            keys = self._table.keys(slots[changed])
            self._memory.shadows.move(keys, (when, own), (when, after))
        add_at(self._books.labels, model[changed], words.label_values_of(after), 1)
        return self._memory.move(when, own, when, after)

    def misnamed(self) -> list[Misnamed]:
        """Return the labels whose model has no such class, since the last call."""
        misnamed, self._misnamed = self._misnamed, []
        return misnamed

    def _named(self, when: KeyArray, model: Int64Array, labels: Labels) -> tuple[Labels, Rows]:
        """Return labels as their models have them; without those whose model has no such class."""
        value, fit = self._classes.resolved(model, labels.value)
        rows = rows_where(fit)
        if not isinstance(rows, slice):
            self._books.misnamed += len(fit) - len(rows)
            self._misnamed.append(Misnamed(model[~fit], words.times_of(when[~fit])))
        return replace(labels, value=value).take(rows), rows

    def _label_words(self, model: Int64Array, labels: Labels) -> KeyArray:
        """Return the label part of `what` of labels as their models have them."""
        value, stratum = labels.value, self._strata(model, labels)
        if self._classes.in_use:
            stratum = np.where(value >= FIRST_CLASS, value - FIRST_CLASS, stratum)
            value = np.where(value >= FIRST_CLASS, 1, value)
        return words.label_words(labels.time, value, stratum)

    def _strata(self, model: Int64Array, labels: Labels) -> Int64Array:
        """Return the sampling stratum of each label; `NO_STRATUM` for unweighted models."""
        stratum = np.full(len(labels), NO_STRATUM, dtype=np.int64)
        if self._terms.weighted.any():
            weighed = np.flatnonzero(self._terms.weighted[model])
            taken = labels.sampling_probability[weighed]
            stratum[weighed] = strata(taken, labels.key[weighed])
        return stratum
