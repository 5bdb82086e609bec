"""Predictions of shadow versions, each beside the prediction of its id that decides.

A shadow version scores ids that another version decides on. Its predictions are stored here, 24
bytes each and their index, and not in the table of the join. A shadow prediction and the deciding
prediction of the same id and model are a pair, while neither is past its horizon, whichever comes
first. Two shadow predictions that are each in a pair with the same deciding one are a pair too. A
pair counts at the time and in the group of the deciding prediction, and has its label: whatever
label comes, is revised or retracted there, moves the pair as well. Of several predictions of one id
by one shadow version the earliest counts.

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
from monitor.join.pairs import ShadowSide, pair_deltas
from monitor.join.shadow_rows import NewShadowRows, ShadowRows
from monitor.join.shadow_store import FLAGGED, LABELLED, PAIRED, Book, ShadowStore
from monitor.join.shadow_versions import NOT_TAKEN, ShadowVersion, ShadowVersions
from monitor.join.table import PredictionTable
from monitor.join.terms import ModelTerms

_NO_CHANGES = Deltas()


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
        if not self._changes:
            return _NO_CHANGES
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
        waiting = []
        for found in self._shadows_of(keys, when):
            paired = self.store.has(found.slots, PAIRED)
            # of an earlier prediction of the id, which is forgotten
            self.store.forget(found.slots[paired], Book.EXPIRED)
            waiting.append(found.where(~paired & young[found.rows]))
        for found in waiting:
            self._count_found(found, keys, (when, what), +1)

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
        paired = self._paired(keys, old[0])
        for found in paired:
            self._count_found(found, keys, old, -1)
        for found in paired:
            stays = found.where(model[found.rows] == left[found.rows])
            self._count_found(stays, keys, new, +1)
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
        for found in self._paired(keys, when):
            self._count_found(found, keys, (when, what), -1)

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
        fresh = []
        for number in np.unique(version[taken]).tolist():
            rows = np.flatnonzero(taken & (version == number))
            fresh.append(self._enter(self._versions.all()[number], predictions.take(rows)))
        self._append(fresh)

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

    def _shadows_of(self, keys: KeyArray, when: KeyArray) -> list[ShadowRows]:
        """Return the remembered shadow predictions of ids, by version."""
        model, found = self._terms.model_of(when), []
        for version in self._versions.all():
            rows = np.flatnonzero(model == version.model)
            slots = self.store.find(keys[rows] ^ version.mix)
            found.append(ShadowRows(version, rows, slots).where(slots >= 0))
        return [one for one in found if len(one.rows)]

    def _paired(self, keys: KeyArray, when: KeyArray) -> list[ShadowRows]:
        """Return those of `_shadows_of` that have a pair."""
        found = self._shadows_of(keys, when)
        return [one.where(self.store.has(one.slots, PAIRED)) for one in found]

    def _enter(self, version: ShadowVersion, predictions: Predictions) -> NewShadowRows:
        """Take predictions of a version by the earliest of each id; return those of new ids."""
        rank = self._catalogue.names_rank()
        order = np.lexsort(
            (
                rank[predictions.group],
                predictions.predicted_positive,
                predictions.time,
                predictions.key ^ version.mix,
            )
        )
        predictions = predictions.take(order)
        keys = predictions.key ^ version.mix
        again = np.zeros(len(keys), dtype=np.bool_)
        again[1:] = keys[1:] == keys[:-1]
        self._repeated(predictions.group[again])
        came = np.minimum.reduceat(predictions.row, np.flatnonzero(~again))
        predictions, keys = predictions.take(~again), keys[~again]
        when = words.when_words(predictions.time, predictions.group)
        what = predictions.predicted_positive.astype(np.uint64)
        slots = self.store.find(keys)
        fresh = slots < 0
        self._repeated(predictions.group[~fresh])
        known = np.flatnonzero(~fresh)
        rows = known[self._precedes(when[known], what[known], slots[known], rank)]
        self._replace(version, predictions.key[rows], slots[rows], (when[rows], what[rows]))
        ids = predictions.key[fresh]
        return NewShadowRows(version, ids, keys[fresh], when[fresh], what[fresh], came[fresh])

    def _append(self, versions: list[NewShadowRows]) -> None:
        """Remember predictions of new ids in the order of their records, and pair them."""
        if not versions:
            return
        keys, when, what, came = (
            np.concatenate(columns) for columns in [*zip(*versions, strict=True)][2:]
        )
        order = np.argsort(came, kind="stable")
        slots = np.empty(len(order), dtype=np.int64)
        slots[order] = self.store.table.append(keys[order], when[order], what[order])
        ends = np.cumsum([len(one.ids) for one in versions])[:-1]
        for one, entered in zip(versions, np.split(slots, ends), strict=True):
            self._pair(one.version, one.ids, entered)

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

    def _replace(
        self,
        version: ShadowVersion,
        ids: KeyArray,
        slots: Int64Array,
        new: tuple[KeyArray, KeyArray],
    ) -> None:
        """Replace remembered predictions, unless they have a pair that is final."""
        deciding, there = self._deciding_of(ids, slots)
        paired = self.store.has(slots, PAIRED)
        counted = paired & there
        self._count(version, ids[counted], slots[counted], self._words(deciding[counted]), -1)
        free = there | ~paired
        self.store.table.rewrite(slots[free], new[0][free], new[1][free])
        self._pair(version, ids[free], slots[free])

    def _pair(self, version: ShadowVersion, ids: KeyArray, slots: Int64Array) -> None:
        """Pair shadow predictions with the deciding ones that are remembered."""
        deciding, there = self._deciding_of(ids, slots)
        self._count(version, ids[there], slots[there], self._words(deciding[there]), +1)

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

    def _side(self, slots: Int64Array) -> ShadowSide:
        group = words.groups_of(self.store.table.when(slots))
        return ShadowSide(group, self.store.has(slots, FLAGGED))

    def _words(self, deciding: Int64Array) -> tuple[KeyArray, KeyArray]:
        return self._deciding.when(deciding), self._deciding.what(deciding)

    def _count_found(
        self, found: ShadowRows, keys: KeyArray, deciding: tuple[KeyArray, KeyArray], sign: int
    ) -> None:
        """Count pairs of some ids, or take them out; arguments as of `_count`, for all ids."""
        rows = found.rows
        both = deciding[0][rows], deciding[1][rows]
        self._count(found.version, keys[rows], found.slots, both, sign)

    def _count(
        self,
        version: ShadowVersion,
        ids: KeyArray,
        slots: Int64Array,
        deciding: tuple[KeyArray, KeyArray],
        sign: int,
    ) -> None:
        """Count pairs, or take them out: with the deciding prediction, and with other shadows.

        Args:
            version: of the shadow predictions.
            ids: keys of their ids.
            slots: of the shadow predictions.
            deciding: both words of the deciding prediction of each.
            sign: 1, or -1 to take them out.
        """
        if not len(slots):
            return
        when, what = deciding
        own_when, own = self.store.table.when(slots), self.store.table.what(slots)
        mine = self._side(slots)
        deltas, known = pair_deltas(when, what, None, mine, sign)
        self._changes.append(deltas)
        for other in self._versions.beside(version):
            found = self.store.find(ids ^ other.mix)
            rows = np.flatnonzero(found >= 0)
            rows = rows[self.store.has(found[rows], PAIRED)]
            both = (mine.take(rows), self._side(found[rows]))
            first, second = both if version.name < other.name else both[::-1]
            self._changes.append(pair_deltas(when[rows], what[rows], first, second, sign)[0])
        flags = np.where(known, PAIRED | LABELLED, PAIRED) if sign > 0 else np.uint64(0)
        self.store.table.rewrite(slots, own_when, (own & FLAGGED) | flags)
        model = self._terms.model_of(own_when)[known]
        np.add.at(self.store.books(len(self._terms))[:, Book.MATCHED], model, sign)
