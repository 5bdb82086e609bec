"""How an answer reads the engine, which only the engine's own thread may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from monitor.engine import Monitor
from monitor.errors import MonitorError

T = TypeVar("T")


class EngineUnavailableError(MonitorError):
    """The engine's thread cannot read the history for a request now."""


class ReadEngine(Protocol):
    """Runs a function of the engine in the engine's own thread, between two batches.

    The function returns a copy: the engine goes on at once.
    """

    def __call__(self, read: Callable[[Monitor], T], /) -> T:
        """Return what `read` returns.

        Args:
            read: takes the engine; its exceptions are raised here.

        Raises:
            EngineUnavailableError: the engine is busy for too long, too many requests wait,
                or it has stopped.
        """
        ...
