"""Values of messages together: the same events, positions and reasons as each alone."""

import json
from dataclasses import fields

import numpy as np
import pytest
from feeds.decode.strategies import lines, records
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("confluent_kafka")
from feeds.kafka.cluster import FakeMessage

from monitor.events.batches import concatenate, in_sequence
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.kafka.messages import MessageBuffer, Run, decode_messages, runs_of
from monitor.feeds.kafka.value_lines import Unreadable

DECODER = Decoder(DecodeSettings())
arrays = st.lists(records, max_size=3).map(lambda some: json.dumps(some).encode("utf-8", "replace"))
pretty = records.map(lambda one: json.dumps(one, indent=1).encode("utf-8", "replace"))
values = st.one_of(
    lines(), lines(), lines(), st.sampled_from([b"", b"\n", b"{}\n", b"{", b"\xef\xbb\xbf{}"]),
    st.lists(lines(), max_size=3).map(b"\n".join), arrays, pretty,
    st.just(Unreadable("schema: is unknown", b"\0")),
)  # fmt: skip


def messages_of(some, first=10, key=("t", 3)):
    """Messages of these values, at every second offset."""
    buffer = MessageBuffer(key)
    buffer.extend([FakeMessage(key, first + 2 * i, b"x") for i, _ in enumerate(some)])
    buffer.decode(list(some))
    return buffer.messages()


LABEL = b'{"type": "label", "id": "a", "ts": 1, "label": 1}'


@example(chunks=[[LABEL, b"[" + LABEL + b"]"], [LABEL, LABEL + b"\n" + LABEL], [LABEL, b""]])
@settings(max_examples=25, deadline=None)  # a machine may be busy
@given(chunks=st.lists(st.lists(values, min_size=1, max_size=6), min_size=1, max_size=3))
def test_messages_together_give_the_same_as_each_alone(chunks):
    some = [messages_of(chunk, 100 * number) for number, chunk in enumerate(chunks)]
    found = decode_messages(some, DECODER)
    alone = [
        decode_messages([messages_of([value], 100 * number + 2 * index)], DECODER)
        for number, chunk in enumerate(chunks)
        for index, value in enumerate(chunk)
    ]
    expected = concatenate(alone)
    assert sorted(found.rejected) == sorted(expected.rejected)
    assert found.records == expected.records
    assert in_sequence(found).tolist() == in_sequence(expected).tolist()
    for kind in ("predictions", "labels", "outcomes", "counts"):
        mine, theirs = getattr(found, kind), getattr(expected, kind)
        for name in {field.name for field in fields(theirs)} - {"row", "group"}:
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        if len(theirs) and kind != "labels":
            mine_groups = [found.groups[code] for code in mine.group]
            assert mine_groups == [expected.groups[code] for code in theirs.group]


def test_runs_are_the_messages_of_one_partition_that_follow_each_other():
    a, b = ("t", 0), ("t", 1)
    came = [
        FakeMessage(a, 1), FakeMessage(a, 2), FakeMessage(b, 7), FakeMessage(a, 3, error="end"),
        FakeMessage(a, 4, error="end"), FakeMessage(a, 5), FakeMessage(("u", 0), 5),
    ]  # fmt: skip
    assert [*runs_of(came)] == [
        Run(a, came[:2]), Run(b, came[2:3]), Run(a, [came[3]]), Run(a, [came[4]]),
        Run(a, came[5:6]), Run(("u", 0), came[6:]),
    ]  # fmt: skip
    assert [*runs_of([])] == []


def test_the_size_of_messages_is_that_of_their_values():
    assert messages_of([b"abc", Unreadable("why", b"de"), b""]).nbytes == 5
    raw = MessageBuffer(("t", 0))
    raw.extend([FakeMessage(("t", 0), 1, b"abcd"), FakeMessage(("t", 0), 2, None)])
    assert raw.messages().nbytes == 4
