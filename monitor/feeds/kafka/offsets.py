"""Offsets at which partitions are resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from monitor.feeds.kafka.messages import PartitionKey


class Offsets:
    """Offset after the last counted message of each partition this monitor ever had.

    Attributes:
        member: identifies the state that the offsets belong to; part of every commit.
    """

    def __init__(self) -> None:
        self.member = uuid4().hex
        self._by_partition: dict[PartitionKey, int] = {}

    def at(self, key: PartitionKey) -> int | None:
        """Return the offset of a partition; None if this monitor never had it."""
        return self._by_partition.get(key)

    def set(self, key: PartitionKey, offset: int) -> None:
        """Set the offset of a partition.

        Args:
            key: the partition.
            offset: offset after its last counted message.
        """
        self._by_partition[key] = offset

    def resume(self, position: Mapping[str, Any]) -> None:
        """Restore a result of `position`."""
        self.member = position["member"]
        self._by_partition = {
            (topic, int(number)): offset
            for topic, numbers in position["offsets"].items()
            for number, offset in numbers.items()
        }

    def position(self) -> dict[str, Any]:
        """Return the offsets by topic and partition number, as JSON values."""
        found: dict[str, dict[str, int]] = {}
        for (topic, number), offset in self._by_partition.items():
            found.setdefault(topic, {})[str(number)] = offset
        return {"member": self.member, "offsets": found}

    def next_of(self, key: PartitionKey, committed: int, committed_by: str) -> int | None:
        """Return the offset at which to resume a partition.

        This is the own offset, to which the counters in memory belong, unless another
        monitor has read the partition since and committed a larger offset.

        Args:
            key: the partition.
            committed: offset that the group committed; negative if there is none.
            committed_by: member that committed it; "" if unknown.

        Returns:
            The offset; None if neither is known.
        """
        own = self._by_partition.get(key)
        theirs = committed if committed >= 0 else None
        if own is None or theirs is None:
            return theirs if own is None else own
        return max(own, theirs) if committed_by not in ("", self.member) else own
