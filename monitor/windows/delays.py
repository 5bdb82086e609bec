"""How late labels come: delays of the labels in force, and the maturity they imply."""

from __future__ import annotations

import numpy as np

from monitor.catalogue import Catalogue
from monitor.counts import Outcome
from monitor.events import FloatArray, Int64Array
from monitor.join import Deltas

_PER_OCTAVE = 4
_OCTAVES = 26
EDGES_SECONDS: FloatArray = np.append(
    2.0 ** (np.arange(_OCTAVES * _PER_OCTAVE) / _PER_OCTAVE), np.inf
)
"""Upper edges of the bins: from 1 s on a quarter of an octave (19 %) apart, two years at most."""
PUBLISHED_EDGES_SECONDS: FloatArray = np.append(4.0 ** np.arange(_OCTAVES // 2), np.inf)
"""Every eighth of them: coarse enough to be a histogram that is scraped."""

_ACTUAL_POSITIVE = np.array([outcome in (Outcome.TP, Outcome.FN) for outcome in Outcome])


class LabelDelays:
    """Delays from prediction to the label in force, by model and outcome.

    Integers throughout, so that taking a label back leaves no residue. A delay
    below 0 (a label dated before its prediction) counts as 0.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._counts = np.zeros((0, len(Outcome), len(EDGES_SECONDS)), dtype=np.int64)
        self._total_ms = np.zeros((0, len(Outcome)), dtype=np.int64)

    def apply(self, deltas: Deltas) -> None:
        """Take notice of outcomes that came or went."""
        self._ensure()
        rows = np.flatnonzero(deltas.cell < len(Outcome))
        model = self._catalogue.model_of_group[deltas.group[rows]]
        cell, count = deltas.cell[rows], deltas.count[rows]
        delay = np.maximum(deltas.label_time[rows] - deltas.time[rows], 0)
        bins = np.searchsorted(EDGES_SECONDS, delay / 1000)
        np.add.at(self._counts, (model, cell, bins), count)
        np.add.at(self._total_ms, (model, cell), count * delay)

    def maturity(self, model: int, share: float) -> int | None:
        """Age, milliseconds, by which a share of the labels have come, in the slower class.

        The upper edge of its bin: late rather than early. None before any label came.
        """
        self._ensure()
        ages = [
            _quantile_ms(self._counts[model, of_class].sum(axis=0), share)
            for of_class in (_ACTUAL_POSITIVE, ~_ACTUAL_POSITIVE)
        ]
        return max((age for age in ages if age is not None), default=None)

    def published(self, model: int) -> tuple[Int64Array, FloatArray]:
        """Counts by class (negative, positive) and published bin, and the sums in seconds."""
        self._ensure()
        bins = np.searchsorted(PUBLISHED_EDGES_SECONDS, EDGES_SECONDS)
        by_class = [
            np.bincount(bins, weights=self._counts[model, of].sum(axis=0))
            for of in (~_ACTUAL_POSITIVE, _ACTUAL_POSITIVE)
        ]
        counts = np.stack(by_class).astype(np.int64)
        total = self._total_ms[model]
        sums = np.array([total[~_ACTUAL_POSITIVE].sum(), total[_ACTUAL_POSITIVE].sum()]) / 1000
        return counts, sums

    def _ensure(self) -> None:
        more = len(self._catalogue.models) - len(self._counts)
        if more > 0:
            for name in ("_counts", "_total_ms"):
                array = getattr(self, name)
                fresh = np.zeros((more, *array.shape[1:]), dtype=np.int64)
                setattr(self, name, np.concatenate([array, fresh]))


def _quantile_ms(counts: Int64Array, share: float) -> int | None:
    total = int(counts.sum())
    if total == 0:
        return None
    reached = int(np.searchsorted(np.cumsum(counts), share * total))
    return int(np.ceil(EDGES_SECONDS[min(reached, len(EDGES_SECONDS) - 2)] * 1000))
