"""Groups of a batch, numbered in the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

import numpy as np

from monitor.events import MISSING_VALUE, FloatArray, Group, Int64Array
from monitor.feeds.decode.records import Grouped
from monitor.feeds.decode.settings import MAX_NAME_BYTES, DecodeSettings

UNFIT = -1
"""Stands for the group of a record whose group cannot be made out."""


def name_fits(name: str) -> bool:
    r"""Whether a model, a version or a segment value can be a label of a series.

    Names with a NUL end the scrape for Prometheus's parser.

    >>> name_fits("fraud"), name_fits("\0"), name_fits("ü" * 129)
    (True, False, False)
    """
    return len(name.encode()) <= MAX_NAME_BYTES and "\0" not in name


class GroupCodes:
    """Gives each distinct group of one batch its code.

    Attributes:
        groups: the distinct groups so far; a code is an index into it.

    Args:
        settings: which models are known and what is kept of them.
        segment_values: values of all kept keys of a record's segment.
    """

    def __init__(
        self,
        settings: DecodeSettings,
        segment_values: Callable[[Any], Sequence[str | None]] = tuple,
    ) -> None:
        self.groups: list[Group] = []
        self._settings = settings
        self._segment_values = segment_values
        self._thresholds: list[float] = []
        self._code_of: dict[Group, int] = {}
        self._known = _Known(self._new)

    def of(self, records: Sequence[Grouped]) -> Int64Array:
        """A code for each record; `UNFIT` where its model or a name cannot be used."""
        models = [record.model for record in records]
        versions = [record.version for record in records]
        segments = [record.segment for record in records]
        alone = versions.count(None) == segments.count(None) == len(models)
        named = models if alone else zip(models, versions, segments, strict=True)
        return np.fromiter(map(self._known.__getitem__, named), np.int64, len(models))

    def resolve(self, model: str | None, version: str | None, values: Sequence[str | None]) -> int:
        """The code of what a record names, a new one for a new group; `UNFIT` as above.

        Args:
            model: its name; None for the only one.
            version: None or "" for none.
            values: of all kept segment keys, in the order of the settings; None for none.
        """
        name = self._settings.only_model if model is None else model
        fields = None if name is None else self._settings.fields_of(name)
        named = [value for value in (name, *values) if value is not None]
        if not (name and fields and all(named) and all(map(name_fits, [*named, version or ""]))):
            return UNFIT
        by_key = dict(zip(self._settings.segment_keys, values, strict=True))
        kept = tuple(by_key[key] or MISSING_VALUE for key in fields.segments)
        return self._code(Group(name, version or "", kept), fields.threshold)

    def thresholds(self, codes: Int64Array) -> FloatArray:
        """The threshold of each code's model; NaN where it has none or is unfit."""
        return np.array([*self._thresholds, nan])[codes]

    def _code(self, group: Group, threshold: float | None) -> int:
        if group not in self._code_of:
            self._code_of[group] = len(self.groups)
            self.groups.append(group)
            self._thresholds.append(nan if threshold is None else threshold)
        return self._code_of[group]

    def _new(self, model: str | None, version: str | None, segment: Any) -> int:
        return self.resolve(model, version, self._segment_values(segment))


_Named = str | tuple[str | None, str | None, Any] | None


class _Known(dict[_Named, int]):
    """Codes by model, version and segment, or by the model alone where these are left out.

    Asks for those it does not know yet.
    """

    def __init__(self, new: Callable[[str | None, str | None, Any], int]) -> None:
        super().__init__()
        self._new = new

    def __missing__(self, key: _Named) -> int:
        named = key if isinstance(key, tuple) else (key, None, None)
        self[key] = code = self._new(*named)
        return code
