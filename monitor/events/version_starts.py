"""Versions of the models: which a model has now, and when each of them first predicted."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import Int64Array
from monitor.events.early_predictions import Early, changes, earliest, settled_at
from monitor.events.keys import key_of

MOST_VERSIONS = 64
"""Versions of a model that are stored; the ones that have not predicted for longest go first."""
MOST_FORGOTTEN = 4096
"""Names of versions that are no longer stored, by their keys; beyond it any may be among them."""
NOT_YET = 1 << 62
"""In place of the time of a first prediction: there is none yet."""


class VersionTimes(NamedTuple):
    """When a version of a model predicted, by event time, epoch milliseconds.

    Attributes:
        first: its first prediction; None where it is not known: an older state did not store
            it, or the version returned after it was forgotten.
        last: its latest prediction.
        early: its first predictions, as long as it began within an hour of the first version, by
            the records so far; an older state did not store them.
    """

    first: int | None
    last: int
    early: Early = ()

    @property
    def settled(self) -> float | None:
        """When it had made 32 predictions; None before, and where that does not matter."""
        return settled_at(self.early)

    def with_others(self, others: VersionTimes) -> VersionTimes:
        """Return the times of these predictions and others of the same version."""
        firsts = [first for first in (self.first, others.first) if first is not None]
        moments = np.array(others.early, dtype=np.int64).reshape(-1, 2)
        return VersionTimes(
            min(firsts, default=None),
            max(self.last, others.last),
            earliest(moments[:, 0], moments[:, 1], self.early),
        )

    def state(self) -> list[Any]:
        """Serializable state."""
        early = [[*pair] for pair in self.early]
        return [self.first, self.last, *([early] if early else [])]

    @classmethod
    def restored(cls, state: Sequence[Any]) -> Self:
        """Load what `state` returned, or the two times that older states stored."""
        first, last, *early = state
        return cls(first, last, tuple((moment, count) for moment, count in chain(*early)))


def is_in_use(last: int, latest: int) -> bool:
    """Return whether a version still predicts: it did in the day before the model's latest.

    Args:
        last: time of its own latest prediction, epoch milliseconds.
        latest: time of the model's latest prediction.

    >>> is_in_use(3 * DAY_MS, 4 * DAY_MS), is_in_use(3 * DAY_MS + 1, 4 * DAY_MS)
    (False, True)
    """
    return last > latest - DAY_MS


class ModelVersions:
    """The versions of one model.

    Args:
        times: of each version, by its name.
        forgotten: keys of the names that are no longer stored.
    """

    def __init__(
        self,
        times: Mapping[str, VersionTimes] | None = None,
        forgotten: Iterable[int] = (),
    ) -> None:
        self._times = dict(times or {})
        self._forgotten = set(forgotten)
        self._by_last = sorted((one.last, name) for name, one in self._times.items())
        self._began: int | None = None

    @property
    def latest(self) -> str:
        """Version of the latest prediction; "" without any."""
        return self._by_last[-1][1] if self._by_last else ""

    @property
    def times(self) -> Mapping[str, VersionTimes]:
        """When each version predicted, by its name."""
        return self._times

    def last_of(self, version: str) -> int | None:
        """Return when a version predicted last, or a moment by which it had.

        Args:
            version: its name.

        Returns:
            Event time, epoch milliseconds; None where it is not known to have predicted.
        """
        known = self._times.get(version)
        if known is not None:
            return known.last
        if not self._may_return(version):
            return None
        return self._by_last[0][0] if self._by_last else None

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
        known = self._times.get(version)
        if known is None:
            known = VersionTimes(None if self._may_return(version) else first, last)
        else:
            del self._by_last[bisect_left(self._by_last, (known.last, version))]
        began = None if known.first is None else min(known.first, first)
        latest = max(known.last, last)
        self._times[version] = VersionTimes(began, latest, known.early)
        if self._began is not None and began is not None:
            self._began = min(self._began, began)
        insort(self._by_last, (latest, version))
        while len(self._times) > MOST_VERSIONS:
            _, oldest = self._by_last.pop(0)
            if self._times.pop(oldest).first == self._began:
                self._began = None
            if len(self._forgotten) < MOST_FORGOTTEN:
                self._forgotten.add(key_of(oldest))

    @property
    def began(self) -> int:
        """First prediction of all whose first one is known, epoch milliseconds, or `NOT_YET`."""
        if self._began is None:
            firsts = (one.first for one in self._times.values() if one.first is not None)
            self._began = min(firsts, default=NOT_YET)
        return self._began

    def may_forget(self, versions: Iterable[str]) -> bool:
        """Return whether predictions of some versions may have others forgotten.

        Args:
            versions: their names.
        """
        more = sum(name not in self._times for name in versions)
        return len(self._times) + more > MOST_VERSIONS

    def first_of(self, version: str) -> int | None:
        """Return when a version predicted first, epoch milliseconds.

        Args:
            version: its name.

        Returns:
            `NOT_YET` if it is new; None where it is not known.
        """
        known = self._times.get(version)
        if known is None:
            return None if self._may_return(version) else NOT_YET
        return known.first

    def firsts_of(self, versions: Iterable[str]) -> dict[str, int]:
        """Return when versions predicted first, of those of which that is known, see `first_of`.

        Args:
            versions: their names.
        """
        found = ((name, self.first_of(name)) for name in versions)
        return {name: first for name, first in found if first is not None}

    def lacks_early(self, version: str, first: int) -> bool:
        """Return whether predictions may be among the first ones of a version.

        Args:
            version: its name; it may be new.
            first: time of the earliest of them, epoch milliseconds.
        """
        known = self._times.get(version)
        began = self.first_of(version) is not None
        return began and (known is None or changes(known.early, first))

    def note_early(self, version: str, times: Int64Array) -> None:
        """Take predictions of a version that began within an hour of the first one into account.

        Args:
            version: its name; one that is no longer stored is passed over.
            times: of the predictions, in any order, epoch milliseconds.
        """
        if (known := self._times.get(version)) is None:
            return
        early = earliest(times, np.ones(len(times), dtype=np.int64), known.early)
        self._times[version] = known._replace(early=early)

    def until(self, time: int) -> Self:
        """Return the versions that began by a moment, as if none had predicted later.

        Args:
            time: epoch milliseconds.
        """
        left = {
            name: VersionTimes(one.first, min(one.last, time), early)
            for name, one in self._times.items()
            for early in [tuple(pair for pair in one.early if pair[0] <= time)]
            if one.first is None or one.first <= time
        }
        return type(self)(left, self._forgotten)

    def state(self) -> dict[str, Any]:
        """Serializable state."""
        times = {name: times.state() for name, times in self._times.items()}
        if not self._forgotten:
            return times
        return {"times": times, "forgotten": sorted(self._forgotten)}

    @classmethod
    def restored(cls, state: Any) -> Self:
        """Load what `state` returned, or the time and name that older states stored."""
        if not isinstance(state, Mapping):
            last, name = state
            return cls({name: VersionTimes(None, last)})
        forgotten: Iterable[int] = ()
        if isinstance(state.get("times"), Mapping):  # of a version called so, it is a list
            state, forgotten = state["times"], state["forgotten"]
        times = {name: VersionTimes.restored(one) for name, one in state.items()}
        return cls(times, forgotten)

    def _may_return(self, version: str) -> bool:
        """Return whether a version that is not stored may have predicted before."""
        full = len(self._forgotten) >= MOST_FORGOTTEN
        return full or (bool(self._forgotten) and key_of(version) in self._forgotten)
