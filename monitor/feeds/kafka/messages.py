"""Converts message values to lines, and decodes them with the position of each message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import msgspec
import numpy as np
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

_NEWLINE, _OPEN = b"\n{"
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
        nbytes: total size of the values.
    """

    topic: str
    partition: int
    offsets: list[int]
    values: Sequence[Value]
    time_ms: int
    following: int
    nbytes: int


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

    def extend(self, messages: Sequence[Message]) -> None:
        """Append messages of the partition, at least one, that are no events of the client."""
        of = type(messages[0])  # mapping its methods takes a quarter of the time of a loop
        self.offsets += [offset or 0 for offset in map(of.offset, messages)]
        self.raw += [value or b"" for value in map(of.value, messages)]
        times = map(of.timestamp, messages)
        self._times += [time_ms if kind else BEFORE_ALL for kind, time_ms in times]

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
        size = sum(map(_size_of, self._values)) if self.decoded else sum(map(len, self.raw))
        return Messages(*self.key, self.offsets, values, self._times[0], behind, size)


def _size_of(value: Value) -> int:
    return len(value.raw if isinstance(value, Unreadable) else value)


class Run(NamedTuple):
    """Messages of one partition that came one after the other.

    Attributes:
        key: the partition.
        messages: at least one; an event of the client, which has an error, is alone.
    """

    key: PartitionKey
    messages: Sequence[Message]


def runs_of(messages: Sequence[Message]) -> Iterator[Run]:
    """Divide what the client has delivered into runs, in its order."""
    if not messages:
        return
    begin, of = 0, type(messages[0])
    events = [error is not None for error in map(of.error, messages)]
    places = zip(map(of.topic, messages), map(of.partition, messages), events, strict=True)
    for (topic, partition, is_event), run in groupby(places):
        end = begin + len(list(run))
        key = str(topic), int(partition or 0)
        if is_event:
            yield from (Run(key, [message]) for message in messages[begin:end])
        else:
            yield Run(key, messages[begin:end])
        begin = end


def decode_messages(some: Sequence[Messages], decoder: LineDecoder) -> EventBatch:
    """Decode messages; the position of a rejected record is `TOPIC[PARTITION]@OFFSET`.

    A value is one event, an array of events, or lines of events. An empty value, as
    log compaction uses it, has no record.

    Args:
        some: the messages.
        decoder: decodes their records.
    """
    parts: list[bytes] = []
    starts: list[int] = []
    unreadable: list[tuple[int, Unreadable]] = []
    count = 0
    for messages in some:
        if (joined := _one_a_line(messages.values)) is not None:
            parts.append(joined)
            starts += range(count, count + len(messages.values))
            count += len(messages.values)
            continue
        for value in messages.values:
            if isinstance(value, Unreadable):
                unreadable.append((len(starts), value))
                value = b""  # noqa: PLW2901  # it has no lines
            lines = [value] if _is_line(value) else lines_of(value)
            starts.append(count)
            count += len(lines)
            parts += lines
    starts.append(count)
    data = b"\n".join([*parts, b""]) if parts else b""
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


def _one_a_line(values: Sequence[Value]) -> bytes | None:
    """Return values that are a line each, joined; None if one of them is not, or none is given."""
    texts = [value for value in values if isinstance(value, bytes)]
    if not texts or len(texts) < len(values):
        return None
    joined = b"\n".join(texts)
    data = np.frombuffer(joined, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    is_line = len(ends) == len(texts) - 1 and joined[:1] == b"{" and joined[-1:] != b"\n"
    return joined if is_line and (data[ends + 1] == _OPEN).all() else None


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
    within = f"#{line - starts[message] + 1}" if starts[message + 1] - starts[message] > 1 else ""
    return rejection._replace(position=f"{positions[message]}{within}")
