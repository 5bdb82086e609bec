"""Arrow streams as bodies: their rows, and the limits on expansion."""

import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.feeds.http.arrow_bodies import MEDIA_TYPE, arrow_lines
from monitor.feeds.http.record_limit import MAX_RECORDS
from monitor.feeds.http.responses import RefusedError

MOST = 1 << 20
NOW = datetime(2023, 11, 1, tzinfo=UTC)


def stream(table: pa.Table, rows: int = 7, **options) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def records(body: bytes, most: int = MOST) -> list[dict]:
    return [json.loads(line) for line in arrow_lines(body, most).splitlines()]


def refusal(body: bytes, most: int = MOST) -> RefusedError:
    with pytest.raises(RefusedError) as found:
        arrow_lines(body, most)
    return found.value


TABLE = pa.table(
    {
        "type": pa.array(["prediction", "label"] * 10).dictionary_encode(),
        "id": [f"order-{i // 2}" for i in range(20)],
        "ts": pa.array([NOW.replace(tzinfo=None)] * 20, pa.timestamp("ns")),
        "score": [0.5, None] * 10,
        "prediction": pa.array([True, None] * 10),
        "label": pa.array([None, 1] * 10, pa.int8()),
        "segment.region": ["eu", None] * 10,
        "channel": ["web", None] * 10,
    }
)


def test_rows_are_records_as_in_files():
    found = records(stream(TABLE))
    assert len(found) == 20
    assert found[0] == {
        "type": "prediction",
        "id": "order-0",
        "ts": "2023-11-01T00:00:00Z",
        "prediction": True,
        "label": None,
        "score": 0.5,
        "segment": {"region": "eu", "channel": "web"},
    }
    assert found[1] == {
        "type": "label",
        "id": "order-0",
        "ts": "2023-11-01T00:00:00Z",
        "label": 1,
    }


def test_columns_decide_the_type_of_the_rows():
    rows = {"id": ["a"], "ts": [1.5], "score": [0.5], "label": [None]}
    found = records(stream(pa.table({**rows, "segment": [{"region": "eu"}]})))
    (record,) = found
    assert record == {
        "type": "outcome",
        "id": "a",
        "ts": 1.5,
        "score": 0.5,
        "label": None,
        "segment": {"region": "eu"},
    }


def test_a_feed_accepts_arrow_bodies(feed):
    answer = feed.post(stream(TABLE), content_type=MEDIA_TYPE)
    assert answer.json() == {"accepted": 20, "rejected": {}, "faults": []}
    assert feed.intake.lines.count(b"\n") == 20


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_buffers_are_refused_before_they_expand(compression):
    table = pa.table({"ts": [0.0] * 100_000})
    refused = refusal(stream(table, compression=compression))
    assert refused.status == 400
    assert "Content-Encoding: zstd" in refused.text
    words = pa.table({"ts": [0.0], "id": pa.array(["a" * 10_000]).dictionary_encode()})
    assert refusal(stream(words, compression=compression)).status == 400


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"ts": pa.nulls(MAX_RECORDS + 1)}),
        pa.table(
            {
                "ts": [0.0] * 1_000,
                "id": pa.DictionaryArray.from_arrays([0] * 1_000, ["a" * 10_000]),
            }
        ),
        pa.table({"ts": [0.0] * 10, "a" * 200_000: [1] * 10}),
    ],
    ids=["rows of nothing", "one word again and again", "a long name"],
)
def test_a_body_that_would_expand_too_far_is_413(table):
    body = stream(table, rows=1_000_000)
    assert len(body) < MOST
    assert refusal(body).status == 413


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "Arrow stream"),
        (b"{}\n", "Arrow stream"),
        (stream(TABLE)[:-300], "Arrow stream"),
        (stream(pa.table({"id": ["a"]})), "no column 'ts'"),
        (stream(pa.table({"ts": [0.0], "x": [[1]]})), "column 'x' has type list"),
        (stream(pa.table({str(i): [1] for i in range(300)} | {"ts": [0]})), "at most 200 columns"),
    ],
)
def test_a_body_that_is_no_stream_of_events_is_400(body, fault):
    refused = refusal(body)
    assert refused.status == 400
    assert fault in refused.text


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_time_that_no_date_has_is_400(unit):
    ts = pa.array([2**62], pa.timestamp(unit))
    assert refusal(stream(pa.table({"ts": ts, "prediction": [1]}))).status == 400


def test_a_name_that_is_no_utf8_is_400():
    body = stream(pa.table({"ts": [1.0], "prediction": [1], "region": ["eu"]}))
    found = refusal(body.replace(b"region", b"regio\xff"))
    assert (found.status, "utf-8" in str(found)) == (400, True)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4), st.integers())
def test_damage_is_refused_or_leaves_rows(flips, cut):
    body = bytearray(stream(TABLE))
    for at, value in flips:
        body[at % len(body)] = value
    body = bytes(body[: cut % (len(body) + 1)])
    try:
        arrow_lines(body, MOST)
    except RefusedError as refused:
        assert refused.status in (400, 413)  # noqa: PT017  # other damage leaves rows
