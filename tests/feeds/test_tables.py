"""CSV, Parquet and Arrow say the same as NDJSON."""

import csv
import gzip
import io
import json
import re
import sys
from datetime import UTC, datetime
from importlib.resources import files as package_files

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from feeds.decode.oracle import rows_of
from feeds.decode.test_decode import DECODER
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import FeedError
from monitor.events.batches import concatenate
from monitor.events.columns import Group
from monitor.events.reject_reasons import RejectReason
from monitor.extras import install_command
from monitor.feeds.arrow.decoding import ArrowDecoder
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.feeds.files import read

FLIGHTS = Decoder(
    DecodeSettings(models={"delay-hgb-v1": ModelFields(None, ("origin", "carrier", "part_of_day"))})
)
ANY = Decoder(DecodeSettings())

_maybe = st.none
_ids = st.one_of(
    st.text(min_size=1, max_size=4).filter(lambda t: t == t.strip()), st.just("ü" * 129)
)
_classes = st.sampled_from([0, 1, 0, 1, 0, 1, 2])
_times = st.sampled_from([1.6e9, 1.6e9 + 0.001, 1.7e9 + 0.123456, 1.6e12, 9e9])
ROWS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["prediction", "label", "outcome", "outcome", "lable"]),
        "id": _maybe() | _ids,
        "ts": _maybe() | _times | _times,
        "label_ts": _maybe() | _times,
        "score": _maybe() | st.sampled_from([0.0, 0.5, 1.0, 0.25, 1.5]),
        "prediction": _maybe() | _classes,
        "label": _maybe() | _classes,
        "sampling_probability": _maybe() | st.sampled_from([1.0, 0.5, 0.0]),
        "audit": _maybe() | _maybe() | _classes,
        "source": _maybe() | st.sampled_from([None, None, "ann", "rules", "é" * 129]),
        "model": st.sampled_from(["fraud", "spam", "fraud", "spam", "x", None]),
        "version": st.sampled_from(["1", "2", None]),
        "region": st.sampled_from(["eu", "us", None, "é" * 129]),
        "channel": st.sampled_from(["web", "app", None]),
    }
)
SCHEMA = pa.schema(
    [("type", pa.string()), ("id", pa.large_string()), ("ts", pa.float64())]
    + [(name, pa.float64()) for name in ("label_ts", "score", "sampling_probability")]
    + [("prediction", pa.int8()), ("label", pa.int8()), ("audit", pa.int8())]
    + [("model", pa.string()), ("source", pa.string())]
    + [("version", pa.dictionary(pa.int8(), pa.string()))]
)
_SEGMENT = ("region", "channel")


def as_json(row):
    segment = {key: row[key] for key in _SEGMENT}
    plain = {name: value for name, value in row.items() if name not in _SEGMENT}
    return {**plain, "segment": segment}


def by_lines(rows, decoder=DECODER):
    return decoder.decode_lines(b"".join(json.dumps(r).encode() + b"\n" for r in rows), source="t")


def by_arrow(table, decoder=DECODER, *, batch_rows=7):
    made = ArrowDecoder("t", table.schema, decoder)
    parts, first = [], 1
    for batch in table.combine_chunks().to_batches(max_chunksize=batch_rows):
        parts.append(made.decode(batch, first))
        first += batch.num_rows
    return concatenate(parts)


def by_csv(rows, decoder=DECODER, chunk_bytes=100):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return concatenate(list(read_csv([text.getvalue().encode()], "t", decoder, chunk_bytes)))


def reasons(batch, shift=0):
    def row(rejection):
        return int(rejection.position.split(":")[1]) + shift

    # a cell of CSV is text, and is shown as such: "2" where a line has 2
    return sorted((row(r), str(r.reason), r.detail.replace('"', "")) for r in batch.rejected)


def same(found, expected, shift=0):
    assert rows_of(found) == rows_of(expected)
    assert found.records == expected.records
    assert reasons(found, shift) == reasons(expected)


@settings(max_examples=40)
@given(st.lists(ROWS, min_size=1, max_size=20))
def test_arrow_says_the_same_as_lines(rows):
    expected = by_lines([as_json(row) for row in rows])
    flat = pa.Table.from_pylist(
        rows,
        SCHEMA.append(pa.field("region", pa.string())).append(pa.field("channel", pa.string())),
    )
    same(by_arrow(flat), expected)
    dotted = flat.rename_columns([*SCHEMA.names, "segment.region", "segment.channel"])
    same(by_arrow(dotted), expected)
    struct = pa.struct([("channel", pa.string()), ("region", pa.string())])
    nested = pa.Table.from_pylist(
        list(map(as_json, rows)), SCHEMA.append(pa.field("segment", struct))
    )
    same(by_arrow(nested), expected)


@settings(max_examples=40)
@given(st.lists(ROWS, min_size=1, max_size=20))
def test_unusual_columns_say_the_same_as_lines(rows):
    expected = by_lines([as_json(row) for row in rows])
    chosen = [{k: v for k, v in as_json(row)["segment"].items() if v} for row in rows]
    texts = [
        {**row, "segment": json.dumps(segment)} for row, segment in zip(rows, chosen, strict=True)
    ]
    same(
        by_arrow(pa.Table.from_pylist(texts, SCHEMA.append(pa.field("segment", pa.string())))),
        expected,
    )
    maps = [
        {**row, "segment": list(segment.items())} for row, segment in zip(rows, chosen, strict=True)
    ]
    as_map = pa.field("segment", pa.map_(pa.string(), pa.string()))
    same(by_arrow(pa.Table.from_pylist(maps, SCHEMA.append(as_map))), expected)


@settings(max_examples=40)
@given(st.lists(ROWS, min_size=1, max_size=20))
def test_csv_says_the_same_as_lines(rows):
    rows = [row for row in rows if not set(row["id"] or "") & set("\r\n")] or [
        {**rows[0], "id": "a"}
    ]
    whole = [{**row, "type": row["type"]} for row in rows]
    same(by_csv(whole), by_lines([as_json(row) for row in rows]), shift=-1)


@pytest.fixture(scope="module")
def flights():
    """The flights, with one row a flight as Parquet has them, and what their lines give."""
    data = gzip.decompress((package_files("monitor.demo") / "flights.ndjson.gz").read_bytes())
    rows = {}
    for event in map(json.loads, data.splitlines()):
        if event["type"] == "prediction":
            row = {"label": None, "label_ts": None, **event, **event["segment"]}
            rows[event["id"]] = {k: v for k, v in row.items() if k not in ("type", "segment")}
        else:
            rows[event["id"]] |= {"label": event["label"], "label_ts": event["ts"]}
    text = pa.dictionary(pa.int8(), pa.string())
    names = ("model", "origin", "carrier", "part_of_day")
    schema = pa.schema(
        {"id": pa.large_string(), "ts": pa.int64(), "score": pa.float64(), "prediction": pa.int8()}
        | dict.fromkeys(names, text)
        | {"label": pa.int8(), "label_ts": pa.int64()}
    )
    table = pa.Table.from_pylist(list(rows.values()), schema)
    return data, table, rows_of(FLIGHTS.decode_lines(data, source="f"))


def written(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=10_000)
    elif path.suffix == ".csv":
        rows = [[cell.as_py() for cell in column] for column in table.columns]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([table.column_names, *zip(*rows, strict=True)])
    else:
        new = pa.ipc.new_file if path.suffix != ".arrows" else pa.ipc.new_stream
        with new(path, table.schema) as sink:
            sink.write_table(table, max_chunksize=30_000)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "feather", "csv"])
def test_the_flights_as_a_table_are_the_flights(tmp_path, flights, suffix):
    data, table, expected = flights
    path = written(table.slice(0, 5000) if suffix == "csv" else table, tmp_path / f"a.{suffix}")
    progress_seen = []
    found = concatenate(
        list(read([path], FLIGHTS, progress=lambda done, of: progress_seen.append((done, of))))
    )
    if suffix == "csv":
        chosen = set(table["id"].slice(0, 5000).to_pylist())
        lines = [
            line for line in data.splitlines() if line.split(b'"id":"')[1][:7].decode() in chosen
        ]
        expected = rows_of(FLIGHTS.decode_lines(b"\n".join(lines), source="f"))
    assert rows_of(found) == expected
    assert found.rejected == ()
    assert suffix == "arrows" or progress_seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_label_of_a_table_comes_with_its_row_however_late_it_is(tmp_path):
    rows = [{"id": str(i), "ts": i, "prediction": 1, "label": 1, "label_ts": i + 30_000.0} for i in
            range(50_000)]  # fmt: skip
    path = written(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for batch in read([path], ANY):
        assert batch.labels.key.tolist() == batch.predictions.key.tolist()
        assert batch.labels.row.tolist() == batch.predictions.row.tolist()
        assert batch.labels.prediction_time.tolist() == batch.predictions.time.tolist()


def test_what_the_rows_are_follows_from_the_columns():
    row = {"id": "a", "ts": 5}
    assert len(by_arrow(pa.Table.from_pylist([{**row, "prediction": 1}]), ANY).predictions) == 1
    labels = by_arrow(
        pa.Table.from_pylist([{**row, "label": 1}, {**row, "label": None}]), ANY
    ).labels
    assert labels.value.tolist() == [1, 2]
    cells = {"ts": 5, "tp": 1, "fp": 2.0, "fn": 3, "tn": 4, "source": "s", "batch": "b"}
    counts = by_arrow(pa.Table.from_pylist([cells]), ANY).counts
    assert counts.cells.tolist() == [[1, 2, 3, 4]]
    assert counts.batch_key[0]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_time_that_is_too_large_for_its_unit_does_not_wrap_around(tmp_path, unit):
    times = pa.array([2**62, 0], pa.timestamp(unit))
    table = pa.table({"ts": times, "id": ["a", "b"], "prediction": [1, 1]})
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as file:
        file.write_table(table)
    batch = concatenate(list(read([tmp_path / "x.arrow"], ANY)))
    assert [one.reason for one in batch.rejected] == [RejectReason.TIMESTAMP_OUT_OF_RANGE]
    assert len(batch.predictions) == 1


def test_timestamps_bools_and_decimals_are_taken():
    when = datetime(2020, 1, 1, 0, 0, 0, 1500, UTC)
    table = pa.table(
        {
            "id": ["a"],
            "ts": pa.array([when.replace(tzinfo=None)], pa.timestamp("ns")),
            "label_ts": pa.array([when], pa.timestamp("us", "Europe/Berlin")),
            "prediction": [True],
            "label": [False],
        }
    )
    expected = [int(when.timestamp() * 1000)]
    texts = table.set_column(1, "ts", [["2020-01-01T00:00:00.0015Z"]])
    for made in (by_arrow(table, ANY), by_arrow(texts, ANY)):
        assert made.predictions.time.tolist() == made.labels.time.tolist() == expected
        assert made.labels.value.tolist() == [0]
    slow = table.append_column("score", pa.array([None], pa.decimal128(5, 2)))
    assert rows_of(by_arrow(slow, ANY)) == rows_of(by_arrow(table, ANY))


def test_an_integer_id_is_its_text():
    columns = {"ts": [5, 5], "prediction": [1, 1]}
    numbers = by_arrow(pa.table({"id": [1, 2], **columns}), ANY)
    texts = by_arrow(pa.table({"id": ["1", "2"], **columns}), ANY)
    same(numbers, texts)
    assert len(numbers.predictions) == 2


def test_a_nan_score_is_a_bad_value():
    table = pa.table({"id": ["a"], "ts": [5], "prediction": [1], "score": [float("nan")]})
    assert by_arrow(table, ANY).rejected[0].reason is RejectReason.BAD_VALUE


def test_strings_that_are_no_utf8_cost_their_row_alone():
    ids = pa.array([b"a", b"\xff", b"b"]).cast(pa.binary())
    text = pa.Array.from_buffers(pa.string(), 3, ids.buffers())
    batch = by_arrow(pa.table({"id": text, "ts": [5, 5, 5], "prediction": [1, 0, 1]}), ANY)
    assert [(r.position, r.reason) for r in batch.rejected] == [("t:2", RejectReason.MALFORMED)]
    assert len(batch.predictions) == 2


def test_a_million_segment_values_do_not_slow_a_batch_down():
    values = pa.array([f"v{i}" for i in range(200_000)])
    indices = pa.array(range(0, 200_000, 1000), pa.int32())
    table = pa.table(
        {
            "id": [str(i) for i in range(200)],
            "ts": [5] * 200,
            "prediction": [1] * 200,
            "region": pa.DictionaryArray.from_arrays(indices, values),
        }
    )
    decoder = Decoder(DecodeSettings(default=ModelFields(None, ("region",))))
    batch = by_arrow(table, decoder, batch_rows=200)
    assert len(batch.groups) == 200
    assert batch.groups[1] == Group("default", "", ("v1000",))


def test_bad_lines_of_csv_cost_themselves_alone():
    lines = [
        b"\xef\xbb\xbfid,ts,prediction,label,note",
        b"a,5,1,0,",
        b'"b",5,TRUE,1.0,"x,""y"""',
        b"c,5,1",
        b'd,5,1,0,"open',
        b"e,5,1,0,\xff",
        b"",
        b"f,5,yes,0,",
        b"g,nan,1,0,",
        b"h,5,1,0," + b"x" * 70_000,
        b"i,2020-01-01T00:00:00Z,1,,",
    ]
    batch = concatenate(list(read_csv([b"\r\n".join(lines)], "t", ANY, 10_000)))
    assert [(r.position, str(r.reason)) for r in batch.rejected] == [
        ("t:4", "malformed"),
        ("t:5", "malformed"),
        ("t:6", "malformed"),
        ("t:8", "bad_value"),
        ("t:9", "bad_value"),
        ("t:10", "too_large"),
    ]
    assert (len(batch.predictions), len(batch.labels), batch.records) == (3, 2, 9)
    assert batch.rejected[0].record == b"c,5,1"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.arrow"])
def test_a_table_without_its_columns_is_refused(tmp_path, name):
    path = written(pa.table({"id": ["a"], "time": [5]}), tmp_path / name)
    with pytest.raises(FeedError, match=f"{name}: has no column 'ts', got id, time; say"):
        list(read([path], ANY))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
@pytest.mark.parametrize("data", [b"", b"PAR1", b"ARROW1 and then nothing of the kind" * 100])
def test_what_is_no_table_is_refused(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FeedError, match=f"{name}: cannot be read"):
        list(read([path], ANY))


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    path = written(pa.table({"id": ["a"], "ts": [5]}), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.lib", None)
    with pytest.raises(FeedError, match=re.escape(install_command("parquet"))):
        list(read([path], ANY))


@pytest.mark.parametrize("nested", [False, True])
def test_parquet_reads_segments_from_a_dotted_column_and_from_a_struct(tmp_path, nested):
    row = {"id": "a", "ts": 5, "prediction": 1, "note": "left alone"}
    segment = {"segment": {"region": "eu"}} if nested else {"segment.region": "eu"}
    path = written(pa.Table.from_pylist([row | segment]), tmp_path / "a.parquet")
    decoder = Decoder(DecodeSettings(default=ModelFields(None, ("region",))))
    batch = concatenate(list(read([path], decoder)))
    assert batch.groups == (Group("default", "", ("eu",)),)


def test_an_empty_table_has_no_events(tmp_path):
    table = pa.table({"id": pa.array([], pa.string()), "ts": pa.array([], pa.int64())})
    for name in ("a.parquet", "a.arrow", "a.arrows", "a.csv"):
        assert concatenate(list(read([written(table, tmp_path / name)], ANY))).records == 0
