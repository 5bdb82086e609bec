"""Chooses which partition's messages are delivered next, by the time of the messages.

If labels were read far ahead of their predictions, or the reverse, they would advance the
watermark for both, and windows would close before their outcomes are known. A backlog
of several partitions is therefore delivered in the order of production, as far as possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from monitor.feeds.kafka.messages import Messages
from monitor.feeds.kafka.partition import Partition

SLACK_MS = 60_000
"""How far a partition may be ahead of one whose messages are still awaited."""
SILENT_SECONDS = 10.0
"""A partition that is silent for this long no longer delays the others."""
HELD_BYTES = 64 * 1024 * 1024
"""Maximum size of held messages, over all partitions."""
LEAST_HELD_BYTES = 256 * 1024
"""Size of held messages that every partition is allowed, however many there are."""


def due(partitions: Iterable[Partition], now: float, enough: int) -> Iterator[Messages]:
    """Yield the messages to deliver now, oldest first; they count as delivered.

    Args:
        partitions: all assigned partitions.
        now: seconds of the monotonic clock.
        enough: number of messages after which to stop.
    """
    assigned = tuple(partitions)
    while enough > 0:
        holding = [one for one in assigned if one.held]
        if not holding:
            return
        first = min(holding, key=lambda one: one.held[0].time_ms)
        expected = [one.time_ms for one in assigned if _is_awaited(one, now)]
        if expected and first.held[0].time_ms > min(expected) + SLACK_MS:
            return
        messages = first.take()
        enough -= len(messages.offsets)
        yield messages


def is_full(partition: Partition, partitions: int) -> bool:
    """Return whether a partition holds so many bytes that fetching should pause.

    Args:
        partition: an assigned partition.
        partitions: number of assigned partitions.
    """
    return partition.held_bytes >= max(LEAST_HELD_BYTES, HELD_BYTES // max(1, partitions))


def _is_awaited(partition: Partition, now: float) -> bool:
    silent = now - partition.heard >= SILENT_SECONDS
    return not (partition.held or partition.at_end or silent)
