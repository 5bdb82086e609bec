"""How many bytes of a file are read at a time, where several are merged by event time."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.feeds.merge import BEFORE_ALL

_LEAST_BYTES = 256
"""Bytes read at first, and at least: a few lines."""
_BEYOND_MS = 600_000
"""How far a file may be read beyond the next one: ten minutes of event time."""


@dataclass(slots=True)
class ReadPace:
    """Bounds how far one read takes a file beyond the others in event time.

    A read takes a few lines at first, and again once one has gone too far; else up to twice
    the most bytes so far, and no more than reach the next file, by the bytes per event time of
    the last one.

    Attributes:
        assumed: time that the file counts as having reached where its latest records have none
            that is readable, epoch milliseconds: that of another, so that they take turns.
        turn: number of its last read among those of all files.

    >>> pace = ReadPace()
    >>> pace.size(0, 3_600_000)
    256
    >>> pace.has_read(256, 0, 600_000, 3_600_000)  # ten minutes
    >>> pace.size(600_000, 3_600_000), pace.size(600_000, 900_000)
    (512, 384)
    """

    assumed: int = BEFORE_ALL
    turn: int = 0
    _most: int = _LEAST_BYTES
    _since: int = 0
    _per_ms: float = 0.0

    def size(self, reached: int, until: int | None) -> int | None:
        """Return how many bytes to read next; None for any number.

        Args:
            reached: event time that the file has reached, epoch milliseconds.
            until: event time that the next file has reached; None without another one.
        """
        if until is None:
            return None
        size: float = self._most
        if self._per_ms:
            size = min(size, (max(0, until - reached) + _BEYOND_MS) * self._per_ms)
        return max(_LEAST_BYTES, int(size))

    def expect(self, size: int, span: int) -> None:
        """Learn from lines that will be read next.

        Args:
            size: their bytes.
            span: event time between the first and the last of their times, milliseconds.
        """
        self._per_ms = size / span if span else 0.0

    def has_read(self, size: int, before: int, reached: int, until: int | None) -> None:
        """Learn from a read.

        Args:
            size: bytes read.
            before: event time that the file had reached before, epoch milliseconds.
            reached: event time that it has reached now.
            until: event time that the next file has reached; None without another one.
        """
        is_far = until is not None and reached > until + _BEYOND_MS
        self._most = _LEAST_BYTES if is_far else max(self._most, 2 * size)
        self._since += size
        if reached > before:
            self._per_ms = self._since / (reached - before) if before > BEFORE_ALL else 0.0
            self._since = 0
