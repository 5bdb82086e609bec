"""Outcomes that another system has counted: added once, replaced when delivered again."""

from __future__ import annotations

import numpy as np

from monitor.catalogue import Catalogue
from monitor.counts import Outcome
from monitor.events import NO_SCORE, CountDeltas, Int64Array
from monitor.join.books import Books
from monitor.join.deltas import CELLS, Deltas

_POSITIVE_CELLS = [Outcome.TP, Outcome.FN]
_NEGATIVE_CELLS = [Outcome.FP, Outcome.TN]

_Row = tuple[int, int, Int64Array]


class CountedOutcomes:
    """Rows of `counts` events, remembered by delivery so that none is added twice.

    A row is known by its source, batch, group and time; the same row again
    takes the place of the earlier one. Rows without a source are always added.

    Args:
        catalogue: numbers of groups and models.
        books: of the join, which these outcomes enter too.
    """

    def __init__(self, catalogue: Catalogue, books: Books) -> None:
        self._catalogue = catalogue
        self._books = books
        self._delivered: dict[tuple[int, int, int], Int64Array] = {}

    def apply(self, counts: CountDeltas) -> Deltas:
        """Take rows whose groups are numbers of the catalogue; what changes."""
        if not len(counts):
            return Deltas()
        cells = np.concatenate([counts.cells, counts.population], axis=1)
        keys = zip(
            counts.batch_key.tolist(), counts.group.tolist(), counts.time.tolist(), strict=True
        )
        for i, key in enumerate(keys):
            if key[0]:
                before = self._delivered.get(key)
                self._delivered[key] = cells[i].copy()
                cells[i] -= 0 if before is None else before
        self._enter_books(self._catalogue.model_of_group[counts.group], cells)
        return _flat(counts.time, counts.group, cells)

    def expire(self, before: int) -> None:
        """Forget deliveries of rows whose event time (epoch ms) lies before a moment."""
        over = [key for key in self._delivered if key[2] < before]
        for key in over:
            del self._delivered[key]

    def _enter_books(self, model: Int64Array, cells: Int64Array) -> None:
        books, outcomes = self._books, cells[:, : len(Outcome)]
        np.add.at(books.predictions, model, cells[:, [CELLS - 1, CELLS - 2]])
        np.add.at(books.matched, model, outcomes.sum(axis=1))
        np.add.at(books.applied, model, outcomes.sum(axis=1))
        np.add.at(books.labels[:, 1], model, outcomes[:, _POSITIVE_CELLS].sum(axis=1))
        np.add.at(books.labels[:, 0], model, outcomes[:, _NEGATIVE_CELLS].sum(axis=1))


def _flat(time: Int64Array, group: Int64Array, cells: Int64Array) -> Deltas:
    row, cell = np.nonzero(cells)
    return Deltas(
        time=time[row],
        label_time=time[row],
        group=group[row],
        cell=cell,
        score_bin=np.full(len(row), NO_SCORE, dtype=np.int64),
        count=cells[row, cell],
    )
