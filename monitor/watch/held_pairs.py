"""Ids that several versions scored, as a running monitor holds them: all but one are shadows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.counts import Outcome
from monitor.drift.rates_of_two import Joint
from monitor.drift.version_outcomes import VersionRows
from monitor.drift.versions_compared import VersionStretch
from monitor.events.catalogue import Catalogue
from monitor.events.columns import VERSION_KEY, BoolArray, Int64Array
from monitor.join import CELLS
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.pairs import WAYS, groups_of_pairs
from monitor.windows.version_counts import HeldHours

Stratum = tuple[str, ...]
_ALL, _POSITIVE, _NEGATIVE = range(3)
_BY_SHADOW = ([Joint.BOTH, Joint.ONLY_B], [Joint.ONLY_A, Joint.NEITHER])
_SWAPPED = [Joint.BOTH, Joint.ONLY_B, Joint.ONLY_A, Joint.NEITHER]


class HeldPairs:
    """Pairs of a model by hour, both versions and the stratum of the deciding prediction.

    Args:
        catalogue: of models and groups.
        model: number of the model, which has `version` among its segments.
        hours: its pairs.
    """

    def __init__(self, catalogue: Catalogue, model: int, hours: HeldHours) -> None:
        place = list(catalogue.settings[model].segments).index(VERSION_KEY)
        values = catalogue.group_values()
        deciding, first, second = groups_of_pairs(hours.group)
        of_deciding = [values[group] for group in deciding.tolist()]
        self._first, self._second = (
            np.array([values[group][place] for group in groups.tolist()], dtype=object)
            for groups in (first, second)
        )
        self._decided = first == deciding
        self._strata = [one[:place] + one[place + 1 :] for one in of_deciding]
        self._hour = hours.hour
        self._cells = hours.cells.reshape(-1, len((_ALL, _POSITIVE, _NEGATIVE)), WAYS)

    @property
    def names(self) -> tuple[str, ...]:
        """The shadow versions."""
        return tuple(sorted(set(self._second.tolist())))

    @property
    def strata(self) -> set[Stratum]:
        """Segment values of the deciding predictions, without the version."""
        return set(self._strata)

    def mature_hours(self, name: str, until: int) -> tuple[Int64Array, int]:
        """Return the hours of a shadow version, and its pairs with deciding predictions in them.

        Args:
            name: of the version.
            until: count hours that begin before this moment, epoch milliseconds.
        """
        made = self._cells[:, _ALL].sum(axis=1)
        rows = self._of_shadow(name) & (made > 0) & (self._hour * HOUR_MS < until)
        return self._hour[rows], int(made[rows].sum())

    def counted(
        self, name: str, places: Mapping[Stratum, int], within: VersionStretch
    ) -> VersionRows:
        """Return the outcomes of a shadow version, six cells each.

        Args:
            name: of the version.
            places: numbers of the strata.
            within: whole hours.
        """
        rows = np.flatnonzero(self._of_shadow(name) & self._inside(within))
        stratum = np.array([places[self._strata[row]] for row in rows.tolist()], dtype=np.int64)
        return VersionRows(self._hour[rows], stratum, _cells_of_shadow(self._cells[rows]))

    def joint(
        self, names: tuple[str, str], within: VersionStretch, *, silent: bool
    ) -> tuple[Int64Array, Int64Array]:
        """Return the outcomes of ids that both versions scored, by which flagged them.

        Args:
            names: of A and of B, of which at least one is a shadow.
            within: whole hours.
            silent: True where a pair without a label is an actual negative.

        Returns:
            Actual positives, and actual negatives, (days, 4) each, see `Joint`.
        """
        first, end = _days(within)
        found = np.zeros((end - first, *self._cells.shape[1:]), dtype=np.int64)
        for (one, other), order in ((names, [*Joint]), (names[::-1], _SWAPPED)):
            mine = (self._first == one) & (self._second == other)
            rows = np.flatnonzero(mine & self._inside(within))
            np.add.at(found, self._day(rows) - first, self._cells[rows][..., order])
        positive, negative = found[:, _POSITIVE], found[:, _NEGATIVE]
        return positive, found[:, _ALL] - positive if silent else negative

    def _of_shadow(self, name: str) -> BoolArray:
        """Return the pairs of a shadow version with deciding predictions, a pair each case."""
        return np.asarray(self._decided & (self._second == name))

    def _inside(self, within: VersionStretch) -> BoolArray:
        time = self._hour * HOUR_MS
        return np.asarray((time >= within.opens) & (time < within.closes))

    def _day(self, rows: Int64Array) -> Int64Array:
        return np.asarray(self._hour[rows] * HOUR_MS // DAY_MS)


def _days(within: VersionStretch) -> tuple[int, int]:
    return within.opens // DAY_MS, -(-within.closes // DAY_MS)


def _cells_of_shadow(pairs: Int64Array) -> Int64Array:
    """Return the cells of `monitor.join.deltas` by what the shadow version predicted."""
    cells = np.zeros((len(pairs), CELLS), dtype=np.int64)
    flagged, passed = (pairs[..., ways].sum(axis=-1) for ways in _BY_SHADOW)
    cells[:, Outcome.TP], cells[:, Outcome.FN] = flagged[:, _POSITIVE], passed[:, _POSITIVE]
    cells[:, Outcome.FP], cells[:, Outcome.TN] = flagged[:, _NEGATIVE], passed[:, _NEGATIVE]
    cells[:, PREDICTED_POSITIVE] = flagged[:, _ALL]
    cells[:, PREDICTED_NEGATIVE] = passed[:, _ALL]
    return cells
