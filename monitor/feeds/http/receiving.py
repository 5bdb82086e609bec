"""Shares the room for bodies that are still arriving between clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from monitor.feeds.http.memory_budget import MemoryBudget


class Receiving:
    """Bytes of unfinished bodies by client; for one event loop.

    The oldest unfinished body of a client may use all of the budget, as it always could. The
    bodies that a client sends beside it may, together, use no more than what they leave free,
    so that clients who never finish theirs leave room for others: one of them half of the
    budget, n of them at least one part in 2 to the power of n, but for half of a piece each.

    >>> receiving = Receiving()
    >>> budget = MemoryBudget(10)
    >>> with receiving.body("a") as first, receiving.body("a") as second:
    ...     first.grow(4, budget), second.grow(11, budget), second.grow(5, budget)
    (True, False, True)
    """

    def __init__(self) -> None:
        self._beside: Counter[str] = Counter()
        self._bodies: Counter[str] = Counter()

    @contextmanager
    def body(self, client: str) -> Iterator[UnfinishedBody]:
        """Count a body until the end of the context.

        Args:
            client: who sends it.
        """
        unfinished = UnfinishedBody(self._beside, client, first=not self._bodies[client])
        self._bodies[client] += 1
        try:
            yield unfinished
        finally:
            self._bodies -= Counter([client])
            unfinished.forget()


class UnfinishedBody:
    """A body that is still arriving.

    Args:
        beside: bytes of each client's unfinished bodies, besides its oldest.
        client: who sends it.
        first: True for the client's oldest unfinished body.
    """

    def __init__(self, beside: Counter[str], client: str, *, first: bool) -> None:
        self._beside = beside
        self._client = client
        self._first = first
        self._nbytes = 0

    def grow(self, size: int, budget: MemoryBudget) -> bool:
        """Return True, and count the bytes, if the body may grow so far.

        Args:
            size: bytes that arrived.
            budget: of all bodies; the bytes are not yet taken from it.
        """
        if self._first:
            return True
        if self._beside[self._client] + size > budget.left:
            return False
        self._beside[self._client] += size
        self._nbytes += size
        return True

    def forget(self) -> None:
        """Give the bytes back."""
        self._beside.subtract({self._client: self._nbytes})
        if not self._beside[self._client]:
            del self._beside[self._client]
        self._nbytes = 0
