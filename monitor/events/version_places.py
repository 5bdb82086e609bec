"""Series of versions that have ended, given to versions that come when there is room for none.

A model has a series for each of its first `max_segment_values` versions. One that is deployed
every day would have no more room after some weeks, though few of these versions are still in use.
So a version without a series takes over the one of the version that has ended first, if labels
of that version's predictions can no longer come and no window reaches back to them. What it
counted is counted as `OTHER_VALUE` from then on.

Who gets a series depends on what the records before have made of the model's time and versions.
The batch is therefore cut before the record that asks for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from monitor.config import Config, ModelConfig
from monitor.config.forget_after import longest_counted
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    MISSING_VALUE,
    NO_TIME,
    OTHER_VALUE,
    VERSION_KEY,
    EventBatch,
    Int64Array,
    rows_where,
)
from monitor.events.version_starts import ModelVersions

_NEVER, _AFTER_ALL = -(1 << 60), 1 << 60
_UNNAMED = (MISSING_VALUE, OTHER_VALUE)


class Newcomer(NamedTuple):
    """A record of a version without a series.

    Attributes:
        model: name of the model.
        version: its version.
        row: the record, as in the `row` columns.
        time: event time of the prediction, epoch milliseconds.
    """

    model: str
    version: str
    row: int
    time: int


class HandOver(NamedTuple):
    """A series that counts another version from now on.

    Attributes:
        model: number of the model.
        row: the series; its counts belong to `into`, and are to be moved.
        into: the series of `OTHER_VALUE`.
    """

    model: int
    row: int
    into: int


class VersionPlaces:
    """Finds versions that need a series, and versions that no longer do.

    Args:
        config: windows, horizons and caps.
        catalogue: numbers of models, groups and series.
        versions: returns the versions of a model by its name.
    """

    def __init__(
        self, config: Config, catalogue: Catalogue, versions: Callable[[str], ModelVersions]
    ) -> None:
        self._config = config
        self._catalogue = catalogue
        self._versions = versions
        self._in_use = any(VERSION_KEY in one.segments for one in catalogue.possible_settings)

    def may_change(self, batch: EventBatch) -> bool:
        """Return whether a version of a batch may take over a series.

        Args:
            batch: as decoded.
        """
        if not self._in_use:
            return False
        if not self._catalogue.values.has_other_versions and self._catalogue.knows(batch.groups):
            return False
        return any(self._without_series(batch).values())

    def newcomer(
        self, batch: EventBatch, times: Int64Array, decided: int | None = None
    ) -> Newcomer | None:
        """Return the first record of a batch whose version may take over a series.

        Args:
            batch: as decoded, its rows in the order of their records; no epoch of the models'
                times ends in it.
            times: of the models before the batch by number, epoch milliseconds.
            decided: leave out records up to this one.

        Returns:
            None without one.
        """
        behind = _NEVER if decided is None else decided
        asking = (
            self._first_asking(model, versions, batch, times, behind)
            for model, versions in self._without_series(batch).items()
        )
        return min(filter(None, asking), key=lambda one: one.row, default=None)

    def hand_over(self, newcomer: Newcomer, times: Int64Array) -> HandOver | None:
        """Give a version the series of one that has ended, or one that is free by now.

        Args:
            newcomer: the version; its record is the next that is counted.
            times: of the models by number, epoch milliseconds.

        Returns:
            What to move; None where the version gets no series, or gets one as it is counted.
        """
        catalogue, (model, version, _, time) = self._catalogue, newcomer
        if model not in catalogue.models or catalogue.values.has_own(model, version):
            return None
        number = catalogue.models.index(model)
        need = longest_counted(catalogue.settings[number], self._config.window_names)
        if need is None or times[number] == NO_TIME or time <= times[number] - need:
            return None
        since, ended = int(times[number]) - need, None
        returns = catalogue.values.is_other_version(model, version)
        if returns and not self._has_ended(model, version, since):
            return None
        if self._room(model) > 0:
            if not returns:
                return None
        elif (ended := self._first_ended(number, since)) is None:
            return None
        return HandOver(number, *catalogue.hand_over(number, version, ended))

    def _without_series(self, batch: EventBatch) -> dict[str, dict[str, list[int]]]:
        """Return groups by model and version, of versions that may not get a series."""
        found: dict[str, dict[str, list[int]]] = {}
        values, series = self._catalogue.values, 0
        for group, (model, _, of_keys) in enumerate(batch.groups):
            setting = self._setting(model)
            series += 1 + len(setting.segments)
            if VERSION_KEY not in setting.segments:
                continue
            version = of_keys[setting.segments.index(VERSION_KEY)]
            if not (setting.is_shadow(version) or values.has_own(model, version)):
                found.setdefault(model, {}).setdefault(version, []).append(group)
        return {
            model: {one: groups for one, groups in versions.items() if one not in _UNNAMED}
            for model, versions in found.items()
            if any(values.is_other_version(model, one) for one in versions)
            or self._room(model, others=series) < len(versions)
        }

    def _first_asking(
        self,
        model: str,
        versions: Mapping[str, list[int]],
        batch: EventBatch,
        times: Int64Array,
        decided: int,
    ) -> Newcomer | None:
        """Return the first record behind `decided` that may ask for a series.

        That is one of a new version, or one before which a version may have been silent for long,
        but for those that get none whatever the records between decide: those that are too late
        by now, and, where there is no room, those by which no series can have ended.
        """
        need = longest_counted(self._setting(model), self._config.window_names)
        if need is None:
            return None
        now = self._time_of(model, times)
        lasts = {one: self._last_of(model, one) for one in versions}
        before = max(now, _latest(batch)) - need
        silent = [one for one, last in lasts.items() if last <= before]
        ended = _NEVER if self._room(model) > 0 else self._ends_first(model)
        if not silent or ended > before:
            return None
        row, time, group, reached = _rows_of(model, batch)
        number_of = np.full(len(batch.groups), -1, dtype=np.int64)
        for number, version in enumerate(silent):
            number_of[versions[version]] = number
        late = now - need if now != NO_TIME else _NEVER
        latest, at = [lasts[version] for version in silent], number_of[group]
        own = rows_where((at >= 0) & (time != NO_TIME))
        since = np.maximum(reached, now) - need
        columns = (column[own].tolist() for column in (row, time, at, since))
        for place, moment, number, then in zip(*columns, strict=True):
            asks = latest[number] <= then and place > decided
            if asks and moment > late and ended <= then:
                return Newcomer(model, silent[number], place, moment)
            latest[number] = max(latest[number], moment)
        return None

    def _setting(self, model: str) -> ModelConfig:
        known = self._config.models
        return known.get(model, self._config.defaults) if known else self._config.defaults

    def _time_of(self, model: str, times: Int64Array) -> int:
        """Return the time of a model; `NO_TIME` where it has none."""
        models = self._catalogue.models[: len(times)]
        return int(times[models.index(model)]) if model in models else NO_TIME

    def _last_of(self, model: str, version: str) -> int:
        """Return when a version predicted last; what is new did long ago."""
        if not self._catalogue.values.is_other_version(model, version):
            return _NEVER
        last = self._versions(model).last_of(version)
        return _AFTER_ALL if last is None else last

    def _has_ended(self, model: str, version: str, since: int) -> bool:
        """Return whether a version is known to have predicted, and not after a moment."""
        last = self._versions(model).last_of(version)
        return last is not None and last <= since

    def _room(self, model: str, others: int = 0) -> int:
        setting, models = self._setting(model), len(self._catalogue.models)
        return self._catalogue.values.room_for_versions(model, setting, models + others)

    def _first_ended(self, number: int, since: int) -> str | None:
        """Return the version with a series that ended first; None while all may be needed."""
        model = self._catalogue.models[number]
        lasts = ((self._versions(model).last_of(name), name) for name in self._with_series(model))
        ended = [(last, name) for last, name in lasts if last is not None and last <= since]
        return min(ended)[1] if ended else None

    def _ends_first(self, model: str) -> int:
        """Return the last prediction of the version with a series that ends first.

        Records can only move it on, where there is no room: a series is only given to a version
        that predicts.
        """
        known, names = self._versions(model), self._with_series(model)
        lasts = [known.last_of(name) for name in names]
        return min((_NEVER if last is None else last for last in lasts), default=_AFTER_ALL)

    def _with_series(self, model: str) -> list[str]:
        """Return the versions of a model that have a series of their own."""
        catalogue = self._catalogue
        if model not in catalogue.models:
            return []
        rows = catalogue.rows_of(catalogue.models.index(model)).tolist()
        series = [catalogue.series[row] for row in rows]
        return [
            name
            for _, key, name in series
            if key == VERSION_KEY and name is not None and name not in _UNNAMED
        ]


def _latest(batch: EventBatch) -> int:
    """Return the latest time that any row carries; `NO_TIME` without rows."""
    carried = (batch.predictions.time, batch.outcomes.time, batch.counts.time, batch.counts.reached)
    return max(int(time.max(initial=NO_TIME)) for time in carried)


def _rows_of(model: str, batch: EventBatch) -> tuple[Int64Array, ...]:
    """Return the rows of a model in the order of their records.

    Returns:
        The record, the event time of the prediction (`NO_TIME` for counts), the group, and the
        latest time that the rows up to this one carry.
    """
    groups = [code for code, group in enumerate(batch.groups) if group.model == model]
    found = []
    for columns in (batch.predictions, batch.outcomes, batch.counts):
        own = np.flatnonzero(np.isin(columns.group, groups))
        carried = columns.time[own]
        made = carried
        if columns is batch.counts:
            carried = np.maximum(carried, batch.counts.reached[own])
            made = np.full(len(own), NO_TIME, dtype=np.int64)
        found.append((columns.row[own], made, columns.group[own], carried))
    row, time, group, carried = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    return row[order], time[order], group[order], np.maximum.accumulate(carried[order])
