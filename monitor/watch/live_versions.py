"""Versions of a model as a running monitor holds them, and two of them compared.

The comparison is that of recorded events (`monitor.diagnosis.versions`), over whole hours. Pairs
are ids that a configured shadow version scored as well; of two other predictions of one id the
second is a duplicate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from shlex import quote

import numpy as np

from monitor.clock import HOUR_MS
from monitor.config import Labelling, OnVersion
from monitor.drift.version_choice import (
    by_beginning,
    chosen_versions,
    first_proven_worse,
    pairs_in_use,
)
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_outcomes import VersionOutcomes, VersionRows
from monitor.drift.versions_compared import (
    VersionsCompared,
    VersionStretch,
    VersionTraffic,
    check_labelling,
    common_stretch,
    ended_version,
)
from monitor.errors import UsageError
from monitor.events.catalogue import Catalogue
from monitor.events.columns import OTHER_VALUE, VERSION_KEY, Int64Array
from monitor.events.intake import Received
from monitor.events.version_starts import VersionTimes
from monitor.join.deltas import PREDICTED_POSITIVE, known, rarer_class, unlabelled_as_negative
from monitor.verdicts import VersionsNow
from monitor.watch.held_pairs import HeldPairs, Stratum
from monitor.windows.pair_counts import PairCounts
from monitor.windows.version_counts import HeldHours, VersionCounts

NOT_KEPT = (
    "versions are not counted apart: configure segments: [version], or compare recorded events "
    "with --feed FILE"
)
"""Why nothing is compared where the version is no segment."""
_NAMED = 3
_OPTION = "versions"


@dataclass(slots=True)
class _Latest:
    """The last answer about a model, and what it was made from."""

    made_from: tuple[int, int, int | None, int, int]
    answer: VersionsNow


class LiveVersions:
    """Compares versions over the hours that a monitor holds.

    Args:
        catalogue: models, their settings and groups.
        counts: by hour and group.
        pairs: of ids that a shadow version scored as well.
        received: when each version predicted.
    """

    def __init__(
        self, catalogue: Catalogue, counts: VersionCounts, pairs: PairCounts, received: Received
    ) -> None:
        self._catalogue = catalogue
        self._counts = counts
        self._pairs = pairs
        self._received = received
        self._latest: dict[int, _Latest] = {}

    def now(self, model: int, mature_until: int | None) -> VersionsNow | None:
        """Return the version that began last, compared; None where versions are not kept.

        Args:
            model: its number.
            mature_until: moment up to which outcomes are mature, epoch milliseconds; None
                where none are.
        """
        if not self._counts.keeps(model):
            return None
        hour = None if mature_until is None else mature_until // HOUR_MS
        editions = (0, 0)
        if hour is not None:
            closes = hour * HOUR_MS
            editions = self._counts.edition(model, closes), self._pairs.edition(model, closes)
        name = self._catalogue.models[model]
        times = self._times(name)
        made_from = (*editions, hour, len(times), _latest_hour(times))
        latest = self._latest.get(model)
        if latest is None or latest.made_from != made_from:
            latest = self._latest[model] = _Latest(made_from, self.compare(name, mature_until))
        return latest.answer

    def compare(
        self,
        model: str,
        mature_until: int | None,
        versions: tuple[str, str] | None = None,
        last: int | None = None,
    ) -> VersionsNow:
        """Compare two versions of a model, where there is something to compare.

        Args:
            model: its name.
            mature_until: moment up to which outcomes are mature, epoch milliseconds; None
                where none are.
            versions: names of A, to compare with, and of B, to judge; None for the one that
                began last, and the one that predicted most since, passing by shadow versions.
            last: compare this length of time at the end, milliseconds; None for all of it.

        Raises:
            UsageError: versions are not counted apart, or one that is asked for is unknown.
        """
        number = self._catalogue.models.index(model)
        if not self._counts.keeps(number):
            raise UsageError(f"{model}: {NOT_KEPT}")
        hour = None if mature_until is None else mature_until // HOUR_MS * HOUR_MS
        times = self._times(model)
        pairs = HeldPairs(self._catalogue, number, self._pairs.held(number))
        held = _Held(self._catalogue, number, self._counts.held(number), pairs)
        there = held.traffic(times, hour or 0)
        cases = {name: pairs.mature_hours(name, hour or 0)[1] for name in pairs.names}
        since, rarer = held.made_since, partial(held.rarer_outcomes, until=hour or 0)
        asked = None
        if versions is not None:
            asked = chosen_versions(there, versions, _OPTION, since, rarer)
        of_name = {one.name: one for one in there}
        latest = max([_latest_hour(times), *(one.last for one in there)])
        diagnose = f"precision-monitor diagnose --url URL --model {quote(model)}"

        @cache
        def compared(pair: tuple[VersionTraffic, VersionTraffic]) -> VersionsCompared:
            whole = _whole(pair[0], times), _whole(pair[1], times)
            common = common_stretch(whole, hour, _OPTION, diagnose)
            held_pair = of_name[pair[0].name], of_name[pair[1].name]
            found = self._compared(number, held, held_pair, common, last)
            return replace(found, ended=ended_version(whole, latest, diagnose))

        worse = newest = None
        ignored = self._catalogue.settings[number].reference.on_version is OnVersion.KEEP
        try:
            check_labelling(model, self._catalogue.settings[number])
            if asked is None:
                deciding = [_whole(one, times) for one in self._without_shadows(model, there)]
                in_use = list(pairs_in_use(deciding, _OPTION, since, rarer))
                worse = first_proven_worse(in_use, compared)
                asked, last_of_all = in_use[0], deciding[-1]
                newest = None if asked[1] is last_of_all else of_name[last_of_all.name]
            found = replace(compared(asked), too_new=newest)
            worse = found if worse is compared(asked) else worse
        except UsageError as error:
            why = str(error).removeprefix(f"{_OPTION}: ") + self._repeated(number, there)
            return VersionsNow(None, why, shadow_cases=cases, ignored=ignored, worse=worse)
        return VersionsNow(found, shadow_cases=cases, ignored=ignored, worse=worse)

    def _times(self, model: str) -> dict[str, VersionTimes]:
        """When each version predicted; of one that was a shadow, from its first time on."""
        times = dict(self._received.shadows(model).times)
        for name, one in self._received.versions(model).times.items():
            shadow = times.get(name, one)
            firsts = [first for first in (one.first, shadow.first) if first is not None]
            times[name] = VersionTimes(min(firsts, default=None), max(one.last, shadow.last))
        return times

    def _repeated(self, model: int, there: Sequence[VersionTraffic]) -> str:
        """Return which versions have no prediction but duplicates; "" where none has."""
        since, counted = self._counts.held_since(model) or 0, {one.name for one in there}
        times = self._received.versions(self._catalogue.models[model]).times
        names = [name for name, one in times.items() if one.last >= since and name not in counted]
        if not names or OTHER_VALUE in counted:
            return ""
        listed = " and ".join(map(repr, names[-_NAMED:]))
        return (
            f"; every prediction of {listed} is of an id that was already predicted, and counts as "
            "a duplicate: if it decides nothing, configure it in shadow_versions, which compares "
            "it on the same cases"
        )

    def _without_shadows(self, model: str, there: list[VersionTraffic]) -> list[VersionTraffic]:
        """Leave out the shadow versions but the one that began last, if it began last of all."""
        deciding = self._received.versions(model).times
        shadows = self._received.shadows(model).times.keys() - deciding.keys()
        return [one for one in there if one is there[-1] or one.name not in shadows]

    def _compared(
        self,
        model: int,
        held: _Held,
        versions: tuple[VersionTraffic, VersionTraffic],
        common: VersionStretch,
        last: int | None,
    ) -> VersionsCompared:
        setting = self._catalogue.settings[model]
        opens, closes = common.opens // HOUR_MS * HOUR_MS, -(-common.closes // HOUR_MS) * HOUR_MS
        since = self._counts.held_since(model)
        earliest = opens if since is None else max(opens, since)
        if last is not None:
            earliest = max(earliest, closes - last // HOUR_MS * HOUR_MS)
        within = VersionStretch(min(earliest, closes - HOUR_MS), closes)
        names = versions[0].name, versions[1].name
        outcomes = held.outcomes(names, within)
        silent = setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT
        positive, negative = held.joint(names, within, silent=silent)
        made = outcomes.cells[..., PREDICTED_POSITIVE:].sum(axis=(1, 2))
        return VersionsCompared(
            model=self._catalogue.models[model],
            versions=versions,
            within=within,
            predictions=(int(made[0]), int(made[1])),
            segments=tuple(key for key in setting.segments if key != VERSION_KEY),
            comparison=compare_two(
                outcomes, positive.astype(np.float64), negative.astype(np.float64)
            ),
            anytime=within.opens == opens,
        )


def _latest_hour(times: Mapping[str, VersionTimes]) -> int:
    """Return the beginning of the hour of the latest prediction; 0 where no time is known."""
    return max((one.last for one in times.values()), default=0) // HOUR_MS * HOUR_MS


def _whole(version: VersionTraffic, times: Mapping[str, VersionTimes]) -> VersionTraffic:
    """Return a version with its last prediction, mature or not."""
    known = times.get(version.name)
    return version if known is None else replace(version, last=known.last)


class _Held:
    """The held hours of one model, by version and stratum, and its pairs."""

    def __init__(
        self, catalogue: Catalogue, model: int, hours: HeldHours, pairs: HeldPairs
    ) -> None:
        values = catalogue.group_values()
        place = list(catalogue.settings[model].segments).index(VERSION_KEY)
        groups, self._group = np.unique(hours.group, return_inverse=True)
        of_groups = [values[group] for group in groups.tolist()]
        self._versions = [one[place] for one in of_groups]
        strata = [one[:place] + one[place + 1 :] for one in of_groups]
        self._places: dict[Stratum, int] = {
            stratum: i for i, stratum in enumerate(sorted(pairs.strata | set(strata)))
        }
        self._strata = np.array([self._places[one] for one in strata], dtype=np.int64)
        self._hours = hours
        self._pairs = pairs
        labelling = catalogue.settings[model].labelling
        self._silent = labelling is Labelling.NEGATIVES_BY_TIMEOUT
        self.joint = pairs.joint

    def traffic(self, times: Mapping[str, VersionTimes], until: int) -> list[VersionTraffic]:
        """Return the versions in the order of `by_beginning`.

        Args:
            times: of the first and the last prediction by version.
            until: count predictions before this moment, epoch milliseconds; a last
                prediction is at most the one before it.
        """
        found = []
        made = self._hours.cells[:, PREDICTED_POSITIVE:].sum(axis=1)
        mature = (made > 0) & (self._hours.hour * HOUR_MS < until)
        for name in dict.fromkeys([*self._versions, *self._pairs.names]):
            rows, known = self._rows_of(name), times.get(name)
            rows = rows[mature[rows]]
            paired, pairs = self._pairs.mature_hours(name, until)
            hours = np.sort(np.concatenate([self._hours.hour[rows], paired]))
            if not len(hours) and known is None:
                continue
            first = int(hours[0]) * HOUR_MS if len(hours) else until
            last = (int(hours[-1]) + 1) * HOUR_MS - 1 if len(hours) else first
            if known is not None:
                first = first if known.first is None else known.first
                last = max(first, min(known.last, until - 1))
            found.append(VersionTraffic(name, int(made[rows].sum()) + pairs, first, last))
        return list(by_beginning(found))

    def made_since(self, name: str, moment: int) -> int:
        """Return how many held predictions a version made from the hour of a moment on.

        Args:
            name: of the version.
            moment: epoch milliseconds.
        """
        rows = self._rows_of(name)
        rows = rows[self._hours.hour[rows] >= moment // HOUR_MS]
        return int(self._hours.cells[rows, PREDICTED_POSITIVE:].sum())

    def rarer_outcomes(self, name: str, until: int) -> int:
        """Return how many held outcomes a version has of the class that it has fewer of.

        Args:
            name: of the version.
            until: of predictions before this moment, epoch milliseconds.
        """
        hours = np.append(
            self._hours.hour[self._rows_of(name)], self._pairs.mature_hours(name, until)[0]
        )
        opens = int(hours.min(initial=until // HOUR_MS)) * HOUR_MS
        if opens >= until:
            return 0
        outcomes = self.outcomes((name,), VersionStretch(opens, until))
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

    def _counted(self, name: str, within: VersionStretch) -> VersionRows:
        rows, hour = self._rows_of(name), self._hours.hour
        time = hour[rows] * HOUR_MS
        rows = rows[(time >= within.opens) & (time < within.closes)]
        decided = hour[rows], self._strata[self._group[rows]], self._hours.cells[rows]
        pairs = self._pairs.counted(name, self._places, within)
        return VersionRows(*map(np.concatenate, zip(decided, pairs, strict=True)))

    def _rows_of(self, name: str) -> Int64Array:
        mine = np.array([version == name for version in self._versions], dtype=np.bool_)
        return np.flatnonzero(mine[self._group])
