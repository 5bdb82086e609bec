"""The remembered predictions of shadow versions, and what became of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.events.renumbering import Numbers, State
from monitor.join import packing as words
from monitor.join.forgetting import Over
from monitor.join.packed_rows import with_groups
from monitor.join.table import PredictionTable
from monitor.join.terms import ModelTerms
from monitor.join.unlabelled import is_waiting

FLAGGED, PAIRED, LABELLED = np.uint64(1), np.uint64(2), np.uint64(4)
"""Bits of the second word: called positive, has a pair, and a pair with a label in force."""


class Book(IntEnum):
    """Column of the counts of shadow predictions."""

    RECEIVED = 0
    MATCHED = 1
    EXPIRED = 2
    EVICTED = 3
    DUPLICATE = 4


class ShadowStore:
    """Remembers shadow predictions until horizon and label timeout have passed.

    Args:
        terms: of the models.

    Attributes:
        table: the predictions; their second word has the bits of this module.
        over: predictions that ended before these moments are over.
    """

    def __init__(self, terms: ModelTerms) -> None:
        self._terms = terms
        self.table = PredictionTable()
        self.over = Over.nothing()
        self._books = np.zeros((0, len(Book)), dtype=np.int64)

    def books(self, models: int) -> Int64Array:
        """Return the counts of shadow predictions, (models, `Book`).

        Args:
            models: how many there are.
        """
        more = models - len(self._books)
        if more > 0:
            fresh = np.zeros((more, len(Book)), dtype=np.int64)
            self._books = np.concatenate([self._books, fresh])
        return self._books

    def enter(self, model: Int64Array, book: Book) -> None:
        """Count predictions.

        Args:
            model: number of the model of each.
            book: what became of them.
        """
        np.add.at(self.books(len(self._terms))[:, book], model, 1)

    def states(self, times: Int64Array) -> Int64Array:
        """Return what became of the shadow predictions, (models, `Book`).

        Args:
            times: of each model by number, epoch milliseconds; `NO_TIME` for none. A
                prediction without a label past the label timeout is expired.
        """
        found = self.books(len(times)).copy()
        for slots in self.table.chunks():
            late = slots[~self.has(slots, LABELLED)]
            late = late[~self._waits(late, times)]
            np.add.at(found[:, Book.EXPIRED], self._model_of(late), 1)
        return found

    def find(self, keys: KeyArray) -> Int64Array:
        """Return the slots of predictions, -1 for none; those that are over are forgotten.

        Args:
            keys: of ids, mixed with those of their versions.
        """
        slots = self.table.find(keys)
        known = np.flatnonzero(slots >= 0)
        over = known[self._ended(slots[known])]
        self.forget(np.unique(slots[over]), Book.EXPIRED)
        slots[over] = -1
        return slots

    def has(self, slots: Int64Array, flag: np.uint64) -> BoolArray:
        """Return which predictions have a bit set.

        Args:
            slots: of the predictions.
            flag: `FLAGGED`, `PAIRED` or `LABELLED`.
        """
        return np.asarray((self.table.what(slots) & flag) != 0)

    def forget(self, slots: Int64Array, book: Book) -> None:
        """Forget predictions, and count those without a label.

        Args:
            slots: of the predictions, distinct.
            book: what became of those without a label.
        """
        self.enter(self._model_of(slots[~self.has(slots, LABELLED)]), book)
        self.table.forget(slots)

    def may_tidy(self, more: int, most: int, before: int) -> bool:
        """Tell whether `tidy` could have work.

        Args:
            more: predictions about to come.
            most: predictions to remember.
            before: moment before which predictions may be past their horizon, epoch
                milliseconds.
        """
        return len(self.table) + more > most or self.table.holds(before)

    def tidy(self, most: int, times: Int64Array) -> Iterator[None]:
        """Free the memory of predictions that are over, and evict the earliest above a limit.

        Args:
            most: predictions to remember.
            times: as in `states`.

        Yields:
            Nothing; after each chunk of predictions.
        """
        while len(slots := self.table.front(before=self._terms.earliest_kept(self.over))):
            self.forget(slots[self._ended(slots)], Book.EXPIRED)
            if not self.table.free_front():
                break
            yield
        while len(self.table) > most:
            slots = self.table.front()
            waits = self._waits(slots, times)
            self.forget(slots[~waits], Book.EXPIRED)
            self.forget(slots[waits], Book.EVICTED)
            if not self.table.free_front():
                break
            yield

    def state(self) -> State:
        """Return the predictions and the books."""
        return {"predictions": self.table.state(), "books": self._books.copy()}

    def restore(self, state: State, left: Numbers) -> None:
        """Restore the state.

        Args:
            state: from `state`.
            left: models and groups of that state that still exist.
        """
        self.table.restore(with_groups(state["predictions"], left.groups))
        books = state["books"]
        self._books = books[left.models[left.models < len(books)]].copy()

    def _model_of(self, slots: Int64Array) -> Int64Array:
        return self._terms.model_of(self.table.when(slots))

    def _ended(self, slots: Int64Array) -> BoolArray:
        model = self._model_of(slots)
        ends = words.times_of(self.table.when(slots)) + self._terms.retention(model)
        return np.asarray(ends < self.over.by_model[model])

    def _waits(self, slots: Int64Array, times: Int64Array) -> BoolArray:
        model = self._model_of(slots)
        return is_waiting(self.table.when(slots), self._terms.label_timeout[model], times[model])
