"""Bounds the bytes that requests hold in memory, from the socket until they are counted."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from monitor.clock import Stopwatch


class MemoryBudget:
    """Bytes that requests may reserve; thread-safe.

    Args:
        size: total bytes.
        exhausted: runs from a refused reservation until bytes are released; None for none.

    Attributes:
        size: total bytes, reserved or free.

    >>> budget = MemoryBudget(10)
    >>> first, second = budget.reservation(), budget.reservation()
    >>> first.grow(8), second.grow(8)
    (True, False)
    >>> first.release()
    >>> second.grow(8)
    True
    """

    def __init__(self, size: int, exhausted: Stopwatch | None = None) -> None:
        self._lock = threading.Lock()
        self._exhausted = exhausted
        self.size = size
        self._left = size

    @property
    def left(self) -> int:
        """Free bytes; negative while more are reserved than a reduced size allows."""
        return self._left

    def resize(self, size: int) -> None:
        """Change the total; existing reservations stay."""
        with self._lock:
            self._left += size - self.size
            self.size = size

    def reservation(self) -> Reservation:
        """Create an empty reservation."""
        return Reservation(self)

    def take(self, size: int) -> bool:
        """Reserve bytes; return False, and reserve nothing, if too few are free."""
        with self._lock:
            if size > self._left:
                if self._exhausted is not None:
                    self._exhausted.begin()
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Free reserved bytes."""
        with self._lock:
            self._left += size
            if self._exhausted is not None and size:
                self._exhausted.end()


class Reservation:
    """Bytes that one request has reserved.

    A context manager that releases the bytes at its end, unless `hand_over` was called.

    Args:
        budget: bytes are reserved from it.

    Attributes:
        budget: bytes are reserved from it.
    """

    def __init__(self, budget: MemoryBudget) -> None:
        self.budget = budget
        self._size = 0
        self._handed_over = False

    def grow(self, size: int) -> bool:
        """Reserve more bytes; return False, and reserve none of them, if too few are free."""
        if not self.budget.take(size):
            return False
        self._size += size
        return True

    def hand_over(self) -> None:
        """Leave the release to another owner."""
        self._handed_over = True

    def release(self) -> None:
        """Free all bytes; further calls do nothing."""
        size, self._size = self._size, 0
        self.budget.give_back(size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._handed_over:
            self.release()
