"""Outcomes that another system counted: added once, replaced when delivered again."""

from __future__ import annotations

from collections import deque

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

_Row = tuple[int, int, int, int]


class CountedOutcomes:
    """Rows of `counts` events, remembered so that a repeated delivery is not added twice.

    A row is identified by its source, batch, group, time, and the time and sampling of its
    labels; a repeated row replaces the earlier one. Rows without a source are always added.

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
        self._delivered: dict[int, dict[_Row, bytes]] = {}
        self._expired_before = -(1 << 62)
        self._latest: dict[str, deque[int]] = {}

    def apply(self, counts: CountDeltas) -> Deltas:
        """Add rows whose groups are numbers of the catalogue; return the changes."""
        if not len(counts):
            return Deltas()
        late = counts.late[:, np.newaxis]
        cells = np.concatenate([counts.cells, counts.population, late], axis=1)
        stratum = self._strata(counts)
        identity = (counts.group, counts.time, counts.label_time, stratum)
        rows = zip(*(column.tolist() for column in identity), strict=True)
        for i, (key, row) in enumerate(zip(counts.batch_key.tolist(), rows, strict=True)):
            if key:
                delivered = self._delivered.setdefault(key, {})
                before = delivered.get(row)
                delivered[row] = cells[i].tobytes()
                if before is not None:
                    cells[i] -= np.frombuffer(before, dtype=np.int64)
        self.sources.note(counts, cells[:, _LATE])
        cells = cells[:, :_LATE]
        self._enter_books(self._catalogue.model_of_group[counts.group], cells)
        self._note_latest(counts)
        return _flat(counts, cells, stratum)

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
            for row in [row for row in rows if row[1] < before]:
                del rows[row]
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
        delivered = [(key, *one) for key, rows in self._delivered.items() for one in rows.items()]
        rows = np.frombuffer(b"".join(cells for *_, cells in delivered), dtype=np.int64)
        return {
            "batch_key": np.array([key for key, *_ in delivered], dtype=np.uint64),
            "row": np.array([row for _, row, _ in delivered], np.int64).reshape(-1, 4),
            "counted": rows.reshape(-1, CELLS + 1),
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
        row = state["row"].copy()
        row[:, 0] = renumbered(row[:, 0], groups)
        left = np.flatnonzero(row[:, 0] != GONE).tolist()
        keys, counted = state["batch_key"].tolist(), state["counted"]
        self._delivered = {}
        for i in left:
            group, time, label_time, stratum = row[i].tolist()
            cells = np.ascontiguousarray(counted[i]).tobytes()
            delivered = self._delivered.setdefault(keys[i], {})
            delivered[group, time, label_time, stratum] = cells
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


def _flat(counts: CountDeltas, cells: Int64Array, stratum: Int64Array) -> Deltas:
    row, cell = np.nonzero(cells)
    labelled = cell < len(Outcome)
    return Deltas(
        time=counts.time[row],
        label_time=np.where(labelled, counts.label_time[row], counts.time[row]),
        group=counts.group[row],
        cell=cell,
        score_bin=np.full(len(row), NO_SCORE, dtype=np.int64),
        stratum=np.where(labelled, stratum[row], NO_STRATUM),
        count=cells[row, cell],
    )
