"""Outcomes of versions by hour and combination of segment values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import Int64Array

HOURS_A_DAY = DAY_MS // HOUR_MS


class VersionRows(NamedTuple):
    """Counts of one version, in any order; an hour and segment may have several rows.

    Attributes:
        hour: hours since 1970, (rows,).
        segment: number of the combination of segment values, (rows,).
        cells: (rows, cells).
    """

    hour: Int64Array
    segment: Int64Array
    cells: Int64Array


@dataclass(frozen=True, slots=True)
class VersionOutcomes:
    """Outcomes of versions, a row for each hour and segment that any of them has counts of.

    Attributes:
        hour: hours since 1970, UTC, (rows,).
        segment: number of the combination of segment values, (rows,), from 0.
        cells: (versions, rows, cells), first the four of `Outcome`.
    """

    hour: Int64Array
    segment: Int64Array
    cells: Int64Array

    @classmethod
    def of_rows(cls, versions: Iterable[VersionRows]) -> Self:
        """Return the sums of rows by hour and segment, those of each version along one axis.

        Args:
            versions: rows of each.

        >>> one = VersionRows(np.array([5, 5]), np.array([0, 0]), np.array([[1, 2], [3, 4]]))
        >>> VersionOutcomes.of_rows([one, one]).cells.tolist()
        [[[4, 6]], [[4, 6]]]
        """
        tables = list(versions)
        where = np.concatenate([np.stack([one.hour, one.segment]) for one in tables], axis=1)
        places, row = np.unique(where, axis=1, return_inverse=True)
        cells = np.zeros((len(tables), places.shape[1], tables[0].cells.shape[1]), dtype=np.int64)
        ends = np.cumsum([len(one.hour) for one in tables])
        for sums, one, rows in zip(cells, tables, np.split(row.ravel(), ends[:-1]), strict=True):
            np.add.at(sums, rows, one.cells)
        counted = cells.any(axis=(0, 2))
        return cls(places[0, counted], places[1, counted], cells[:, counted])

    @property
    def day(self) -> Int64Array:
        """Days since 1970, UTC, (rows,)."""
        return self.hour // HOURS_A_DAY

    @property
    def by_day(self) -> tuple[ConfusionCounts, ...]:
        """The outcomes of each version by the same segments and days, (segments, days)."""
        (segments, segment), (days, day) = (
            np.unique(one, return_inverse=True) for one in (self.segment, self.day)
        )
        shape = (len(self.cells), len(segments), len(days), len(Outcome))
        cells = np.zeros(shape, dtype=np.int64)
        for sums, one in zip(cells, self.cells, strict=True):
            np.add.at(sums, (segment, day), one[:, : len(Outcome)])
        return tuple(map(ConfusionCounts.from_cells, cells))

    @property
    def counts(self) -> ConfusionCounts:
        """The outcomes, (versions, rows)."""
        return ConfusionCounts.from_cells(np.asarray(self.cells[..., : len(Outcome)], np.float64))

    @property
    def totals(self) -> tuple[ConfusionCounts, ...]:
        """The outcomes of each version."""
        return tuple(ConfusionCounts.from_cells(one) for one in self.counts.cells.sum(axis=1))
