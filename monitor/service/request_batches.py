"""Groups durable requests into batches: large enough to count quickly, soon enough to be prompt."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from monitor.feeds.http import PostedEvents
from monitor.state import JournalPosition

ENOUGH_EVENTS = 4_000
"""A batch of this many events is counted at once."""
MOST_EVENTS = 20_000
"""A batch of this many events takes no further request."""
WAIT_SECONDS = 0.1
"""Maximum wait of a smaller batch."""


class DurableRequest(NamedTuple):
    """A request that is on disk.

    Attributes:
        posted: the request and its events.
        position: position in the journal behind it.
    """

    posted: PostedEvents
    position: JournalPosition


class RequestBatch:
    """Requests that are counted together.

    Attributes:
        requests: the requests, in the order of the journal.
    """

    def __init__(self) -> None:
        self.requests: list[DurableRequest] = []
        self._records = 0
        self._since = 0.0

    def take(self, waiting: deque[DurableRequest], now: float) -> None:
        """Move waiting requests into the batch until it is full.

        Args:
            waiting: durable requests, oldest first.
            now: monotonic time, seconds.
        """
        while waiting and self._records < MOST_EVENTS:
            if not self.requests:
                self._since = now
            self.requests.append(waiting.popleft())
            self._records += self.requests[-1].posted.batch.records

    def is_due(self, now: float, *, at_once: bool) -> bool:
        """Return True if the batch is large enough, or has waited long enough.

        Args:
            now: monotonic time, seconds.
            at_once: do not wait for further requests.
        """
        return bool(self.requests) and (
            at_once or self._records >= ENOUGH_EVENTS or now - self._since >= WAIT_SECONDS
        )
