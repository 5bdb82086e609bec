"""Requests that are on disk, and are counted together once they are enough, or old enough."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from monitor.feeds.http import PostedEvents
from monitor.state import Place

ENOUGH_EVENTS = 4_000
"""So many are counted at once without waiting for more."""
MOST_EVENTS = 20_000
"""Once it is so many, the others wait for the next time."""
WAIT_SECONDS = 0.1
"""Fewer wait for so long at most."""


class KeptRequest(NamedTuple):
    """A request that is on disk.

    Attributes:
        posted: what came.
        place: in the journal, behind it.
    """

    posted: PostedEvents
    place: Place


class Gathered:
    """Requests that will be counted together.

    Attributes:
        kept: they, in the order in which they are in the journal.
    """

    def __init__(self) -> None:
        self.kept: list[KeptRequest] = []
        self._records = 0
        self._since = 0.0

    def take(self, waiting: deque[KeptRequest], now: float) -> None:
        """Take what is waiting, until it is the most that are counted together."""
        while waiting and self._records < MOST_EVENTS:
            if not self.kept:
                self._since = now
            self.kept.append(waiting.popleft())
            self._records += self.kept[-1].posted.batch.records

    def is_due(self, now: float, *, at_once: bool) -> bool:
        """Whether it is enough, or has waited for long enough."""
        return bool(self.kept) and (
            at_once or self._records >= ENOUGH_EVENTS or now - self._since >= WAIT_SECONDS
        )
