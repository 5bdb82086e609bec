"""Versions of one model as a running monitor holds them, by hour and stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from monitor.clock import HOUR_MS
from monitor.config import Labelling
from monitor.drift.version_choice import by_beginning
from monitor.drift.version_outcomes import VersionOutcomes, VersionRows
from monitor.drift.versions_compared import VersionStretch, VersionTraffic
from monitor.events.catalogue import Catalogue
from monitor.events.columns import VERSION_KEY, Int64Array
from monitor.events.early_predictions import earliest, settled_at
from monitor.events.version_starts import VersionTimes
from monitor.join.deltas import PREDICTED_POSITIVE, known, rarer_class, unlabelled_as_negative
from monitor.watch.held_pairs import HeldPairs, Stratum
from monitor.windows.version_counts import HeldHours


class HeldVersions:
    """The held hours of one model, by version and stratum, and its pairs.

    Args:
        catalogue: of models and groups.
        model: number of the model, which has `version` among its segments.
        hours: its counts.
        pairs: its pairs.
        times: when each version predicted, by its name.
        until: moment up to which outcomes are mature, a whole hour, epoch milliseconds; None
            where none are.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        model: int,
        hours: HeldHours,
        pairs: HeldHours,
        *,
        times: Mapping[str, VersionTimes],
        until: int | None,
    ) -> None:
        self._times, self._mature = times, until or 0
        self.until = until
        self._pairs = HeldPairs(catalogue, model, pairs)
        values = catalogue.group_values()
        place = list(catalogue.settings[model].segments).index(VERSION_KEY)
        groups, self._group = np.unique(hours.group, return_inverse=True)
        of_groups = [values[group] for group in groups.tolist()]
        self._versions = [one[place] for one in of_groups]
        self._rows = self._by_version()
        strata = [one[:place] + one[place + 1 :] for one in of_groups]
        self._places: dict[Stratum, int] = {
            stratum: i for i, stratum in enumerate(sorted(self._pairs.strata | set(strata)))
        }
        self._strata = np.array([self._places[one] for one in strata], dtype=np.int64)
        self._hours = hours
        labelling = catalogue.settings[model].labelling
        self._silent = labelling is Labelling.NEGATIVES_BY_TIMEOUT
        self.there = self._traffic()
        """The versions as far as they are mature, in the order of `by_beginning`."""

    @property
    def shadow_cases(self) -> dict[str, int]:
        """Mature pairs of each shadow version with deciding predictions, by its name."""
        return {name: self._pairs.mature_hours(name, self._mature)[1] for name in self._pairs.names}

    @property
    def latest(self) -> int:
        """Time of the latest prediction, epoch milliseconds."""
        noted = (one.last for one in self._times.values())
        return max([*noted, *(one.last for one in self.there)], default=0)

    def mature(self, version: VersionTraffic) -> VersionTraffic:
        """Return a version as far as it is mature.

        Args:
            version: one of `there`, or what `whole` returned of it.
        """
        return next(one for one in self.there if one.name == version.name)

    def whole(self, version: VersionTraffic) -> VersionTraffic:
        """Return a version with its last prediction, mature or not.

        Args:
            version: one of `there`.
        """
        known = self._times.get(version.name)
        return version if known is None else replace(version, last=known.last)

    def made_since(self, name: str, moment: int) -> int:
        """Return how many held predictions a version made from the hour of a moment on.

        Args:
            name: of the version.
            moment: epoch milliseconds.
        """
        rows = self._rows_of(name)
        rows = rows[self._hours.hour[rows] >= moment // HOUR_MS]
        return int(self._hours.cells[rows, PREDICTED_POSITIVE:].sum())

    def names_in(self, opens: int, closes: int) -> frozenset[str]:
        """Return the versions with a prediction in the hours of a stretch of time.

        Args:
            opens: first moment, epoch milliseconds.
            closes: first moment after it.
        """
        hours, made = self._hours.hour, self._hours.cells[:, PREDICTED_POSITIVE:].sum(axis=1)
        there = (made > 0) & (hours >= opens // HOUR_MS) & (hours * HOUR_MS < closes)
        return frozenset(self._versions[group] for group in set(self._group[there].tolist()))

    def rarer_outcomes(self, name: str) -> int:
        """Return how many mature outcomes a version has of the class that it has fewer of.

        Args:
            name: of the version.
        """
        paired, _ = self._pairs.mature_hours(name, self._mature)
        hours = np.append(self._hours.hour[self._rows_of(name)], paired)
        opens = int(hours.min(initial=self._mature // HOUR_MS)) * HOUR_MS
        if opens >= self._mature:
            return 0
        outcomes = self.outcomes((name,), VersionStretch(opens, self._mature))
        return rarer_class(outcomes.cells.sum(axis=(0, 1)))

    def outcomes(self, names: Sequence[str], within: VersionStretch) -> VersionOutcomes:
        """Return the outcomes of versions, with the six cells of `monitor.join.deltas`.

        Args:
            names: of the versions.
            within: whole hours.
        """
        found = VersionOutcomes.of_rows([self._counted(name, within) for name in names])
        cells = known(found.cells)
        return replace(found, cells=unlabelled_as_negative(cells) if self._silent else cells)

    def joint(
        self, names: tuple[str, str], within: VersionStretch
    ) -> tuple[Int64Array, Int64Array]:
        """Return the outcomes of ids that both versions scored, see `HeldPairs.joint`.

        Args:
            names: of A and of B.
            within: whole hours.
        """
        return self._pairs.joint(names, within, silent=self._silent)

    def _traffic(self) -> list[VersionTraffic]:
        found, until = [], self._mature
        made = self._hours.cells[:, PREDICTED_POSITIVE:].sum(axis=1)
        is_mature = (made > 0) & (self._hours.hour * HOUR_MS < until)
        for name in dict.fromkeys([*self._versions, *self._pairs.names]):
            rows, times = self._rows_of(name), self._times.get(name)
            rows = rows[is_mature[rows]]
            paired, pairs = self._pairs.mature_hours(name, until)
            hours = np.sort(np.append(self._hours.hour[rows], paired))
            if not len(hours) and times is None:
                continue
            first = int(hours[0]) * HOUR_MS if len(hours) else until
            last = (int(hours[-1]) + 1) * HOUR_MS - 1 if len(hours) else first
            early = earliest(self._hours.hour[rows] * HOUR_MS, made[rows])
            settled = settled_at(early) if times is None else times.settled
            if times is not None:
                first = first if times.first is None else times.first
                last = max(first, min(times.last, until - 1))
            predictions = int(made[rows].sum()) + pairs
            found.append(VersionTraffic(name, predictions, first, last, settled))
        return [*by_beginning(found)]

    def _counted(self, name: str, within: VersionStretch) -> VersionRows:
        rows, hour = self._rows_of(name), self._hours.hour
        time = hour[rows] * HOUR_MS
        rows = rows[(time >= within.opens) & (time < within.closes)]
        decided = hour[rows], self._strata[self._group[rows]], self._hours.cells[rows]
        pairs = self._pairs.counted(name, self._places, within)
        return VersionRows(*map(np.concatenate, zip(decided, pairs, strict=True)))

    def _by_version(self) -> dict[str, Int64Array]:
        """Return the rows of each version, found once: there may be a thousand versions."""
        codes: dict[str, int] = {}
        of_group = [codes.setdefault(name, len(codes)) for name in self._versions]
        of_row = np.array(of_group, dtype=np.int64)[self._group]
        ends = np.bincount(of_row, minlength=len(codes)).cumsum()
        rows = np.split(np.argsort(of_row, kind="stable"), ends)
        return dict(zip(codes, rows, strict=False))  # nothing is behind the last end

    def _rows_of(self, name: str) -> Int64Array:
        return self._rows.get(name, np.zeros(0, dtype=np.int64))
