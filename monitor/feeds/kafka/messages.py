"""Message values as lines, and where each of them stood."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
from confluent_kafka import Message

from monitor.events.columns import EventBatch, Rejection
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.lines import BLANK, BOM
from monitor.feeds.merge import BEFORE_ALL

Place = tuple[str, int]
"""A topic and the number of a partition of it."""

_FLATTENED = bytes.maketrans(b"\r\n", b"  ")
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)


class Messages(NamedTuple):
    """Some messages of one partition, in their order.

    Attributes:
        topic: its name.
        partition: its number.
        offsets: of each message, ascending.
        values: of each message.
        time_ms: when the first one was produced, epoch milliseconds.
        following: the offset behind the last one.
    """

    topic: str
    partition: int
    offsets: list[int]
    values: list[bytes]
    time_ms: int
    following: int

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return sum(map(len, self.values))


class Run:
    """Messages of one partition as they come, until they are taken together."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.offsets: list[int] = []
        self._values: list[bytes] = []
        self._times: list[int] = []

    @property
    def last_ms(self) -> int:
        """When the last one was produced."""
        return self._times[-1]

    def add(self, message: Message) -> None:
        """One more."""
        self.offsets.append(message.offset() or 0)
        self._values.append(message.value() or b"")
        kind, time_ms = message.timestamp()
        self._times.append(time_ms if kind else BEFORE_ALL)

    def drop_before(self, offset: int) -> None:
        """Leave out what was read before."""
        while self.offsets and self.offsets[0] < offset:
            del self.offsets[0], self._values[0], self._times[0]

    def messages(self) -> Messages:
        """All of them; there is at least one."""
        behind = self.offsets[-1] + 1
        return Messages(*self.place, self.offsets, self._values, self._times[0], behind)


def place_of(message: Message) -> Place:
    """Where a message stood."""
    return str(message.topic()), int(message.partition() or 0)


def decoded(some: Sequence[Messages], decoder: Decoder) -> EventBatch:
    """The events of messages; each record that cannot be used is named by topic, partition, offset.

    A value is one event, an array of events, or lines of events. An empty one,
    as compaction leaves behind, is no record.
    """
    lines: list[bytes] = []
    starts: list[int] = []
    for messages in some:
        for value in messages.values:
            starts.append(len(lines))
            lines += [value] if _is_line(value) else _lines_of(value)
    data = b"\n".join([*lines, b""]) if lines else b""
    batch = decoder.decode_lines(data, source="", first_line=2)  # a mark at line 1 is not ours
    if not batch.rejected:
        return batch
    places = [
        f"{messages.topic}[{messages.partition}]@{offset}"
        for messages in some
        for offset in messages.offsets
    ]
    return replace(batch, rejected=tuple(_placed(r, starts, places) for r in batch.rejected))


def _is_line(value: bytes) -> bool:
    return value[:1] == b"{" and b"\n" not in value


def _lines_of(value: bytes) -> list[bytes]:
    """The records of a value that is not plainly one."""
    value = value.removeprefix(BOM).strip(BLANK)
    try:
        if value.startswith(b"["):
            return [bytes(one).translate(_FLATTENED) for one in _ARRAY.decode(value)]
        if value.startswith(b"{"):
            return [bytes(_ONE.decode(value)).translate(_FLATTENED)]
    except (msgspec.MsgspecError, RecursionError):
        pass  # lines, or damaged: the decoder says which
    return value.split(b"\n") if value else []


def _placed(rejection: Rejection, starts: list[int], places: list[str]) -> Rejection:
    """A rejection with its message's place, and its number among the records of the message."""
    line = int(rejection.position.removeprefix(":")) - 2
    message = bisect_right(starts, line) - 1
    last = starts[message + 1] if message + 1 < len(starts) else line + 1
    within = f"#{line - starts[message] + 1}" if last - starts[message] > 1 else ""
    return rejection._replace(position=f"{places[message]}{within}")
