"""Groups of a job: models and segment values, by code, without the monitor's caps.

The monitor that receives the counts caps segment values, over all of its jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from monitor.config import Config
from monitor.events.catalogue import MAX_GROUPS, Catalogue
from monitor.events.columns import MISSING_VALUE, OTHER_VALUE, Group, Int64Array

StoredName = tuple[str, Mapping[str, str]]
"""A model, and its segment values by key."""
GroupName = tuple[str, tuple[str, ...]]
"""A model, and its segment values in the order of its segment keys."""

_MOST_MODELS = 1 << 16
_MOST_CODES = MAX_GROUPS - 2 * _MOST_MODELS


def catalogue_of(config: Config, groups: Iterable[GroupName]) -> tuple[Catalogue, Int64Array]:
    """Return a catalogue with some groups, and their numbers in it.

    Args:
        config: settings of the models.
        groups: the groups.
    """
    catalogue = Catalogue(_uncapped(config))
    return catalogue, catalogue.groups_of([Group(model, "", values) for model, values in groups])[0]


class TaskGroups:
    """Codes of the groups that the pages of a task refer to.

    Args:
        config: models and their segments.
        names: groups by code, with the names of their segment keys; None for a free code.
    """

    def __init__(self, config: Config, names: Sequence[StoredName | None]) -> None:
        self._config = config
        self._names = [None if name is None else self._current(*name) for name in names]
        self._codes = {name: code for code, name in enumerate(self._names) if name is not None}
        self._free = [code for code, name in enumerate(self._names) if name is None]

    def __len__(self) -> int:
        return len(self._names)

    def of(self, groups: Iterable[GroupName]) -> Int64Array:
        """Return the codes of groups; new ones get one."""
        return np.array([self._code(group) for group in groups], dtype=np.int64)

    def names(self, codes: Int64Array) -> list[GroupName]:
        """Return the groups of codes in use."""
        found = [self._names[code] for code in codes.tolist()]
        return [name for name in found if name is not None]

    def free_but(self, used: Int64Array) -> None:
        """Free all codes but those that are used."""
        kept = set(used.tolist())
        for code, name in enumerate(self._names):
            if name is not None and code not in kept:
                self._names[code] = None
                self._codes.pop(name, None)
                self._free.append(code)

    def state(self) -> list[StoredName | None]:
        """Return the groups by code, as the constructor takes them."""
        return [None if name is None else self._named(*name) for name in self._names]

    def _code(self, group: GroupName) -> int:
        known = self._codes.get(group)
        if known is not None:
            return known
        if not self._free and len(self._names) >= _MOST_CODES:
            model, values = group
            others = model, (OTHER_VALUE,) * len(values)
            if group != others:
                return self._code(others)
        if not self._free:
            self._free.append(len(self._names))
            self._names.append(None)
        code = self._codes[group] = self._free.pop()
        self._names[code] = group
        return code

    def _current(self, model: str, segment: Mapping[str, str]) -> GroupName:
        """Return a stored group by the segment keys that are configured now."""
        keys = self._config.model(model).segments if self._config.accepts(model) else segment
        return model, tuple(segment.get(key, MISSING_VALUE) for key in keys)

    def _named(self, model: str, values: tuple[str, ...]) -> StoredName:
        keys = self._config.model(model).segments if self._config.accepts(model) else ()
        return model, dict(zip(keys, values, strict=False))


def _uncapped(config: Config) -> Config:
    """Return a configuration that caps neither models nor segment values."""
    free = {"max_segment_values": MAX_GROUPS}
    models = {name: model.model_copy(update=free) for name, model in config.models.items()}
    more = {"models": models, "defaults": config.defaults.model_copy(update=free)}
    return config.model_copy(update={"max_models": _MOST_MODELS, "max_series": 1 << 40, **more})
