"""Labelled scores of one stretch of event time, by model, segment value and whole day."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array, Series
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import Deltas
from monitor.metrics.histogram import ScoreHistogram

_BIN_BITS = 10
_DAY_BITS = 29
_NEGATIVE = 1 << _BIN_BITS
_DAY = 2 * _NEGATIVE
_SERIES = _DAY << _DAY_BITS
_MOST_PENDING = 1 << 17


class RangeScores:
    """Score histograms of labelled predictions by series and day (UTC).

    Only bins that hold a case take memory, 16 bytes each.

    Args:
        catalogue: numbers of models, groups and series.
        opens: first moment, epoch milliseconds; rounded up to a day.
        closes: first moment after it; rounded down.
        model: the only model to count; None for all.
    """

    def __init__(
        self, catalogue: Catalogue, opens: int, closes: int, model: str | None = None
    ) -> None:
        self._catalogue = catalogue
        self._model = model
        self._days = (-(-opens // DAY_MS), closes // DAY_MS)
        self._keys = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._pending: list[tuple[Int64Array, Int64Array]] = []
        self._waiting = 0

    @property
    def nbytes(self) -> int:
        """Memory of what is counted."""
        self._gather()
        return self._keys.nbytes + self._counts.nbytes

    def apply(self, deltas: Deltas) -> None:
        """Count changes; order does not matter."""
        day, (first, end) = deltas.time // DAY_MS, self._days
        known = (deltas.score_bin != NO_SCORE) & (deltas.cell < len(Outcome))
        if self._model is not None:
            names = np.array([name == self._model for name in self._catalogue.models])
            known &= names[self._catalogue.model_of_group[deltas.group]]
        scored = np.flatnonzero(known & (day >= first) & (day < end))
        if not len(scored):
            return
        negative = np.isin(deltas.cell[scored], (Outcome.FP, Outcome.TN)).astype(np.int64)
        keys = (day[scored] - first) * _DAY + negative * _NEGATIVE + deltas.score_bin[scored]
        group, count = deltas.group[scored], deltas.count[scored]
        event, row = self._catalogue.series_of_groups(group)
        self._pending.append((keys[event] + row * _SERIES, count[event]))
        self._waiting += len(row)
        if self._waiting > max(_MOST_PENDING, len(self._keys)):
            self._gather()

    def days(
        self, model: str, opens: int | None = None, closes: int | None = None
    ) -> ScoreHistogram | None:
        """Return a model's labelled scores, (days, bins) by time; None without both classes.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds, rounded up to a day; None for all.
            closes: first moment after it, rounded down.
        """
        found = self.of(Series(model), opens, closes)
        both = found is not None and found.positive.any() and found.negative.any()
        return found if both else None

    def of(
        self, series: Series, opens: int | None = None, closes: int | None = None
    ) -> ScoreHistogram | None:
        """Return the labelled scores of a series, (days, bins) by time; None without any.

        Args:
            series: a model's totals, or one of its segment values.
            opens: first moment, epoch milliseconds, rounded up to a day; None for all.
            closes: first moment after it, rounded down.
        """
        self._gather()
        first, end = self._days
        start = first if opens is None else max(first, -(-opens // DAY_MS))
        stop = end if closes is None else min(end, closes // DAY_MS)
        base = self._catalogue.series.index(series) * _SERIES
        bounds = [base + (day - first) * _DAY for day in (start, max(start, stop))]
        low, high = np.searchsorted(self._keys, bounds).tolist()
        keys, counts = self._keys[low:high] - base, self._counts[low:high]
        _, day = np.unique(keys // _DAY, return_inverse=True)
        cells = np.zeros((int(day.max(initial=-1)) + 1, 2, SCORE_BINS), dtype=np.int64)
        cells[day, keys // _NEGATIVE % 2, keys % _NEGATIVE] = counts
        if not len(cells):
            return None
        nothing = np.zeros_like(cells[:, 0])
        return ScoreHistogram(positive=cells[:, 0], negative=cells[:, 1], unlabelled=nothing)

    def _gather(self) -> None:
        """Add what is pending to the sorted counts; drop bins that hold no case any more."""
        if not self._pending:
            return
        keys, counts = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending, self._waiting = [], 0
        keys = np.concatenate([self._keys, keys])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], np.concatenate([self._counts, counts])[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        sums = np.add.reduceat(counts, starts)
        held = sums != 0
        self._keys, self._counts = keys[starts][held], sums[held]
