"""The work that a body may cause: linear in its bytes, whatever they are."""

import gzip
import zlib
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds import blocks
from monitor.feeds.blocks import TornError, inflated
from monitor.feeds.http import bodies
from monitor.feeds.http.record_limit import MAX_RECORDS

EVENT = b'{"type":"label","id":"a","ts":1,"label":1}\n'
MEGABYTE = 1_000_000


class Counted:
    """A decompressor that counts the bytes that it is given: it copies those it leaves."""

    given = 0
    made = 0

    def __init__(self, real):
        self._real = real
        Counted.made += 1

    def decompress(self, data, *size):
        Counted.given += len(data)
        return self._real.decompress(data, *size)

    def __getattr__(self, name):
        return getattr(self._real, name)


@pytest.fixture
def counted():
    Counted.given = Counted.made = 0
    return Counted


@pytest.mark.parametrize("member", [b"", b"\n"])
def test_short_gzip_members_cost_work_in_proportion_to_their_bytes(counted, monkeypatch, member):
    make = zlib.decompressobj
    monkeypatch.setattr(blocks.zlib, "decompressobj", lambda bits: counted(make(bits)))
    packed = gzip.compress(member)
    count = 20_000
    assert b"".join(inflated([packed * count])) == member * count
    assert counted.made > count
    assert counted.given < 16 * 1024 * count < len(packed) * count**2 / 20


def test_a_body_of_empty_gzip_members_is_an_empty_body(make_feed):
    feed = make_feed(max_bytes=MEGABYTE, budget=4 * MEGABYTE)
    empty = gzip.compress(b"")
    answer = feed.post(empty * (MEGABYTE // len(empty)), content_encoding="gzip")
    assert answer.json() == {"accepted": 0, "rejected": {}, "faults": []}


@pytest.mark.parametrize("frame", [zstandard.compress(b""), b"\x50\x2a\x4d\x18" + bytes(4)])
def test_a_body_of_too_many_zstd_frames_is_400(make_feed, frame):
    feed = make_feed(max_bytes=MEGABYTE)
    answer = feed.post(frame * (bodies.MAX_FRAMES + 1), content_encoding="zstd")
    assert answer.status_code == 400
    assert f"more than {bodies.MAX_FRAMES} frames" in answer.json()["error"]
    assert feed.budget.left == 400_000


def test_a_body_may_have_many_zstd_frames(make_feed):
    feed = make_feed(max_bytes=MEGABYTE, budget=4 * MEGABYTE)
    frames = [zstandard.compress(EVENT), zstandard.compress(b"")]
    answer = feed.post(b"".join(frames * (bodies.MAX_FRAMES // 2)), content_encoding="zstd")
    assert answer.json()["accepted"] == bodies.MAX_FRAMES // 2


def test_the_content_of_large_zstd_frames_comes_whole(make_feed):
    feed = make_feed(max_bytes=4 * MEGABYTE, budget=8 * MEGABYTE)
    lines = EVENT * 40_000
    packed = zstandard.compress(lines[:MEGABYTE]) + zstandard.compress(lines[MEGABYTE:])
    assert feed.post(packed, content_encoding="zstd").json()["accepted"] == 40_000


@given(
    members=st.lists(st.binary(max_size=40), min_size=1, max_size=4),
    padding=st.integers(0, 40_000),
    cuts=st.lists(st.integers(0, 200_000), max_size=6),
    size=st.integers(1, 100),
)
def test_members_with_zeros_between_them_inflate_wherever_they_are_cut(
    members, padding, cuts, size
):
    packed = b"".join(gzip.compress(member) + bytes(padding) for member in members)
    ends = [0, *sorted(cut for cut in cuts if cut < len(packed)), len(packed)]
    pieces = [packed[start:end] for start, end in pairwise(ends)]
    assert b"".join(inflated(pieces, size)) == b"".join(members)


def test_zeros_before_the_first_member_are_damage():
    with pytest.raises(TornError, match="damaged"):
        list(inflated([bytes(100) + gzip.compress(b"a")]))


@pytest.mark.parametrize("element", [b"0", b"[]", b'""'])
def test_an_array_of_too_many_values_is_413(make_feed, element):
    feed = make_feed(max_bytes=4 * MEGABYTE, budget=16 * MEGABYTE)
    body = b"[" + b",".join([element] * (MAX_RECORDS + 1)) + b"]"
    assert feed.post(body).status_code == 413


def test_feedback_is_not_parsed_below_its_fields(make_feed):
    feed = make_feed()
    nested = b'{"id": "a", "label": 1, "ts": 5, "extra": {"deep": [1, {"x": null}]}, "model": null}'
    assert feed.post(nested, "/v1/feedback").json()["accepted"] == 1
    assert feed.intake.lines == (
        b'{"id":"a","label":1,"ts":5,"extra":{"deep": [1, {"x": null}]},"type":"label"}\n'
    )
