"""Labelled scores of one stretch of event time, by model and whole day."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import Deltas
from monitor.metrics.histogram import ScoreHistogram


class RangeScores:
    """Score histograms of labelled predictions by day (UTC); empty days take no memory.

    Args:
        catalogue: numbers of models and groups.
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
        self._counts: dict[tuple[int, int], np.ndarray[tuple[int, int], np.dtype[np.int64]]] = {}

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
        model = self._catalogue.model_of_group[deltas.group[scored]]
        negative = np.isin(deltas.cell[scored], (Outcome.FP, Outcome.TN)).astype(np.int64)
        bins, count = deltas.score_bin[scored], deltas.count[scored]
        keys = np.stack([model, day[scored]], axis=1)
        for key in np.unique(keys, axis=0):
            own = np.flatnonzero((keys == key).all(axis=1))
            histogram = self._counts.setdefault(
                (int(key[0]), int(key[1])), np.zeros((2, SCORE_BINS), dtype=np.int64)
            )
            np.add.at(histogram, (negative[own], bins[own]), count[own])

    def days(
        self, model: str, opens: int | None = None, closes: int | None = None
    ) -> ScoreHistogram | None:
        """Return a model's labelled scores, (days, bins) by time; None without both classes.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds, rounded up to a day; None for all.
            closes: first moment after it, rounded down.
        """
        number = self._catalogue.models.index(model)
        first, end = self._days
        first = first if opens is None else -(-opens // DAY_MS)
        end = end if closes is None else closes // DAY_MS
        found = [
            cells
            for (m, day), cells in sorted(self._counts.items())
            if m == number and first <= day < end
        ]
        if not found:
            return None
        cells = np.stack(found)
        if not cells.any(axis=(0, 2)).all():
            return None
        nothing = np.zeros_like(cells[:, 0])
        return ScoreHistogram(positive=cells[:, 0], negative=cells[:, 1], unlabelled=nothing)
