"""Predictions of shadow versions, each beside the prediction of its id that decides.

A shadow version scores ids that another version decides on. Its predictions are stored here, 24
bytes each and their index, and not in the table of the join. A shadow prediction and the deciding
prediction of the same id and model are a pair, while neither is past its horizon, whichever comes
first. A pair counts at the time and in the group of the deciding prediction, and has its label:
whatever label comes, is revised or retracted there, moves the pair as well. Of several
predictions of one id by one shadow version the earliest counts.

Of shadow predictions holds: received = matched + pending + expired + evicted + duplicates.
Matched have a pair with a label in force.
"""

from __future__ import annotations

import numpy as np

from monitor.events.catalogue import Catalogue
from monitor.events.columns import BoolArray, Int64Array, KeyArray, Predictions
from monitor.events.renumbering import Numbers, State
from monitor.join import packing as words
from monitor.join.deltas import Deltas
from monitor.join.forgetting import Over
from monitor.join.pairs import pair_deltas
from monitor.join.shadow_store import FLAGGED, LABELLED, PAIRED, Book, ShadowStore
from monitor.join.shadow_versions import NOT_TAKEN, ShadowVersions
from monitor.join.table import PredictionTable
from monitor.join.terms import ModelTerms


class Shadows:
    """Stores shadow predictions, and returns what changes in the counts of pairs.

    Args:
        catalogue: numbers of models and groups.
        terms: of the models.
        deciding: the table of the predictions that decide.

    Attributes:
        store: the remembered shadow predictions, and the counts of all of them.
    """

    def __init__(self, catalogue: Catalogue, terms: ModelTerms, deciding: PredictionTable) -> None:
        self._catalogue = catalogue
        self._terms = terms
        self._deciding = deciding
        self._versions = ShadowVersions(catalogue, terms)
        self.store = ShadowStore(terms)
        self._changes: list[Deltas] = []

    @property
    def in_use(self) -> bool:
        """True where there are shadow versions."""
        return bool(self._versions)

    def changes(self) -> Deltas:
        """Return what changed in the counts of pairs since the last call.

        Returns:
            Groups and cells are those of `pairs`.
        """
        changes, self._changes = self._changes, []
        return Deltas.concatenate(changes)

    def begin(self, over: Over) -> None:
        """Note which horizons have ended; call it before any change under new ones.

        Args:
            over: predictions that ended before these moments are over, see `Forgetting`.
        """
        self.store.over = over

    def appear(self, keys: KeyArray, when: KeyArray, what: KeyArray) -> None:
        """Pair deciding predictions that are new with shadow predictions that wait for them.

        Args:
            keys: of their ids.
            when: first word of each, see `packing`.
            what: second word of each.
        """
        young = ~self._terms.may_end(when, self.store.over)
        for rows, slots in self._shadows_of(keys, when):
            paired = self.store.has(slots, PAIRED)
            # of an earlier prediction of the id, which is forgotten
            self.store.forget(slots[paired], Book.EXPIRED)
            fresh = ~paired & young[rows]
            self._count(slots[fresh], when[rows[fresh]], what[rows[fresh]], +1)

    def move(
        self,
        keys: KeyArray,
        old: tuple[KeyArray, KeyArray],
        new: tuple[KeyArray, KeyArray],
    ) -> None:
        """Move the pairs of deciding predictions that change.

        Args:
            keys: of their ids.
            old: both words of each as it counted.
            new: both words of each as it counts now.
        """
        model, left = self._terms.model_of(new[0]), self._terms.model_of(old[0])
        for rows, slots in self._shadows_of(keys, old[0]):
            paired = self.store.has(slots, PAIRED)
            stays = paired & (model[rows] == left[rows])
            self._count(slots[paired], old[0][rows[paired]], old[1][rows[paired]], -1)
            self._count(slots[stays], new[0][rows[stays]], new[1][rows[stays]], +1)
        others = np.flatnonzero(model != left)
        if len(others):
            self.appear(keys[others], new[0][others], new[1][others])

    def lose(self, keys: KeyArray, when: KeyArray, what: KeyArray) -> None:
        """Take out the pairs of deciding predictions that no longer count.

        Args:
            keys: of their ids.
            when: first word of each, see `packing`.
            what: second word of each.
        """
        for rows, slots in self._shadows_of(keys, when):
            paired = self.store.has(slots, PAIRED)
            self._count(slots[paired], when[rows[paired]], what[rows[paired]], -1)

    def apply(self, predictions: Predictions) -> None:
        """Store shadow predictions, after the other events of their batch.

        Args:
            predictions: in the order of their records; groups are those of shadow versions.
        """
        model = self._catalogue.model_of_group[predictions.group]
        self.store.enter(model, Book.RECEIVED)
        version = self._versions.note(predictions)
        past = predictions.time + self._terms.retention(model) < self.store.over.by_model[model]
        self.store.enter(model[past], Book.EXPIRED)
        taken = (version != NOT_TAKEN) & ~past
        self.store.enter(model[~taken & ~past], Book.EVICTED)
        rows = np.flatnonzero(taken)
        if len(rows):
            self._enter(predictions.take(rows), self._versions.mixes()[version[rows]])

    def advance(self) -> None:
        """Free the places of shadow versions of which nothing is remembered any more."""
        self._versions.advance(self.store.over)

    def state(self) -> State:
        """Return the predictions, the versions and the books."""
        return {"versions": self._versions.state(), **self.store.state()}

    def restore(self, state: State, left: Numbers) -> None:
        """Restore the state.

        Args:
            state: from `state`.
            left: models and groups of that state that still exist.
        """
        self.store.restore(state, left)
        self._versions.restore(state["versions"], left.models)

    def _shadows_of(self, keys: KeyArray, when: KeyArray) -> list[tuple[Int64Array, Int64Array]]:
        """Return rows and slots of the remembered shadow predictions of ids, by version."""
        model, found = self._terms.model_of(when), []
        for version in self._versions.all():
            rows = np.flatnonzero(model == version.model)
            slots = self.store.find(keys[rows] ^ version.mix)
            found.append((rows[slots >= 0], slots[slots >= 0]))
        return [(rows, slots) for rows, slots in found if len(rows)]

    def _enter(self, predictions: Predictions, mix: KeyArray) -> None:
        """Remember predictions by the earliest of each id and version; pair them."""
        rank = self._catalogue.names_rank()
        order = np.lexsort(
            (
                rank[predictions.group],
                predictions.predicted_positive,
                predictions.time,
                predictions.key ^ mix,
            )
        )
        predictions, keys = predictions.take(order), (predictions.key ^ mix)[order]
        again = np.zeros(len(keys), dtype=np.bool_)
        again[1:] = keys[1:] == keys[:-1]
        self._repeated(predictions.group[again])
        predictions, keys = predictions.take(~again), keys[~again]
        when = words.when_words(predictions.time, predictions.group)
        what = predictions.predicted_positive.astype(np.uint64)
        slots = self.store.find(keys)
        fresh = slots < 0
        self._repeated(predictions.group[~fresh])
        known = np.flatnonzero(~fresh)
        rows = known[self._precedes(when[known], what[known], slots[known], rank)]
        self._replace(predictions.key[rows], slots[rows], when[rows], what[rows])
        entered = self.store.table.append(keys[fresh], when[fresh], what[fresh])
        self._pair(predictions.key[fresh], entered)

    def _repeated(self, group: Int64Array) -> None:
        self.store.enter(self._catalogue.model_of_group[group], Book.DUPLICATE)

    def _precedes(
        self, when: KeyArray, what: KeyArray, slots: Int64Array, rank: Int64Array
    ) -> BoolArray:
        """Which predictions are ahead of the remembered ones of the same id and version."""
        other, theirs = self.store.table.when(slots), self.store.table.what(slots) & FLAGGED
        time, other_time = words.times_of(when), words.times_of(other)
        named = rank[words.groups_of(when)] < rank[words.groups_of(other)]
        tied = (what < theirs) | ((what == theirs) & named)
        return np.asarray((time < other_time) | ((time == other_time) & tied))

    def _replace(self, ids: KeyArray, slots: Int64Array, when: KeyArray, what: KeyArray) -> None:
        """Replace remembered predictions, unless they have a pair that is final."""
        deciding, there = self._deciding_of(ids, slots)
        paired = self.store.has(slots, PAIRED)
        counted = paired & there
        self._count(slots[counted], *self._words(deciding[counted]), -1)
        free = there | ~paired
        slots, when, what, ids = slots[free], when[free], what[free], ids[free]
        self.store.table.rewrite(slots, when, what)
        self._pair(ids, slots)

    def _pair(self, ids: KeyArray, slots: Int64Array) -> None:
        """Pair shadow predictions with the deciding ones that are remembered."""
        deciding, there = self._deciding_of(ids, slots)
        self._count(slots[there], *self._words(deciding[there]), +1)

    def _deciding_of(self, ids: KeyArray, slots: Int64Array) -> tuple[Int64Array, BoolArray]:
        """Slots of the deciding predictions, and which of them can have a pair."""
        deciding = self._deciding.find(ids)
        there = deciding >= 0
        rows = np.flatnonzero(there)
        when = self._deciding.when(deciding[rows])
        mine = self._terms.model_of(self.store.table.when(slots[rows]))
        fits = (self._terms.model_of(when) == mine) & ~self._terms.may_end(when, self.store.over)
        there[rows] = fits
        return deciding, there

    def _words(self, deciding: Int64Array) -> tuple[KeyArray, KeyArray]:
        return self._deciding.when(deciding), self._deciding.what(deciding)

    def _count(self, slots: Int64Array, when: KeyArray, what: KeyArray, sign: int) -> None:
        """Count pairs, or take them out.

        Args:
            slots: of the shadow predictions.
            when: first word of the deciding prediction of each.
            what: second word of each.
            sign: 1, or -1 to take them out.
        """
        if not len(slots):
            return
        own_when, own = self.store.table.when(slots), self.store.table.what(slots)
        shadow = words.groups_of(own_when), (own & FLAGGED) != 0
        deltas, known = pair_deltas(when, what, shadow, sign)
        self._changes.append(deltas)
        flags = np.where(known, PAIRED | LABELLED, PAIRED) if sign > 0 else np.uint64(0)
        self.store.table.rewrite(slots, own_when, (own & FLAGGED) | flags)
        model = self._terms.model_of(own_when)[known]
        np.add.at(self.store.books(len(self._terms))[:, Book.MATCHED], model, sign)
