"""Progress of one partition: messages read, delivered and skipped."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from monitor.feeds.kafka.messages import Messages, PartitionKey
from monitor.feeds.merge import BEFORE_ALL

UNKNOWN = -1
"""Marks an offset that is known only once the first message comes."""


@dataclass(slots=True)
class Partition:
    """Progress of a partition that is assigned to this monitor.

    Exactly the messages below the offset `delivered` were delivered to the engine; those
    from there up to `following` are held or were skipped.

    Attributes:
        key: topic and number.
        following: next offset expected from the broker.
        delivered: offset after the last delivered message.
        heard: when the broker last sent something, seconds of the monotonic clock.
        held: messages that were read and not yet delivered.
        held_bytes: size of the held messages.
        time_ms: time of the message read last, epoch milliseconds.
        at_end: True once all messages of the partition have been read.
        end: offset after the last message of the partition, as far as known.
        skipped: number of offsets without a message.
        deleted: number of the skipped offsets whose messages were deleted before they
            were read.
        unsettled: True while the offset that the group committed is not known: another reader may
            have gone on, so that nothing is read and nothing committed.
        paused: True while fetching is paused.
        paused_seconds: total time that fetching was paused.
    """

    key: PartitionKey
    following: int
    delivered: int
    heard: float
    held: deque[Messages] = field(default_factory=deque)
    held_bytes: int = 0
    time_ms: int = BEFORE_ALL
    at_end: bool = False
    end: int = 0
    skipped: int = 0
    deleted: int = 0
    unsettled: bool = False
    paused: bool = False
    paused_seconds: float = 0.0

    @property
    def lag(self) -> int:
        """Number of offsets from the last delivered message to the end, with a message or not."""
        return max(0, self.end - self.delivered) if self.delivered >= 0 else 0

    def hold(self, messages: Messages, last_ms: int, now: float) -> None:
        """Hold messages that were read and are new.

        Args:
            messages: the messages.
            last_ms: time of the last one, epoch milliseconds.
            now: seconds of the monotonic clock.
        """
        self._begin_at(messages.offsets[0])
        self.skipped += (messages.following - self.following) - len(messages.offsets)
        self.following, self.at_end, self.heard = messages.following, False, now
        self.end = max(self.end, messages.following)
        self.time_ms = max(self.time_ms, last_ms)
        self.held.append(messages)
        self.held_bytes += messages.nbytes

    def reach_end(self, end: int, now: float) -> None:
        """Record that everything was read; the last offsets may have no message.

        Args:
            end: offset after the last message.
            now: seconds of the monotonic clock.
        """
        self._begin_at(end)
        self.at_end, self.heard, self.end = True, now, max(self.end, end)
        if end > self.following:
            self.skipped += end - self.following
            self.following = end
        if not self.held:
            self.delivered = self.following

    def take(self) -> Messages:
        """Return the oldest held messages, and count them as delivered."""
        messages = self.held.popleft()
        self.held_bytes -= messages.nbytes
        self.delivered = messages.following if self.held else self.following
        return messages

    def skip_to(self, offset: int) -> None:
        """Continue at a later offset, because the expected one no longer exists."""
        self._begin_at(offset)
        self.skipped += max(0, offset - self.following)
        self.deleted += max(0, offset - self.following)
        self.following = offset
        if not self.held:
            self.delivered = offset

    def _begin_at(self, offset: int) -> None:
        if self.following == UNKNOWN:
            self.following = self.delivered = offset
