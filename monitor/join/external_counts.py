"""Outcomes that another system counted: added once, replaced when delivered again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import compress

import numpy as np

from monitor.config import Labelling
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import CountDeltas, Int64Array
from monitor.events.renumbering import GONE, State, renumbered
from monitor.events.score_bins import NO_SCORE
from monitor.join.count_sources import CountSources
from monitor.join.counters import Books
from monitor.join.deltas import CELLS, Deltas
from monitor.join.sampling import NO_STRATUM, strata

_POSITIVE_CELLS = [Outcome.TP, Outcome.FN]
_NEGATIVE_CELLS = [Outcome.FP, Outcome.TN]

_LATE = CELLS
"""Column of the late labels, after the cells."""
_EXPIRY_STEP_MS = 60_000
_LATEST = 64
"""Latest batches of a source that are remembered, however old the outcomes in them are."""
_LATEST_IN_ORDER = 16
"""The same of a source that reports how far it has come; its earlier batches are forgotten."""

_PLACE = 4
"""Numbers of the place of a row: group, time, label time and stratum; its cells follow."""
_TIME = 1
_ROW = _PLACE + CELLS + 1
_PLACE_BYTES = _PLACE * 8

_Sent = int | bytes
"""What a row was sent as; its place where that is not known."""


class CountedOutcomes:
    """Rows of `counts` events, remembered so that a repeated delivery is not added twice.

    A row is identified by its source and batch, and by what it was sent as: model, version,
    segment, times and sampling probability. Rows of one batch that count at the same place, as
    beyond the cap on segment values, add up. A row that is delivered again replaces the earlier
    one where that one was counted, wherever it counts now. Rows without a source are always
    added.

    A source that reports its watermark delivers one batch after the other, and again only one
    of the latest. So of such a source only these are remembered, whatever the volume; of
    others, which may correct a batch at any time, all up to the horizon are.

    Args:
        catalogue: numbers of groups and models.
        books: counters of the join, to which these outcomes are added.

    Attributes:
        sources: the systems that counted them.
    """

    def __init__(self, catalogue: Catalogue, books: Books) -> None:
        self._catalogue = catalogue
        self._books = books
        self.sources = CountSources()
        self._delivered: dict[int, dict[_Sent, bytes]] = {}
        self._expired_before = -(1 << 62)
        self._latest: dict[str, deque[int]] = {}

    def apply(self, counts: CountDeltas) -> Deltas:
        """Add rows whose groups are numbers of the catalogue; return the changes."""
        if not len(counts):
            return Deltas()
        place = (counts.group, counts.time, counts.label_time, self._strata(counts))
        late = counts.late[:, np.newaxis]
        rows = np.concatenate([np.stack(place, axis=1), counts.cells, counts.population, late], 1)
        again, before = self._remember(counts, rows)
        more = rows[:, _PLACE:].copy()
        more[again] -= before[:, _PLACE:]
        self.sources.note(counts, more[:, _LATE])
        self._enter_books(self._catalogue.model_of_group[counts.group], more[:, :_LATE])
        self._note_latest(counts)
        moved = (rows[again, :_PLACE] != before[:, :_PLACE]).any(axis=1)
        more[again[moved]] += before[moved, _PLACE:]
        rows[:, _PLACE:] = more
        before[:, _PLACE:] *= -1
        return _flat(np.concatenate([rows, before[moved]]))

    def _remember(self, counts: CountDeltas, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Remember the rows that have a batch.

        Args:
            counts: the rows as they came.
            rows: place and cells of each.

        Returns:
            Indices of the rows that came before; and what each replaces, place and cells.
        """
        again, replaced = [], []
        names = zip(counts.batch_key.tolist(), counts.sent.tolist(), strict=True)
        for i, (key, sent) in enumerate(names):
            if not key:
                continue
            delivered, row = self._delivered.setdefault(key, {}), rows[i].tobytes()
            place = row[:_PLACE_BYTES]
            before = delivered.get(sent) or delivered.pop(place, None)
            delivered[sent or place] = row
            if before is not None:
                again.append(i)
                replaced.append(before)
        return np.array(again, np.int64), _rows_of(replaced).copy()

    def expire(self, before: int) -> None:
        """Forget deliveries of rows whose event time (epoch ms) is before a moment.

        A source's latest batches stay, since the source may deliver them again however old
        the outcomes in them are.
        """
        if before < self._expired_before + _EXPIRY_STEP_MS:
            return
        self._expired_before = before
        latest = {key for keys in self._latest.values() for key in keys}
        for key in self._delivered.keys() - latest:
            rows = self._delivered[key]
            over = _rows_of(rows.values())[:, _TIME] < before
            for sent in compress(list(rows), over.tolist()):
                del rows[sent]
            if not rows:
                del self._delivered[key]

    def _note_latest(self, counts: CountDeltas) -> None:
        pairs = zip(counts.source.tolist(), counts.batch_key.tolist(), strict=True)
        for source, key in dict.fromkeys(pairs):
            known = self._latest.setdefault(source, deque())
            if not key or key in known:
                continue
            known.append(key)
            in_order = self.sources.reports(source)
            while len(known) > (_LATEST_IN_ORDER if in_order else _LATEST):
                over = known.popleft()
                if in_order:
                    self._delivered.pop(over, None)

    def _strata(self, counts: CountDeltas) -> Int64Array:
        """Return how labels were sampled; unknown if their model does not weight labels."""
        settings = self._catalogue.settings
        weighted = np.array([s.labelling is Labelling.WEIGHTED for s in settings])
        chosen = weighted[self._catalogue.model_of_group[counts.group]]
        share = np.where(chosen, counts.sampling_probability, np.nan)
        return strata(share, counts.batch_key ^ counts.time.astype(np.uint64))

    def state(self) -> State:
        """Return the remembered deliveries and the state of the sources."""
        names = [(key, sent) for key, rows in self._delivered.items() for sent in rows]
        sent = [0 if isinstance(sent, bytes) else sent for _, sent in names]
        rows = _rows_of(row for rows in self._delivered.values() for row in rows.values())
        return {
            "batch_key": np.array([key for key, _ in names], dtype=np.uint64),
            "sent": np.array(sent, dtype=np.uint64),
            "row": rows[:, :_PLACE],
            "counted": rows[:, _PLACE:],
            "expired_before": self._expired_before,
            "latest": {source: list(keys) for source, keys in self._latest.items()},
            "sources": self.sources.state(),
        }

    def restore(self, state: State, groups: Int64Array) -> None:
        """Restore from `state`.

        Args:
            state: deliveries and sources.
            groups: the group numbers that are left, in order.
        """
        rows = np.concatenate([state["row"], state["counted"]], axis=1)
        rows[:, 0] = renumbered(rows[:, 0], groups)
        keys = state["batch_key"].tolist()
        # states of before say only where rows were counted
        sent = state["sent"].tolist() if "sent" in state else [0] * len(keys)
        self._delivered = {}
        for i in np.flatnonzero(rows[:, 0] != GONE).tolist():
            row = rows[i].tobytes()
            self._delivered.setdefault(keys[i], {})[sent[i] or row[:_PLACE_BYTES]] = row
        self._expired_before = state["expired_before"]
        self._latest = {name: deque(known) for name, known in state["latest"].items()}
        self.sources.restore(state["sources"], self._catalogue.models)

    def _enter_books(self, model: Int64Array, cells: Int64Array) -> None:
        books, outcomes = self._books, cells[:, : len(Outcome)]
        books.before_taking_back()
        np.add.at(books.predictions, model, cells[:, [CELLS - 1, CELLS - 2]])
        np.add.at(books.matched, model, outcomes.sum(axis=1))
        np.add.at(books.applied, model, outcomes.sum(axis=1))
        came = np.maximum(outcomes, 0)  # a correction does not undo that a label came
        np.add.at(books.labels[:, 1], model, came[:, _POSITIVE_CELLS].sum(axis=1))
        np.add.at(books.labels[:, 0], model, came[:, _NEGATIVE_CELLS].sum(axis=1))


def _rows_of(rows: Iterable[bytes]) -> Int64Array:
    """Return rows as one array, of place and cells; not to be written to."""
    return np.frombuffer(b"".join(rows), dtype=np.int64).reshape(-1, _ROW)


def _flat(rows: Int64Array) -> Deltas:
    """Return the changes of rows of place and cells."""
    row, cell = np.nonzero(rows[:, _PLACE : _PLACE + _LATE])
    labelled = cell < len(Outcome)
    group, time, label_time, stratum = rows[row, :_PLACE].T
    return Deltas(
        time=time,
        label_time=np.where(labelled, label_time, time),
        group=group,
        cell=cell,
        score_bin=np.full(len(row), NO_SCORE, dtype=np.int64),
        stratum=np.where(labelled, stratum, NO_STRATUM),
        count=rows[row, _PLACE + cell],
    )
