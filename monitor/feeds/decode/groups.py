"""Groups of a batch, numbered in the order of their first record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from math import nan
from operator import attrgetter
from sys import intern
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import (
    MISSING_VALUE,
    VERSION_KEY,
    BoolArray,
    FloatArray,
    Group,
    Int64Array,
)
from monitor.feeds.decode.class_lists import ClassList, NamedLabels
from monitor.feeds.decode.named_values import size_in_utf8
from monitor.feeds.decode.records import Grouped
from monitor.feeds.decode.settings import MAX_NAME_BYTES, DecodeSettings

UNFIT = -1
"""Code of a record whose group cannot be determined."""
_REMEMBERED = 1 << 14
"""Most groups in the cache: about 10 MB with short names."""
_BINARY = ClassList()
_GROUP, _CLASSES = attrgetter("group"), attrgetter("classes")


def name_fits(name: str) -> bool:
    r"""Return whether a model, a version or a segment value can be a label of a series.

    Prometheus rejects a scrape with a NUL in it.

    >>> name_fits("fraud"), name_fits("\0"), name_fits("ü" * 129), name_fits("\ud800")
    (True, False, False, False)
    """
    size = size_in_utf8(name)
    return size is not None and size <= MAX_NAME_BYTES and "\0" not in name


class Named(NamedTuple):
    """The group of a record and what its model decides by.

    Attributes:
        group: model, version and segment values.
        threshold: of the model; None if it has none.
        classes: of the model.
    """

    group: Group
    threshold: float | None
    classes: ClassList


class GroupNames:
    """Finds the group that a record names, and caches it.

    Safe to use from any thread.

    Attributes:
        find: gives the group and the threshold for a model, a version and a segment (None
            for a missing one); None if a name cannot be used.
        by_names: gives the same by model, version and segment values in one tuple.
        id_seed: seed of the keys of ids.
        id_texts: notes the texts of some ids; None to note none.
        labels: the classes of all models; None where no model has names for its classes.

    Args:
        settings: the configured models, their thresholds and their segments.
        segment_values: gives the values of a record's segment, in the order of the
            settings' `segment_keys`; None for a missing one.
    """

    def __init__(
        self,
        settings: DecodeSettings,
        segment_values: Callable[[Any], Sequence[str | None]] = tuple,
    ) -> None:
        self._settings = settings
        self.id_seed, self.id_texts = settings.id_seed, settings.id_texts
        self.labels = None
        if settings.has_class_names:
            self.labels = NamedLabels(settings)
        self._segment_keys = settings.segment_keys
        self._segment_values = segment_values
        self._classes = lru_cache(_REMEMBERED)(ClassList)
        self.find = lru_cache(_REMEMBERED)(self._find)
        self.by_names = _ByNames(self._find)

    def _find(self, model: str | None, version: str | None, segment: Hashable) -> Named | None:
        values = self._segment_values(segment)
        name = self._settings.only_model if model is None else model
        fields = None if name is None else self._settings.fields_of(name)
        named = [value for value in (name, *values) if value is not None]
        if not (name and fields and all(named) and all(map(name_fits, [*named, version or ""]))):
            return None
        by_key = dict(zip(self._segment_keys, values, strict=True))
        by_key[VERSION_KEY] = version or by_key.get(VERSION_KEY)
        kept = tuple(intern(by_key[key] or MISSING_VALUE) for key in fields.segments)
        if VERSION_KEY in fields.segments:
            version = by_key[VERSION_KEY]  # where it is among the segments alone
        group = Group(intern(name), intern(version or ""), kept)  # many groups share few names
        return Named(group, fields.threshold, self._classes(fields.classes))


Names = tuple[str | None, ...]
"""Model, version and the value of each segment key; None for a missing one."""


class _ByNames(dict[Names, Named | None]):
    """Groups by their names; calls `find` for those that it does not hold yet."""

    def __init__(self, find: Callable[[str | None, str | None, Hashable], Named | None]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, names: Names) -> Named | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[names] = found = self._find(names[0], names[1], names[2:])
        return found


class GroupCodes:
    """Gives each distinct group of one batch a code.

    Attributes:
        groups: the distinct groups so far; a code is an index into this list.

    Args:
        names: groups of the settings by which the batch is decoded.
    """

    def __init__(self, names: GroupNames) -> None:
        self.groups: list[Group] = []
        self._names = names
        self._thresholds: list[float] = []
        self._classes: list[ClassList] = []
        self._code_of: dict[Group, int] = {}
        self._known = _Known(self.resolve)

    def of(self, records: Sequence[Grouped], segments: Sequence[Hashable] = ()) -> Int64Array:
        """Return the code of each record; `UNFIT` if its model or a name cannot be used.

        Args:
            records: of any types.
            segments: of the records, in place of their own.
        """
        models = [record.model for record in records]
        keys: Iterable[_Key] = models
        if [record for record in records if record.version or record.segment]:
            versions = [record.version for record in records]
            own: list[Any] = [record.segment for record in records]
            keys = zip(models, versions, segments or own, strict=True)
        return np.fromiter(map(self._known.__getitem__, keys), np.int64, len(models))

    def resolve(self, model: str | None, version: str | None, segment: Hashable) -> int:
        """Return the code of a group, a new code if the group is new; `UNFIT` as in `of`.

        Args:
            model: name; None for the only configured model.
            version: None or "" if the record has none.
            segment: as `segment_values` of `GroupNames` takes it.
        """
        named = self._names.find(model, version, segment)
        return UNFIT if named is None else self._code(*named)

    def of_names(self, names: Sequence[Names]) -> Int64Array:
        """Return the code of each group, as `resolve` does; of many groups, with little for each.

        Args:
            names: model, version and segment values of each.
        """
        by_names = self._names.by_names
        found = [by_names[one] for one in names]
        known = [named for named in found if named is not None]
        groups = dict.fromkeys(map(_GROUP, known))
        if self.groups or len(groups) < len(found):
            return np.array([UNFIT if one is None else self._code(*one) for one in found], np.int64)
        self.groups += groups
        self._thresholds += [nan if one.threshold is None else one.threshold for one in known]
        self._classes += map(_CLASSES, known)
        return np.arange(len(groups))

    def thresholds(self, codes: Int64Array) -> FloatArray:
        """Return the threshold of each code's model; NaN if it has none, or for `UNFIT`."""
        return np.array([*self._thresholds, nan])[codes]

    def classes(self, codes: Int64Array) -> list[ClassList]:
        """Return the classes of each code's model; 0 and 1 for `UNFIT`."""
        known = [*self._classes, _BINARY]
        return [known[code] for code in codes.tolist()]

    @property
    def class_lists(self) -> list[ClassList]:
        """The classes of each group's model; one of 0 and 1 where there is no group."""
        return self._classes or [_BINARY]

    def many(self, codes: Int64Array) -> BoolArray | bool:
        """Tell which codes are of models of many classes; False where there are none."""
        if not any(classes.is_many for classes in self._classes):
            return False
        return np.array([*(classes.is_many for classes in self._classes), False])[codes]

    def _code(self, group: Group, threshold: float | None, classes: ClassList) -> int:
        if len(self._code_of) < len(self.groups):  # after `of_names`
            self._code_of = dict(zip(self.groups, range(len(self.groups)), strict=True))
        code = self._code_of.setdefault(group, len(self.groups))
        if code == len(self.groups):
            self.groups.append(group)
            self._thresholds.append(nan if threshold is None else threshold)
            self._classes.append(classes)
        return code


_Key = str | tuple[str | None, str | None, Hashable] | None


class _Known(dict[_Key, int]):
    """Codes by model, version and segment, or by the model alone if these are missing.

    Calls `new` for a key that it does not hold yet.
    """

    def __init__(self, new: Callable[[str | None, str | None, Hashable], int]) -> None:
        super().__init__()
        self._new = new

    def __missing__(self, key: _Key) -> int:
        named = key if isinstance(key, tuple) else (key, None, None)
        self[key] = code = self._new(*named)
        return code
