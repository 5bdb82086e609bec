"""Converts message values to lines, and decodes them with the position of each message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
from confluent_kafka import Message

from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds.decode import LineDecoder
from monitor.feeds.decode.lines import BLANK, BOM
from monitor.feeds.merge import BEFORE_ALL

PartitionKey = tuple[str, int]
"""Name of a topic, and number of one of its partitions."""

_FLATTENED = bytes.maketrans(b"\r\n", b"  ")
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)


class Messages(NamedTuple):
    """Consecutive messages of one partition.

    Attributes:
        topic: name of the topic.
        partition: number of the partition.
        offsets: offset of each message, ascending.
        values: value of each message.
        time_ms: time of the first message, epoch milliseconds.
        following: offset after the last message.
    """

    topic: str
    partition: int
    offsets: list[int]
    values: list[bytes]
    time_ms: int
    following: int

    @property
    def nbytes(self) -> int:
        """Total size of the values."""
        return sum(map(len, self.values))


class MessageBuffer:
    """Collects consecutive messages of one partition.

    Args:
        key: the partition.

    Attributes:
        key: the partition.
        offsets: offset of each message so far, ascending.
    """

    def __init__(self, key: PartitionKey) -> None:
        self.key = key
        self.offsets: list[int] = []
        self._values: list[bytes] = []
        self._times: list[int] = []

    @property
    def last_ms(self) -> int:
        """Time of the last message, epoch milliseconds."""
        return self._times[-1]

    def add(self, message: Message) -> None:
        """Append a message."""
        self.offsets.append(message.offset() or 0)
        self._values.append(message.value() or b"")
        kind, time_ms = message.timestamp()
        self._times.append(time_ms if kind else BEFORE_ALL)

    def drop_before(self, offset: int) -> None:
        """Drop messages with smaller offsets, which were read before."""
        while self.offsets and self.offsets[0] < offset:
            del self.offsets[0], self._values[0], self._times[0]

    def messages(self) -> Messages:
        """Return all messages; there must be at least one."""
        behind = self.offsets[-1] + 1
        return Messages(*self.key, self.offsets, self._values, self._times[0], behind)


def key_of(message: Message) -> PartitionKey:
    """Return the partition of a message."""
    return str(message.topic()), int(message.partition() or 0)


def decode_messages(some: Sequence[Messages], decoder: LineDecoder) -> EventBatch:
    """Decode messages; the position of a rejected record is `TOPIC[PARTITION]@OFFSET`.

    A value is one event, an array of events, or lines of events. An empty value, as
    log compaction uses it, has no record.

    Args:
        some: the messages.
        decoder: decodes their records.
    """
    lines: list[bytes] = []
    starts: list[int] = []
    for messages in some:
        for value in messages.values:
            starts.append(len(lines))
            lines += [value] if _is_line(value) else lines_of(value)
    data = b"\n".join([*lines, b""]) if lines else b""
    batch = decoder.decode_lines(data, source="", first_line=2)  # line 1 may have a BOM
    if not batch.rejected:
        return batch
    positions = [
        f"{messages.topic}[{messages.partition}]@{offset}"
        for messages in some
        for offset in messages.offsets
    ]
    return replace(batch, rejected=tuple(_positioned(r, starts, positions) for r in batch.rejected))


def _is_line(value: bytes) -> bool:
    return value[:1] == b"{" and b"\n" not in value


def lines_of(value: bytes) -> list[bytes]:
    """Return the records of a message's value, a line each.

    Args:
        value: one event, an array of events, or lines of events; may be empty.
    """
    value = value.removeprefix(BOM).strip(BLANK)
    try:
        if value.startswith(b"["):
            return [bytes(one).translate(_FLATTENED) for one in _ARRAY.decode(value)]
        if value.startswith(b"{"):
            return [bytes(_ONE.decode(value)).translate(_FLATTENED)]
    except (msgspec.MsgspecError, RecursionError):
        pass  # lines, or damaged: the decoder finds out which
    return value.split(b"\n") if value else []


def _positioned(rejection: Rejection, starts: list[int], positions: list[str]) -> Rejection:
    """Add the position of the message, and the record's number within a message of several."""
    line = int(rejection.position.removeprefix(":")) - 2
    message = bisect_right(starts, line) - 1
    last = starts[message + 1] if message + 1 < len(starts) else line + 1
    within = f"#{line - starts[message] + 1}" if last - starts[message] > 1 else ""
    return rejection._replace(position=f"{positions[message]}{within}")
