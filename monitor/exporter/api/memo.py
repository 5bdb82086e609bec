"""Results that are remembered, so that a second request alike computes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from monitor.snapshot import Snapshot

T = TypeVar("T")

_MOST_RESULTS = 64


class SnapshotMemo:
    """Results made from the latest snapshot; the next snapshot drops them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._results: dict[Hashable, Any] = {}

    def get(self, snapshot: Snapshot, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a request, made now if need be; two threads may make it at once.

        Args:
            snapshot: what the result is made from.
            key: the request.
            make: makes the result.
        """
        with self._lock:
            if snapshot is not self._snapshot:
                self._snapshot, self._results = snapshot, {}
            if key in self._results:
                found: T = self._results[key]
                return found
        made = make()
        with self._lock:
            if snapshot is self._snapshot and len(self._results) < _MOST_RESULTS:
                self._results[key] = made
        return made


class RecentMemo(Generic[T]):
    """The results that were asked for last, whatever snapshot they come from. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key, made now if need be.

        Args:
            key: everything that the result depends on.
            make: makes the result.
        """
        with self._lock:
            known = self._results.pop(key, None)
        result = make() if known is None else known
        with self._lock:
            self._results[key] = result
            while len(self._results) > _MOST_RESULTS:
                del self._results[next(iter(self._results))]
        return result
