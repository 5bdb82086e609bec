"""How many bytes of some files have been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Lock

Progress = Callable[[int, int], None]
"""Called with the bytes read from all files so far, and their total size (0: unknown)."""


class ReadBytes:
    """Counts the bytes read from all files, and reports them. Safe to use from any thread.

    Args:
        total: size of the files in bytes; 0 if unknown.
        progress: called after each read, one call at a time; None for nothing.
    """

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done = 0
        self._total = total
        self._progress = progress
        self._lock = Lock()

    def counted(self, stream: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a stream, and count their bytes."""
        for piece in stream:
            self.add(len(piece))
            yield piece

    def add(self, length: int) -> None:
        """Count bytes that were read."""
        with self._lock:
            self._done += length
            if self._progress:
                self._progress(self._done, self._total)
