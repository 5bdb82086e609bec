"""Versions of the models: which a model has now, and when each of them first predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

MOST_VERSIONS = 64
"""Versions of a model that are stored; the ones that have not predicted for longest go first."""


class VersionTimes(NamedTuple):
    """When a version of a model predicted, by event time, epoch milliseconds.

    Attributes:
        first: its first prediction; None where an older state did not store it.
        last: its latest prediction.
    """

    first: int | None
    last: int


class ModelVersions:
    """The versions of one model.

    Args:
        times: of each version, by its name.
    """

    def __init__(self, times: Mapping[str, VersionTimes] | None = None) -> None:
        self._times = dict(times or {})

    @property
    def latest(self) -> str:
        """Version of the latest prediction; "" without any."""
        return max(self._times, key=lambda name: (self._times[name].last, name), default="")

    @property
    def times(self) -> Mapping[str, VersionTimes]:
        """When each version predicted, by its name."""
        return self._times

    @property
    def appeared(self) -> tuple[tuple[str, int], ...]:
        """Each version with the time of its first prediction, where that is known, by time."""
        known = [(name, one.first) for name, one in self._times.items() if one.first is not None]
        return tuple(sorted(known, key=lambda found: (found[1], found[0])))

    def note(self, version: str, first: int, last: int) -> None:
        """Take predictions of a version into account, in any order of time.

        Args:
            version: its name.
            first: time of the earliest of them, epoch milliseconds.
            last: time of the latest of them.
        """
        known = self._times.get(version, VersionTimes(first, last))
        earliest = None if known.first is None else min(known.first, first)
        self._times[version] = VersionTimes(earliest, max(known.last, last))
        while len(self._times) > MOST_VERSIONS:
            del self._times[min(self._times, key=lambda name: (self._times[name].last, name))]

    def state(self) -> dict[str, list[int | None]]:
        """Serializable state."""
        return {name: list(times) for name, times in self._times.items()}

    @classmethod
    def restored(cls, state: Any) -> Self:
        """Load what `state` returned, or the time and name that older states stored."""
        if isinstance(state, Mapping):
            return cls({name: VersionTimes(*times) for name, times in state.items()})
        last, name = state
        return cls({name: VersionTimes(None, last)})
