"""Converts message values to lines, and decodes them with the position of each message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
from confluent_kafka import Message

from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.decode import LineDecoder
from monitor.feeds.decode.decoder import MAX_REJECTED_BYTES
from monitor.feeds.decode.lines import BLANK, BOM
from monitor.feeds.kafka.value_lines import Unreadable, Value
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
        values: value of each message, as lines of JSON; or why it cannot be read.
        time_ms: time of the first message, epoch milliseconds.
        following: offset after the last message.
    """

    topic: str
    partition: int
    offsets: list[int]
    values: Sequence[Value]
    time_ms: int
    following: int

    @property
    def nbytes(self) -> int:
        """Total size of the values."""
        return sum(len(v.raw if isinstance(v, Unreadable) else v) for v in self.values)


class MessageBuffer:
    """Collects consecutive messages of one partition.

    Args:
        key: the partition.

    Attributes:
        key: the partition.
        offsets: offset of each message so far, ascending.
        raw: value of each message so far.
        decoded: True once `decode` was called.
    """

    def __init__(self, key: PartitionKey) -> None:
        self.key = key
        self.offsets: list[int] = []
        self.raw: list[bytes] = []
        self.decoded = False
        self._values: list[Value] = []
        self._times: list[int] = []

    @property
    def last_ms(self) -> int:
        """Time of the last message, epoch milliseconds."""
        return self._times[-1]

    def add(self, message: Message) -> None:
        """Append a message."""
        self.offsets.append(message.offset() or 0)
        self.raw.append(message.value() or b"")
        kind, time_ms = message.timestamp()
        self._times.append(time_ms if kind else BEFORE_ALL)

    def decode(self, values: list[Value]) -> None:
        """Give the values of all messages as lines of JSON, in the place of the raw ones."""
        self._values, self.decoded = values, True

    def drop_before(self, offset: int) -> None:
        """Drop messages with smaller offsets, which were read before."""
        while self.offsets and self.offsets[0] < offset:
            del self.offsets[0], self.raw[0], self._times[0]
            if self.decoded:
                del self._values[0]

    def messages(self) -> Messages:
        """Return all messages; there must be at least one."""
        behind = self.offsets[-1] + 1
        values = self._values if self.decoded else self.raw
        return Messages(*self.key, self.offsets, values, self._times[0], behind)


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
    unreadable: list[tuple[int, Unreadable]] = []
    for messages in some:
        for value in messages.values:
            if isinstance(value, Unreadable):
                unreadable.append((len(starts), value))
                value = b""  # noqa: PLW2901  # it has no lines
            starts.append(len(lines))
            lines += [value] if _is_line(value) else lines_of(value)
    data = b"\n".join([*lines, b""]) if lines else b""
    batch = decoder.decode_lines(data, source="", first_line=2)  # line 1 may have a BOM
    if not (batch.rejected or unreadable):
        return batch
    positions = [
        f"{messages.topic}[{messages.partition}]@{offset}"
        for messages in some
        for offset in messages.offsets
    ]
    rejected = [_positioned(rejection, starts, positions) for rejection in batch.rejected]
    rejected += [_rejection(value, positions[message]) for message, value in unreadable]
    return replace(batch, rejected=tuple(rejected), records=batch.records + len(unreadable))


def _rejection(value: Unreadable, position: str) -> Rejection:
    record = value.raw[:MAX_REJECTED_BYTES]
    return Rejection(RejectReason.MALFORMED, position, value.detail, record)


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
