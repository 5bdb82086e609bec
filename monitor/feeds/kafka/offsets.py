"""Where a partition is to be read on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from monitor.feeds.kafka.messages import Place


class Offsets:
    """The offsets behind what was counted by this monitor, of all partitions that it ever had.

    Attributes:
        member: names the state that the offsets belong to; every commit carries it.
    """

    def __init__(self) -> None:
        self.member = uuid4().hex
        self._known: dict[Place, int] = {}

    def at(self, place: Place) -> int | None:
        """Where a partition stands; None where it never was ours."""
        return self._known.get(place)

    def note(self, place: Place, offset: int) -> None:
        """A partition stands there."""
        self._known[place] = offset

    def resume(self, position: Mapping[str, Any]) -> None:
        """Take back what `position` gave."""
        self.member = position["member"]
        self._known = {
            (topic, int(number)): offset
            for topic, numbers in position["offsets"].items()
            for number, offset in numbers.items()
        }

    def position(self) -> dict[str, Any]:
        """The offsets by topic and number, as JSON can hold them."""
        found: dict[str, dict[str, int]] = {}
        for (topic, number), offset in self._known.items():
            found.setdefault(topic, {})[str(number)] = offset
        return {"member": self.member, "offsets": found}

    def next_of(self, place: Place, committed: int, committed_by: str) -> int | None:
        """Where to read a partition on.

        Our own offset, since the counters that we hold belong to it; unless
        another monitor has had the partition meanwhile and went further.

        Args:
            place: the partition.
            committed: the group's offset; negative where there is none.
            committed_by: the member that committed it; "" where that is not known.

        Returns:
            None where nobody knows.
        """
        own = self._known.get(place)
        theirs = committed if committed >= 0 else None
        if own is None or theirs is None:
            return theirs if own is None else own
        return max(own, theirs) if committed_by not in ("", self.member) else own
