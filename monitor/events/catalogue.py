"""The models, groups and series, each with a number.

A *group* is a model with one combination of segment values; each prediction belongs to
one. A *series* is a row of every table of counts: the totals of a model, or one of its
segment values. A group counts in the series of the totals and in one series for each
segment key. Once a model has reached its cap, new values count as `OTHER_VALUE`, so that
the number of series is bounded and totals stay exact; versions still have groups of their
own, by which two of them are compared, and a later version can take over the series of one
that has ended. A group of a shadow version counts in no series: its predictions are compared
with those of the version that decides, and no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from monitor.config import Config, ModelConfig
from monitor.events.columns import (
    MISSING_VALUE,
    OTHER_VALUE,
    VERSION_KEY,
    BoolArray,
    Group,
    Int64Array,
    Rows,
    Series,
)
from monitor.events.counted_values import CountedValues, counted_by, is_of_shadow, with_counts_of
from monitor.events.group_tables import NO_ROW, GroupTables
from monitor.events.known_groups import UNKNOWN_GROUP, KnownGroups, Numbered
from monitor.events.renumbering import GONE, Numbers, State, renumbered
from monitor.events.series_come import SeriesCome
from monitor.events.series_numbers import SegmentValue, SeriesNumbers

MAX_GROUPS = 1 << 20
"""Most combinations of segment values; later ones count as `OTHER_VALUE`."""

_GroupKey = tuple[int, tuple[str, ...], *tuple[bool, ...]]
"""Number of the model and segment values, followed by True if the version is a shadow.

It is what the state holds: to copy hundreds of thousands of them takes a tenth of a second."""


class Catalogue:
    """Numbers models, groups and series in the order of their appearance.

    Args:
        config: the accepted models, their segments, and the caps.

    Attributes:
        has_shadows: a model has, or may have, shadow versions.
        values: what segment values count as.
        come: how many series have come.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._models: dict[str, int] = {}
        self._settings: list[ModelConfig] = []
        self._groups: dict[_GroupKey, int] = {}
        self._series = SeriesNumbers()
        self._tables = GroupTables()
        self._shadow_names: dict[int, str] = {}
        self.has_shadows = any(one.shadow_versions for one in self.possible_settings)
        self.values = CountedValues(config, self._series)
        self._names: tuple[str, ...] = ()
        self._owner = np.zeros(0, dtype=np.int64)
        self._rows_of: tuple[int, list[Int64Array]] = (0, [])
        self._known = KnownGroups(self._number)
        self._rank = np.zeros(0, dtype=np.int64)
        for name in config.models:
            self._enter_model(name)
        self.come = SeriesCome()

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, by number."""
        if len(self._names) != len(self._models):
            self._names = tuple(self._models)
        return self._names

    @property
    def settings(self) -> Sequence[ModelConfig]:
        """Their settings, by number."""
        return self._settings

    @property
    def possible_settings(self) -> Sequence[ModelConfig]:
        """Settings of the current models, and of models that may still appear."""
        return [*self._config.models.values()] or [self._config.defaults]

    @property
    def series(self) -> tuple[Series, ...]:
        """The series, by number."""
        return self._series.names

    @property
    def series_count(self) -> int:
        """Rows that a table of counts needs."""
        return len(self._series)

    @property
    def model_of_group(self) -> Int64Array:
        """Model number of each group."""
        return self._tables.models

    @property
    def shadows(self) -> BoolArray:
        """True for the groups of shadow versions."""
        flags = np.zeros(len(self._groups), dtype=np.bool_)
        flags[[*self._shadow_names]] = True
        return flags

    @property
    def shadow_names(self) -> Mapping[int, str]:
        """Names of the shadow versions by the numbers of their groups."""
        return self._shadow_names

    @property
    def rows(self) -> Int64Array:
        """Series of each group, (groups, 1 + most segment keys), `NO_ROW` for a missing key.

        The first column is the model's totals.
        """
        return self._tables.rows

    def series_of_groups(self, groups: Int64Array) -> tuple[Rows, Int64Array]:
        """Return the series that each of these groups counts in.

        Returns:
            Indices of the groups, once for each of their series; and the series.
        """
        rows = self.rows[groups]
        if rows.shape[1] == 1:  # no segments: each counts only in its model's totals
            return slice(None), rows[:, 0]
        event, column = (rows != NO_ROW).nonzero()
        return event, rows[event, column]

    def model_of_series(self) -> Int64Array:
        """Model number of each series; not to be written to."""
        if len(self._owner) != len(self._series):
            owner = [self._models[series.model] for series in self._series.names]
            self._owner = np.array(owner, dtype=np.int64)
            self._owner.flags.writeable = False
        return self._owner

    def rows_of(self, model: int) -> Int64Array:
        """Return the series of a model by its number, in order; not to be written to."""
        if self._rows_of[0] != len(self._series):
            owner = self.model_of_series()
            order, bounds = np.argsort(owner, kind="stable"), np.arange(1, len(self._models))
            order.flags.writeable = False
            of_models = np.split(order, np.searchsorted(owner[order], bounds))
            self._rows_of = len(self._series), of_models
        return self._rows_of[1][model]

    def set_classes(self, model: int, names: tuple[str, ...]) -> None:
        """Give a model other names of its classes.

        Args:
            model: its number.
            names: of all of them.
        """
        self._settings[model] = self._settings[model].model_copy(update={"classes": names})

    def hand_over(self, model: int, version: str, ended: str | None) -> tuple[int, int]:
        """Give a version a series: a new one, or that of a version that has ended.

        What counts for the ended version from now on counts as `OTHER_VALUE`. The caller moves
        what has counted so far, before the series counts anything else.

        Args:
            model: number of the model.
            version: its version; it has no series.
            ended: the other version, which has one; None where there is room.

        Returns:
            The series, and the one of `OTHER_VALUE`.
        """
        row, other = self.values.hand_over(self.models[model], version, ended)
        at = self._settings[model].segments.index(VERSION_KEY)
        for group, (owner, values, *shadow) in enumerate(self._groups):
            if owner == model and not shadow and values[at] in (version, ended):
                self._tables.assign(group, 1 + at, row if values[at] == version else other)
        self._known.forget()
        return row, other

    def totals_row(self, model: str) -> int:
        """Return the row of a model's totals."""
        return self._series.of_totals(model)

    def knows(self, groups: Sequence[Group]) -> bool:
        """Return whether the numbers of all these groups are cached."""
        return self._known.knows(groups)

    def foreseen_models(self, groups: Sequence[Group]) -> Int64Array:
        """Return the model number that each group would get, without entering any.

        Args:
            groups: of a batch, in the order of the first record of each.

        Returns:
            `UNKNOWN_GROUP` for a model that would not be accepted.
        """
        found = dict(self._models)
        most = 0 if self._config.models else self._config.max_models
        for group in groups:
            if group.model not in found and len(found) < most:
                found[group.model] = len(found)
        return np.array([found.get(group.model, UNKNOWN_GROUP) for group in groups], np.int64)

    def setting_of(self, model: str) -> ModelConfig:
        """Return the settings of a model that is accepted, also before it is entered."""
        return self._config.model(model)

    def enter_groups(self, groups: Sequence[Group]) -> None:
        """Number some groups of a batch, before `groups_of` numbers all of them."""
        self._known.numbered(groups)

    def groups_of(self, groups: Sequence[Group]) -> tuple[Int64Array, BoolArray]:
        """Return numbers of a batch's groups, and which had a value replaced by `OTHER_VALUE`.

        The number is `UNKNOWN_GROUP` for a model that is not accepted.
        """
        numbered = self._known.numbered(groups)
        self._known.tidy()
        numbers, overflowed = zip(*numbered, strict=True) if numbered else ((), ())
        return np.array(numbers, dtype=np.int64), np.array(overflowed, dtype=np.bool_)

    def named_groups(self) -> list[tuple[str, dict[str, str]]]:
        """Return the model and the segment values by key of each group, by number."""
        found = []
        for model, values, *_ in self._groups:
            keys = self._settings[model].segments
            given = {k: v for k, v in zip(keys, values, strict=True) if v != MISSING_VALUE}
            found.append((self.models[model], given))
        return found

    def names_rank(self) -> Int64Array:
        """Rank of each group by names, whatever the order of arrival; not to be written to."""
        if len(self._rank) < len(self._groups):
            names = [(self.models[model], values) for model, values, *_ in self._groups]
            order = sorted(range(len(names)), key=names.__getitem__)
            self._rank = np.empty(len(names), dtype=np.int64)
            self._rank[order] = np.arange(len(names))
        return self._rank

    def group_values(self) -> list[tuple[str, ...]]:
        """Return the segment values of each group, in the order of its model's segment keys."""
        return [group[1] for group in self._groups]

    def state(self) -> State:
        """Models with the settings that their counts depend on, groups and series, in order."""
        return {
            "models": [
                {"name": name, **counted_by(setting)}
                for name, setting in zip(self._models, self._settings, strict=True)
            ],
            "groups": [*self._groups],
            "series": [list(series) for series in self._series.names],
        }

    def restore(self, state: State, without: Collection[str] = ()) -> Numbers:
        """Restore from `state`; return which of its numbers are left.

        A model that is no longer configured is dropped. So is a model whose segments or
        clock have changed, whose labels are weighted now or no longer, or which has other
        classes (see `with_counts_of`), but for further ones at the end: it starts empty.

        Args:
            state: of an earlier run.
            without: names of models to leave out.
        """
        known, found = list(self._models), state["models"]
        going_on = [None if m["name"] in without else self._going_on(m) for m in found]
        models = np.flatnonzero([setting is not None for setting in going_on])
        new = renumbered(np.arange(len(found)), models)
        self._models, self._settings, self._names, self._shadow_names = {}, [], (), {}
        self._owner, self._rows_of = self._owner[:0], (0, [])
        for model, setting in zip(found, going_on, strict=True):
            if setting is not None:
                self._models[model["name"]] = len(self._models)
                self._settings.append(setting)
        left = [i for i, s in enumerate(state["series"]) if s[0] in self._models]
        self._series = SeriesNumbers(Series(*state["series"][i]) for i in left)
        self.values = CountedValues(self._config, self._series)
        groups = [i for i, (model, *_) in enumerate(state["groups"]) if new[model] != GONE]
        for i in groups:
            model, values, *shadow = state["groups"][i]
            self._enter_group((int(new[model]), tuple(values), *shadow))
        for name in known:
            if name not in self._models:
                self._enter_model(name)
        return Numbers(models, np.array(left, np.int64), np.array(groups, np.int64))

    def _going_on(self, model: State) -> ModelConfig | None:
        """Return the settings of a model whose counts go on; None of another one."""
        accepted = self._config.accepts(name := model["name"])
        return with_counts_of(self._config.model(name), model) if accepted else None

    def _number(self, group: Group) -> Numbered:
        """As `groups_of`, for one group; the answer never changes, since caps stay reached."""
        series = self.series_count
        model = self._model(group.model)
        if model == UNKNOWN_GROUP:
            return UNKNOWN_GROUP, False
        shadow = is_of_shadow(group, self._settings[model])
        of, models = (group.model, self._settings[model]), len(self._settings)
        counted = self.values.counted(*of, group.values, shadow=shadow, models=models)
        values = self.values.grouped_by(*of, group.values, counted)
        marks = (True,) if shadow else ()
        number = self._groups.get((model, values, *marks))
        if number is None and len(self._groups) >= MAX_GROUPS - self._config.max_models:
            counted = values = (OTHER_VALUE,) * len(values)
            number = self._groups.get((model, values, *marks))
        if number is None:
            number = self._enter_group((model, values, *marks))
        if self.series_count > series:
            self.come.enter(group, series)
        return number, counted != group.values

    def _model(self, name: str) -> int:
        if (known := self._models.get(name)) is not None:
            return known
        if self._config.models or len(self._models) >= self._config.max_models:
            return UNKNOWN_GROUP
        return self._enter_model(name)

    def _enter_model(self, name: str) -> int:
        number = self._models[name] = len(self._models)
        self._settings.append(self._config.model(name))
        self._series.enter(Series(name))
        return number

    def _enter_group(self, group: _GroupKey) -> int:
        model, values, *shadow = group
        name, keys, rows = self.models[model], self._settings[model].segments, []
        number = self._groups[group] = len(self._groups)
        if shadow:
            self._shadow_names[number] = values[keys.index(VERSION_KEY)]
        else:
            rows.append(self._series.of_totals(name))
            for key, value in zip(keys, values, strict=True):
                rows.append(self._series.of_value(SegmentValue(name, key, value)))
        if VERSION_KEY in keys:
            self.values.note_version(name, values[keys.index(VERSION_KEY)], shadow=bool(shadow))
        self._tables.enter(model, rows)
        return number
