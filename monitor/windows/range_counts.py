"""Exact counts of a time range of any length and age.

Windows end near the watermark and consist of panes; a range has bounds of any
millisecond. It counts the same deltas as the windows, so that revisions and late labels
have the same effect. `monitor.diagnosis` decides which ranges are compared.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from monitor.config import Labelling
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Int64Array, Series
from monitor.events.renumbering import Numbers, State
from monitor.join import CELLS, Deltas
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.join.sampling import NO_STRATUM, SQUARED_WEIGHTS, WEIGHTS
from monitor.windows.weights import SUMS

_FIRST_ROOM = 16


class RangeCounts:
    """Counts of every series in [opens, closes) of prediction time, in blocks of time.

    Blocks are aligned to UTC (days begin at midnight); the range truncates the first and
    the last one. Only blocks with a prediction take memory. Counts are integers. With a
    weighted model the weights of its labels are stored beside the counts.

    Args:
        catalogue: numbers of models, groups and series.
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
        block_ms: length of a block, milliseconds.

    Raises:
        ValueError: the range is empty or reversed, or a block has no length.
    """

    def __init__(self, catalogue: Catalogue, opens: int, closes: int, block_ms: int) -> None:
        if opens >= closes or block_ms <= 0:
            raise ValueError(
                f"RangeCounts: must close after it opens, and a block must have a length, "
                f"got [{opens}, {closes}) in blocks of {block_ms} ms"
            )
        self._catalogue = catalogue
        self.opens = opens
        self.closes = closes
        self.block_ms = block_ms
        self._slots: dict[int, int] = {}
        weighted = any(s.labelling is Labelling.WEIGHTED for s in catalogue.possible_settings)
        self._columns = CELLS + (SUMS if weighted else 0)
        self._counts = np.zeros((_FIRST_ROOM, 0, self._columns), dtype=np.int64)
        self._spans = np.zeros((0, 2), dtype=np.int64)

    @property
    def nbytes(self) -> int:
        """Memory reserved: series times blocks."""
        return self._counts.nbytes

    @property
    def models(self) -> tuple[str, ...]:
        """Models of which a prediction was seen, in the range or outside it."""
        self._ensure(0)
        seen = (self._spans[:, 0] <= self._spans[:, 1]).tolist()
        return tuple(m for m, known in zip(self._catalogue.models, seen, strict=True) if known)

    def span(self, model: str) -> tuple[int, int]:
        """Event times of a model's first and last prediction, in the range or outside it.

        Raises:
            ValueError: no prediction of this model was seen.
        """
        if model not in self.models:
            raise ValueError(f"RangeCounts: no prediction of model {model!r} was seen")
        first, last = self._spans[self._catalogue.models.index(model)].tolist()
        return first, last

    def series(self, model: str) -> tuple[Series, ...]:
        """A model's series: its totals, then its segment values."""
        return tuple(series for series in self._catalogue.series if series.model == model)

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        if not len(deltas):
            return
        self._ensure(0)
        self._see(deltas)
        inside = np.flatnonzero((deltas.time >= self.opens) & (deltas.time < self.closes))
        if not len(inside):
            return
        deltas = deltas.take(inside)
        slot = self._slots_of(deltas.time // self.block_ms)
        event, row = self._catalogue.series_of_groups(deltas.group)
        slot, cell = slot[event], deltas.cell[event]
        np.add.at(self._counts, (slot, row, cell), deltas.count[event])
        if self._columns > CELLS:
            self._weigh(slot, row, cell, deltas.take(event))

    def blocks(
        self,
        series: Series,
        opens: int | None = None,
        closes: int | None = None,
        block_ms: int | None = None,
    ) -> Int64Array:
        """Return one series' counts by blocks of time, without empty blocks.

        Args:
            series: one of `series`.
            opens: first moment, epoch milliseconds; that of the range if left out.
            closes: first moment after it; likewise. Both must be bounds of blocks.
            block_ms: length of a block, a multiple of that of the range; that
                of the range if left out.

        Returns:
            int64 (blocks, 6) in order of time, see `monitor.join.deltas`.

        Raises:
            ValueError: the bounds or the length cut a block in two.
        """
        return self._cut(series, opens, closes, block_ms)[:, :CELLS]

    def starts(self, opens: int, closes: int, block_ms: int) -> Int64Array:
        """Return the first moments of the blocks of `blocks`, epoch milliseconds.

        Args:
            opens: first moment, epoch milliseconds.
            closes: first moment after it.
            block_ms: length of a block, a multiple of that of the range.
        """
        opens, closes = self._bounds(opens, closes)
        numbers, _ = self._between(opens // self.block_ms, -(-closes // self.block_ms))
        return np.unique(numbers // (block_ms // self.block_ms)) * block_ms

    def weights(
        self,
        series: Series,
        opens: int | None = None,
        closes: int | None = None,
        block_ms: int | None = None,
    ) -> Int64Array:
        """Return the weights of one series' labels by the blocks of `blocks`, (blocks, 8).

        See `monitor.windows.weights`; zeros without a weighted model.

        Args:
            series: one of `series`.
            opens: first moment, epoch milliseconds; None for that of the range.
            closes: first moment after it; likewise.
            block_ms: length of a block; None for that of the range.

        Raises:
            ValueError: the bounds or the length cut a block in two.
        """
        cut = self._cut(series, opens, closes, block_ms)
        return cut[:, CELLS:] if self._columns > CELLS else np.zeros((len(cut), SUMS), np.int64)

    def steps(self, series: Series) -> tuple[Int64Array, Int64Array]:
        """Return one series by all blocks from the first to the last with a prediction.

        Returns:
            First moments, epoch milliseconds, and counts (blocks, 6); both empty
            where nothing was.
        """
        self._ensure(0)
        if not self._slots:
            return np.zeros(0, np.int64), np.zeros((0, CELLS), np.int64)
        numbers, slots = self._between(min(self._slots), max(self._slots) + 1)
        opens = np.arange(numbers[0], numbers[-1] + 1) * self.block_ms
        cells = np.zeros((len(opens), CELLS), dtype=np.int64)
        row = self._catalogue.series.index(series)
        cells[numbers - numbers[0]] = self._counts[slots, row, :CELLS]
        return opens, cells

    def _cut(
        self, series: Series, opens: int | None, closes: int | None, block_ms: int | None
    ) -> Int64Array:
        opens, closes = self._bounds(opens, closes)
        width = self.block_ms if block_ms is None else block_ms
        if width % self.block_ms:
            raise ValueError(f"RangeCounts: {width} ms is no multiple of {self.block_ms} ms")
        numbers, slots = self._between(opens // self.block_ms, -(-closes // self.block_ms))
        if not len(numbers):
            return np.zeros((0, self._columns), dtype=np.int64)
        self._ensure(0)
        counts = self._counts[slots, self._catalogue.series.index(series)]
        wide = numbers // (width // self.block_ms)
        starts = np.flatnonzero(np.diff(wide, prepend=wide[0] - 1))
        return np.asarray(np.add.reduceat(counts, starts, axis=0))

    def _weigh(self, slot: Int64Array, row: Int64Array, cell: Int64Array, deltas: Deltas) -> None:
        """Count the weights of labels that were added or removed."""
        weighted = np.flatnonzero((deltas.stratum != NO_STRATUM) & (cell < len(Outcome)))
        slot, row, column = slot[weighted], row[weighted], CELLS + cell[weighted]
        stratum, count = deltas.stratum[weighted], deltas.count[weighted]
        np.add.at(self._counts, (slot, row, column), count * WEIGHTS[stratum])
        squared = column + len(Outcome)
        np.add.at(self._counts, (slot, row, squared), count * SQUARED_WEIGHTS[stratum])

    def state(self) -> State:
        """The stretch of time, and what is counted of it."""
        return {
            "opens": self.opens,
            "closes": self.closes,
            "block_ms": self.block_ms,
            "blocks": np.array(list(self._slots), dtype=np.int64),
            "counts": self._counts[: len(self._slots)].copy(),
            "spans": self._spans.copy(),
        }

    @classmethod
    def restored(cls, catalogue: Catalogue, state: State, left: Numbers) -> Self:
        """Return the counts of a range as they were saved.

        Args:
            catalogue: models and series.
            state: from `state`.
            left: the models and series that are left.
        """
        found = cls(catalogue, state["opens"], state["closes"], state["block_ms"])
        found._restore(state, left)
        return found

    def _restore(self, state: State, left: Numbers) -> None:
        self._slots = {block: slot for slot, block in enumerate(state["blocks"].tolist())}
        counts = state["counts"]
        room = max(_FIRST_ROOM, len(self._slots))
        rows = left.series[left.series < counts.shape[1]]
        self._counts = np.zeros((room, len(rows), self._columns), dtype=np.int64)
        columns = min(self._columns, counts.shape[2])
        self._counts[: len(counts), :, :columns] = counts[:, rows, :columns]
        self._spans = state["spans"][left.models[left.models < len(state["spans"])]]

    def _between(self, first: int, end: int) -> tuple[Int64Array, Int64Array]:
        """Numbers of the blocks in [first, end) in order of time, and their slots."""
        numbers = np.fromiter(self._slots, dtype=np.int64, count=len(self._slots))
        inside = np.flatnonzero((numbers >= first) & (numbers < end))
        slots = inside[np.argsort(numbers[inside])]
        return numbers[slots], slots

    def _bounds(self, opens: int | None, closes: int | None) -> tuple[int, int]:
        opens = self.opens if opens is None else opens
        closes = self.closes if closes is None else closes
        for bound, own in ((opens, self.opens), (closes, self.closes)):
            if bound != own and bound % self.block_ms:
                raise ValueError(f"RangeCounts: {bound} lies within a block of {self.block_ms} ms")
        return opens, closes

    def _see(self, deltas: Deltas) -> None:
        """Extend the time span of each model's predictions."""
        predicted = np.flatnonzero((deltas.cell >= PREDICTED_POSITIVE) & (deltas.count > 0))
        model = self._catalogue.model_of_group[deltas.group[predicted]]
        np.minimum.at(self._spans[:, 0], model, deltas.time[predicted])
        np.maximum.at(self._spans[:, 1], model, deltas.time[predicted])

    def _slots_of(self, blocks: Int64Array) -> Int64Array:
        distinct, which = np.unique(blocks, return_inverse=True)
        slots = [self._slots.setdefault(number, len(self._slots)) for number in distinct.tolist()]
        self._ensure(len(self._slots))
        return np.array(slots, dtype=np.int64)[which]

    def _ensure(self, slots: int) -> None:
        room, rows = self._counts.shape[:2]
        wanted = self._catalogue.series_count
        if slots > room or wanted > rows:
            wider = np.zeros(
                (
                    max(slots, room * 2) if slots > room else room,
                    max(wanted, rows * 3 // 2) if wanted > rows else rows,
                    self._columns,
                ),
                dtype=np.int64,
            )
            wider[:room, :rows] = self._counts
            self._counts = wider
        more = len(self._catalogue.models) - len(self._spans)
        if more > 0:
            fresh = np.tile(np.array([LATEST_MS, EARLIEST_MS]), (more, 1))
            self._spans = np.concatenate([self._spans, fresh])
