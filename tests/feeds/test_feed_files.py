import gzip
import io
import json
import sys
from importlib.resources import files as package_files

import pytest
from feeds.decode.oracle import decode, key, rows_of, until_error
from feeds.decode.strategies import streams
from feeds.decode.test_decode import DECODER
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import FeedError
from monitor.events.batches import concatenate
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.blocks import blocks
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read

ANY = Decoder(DecodeSettings())


def label_line(i, ts=1):
    return f'{{"type":"label","id":"{i}","ts":{ts},"label":1}}\n'.encode()


def write(path, data):
    path.write_bytes(data)
    return path


def everything(paths, decoder=ANY, **options):
    return concatenate(list(read(paths, decoder, **options)))


@settings(max_examples=40)
@given(streams, st.lists(st.integers(1, 40)), st.integers(1, 500))
def test_chunks_cut_anywhere_give_the_same_as_the_whole(data, cuts, size):
    stream = io.BytesIO(data)
    pieces = [*(stream.read(cut) for cut in cuts), stream.read()]
    batches = [
        DECODER.decode_lines(b.data, source="f", first_line=b.first_line)
        for b in blocks(pieces, size)
    ]
    together = concatenate(batches)
    whole = DECODER.decode_lines(data, source="f")
    assert rows_of(together) == rows_of(whole)
    assert (together.rejected, together.records) == (whole.rejected, whole.records)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl", "a.json", "a.gz", "a.log"])
def test_lines_are_read_plain_and_packed_whatever_the_name(tmp_path, pack, name):
    data = b"".join(label_line(i) for i in range(1000)) + b"{\n" + label_line(1000)
    path = write(tmp_path / name, pack(data))
    batch = everything([path], chunk_bytes=5000)
    assert rows_of(batch) == decode(data, models={})[0]
    assert [r.position for r in batch.rejected] == [f"{path}:1001"]


def test_the_flights_are_all_there():
    flights = package_files("monitor.demo") / "flights.ndjson.gz"
    batch = everything([flights])
    assert (len(batch.predictions), len(batch.labels), batch.rejected) == (57286, 55811, ())


def test_an_empty_file_has_no_events(tmp_path):
    for data in (b"", b"\n\n", gzip.compress(b""), b"\xef\xbb\xbf"):
        batch = everything([write(tmp_path / "a.ndjson", data)])
        assert (batch.records, rows_of(batch)) == (0, [])


def test_the_last_line_needs_no_newline_but_must_be_whole(tmp_path):
    line = label_line("a").strip()
    assert len(everything([write(tmp_path / "a", line)]).labels) == 1
    batch = everything([write(tmp_path / "a", label_line("b") + line[:-1])])
    assert len(batch.labels) == 1
    assert [r.reason for r in batch.rejected] == [RejectReason.MALFORMED]


def test_what_cannot_be_read_says_why_before_anything_is_read(tmp_path):
    good = write(tmp_path / "good.ndjson", label_line("a"))
    with pytest.raises(
        FeedError, match=r"is a directory; give its files: \$\(find \S+ -name '\*.ndj"
    ):
        read([good, tmp_path], ANY)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeedError, match="is a directory; give a file"):
        read([good, tmp_path / "empty"], ANY)
    with pytest.raises(FeedError, match="patterns are of feeds with follow: true; give the files"):
        read([good, tmp_path / "*.ndjson"], ANY)
    with pytest.raises(FeedError, match=r"none.ndjson: no such file; check the path"):
        read([good, tmp_path / "none.ndjson"], ANY)


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = write(tmp_path / "a.ndjson", b"")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(FeedError, match="may not be read by this user"):
        read([path], ANY)


@pytest.mark.parametrize("cut", [-1, -4, -8, -9, -200, 12])
def test_a_torn_gzip_gives_what_came_before_and_then_says_where(tmp_path, cut):
    data = b"".join(label_line(json.dumps(i * 7919 % 100_003)) for i in range(5000))
    path = write(
        tmp_path / "a.gz", gzip.compress(data.replace(b'""', b'"').replace(b'""', b'"'))[:cut]
    )
    batches, error = until_error(read([path], ANY, chunk_bytes=20_000))
    assert f"{path}: gzip ends too early, within line " in str(error)
    line = int(str(error).split("within line ")[1].split(";")[0])
    assert sum(batch.records for batch in batches) == line - 1
    assert not any(batch.rejected for batch in batches)
    assert cut == 12 or line > 3000


def test_a_damaged_gzip_says_so(tmp_path):
    packed = bytearray(gzip.compress(label_line("a") * 10))
    packed[-6] ^= 255
    with pytest.raises(FeedError, match="gzip is damaged"):
        everything([write(tmp_path / "a.gz", bytes(packed))])


def test_several_gzip_members_are_one_file(tmp_path):
    packed = gzip.compress(label_line("a")) + gzip.compress(label_line("b")) + b"\0" * 512
    assert len(everything([write(tmp_path / "a.gz", packed)]).labels) == 2


def test_an_endless_line_is_never_held():
    def pieces():
        yield label_line("a") + b'{"type":"label","x":"'
        yield from [b"a" * 1_000_000] * 300
        yield b'"}\n' + label_line("b")

    found = list(blocks(pieces(), 1_000_000))
    assert max(len(block.data) for block in found) < 1_100_000
    batch = concatenate(
        [ANY.decode_lines(b.data, source="f", first_line=b.first_line) for b in found]
    )
    assert len(batch.labels) == 2
    assert [(r.position, r.reason) for r in batch.rejected] == [("f:2", RejectReason.TOO_LARGE)]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(label_line("a") + b"{")))
    batch = everything(["-"])
    assert batch.labels.key.tolist() == [key("a")]
    assert batch.rejected[0].position == "stdin:2"


def test_progress_is_reported_to_the_end(tmp_path):
    paths = [write(tmp_path / f"{i}.ndjson", label_line(i) * 50_000) for i in range(2)]
    total = sum(path.stat().st_size for path in paths)
    progress_seen = []
    everything(paths, progress=lambda done, of: progress_seen.append((done, of)))
    assert progress_seen == sorted(progress_seen)
    assert progress_seen[-1] == (total, total)
    assert len(progress_seen) > 4


def test_chunks_hold_about_the_bytes_asked_for(tmp_path):
    path = write(tmp_path / "a.ndjson", label_line("a") * 50_000)
    sizes = [batch.records for batch in read([path], ANY, chunk_bytes=500_000)]
    assert sum(sizes) == 50_000
    assert all(10_000 < size < 20_000 for size in sizes[:-1])


ARRAY = "[" + ",\n ".join(label_line(str(i)).decode().strip() for i in range(3_000)) + "]"
RECORD_2500 = ARRAY.index(label_line("2499").decode().strip())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (ARRAY[: RECORD_2500 + 20], "the array is cut: it ends in record 2,500 (line 2,500, byte "),
        (ARRAY[: RECORD_2500 - 1], "the array is cut: it ends in record 2,500 (line 2,500, byte "),
        (ARRAY[: RECORD_2500 - 3], "the array is cut: it ends in record 2,500 (line 2,499, byte "),
        (
            ARRAY[:RECORD_2500] + "nan" + ARRAY[RECORD_2500:],
            f"record 2,500 of the array (line 2,500, byte {RECORD_2500 + 1:,}) is not JSON: ",
        ),
        (
            ARRAY[: RECORD_2500 - 3] + " " + ARRAY[RECORD_2500:],
            f"2,500 of the array (line 2,499, byte {RECORD_2500 - 1:,}) is not behind a comma",
        ),
        (ARRAY[:RECORD_2500] + "[" * 100_000, "is nested too deeply; all records before it"),
    ],
    ids=["within", "behind", "before a comma", "no JSON", "no comma", "deep"],
)
def test_an_array_that_is_cut_or_damaged_says_where_and_counts_what_is_before(
    tmp_path, text, fault
):
    labels, path = 0, write(tmp_path / "a.json", text.encode())
    with pytest.raises(FeedError) as raised:  # noqa: PT012  # what came before it counts
        for batch in read([path], ANY):
            labels += len(batch.labels)
    assert labels == 2_499
    assert str(raised.value).startswith(f"{path}: ")
    assert fault in str(raised.value)
    assert str(raised.value).endswith("; all records before it were read")


def test_nan_in_an_array_rejects_its_own_record(tmp_path):
    text = ARRAY.replace('"ts":', '"score": NaN, "ts":', 1)
    batch = everything([write(tmp_path / "a.json", text.encode())])
    assert len(batch.labels) == 2_999
    assert [rejection.position for rejection in batch.rejected] == [f"{tmp_path / 'a.json'}:1"]
