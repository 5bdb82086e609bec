"""Groups of a batch, numbered in the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from math import nan
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import MISSING_VALUE, FloatArray, Group, Int64Array
from monitor.feeds.decode.records import Grouped
from monitor.feeds.decode.settings import MAX_NAME_BYTES, DecodeSettings

UNFIT = -1
"""Stands for the group of a record whose group cannot be made out."""
_REMEMBERED = 1 << 14
"""So many names of groups are remembered: about 10 MB where they are short."""


def name_fits(name: str) -> bool:
    r"""Whether a model, a version or a segment value can be a label of a series.

    Names with a NUL end the scrape for Prometheus's parser.

    >>> name_fits("fraud"), name_fits("\0"), name_fits("ü" * 129)
    (True, False, False)
    """
    return len(name.encode()) <= MAX_NAME_BYTES and "\0" not in name


class Named(NamedTuple):
    """What a record's model, version and segment come down to.

    Attributes:
        group: its group.
        threshold: of its model; None where it has none.
    """

    group: Group
    threshold: float | None


class GroupNames:
    """Knows which group a record names; remembers it, for most come again with every batch.

    Safe to use from any thread.

    Attributes:
        find: the group and the threshold of a model, a version and a segment (None for
            one that is left out); None where a name cannot be used.

    Args:
        settings: which models are known and what is kept of them.
        segment_values: values of all kept keys of a record's segment, in the order of
            the settings; None for none.
    """

    def __init__(
        self,
        settings: DecodeSettings,
        segment_values: Callable[[Any], Sequence[str | None]] = tuple,
    ) -> None:
        self._settings = settings
        self._segment_keys = settings.segment_keys
        self._segment_values = segment_values
        self.find = lru_cache(_REMEMBERED)(self._find)

    def _find(self, model: str | None, version: str | None, segment: Hashable) -> Named | None:
        values = self._segment_values(segment)
        name = self._settings.only_model if model is None else model
        fields = None if name is None else self._settings.fields_of(name)
        named = [value for value in (name, *values) if value is not None]
        if not (name and fields and all(named) and all(map(name_fits, [*named, version or ""]))):
            return None
        by_key = dict(zip(self._segment_keys, values, strict=True))
        kept = tuple(by_key[key] or MISSING_VALUE for key in fields.segments)
        return Named(Group(name, version or "", kept), fields.threshold)


class GroupCodes:
    """Gives each distinct group of one batch its code.

    Attributes:
        groups: the distinct groups so far; a code is an index into it.

    Args:
        names: of the settings by which the batch is decoded.
    """

    def __init__(self, names: GroupNames) -> None:
        self.groups: list[Group] = []
        self._names = names
        self._thresholds: list[float] = []
        self._code_of: dict[Group, int] = {}
        self._known = _Known(self.resolve)

    def of(self, records: Sequence[Grouped]) -> Int64Array:
        """A code for each record; `UNFIT` where its model or a name cannot be used."""
        models = [record.model for record in records]
        keys: Iterable[_Key] = models
        if [record for record in records if record.version or record.segment]:
            versions = [record.version for record in records]
            keys = zip(models, versions, [record.segment for record in records], strict=True)
        return np.fromiter(map(self._known.__getitem__, keys), np.int64, len(models))

    def resolve(self, model: str | None, version: str | None, segment: Hashable) -> int:
        """The code of what a record names, a new one for a new group; `UNFIT` as above.

        Args:
            model: its name; None for the only one.
            version: None or "" for none.
            segment: what the names' `segment_values` takes.
        """
        named = self._names.find(model, version, segment)
        return UNFIT if named is None else self._code(*named)

    def thresholds(self, codes: Int64Array) -> FloatArray:
        """The threshold of each code's model; NaN where it has none or is unfit."""
        return np.array([*self._thresholds, nan])[codes]

    def _code(self, group: Group, threshold: float | None) -> int:
        code = self._code_of.setdefault(group, len(self.groups))
        if code == len(self.groups):
            self.groups.append(group)
            self._thresholds.append(nan if threshold is None else threshold)
        return code


_Key = str | tuple[str | None, str | None, Hashable] | None


class _Known(dict[_Key, int]):
    """Codes by model, version and segment, or by the model alone where these are left out.

    Asks for those it does not know yet.
    """

    def __init__(self, new: Callable[[str | None, str | None, Hashable], int]) -> None:
        super().__init__()
        self._new = new

    def __missing__(self, key: _Key) -> int:
        named = key if isinstance(key, tuple) else (key, None, None)
        self[key] = code = self._new(*named)
        return code
