"""One partition: what was read of it, what was given, what was skipped."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from monitor.feeds.kafka.messages import Messages, Place
from monitor.feeds.merge import BEFORE_ALL

UNKNOWN = -1
"""Stands for an offset that only the first message will tell."""


@dataclass(slots=True)
class Partition:
    """Where a partition that is ours stands.

    Offsets below `given` were given to the engine, all of them and nothing else;
    messages up to `following` are held or were skipped.

    Attributes:
        place: topic and number.
        following: the offset that is expected next from the broker.
        given: the offset behind everything that was given.
        held: messages that were read and not yet given.
        held_bytes: of these.
        time_ms: when what was read last was produced, epoch milliseconds.
        at_end: whether everything that there was has been read.
        heard: when something last came, in seconds of the clock.
        end: the offset behind the last message, as far as is known.
        skipped: offsets for which no message came.
        deleted: of these, offsets whose messages were deleted before they were read.
        paused: whether nothing of it is fetched at the moment.
        paused_seconds: for how long that was so, altogether.
    """

    place: Place
    following: int
    given: int
    heard: float
    held: deque[Messages] = field(default_factory=deque)
    held_bytes: int = 0
    time_ms: int = BEFORE_ALL
    at_end: bool = False
    end: int = 0
    skipped: int = 0
    deleted: int = 0
    paused: bool = False
    paused_seconds: float = 0.0

    @property
    def lag(self) -> int:
        """Messages that are there and were not given; offsets without one count too."""
        return max(0, self.end - self.given) if self.given >= 0 else 0

    def keep(self, messages: Messages, last_ms: int, now: float) -> None:
        """Hold messages that were read; those that were read before are none of them."""
        self._begin_at(messages.offsets[0])
        self.skipped += (messages.following - self.following) - len(messages.offsets)
        self.following, self.at_end, self.heard = messages.following, False, now
        self.end = max(self.end, messages.following)
        self.time_ms = max(self.time_ms, last_ms)
        self.held.append(messages)
        self.held_bytes += messages.nbytes

    def reach_end(self, end: int, now: float) -> None:
        """Everything up to an offset was read, though the last offsets may have no message."""
        self._begin_at(end)
        self.at_end, self.heard, self.end = True, now, max(self.end, end)
        if end > self.following:
            self.skipped += end - self.following
            self.following = end
        if not self.held:
            self.given = self.following

    def take(self) -> Messages:
        """The messages held longest; they count as given from now on."""
        messages = self.held.popleft()
        self.held_bytes -= messages.nbytes
        self.given = messages.following if self.held else self.following
        return messages

    def go_on_at(self, offset: int) -> None:
        """The offset that was expected is not there any more."""
        self._begin_at(offset)
        self.skipped += max(0, offset - self.following)
        self.deleted += max(0, offset - self.following)
        self.following = offset
        if not self.held:
            self.given = offset

    def _begin_at(self, offset: int) -> None:
        if self.following == UNKNOWN:
            self.following = self.given = offset
