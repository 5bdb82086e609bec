"""How an answer gets at the history, which the engine's thread alone may read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from monitor.engine import Monitor
from monitor.errors import MonitorError

T = TypeVar("T")


class UnansweredError(MonitorError):
    """Whoever feeds the monitor did not get round to a question."""


class Ask(Protocol):
    """Lets the thread that feeds the monitor read something out of it.

    What is read must be a copy: the monitor goes on at once.
    """

    def __call__(self, read: Callable[[Monitor], T], /) -> T:
        """What `read` gives.

        Raises:
            UnansweredError: it took too long, too many ask, or the monitor has stopped.
        """
        ...
