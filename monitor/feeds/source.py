"""Protocols of event sources: what the service reads, checkpoints and resumes.

`Source` is what every feed implements. `JournaledSource` and `SharedSource` add
what some feeds need besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from monitor.events.columns import EventBatch

Position = Mapping[str, Any]
"""Serializable position of a source: strings, integers, lists and maps of these."""


class Source(Protocol):
    """A source of events, polled without blocking."""

    @property
    def name(self) -> str:
        """Name of the source in messages."""
        ...

    @property
    def attached(self) -> bool:
        """True while the source can be read."""
        ...

    @property
    def ended(self) -> bool:
        """True once the source will never yield another event."""
        ...

    @property
    def identity(self) -> str:
        """Key of the position in a checkpoint.

        The same feed has the same identity after a restart; another feed has another one.
        """
        ...

    def position(self) -> Position:
        """Return the position behind all events that `poll` has returned.

        Called between two polls, by the thread that polls.
        """
        ...

    def resume(self, position: Position) -> str:
        """Continue from a position that an earlier process saved; called before the first poll.

        Returns:
            A warning for the operator, and how the source continues; "" without one.

        Raises:
            StateError: events behind the position are lost.
        """
        ...

    def commit(self, position: Position) -> None:
        """Release what lies before a position: no earlier position will be resumed.

        Called between two polls, with the position in the older of the two checkpoints.
        """
        ...

    def poll(self) -> EventBatch | None:
        """Return the events that arrived since the last call; None if there are none.

        Raises:
            FeedError: the source cannot be read any more.
        """
        ...

    def close(self) -> None:
        """Close all files and connections."""
        ...


@runtime_checkable
class JournaledSource(Protocol):
    """A source whose first polls replay what arrived before the start."""

    @property
    def restored(self) -> bool:
        """True once the replay is complete."""
        ...

    def stop_accepting(self) -> None:
        """Accept nothing new; further polls return what is still queued, then None."""
        ...


@runtime_checkable
class SharedSource(Protocol):
    """A source that shares its partitions with other processes and can be paused."""

    held_back: bool
    """True while nothing more is to be read."""

    def checkpoint_before_handover(self, checkpoint: Callable[[], bool]) -> None:
        """Set the function that writes a checkpoint and returns whether that worked.

        `poll` and `close` call it before a partition goes to another process.
        """
        ...
