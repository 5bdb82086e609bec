"""What the segment values of predictions count as: themselves up to a cap, or `OTHER_VALUE`.

A version beyond the cap counts as `OTHER_VALUE` for as long as labels of its predictions may
come: what was added to one series must be taken off the same one. Later it may get one, see
`monitor.events.version_places`.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.config import Config, Labelling, ModelConfig
from monitor.config.classes import LearnedNames
from monitor.events.columns import (
    MISSING_VALUE,
    MOST_VERSION_NAMES,
    OTHER_VALUE,
    VERSION_KEY,
    Group,
)
from monitor.events.renumbering import State
from monitor.events.series_numbers import SegmentValue, SeriesNumbers

_TWO = "two_classes"
"""Key of the names of two classes in a state; none where they are 0 and 1."""


class CountedValues:
    """Applies the caps on segment values, of all models by name.

    Args:
        config: the caps.
        series: numbers of the series.
    """

    def __init__(self, config: Config, series: SeriesNumbers) -> None:
        self._config = config
        self._series = series
        self._versions: dict[str, set[str]] = {}
        self._others: dict[str, set[str]] = {}

    def counted(
        self,
        model: str,
        setting: ModelConfig,
        values: tuple[str, ...],
        *,
        shadow: bool,
        models: int,
    ) -> tuple[str, ...]:
        """Return what segment values count as; new ones get a series where there is room.

        Args:
            model: name of the model.
            setting: its settings.
            values: one for each of its segment keys.
            shadow: whether the version is a shadow, which counts in no series.
            models: how many models there are.
        """
        most, others = self._most(setting, models), self._others.get(model, ())
        found = []
        for key, value in zip(setting.segments, values, strict=True):
            if key == VERSION_KEY and (shadow or value in others):
                found.append(value if shadow else OTHER_VALUE)
            else:
                found.append(self._series.counted(SegmentValue(model, key, value), *most))
        return tuple(found)

    @property
    def has_other_versions(self) -> bool:
        """Whether versions of any model count as `OTHER_VALUE`."""
        return any(self._others.values())

    def is_other_version(self, model: str, version: str) -> bool:
        """Return whether a version that has predicted counts as `OTHER_VALUE`.

        Args:
            model: name of the model.
            version: its version.
        """
        return version in self._others.get(model, ())

    def has_own(self, model: str, version: str) -> bool:
        """Return whether a version has a series of its own.

        Args:
            model: name of the model.
            version: its version.
        """
        return self._series.has_own(SegmentValue(model, VERSION_KEY, version))

    def room_for_versions(self, model: str, setting: ModelConfig, models: int) -> int:
        """Return how many more versions of a model can get a series; may be negative.

        Args:
            model: its name.
            setting: its settings.
            models: how many models there are.
        """
        return self._series.room(model, VERSION_KEY, *self._most(setting, models))

    def grouped_by(
        self, model: str, setting: ModelConfig, values: tuple[str, ...], counted: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the values that a group is made of: as counted, but with the version itself.

        Args:
            model: name of the model.
            setting: its settings.
            values: one for each of its segment keys.
            counted: what they count as.
        """
        if VERSION_KEY not in setting.segments:
            return counted
        names = self._versions.setdefault(model, set())
        return tuple(
            value
            if key == VERSION_KEY and (value in names or len(names) < MOST_VERSION_NAMES)
            else one
            for key, value, one in zip(setting.segments, values, counted, strict=True)
        )

    def note_version(self, model: str, version: str, *, shadow: bool) -> None:
        """Note the version of a new group.

        Args:
            model: name of the model.
            version: its version.
            shadow: whether it is a shadow, which counts in no series.
        """
        self._versions.setdefault(model, set()).add(version)
        if not shadow and not self.has_own(model, version):
            self._others.setdefault(model, set()).add(version)

    def hand_over(self, model: str, version: str, ended: str | None) -> tuple[int, int]:
        """Give a version a series: a new one, or that of a version that has ended.

        Args:
            model: name of the model.
            version: its version; it has no series.
            ended: the other version, which has one; None where there is room.

        Returns:
            The series, and the one of `OTHER_VALUE`, as which the ended version counts now.
        """
        other = self._series.of_value(SegmentValue(model, VERSION_KEY, OTHER_VALUE))
        others = self._others.setdefault(model, set())
        others.discard(version)
        new = SegmentValue(model, VERSION_KEY, version)
        if ended is None:
            return self._series.enter(new.series), other
        others.add(ended)
        return self._series.hand_over(SegmentValue(model, VERSION_KEY, ended), version), other

    def _most(self, setting: ModelConfig, models: int) -> tuple[int, int]:
        """Return the most values of a key of a model, and the most series of segment values."""
        return setting.max_segment_values, self._config.max_series - models


def is_of_shadow(group: Group, setting: ModelConfig) -> bool:
    """Return whether a group is of a shadow version.

    Args:
        group: as decoded.
        setting: of its model.
    """
    if not setting.shadow_versions:
        return False
    version = group.values[setting.segments.index(VERSION_KEY)]
    return version != MISSING_VALUE and setting.is_shadow(version)


def with_counts_of(setting: ModelConfig, saved: State) -> ModelConfig | None:
    """Return settings of a model with which saved counts go on; None where they mean another thing.

    Args:
        setting: as configured.
        saved: the name of the model, and what `counted_by` returned for these counts.

    Returns:
        The settings; where the model learns its classes, with the saved ones.
    """
    return None if changed_meaning(setting, saved) else _with_learned(setting, saved)


def changed_meaning(setting: ModelConfig, saved: State) -> list[str]:
    """Return what has changed since counts were saved, so that they mean another thing.

    Args:
        setting: of a model, as configured.
        saved: the name of the model, and what `counted_by` returned for these counts.

    Returns:
        Keys of `counted_by`; none where the counts go on. Two classes mean another thing where a
        name of one is now that of the other.
    """
    if _is_turned_round(setting, saved.get(_TWO, [])):
        return ["classes"]
    names = saved.get("classes")
    most = None if names is None else len(names)
    meant = {"name": saved["name"], **counted_by(_with_learned(setting, saved), most)}
    keys = (meant.keys() | saved.keys()) - {_TWO}
    return sorted(key for key in keys if meant.get(key) != saved.get(key))


def _with_learned(setting: ModelConfig, saved: State) -> ModelConfig:
    """Return settings with the saved classes, where the model learns them."""
    names = saved.get("classes")
    if names is None or not isinstance(setting.classes, LearnedNames):
        return setting
    return setting.model_copy(update={"classes": LearnedNames(names)})


def _is_turned_round(setting: ModelConfig, saved: Sequence[str]) -> bool:
    """Return whether a name of one of two classes is now that of the other one."""
    if not saved or len(setting.classes) != len(saved):
        return False
    return setting.classes[0] == saved[1] or setting.classes[1] == saved[0]


def counted_by(setting: ModelConfig, most: int | None = None) -> State:
    """Return the settings that the meaning of a model's counts depends on.

    Args:
        setting: of the model.
        most: of its classes, as many at most; None for all.
    """
    # No names are left out, as in states from before classes had some.
    key, names = "classes" if setting.has_many_classes else _TWO, list(setting.classes[:most])
    of_classes = {key: names} if names or setting.has_many_classes else {}
    return {
        "segments": list(setting.segments),
        "clock": str(setting.clock),
        "weighted": setting.labelling is Labelling.WEIGHTED,
        **of_classes,
    }
