"""Searches for unreachable objects between two turns of the loop.

Most objects are freed once nothing refers to them. CPython searches for those that refer to each
other, among all objects, once enough new ones exist, in whatever thread makes the next one; no
other thread runs meanwhile. With hundreds of thousands of combinations of segment values, and
requests that wait, that takes a third of a second, several times in a row while many are new.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import TracebackType
from typing import Self

from monitor.clock import Clock

EVERY_SECONDS = 60.0
"""Interval between two searches among all objects."""
_MOST_OF_THE_TIME = 0.01
"""Maximum share of the time spent on them; slow searches are rarer."""
_NEW_OBJECTS, _SMALL_SEARCHES = 20_000, 10
"""New objects after which these are searched, and how often before those that were left over."""
_NEVER = 1 << 30


class GarbageSearch:
    """Searches all objects at a turn of the loop; CPython itself searches new ones alone.

    A context manager: the usual settings return at its end. Objects from before it, such as
    modules, are not searched.

    Args:
        clock: measures the time between searches, and their length.
        search: searches all objects.

    >>> from monitor.clock import ManualClock
    >>> clock = ManualClock()
    >>> with GarbageSearch(clock, lambda: print("searched")) as garbage:
    ...     garbage.turn()
    ...     clock.sleep(60)
    ...     garbage.turn()
    ...     garbage.turn()
    searched
    """

    def __init__(self, clock: Clock, search: Callable[[], object] = gc.collect) -> None:
        self._clock = clock
        self._search = search
        self._due = clock.monotonic() + EVERY_SECONDS
        self._usual = gc.get_threshold()

    def __enter__(self) -> Self:
        gc.collect()
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS, _SMALL_SEARCHES, _NEVER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        gc.set_threshold(*self._usual)
        gc.unfreeze()

    def turn(self) -> None:
        """Search if it is time; called once a turn."""
        began = self._clock.monotonic()
        if began < self._due:
            return
        self._search()
        ended = self._clock.monotonic()
        self._due = ended + max(EVERY_SECONDS, (ended - began) / _MOST_OF_THE_TIME)
