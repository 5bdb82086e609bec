"""The series of a model by segment key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.catalogue import Catalogue
from monitor.events.columns import VERSION_KEY, Int64Array

_NO_SERIES = np.array([], dtype=np.int64)


class Cuts(NamedTuple):
    """The series that a model's outcomes are split into.

    Another mix of segments is no fault of the model, so verdicts that blame it must hold within
    the values of each key. A version is the model itself: another mix of versions is another
    model, and no verdict is made within versions.

    Attributes:
        totals: series of all its outcomes.
        segments: for each segment key but the version, the series of its values.
        versions: series of its versions; empty where they are not counted apart.
    """

    totals: int
    segments: tuple[Int64Array, ...]
    versions: Int64Array = _NO_SERIES

    @property
    def rows(self) -> Int64Array:
        """All of these series, ascending."""
        return np.unique(np.concatenate([[self.totals], *self.segments, self.versions]))

    @property
    def in_order(self) -> Int64Array:
        """The totals, then each segment key's values, then the versions."""
        return np.concatenate([[self.totals], *self.segments, self.versions]).astype(np.int64)

    @property
    def watched(self) -> list[Int64Array]:
        """The series of each segment key; the totals alone where no key is configured."""
        return list(self.segments) or [np.array([self.totals])]


class CutsByModel:
    """Looks up the cuts of each model into the series that have come, again only where more have.

    Args:
        catalogue: numbers of models and series.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._cached: dict[int, tuple[int, Cuts]] = {}

    def of(self, model: int) -> Cuts:
        """Return the cuts of a model, by its number."""
        rows, cached = self._catalogue.rows_of(model), self._cached.get(model)
        if (come := self._catalogue.come.before) < self._catalogue.series_count:
            rows = rows[: max(1, rows.searchsorted(come))]  # its totals are the first
        if cached is None or cached[0] != len(rows):
            by_key: dict[str | None, list[int]] = {}
            for row in rows.tolist():
                by_key.setdefault(self._catalogue.series[row].segment, []).append(row)
            (totals,) = by_key.pop(None)
            versions = np.array(by_key.pop(VERSION_KEY, []), dtype=np.int64)
            cuts = Cuts(totals, tuple(np.array(rows) for rows in by_key.values()), versions)
            cached = self._cached[model] = (len(rows), cuts)
        return cached[1]
