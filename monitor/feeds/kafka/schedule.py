"""Which partition's messages are given next, by the time of the messages.

Labels that are read far ahead of their predictions, or the other way round, would
move time on for both: windows would close before their outcomes are there. So a
backlog of several partitions is given as it was produced, as far as can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from monitor.feeds.kafka.messages import Messages
from monitor.feeds.kafka.partition import Partition

SLACK_MS = 60_000
"""A partition may be so far ahead of one that is still to come."""
SILENT_SECONDS = 10.0
"""A partition of which nothing comes for so long holds up the others no longer."""
HELD_BYTES = 64 * 1024 * 1024
"""What is held of all partitions together."""
LEAST_HELD_BYTES = 256 * 1024
"""What may be held of one, however many there are."""


def due(partitions: Iterable[Partition], now: float, enough: int) -> Iterator[Messages]:
    """Messages to be given now, those that were produced first before the others.

    Args:
        partitions: all that are ours.
        now: seconds of the clock.
        enough: messages after which to stop.
    """
    ours = tuple(partitions)
    while enough > 0:
        holding = [one for one in ours if one.held]
        if not holding:
            return
        first = min(holding, key=lambda one: one.held[0].time_ms)
        expected = [one.time_ms for one in ours if _is_awaited(one, now)]
        if expected and first.held[0].time_ms > min(expected) + SLACK_MS:
            return
        messages = first.take()
        enough -= len(messages.offsets)
        yield messages


def is_full(partition: Partition, partitions: int) -> bool:
    """Whether so much is held of a partition that no more is to be fetched.

    Args:
        partition: one of ours.
        partitions: how many are ours.
    """
    return partition.held_bytes >= max(LEAST_HELD_BYTES, HELD_BYTES // max(1, partitions))


def _is_awaited(partition: Partition, now: float) -> bool:
    silent = now - partition.heard >= SILENT_SECONDS
    return not (partition.held or partition.at_end or silent)
