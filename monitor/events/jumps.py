"""Where the time of a model went ahead by more than the pace of its stream."""

from __future__ import annotations

from typing import NamedTuple

from monitor.events.columns import NO_TIME


class Jumps(NamedTuple):
    """Jumps of a model's time that were believed.

    Attributes:
        believed: how many.
        before: time of the model before the last of them, epoch milliseconds.
        after: time behind it, likewise.
        events: that agreed with it.
    """

    believed: int = 0
    before: int = NO_TIME
    after: int = NO_TIME
    events: int = 0

    def and_one(self, before: int, after: int, events: int) -> Jumps:
        """Return these and one more jump.

        Args:
            before: as in the attributes.
            after: likewise.
            events: likewise.
        """
        return Jumps(self.believed + 1, before, after, events)


NO_JUMPS = Jumps()
"""None so far."""
