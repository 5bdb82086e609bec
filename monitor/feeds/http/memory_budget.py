"""How many bytes may be on their way at a time, from the socket to the counters."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from monitor.clock import Stopwatch


class Room:
    """A number of bytes that requests share; safe to use from any thread.

    Args:
        size: bytes.
        full: runs from a refusal until something is given back; nothing does where None.

    Attributes:
        size: bytes, taken or free.

    >>> room = Room(10)
    >>> first, second = room.share(), room.share()
    >>> first.grow(8), second.grow(8)
    (True, False)
    >>> first.release()
    >>> second.grow(8)
    True
    """

    def __init__(self, size: int, full: Stopwatch | None = None) -> None:
        self._lock = threading.Lock()
        self._full = full
        self.size = size
        self._left = size

    @property
    def left(self) -> int:
        """Bytes that are free; fewer than none after it became smaller than what is taken."""
        return self._left

    def resize(self, size: int) -> None:
        """Become larger or smaller; what is taken stays so."""
        with self._lock:
            self._left += size - self.size
            self.size = size

    def share(self) -> Share:
        """A share of nothing, to grow."""
        return Share(self)

    def take(self, size: int) -> bool:
        """Whether there was room for so many bytes, which are taken now."""
        with self._lock:
            if size > self._left:
                if self._full is not None:
                    self._full.begin()
                return False
            self._left -= size
            return True

    def give(self, size: int) -> None:
        """Bytes are free again."""
        with self._lock:
            self._left += size
            if self._full is not None and size:
                self._full.end()


class Share:
    """What one request takes of a room: given back at the end of `with`, unless handed over."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._size = 0
        self._handed_over = False

    def grow(self, size: int) -> bool:
        """Take so many more bytes, if there is room."""
        if not self._room.take(size):
            return False
        self._size += size
        return True

    def hand_over(self) -> None:
        """From now on somebody else releases it."""
        self._handed_over = True

    def release(self) -> None:
        """Give all back; once is enough."""
        size, self._size = self._size, 0
        self._room.give(size)

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
