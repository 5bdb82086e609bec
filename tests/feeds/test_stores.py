"""Objects of a store give the same counts as local files."""

import bz2
import gzip
import io
import json
import lzma
import struct
import sys
import zipfile
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli.commands import ran
from fsspec.implementations.memory import MemoryFileSystem

from monitor.clock import ManualClock
from monitor.config import Config, load_config
from monitor.errors import ConfigError, FeedError
from monitor.extras import install_command
from monitor.feeds import stores
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read
from monitor.feeds.recorded_files import RecordedFiles
from monitor.service.sources import missing_files, open_sources, unavailable_feeds

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = [
    {"id": f"a{n}", "ts": 1_790_000_000.0 + 60 * n, "prediction": n % 2, "label": n % 3 % 2}
    for n in range(500)
]
ENDINGS = (".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".arrows")


def zipped(*names):
    """A function that packs the same data under each name."""

    def pack(data):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()

    return pack


COMPRESSED = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstd.compress,
    ".zip": zipped("__MACOSX/._x", "folder/", "x"),
}


@pytest.fixture
def bucket(tmp_path):
    """Name of a bucket of this test in fsspec's memory."""
    name = tmp_path.name
    yield f"memory://{name}"
    fsspec.filesystem("memory").rm(f"/{name}", recursive=True)


def content(ending):
    table, out = pa.Table.from_pylist(ROWS), io.BytesIO()
    if ending in (".ndjson", ".json"):
        lines = "\n".join(map(json.dumps, ROWS))
        return (lines if ending == ".ndjson" else json.dumps(ROWS)).encode()
    if ending in (".csv", ".tsv"):
        separator = "," if ending == ".csv" else "\t"
        pa.csv.write_csv(table, out, pa.csv.WriteOptions(delimiter=separator))
    elif ending == ".parquet":
        pq.write_table(table, out, row_group_size=100)
    else:
        new = pa.ipc.new_file if ending == ".arrow" else pa.ipc.new_stream
        with new(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    return out.getvalue()


def test_zstd_may_start_with_a_frame_that_is_skipped(capsys, tmp_path):
    """As pzstd, and zstd of seekable files, write it (RFC 8878, 3.1.2)."""
    plain, packed = tmp_path / "x.ndjson", tmp_path / "y.ndjson.zst"
    plain.write_bytes(content(".ndjson"))
    size = struct.pack("<I", 4)
    packed.write_bytes(b"\x5e\x2a\x4d\x18" + size + b"size" + zstd.compress(plain.read_bytes()))
    found = ran(capsys, "replay", packed, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.out == ran(capsys, "replay", plain, "--json").out


def put(url, data):
    with fsspec.open(url, "wb") as file:
        file.write(data)


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_what_the_same_local_file_gives(
    capsys, bucket, tmp_path, ending, compression
):
    data = COMPRESSED[compression](content(ending))
    local, url = tmp_path / f"x{ending}{compression}", f"{bucket}/x{ending}{compression}"
    local.write_bytes(data)
    put(url, data)
    found = ran(capsys, "replay", url, "--json")
    assert found.code == 0, found.err
    assert found.out == ran(capsys, "replay", local, "--json").out
    (model,) = json.loads(found.out)["models"].values()
    cells = [(row["prediction"], row["label"]) for row in ROWS]
    assert model["outcomes"]["tp"] == cells.count((1, 1))
    assert model["outcomes"]["fn"] == cells.count((0, 1))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("pattern", ["x{}", "x*"])
def test_a_file_of_an_archive_is_named_before_it(capsys, bucket, tmp_path, ending, pattern):
    (tmp_path / f"x{ending}").write_bytes(content(ending))
    packed = zipped(f"x{ending}")(content(ending))
    put(f"{bucket}/all.zip", packed)
    (tmp_path / "all.zip").write_bytes(packed)
    expected = ran(capsys, "replay", tmp_path / f"x{ending}", "--json").out
    member = f"zip://{pattern.format(ending)}"
    for archive in (f"{bucket}/all.zip", f"{tmp_path}/all.zip"):
        found = ran(capsys, "replay", f"{member}::{archive}", "--json")
        assert (found.code, found.out) == (0, expected), found.err
    # without a member, the format is that of the only file
    assert ran(capsys, "replay", tmp_path / "all.zip", "--json").out == expected


WITH_TWO = zipped("a.csv", "b.csv")(content(".csv"))


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("x.zip", WITH_TWO, "must hold a single file, got a.csv, b.csv; unpack it, and give"),
        ("x.zip", zipped()(b""), "must hold a single file, got none; unpack it"),
        ("x.zip", WITH_TWO[:-9], "is a damaged zip archive: "),
        ("x.csv.zip", b"ts,prediction,label", "is a damaged zip archive: File is not a zip file"),
        ("x.ndjson", WITH_TWO, "it is a zip archive; give a file whose name ends in .zip, or"),
        ("x.csv.bz2", bz2.compress(b"ts,label"), "it is compressed by bzip2; decompress it with"),
        ("x.csv.xz", lzma.compress(b"ts,label"), "it is compressed by xz; decompress it with unxz"),
        ("x.xlsx", WITH_TWO, "save the sheet of an Excel workbook as CSV"),
        ("x.db", b"SQLite format 3\0" + bytes(84), "it is a SQLite database; read it by a feed of"),
        ("x.csv", b"ts,label\r1,1\r2,0\r", r"its lines end in CR alone: convert the file, for ex"),
        ("zip://a.csv", b"", "names no archive; write it behind the file, as in zip://FILE::"),
    ],
)
def test_an_archive_that_cannot_be_read_says_what_to_do(capsys, tmp_path, name, data, told):
    path = name if "://" in name else tmp_path / name
    if path != name:
        path.write_bytes(data)
    failed = ran(capsys, "replay", path)
    assert (failed.code, failed.out) == (3, "")
    assert f"{path}: " in failed.err
    assert told in failed.err


def test_a_pattern_is_all_its_objects_each_by_the_mapping_of_its_feed(capsys, bucket, tmp_path):
    for number in range(3):
        rows = [
            {"who": row["id"], "ts": row["ts"], "prediction": row["prediction"]}
            for row in ROWS[number::3]
        ]
        put(f"{bucket}/day={number}/p.ndjson", "\n".join(map(json.dumps, rows)).encode())
    config = tmp_path / "monitor.yaml"
    pattern = f"{bucket}/*/p.ndjson"
    config.write_text(f"feeds: [{{type: file, path: '{pattern}', fields: {{id: who}}}}]\n")
    found = ran(capsys, "replay", pattern, "-c", config, "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["events"] == len(ROWS)
    (source,) = open_sources(
        load_config(config), Decoder(DecodeSettings()), ManualClock(), pytest.fail
    )
    records = 0
    while (batch := source.poll()) is not None:
        records += batch.records
    assert records == len(ROWS)
    source.close()
    failed = ran(capsys, "replay", f"{bucket}/*/q.ndjson")
    assert failed.code == 3
    assert (
        failed.err
        == f"precision-monitor: {bucket}/*/q.ndjson: no object matches; check the pattern\n"
    )


def test_a_restart_continues_in_an_object_that_is_the_same(bucket):
    url, decoder = f"{bucket}/x.ndjson", Decoder(DecodeSettings())
    put(url, content(".ndjson"))
    source = RecordedFiles([url], decoder)
    while source.poll() is not None:
        pass
    again = RecordedFiles([url], decoder)
    assert again.resume(source.position()) == ""
    assert again.poll() is None
    put(url, content(".ndjson") + b"\n" + json.dumps(ROWS[0]).encode())
    changed = RecordedFiles([url], decoder)
    assert "changed since the last run" in changed.resume(source.position())
    assert changed.poll() is not None


def test_only_the_bytes_of_the_columns_that_count_are_fetched(bucket, monkeypatch):
    url = f"{bucket}/wide.parquet"
    table = pa.Table.from_pylist(ROWS)
    blob = pa.array([bytes([n % 256]) * 20_000 for n in range(len(ROWS))])
    out = io.BytesIO()
    pq.write_table(
        table.append_column("document", blob), out, compression=None, use_dictionary=False
    )
    put(url, out.getvalue())
    fetched = []
    plain = stores._StoredObject.readinto

    def counting(self, buffer):
        fetched.append(length := plain(self, buffer))
        return length

    monkeypatch.setattr(stores._StoredObject, "readinto", counting)
    records = sum(batch.records for batch in read([url], Decoder(DecodeSettings())))
    assert records == len(ROWS)
    assert sum(fetched) < len(out.getvalue()) / 2


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("memory://nowhere/x.csv", "memory://nowhere/x.csv: no such file; check the path"),
        (
            "postgresql+psycopg://me:s3cret@db/claims",
            "postgresql+psycopg://db/claims: is a database, which a feed of type sql reads. Next: ",
        ),
        ("nosuch://b/x.csv", "nosuch://b/x.csv: names a store that is not known, got 'nosuch'"),
        (
            "ftp://me:s3cret@host/x.csv",
            "ftp://host/x.csv: must not hold a password; give it to fsspec in the environment",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_3(capsys, url, told):
    failed = ran(capsys, "replay", url)
    assert (failed.code, failed.out) == (3, "")
    assert failed.err.startswith(f"precision-monitor: {told}")
    assert failed.err.count("\n") == 1
    assert "s3cret" not in failed.err


def test_a_store_whose_package_is_missing_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    config = Config(feeds=[{"type": "file", "path": "gs://bucket/x.parquet"}])
    (fault,) = unavailable_feeds(config)
    assert fault.startswith("feeds[0].path: needs a package that is not installed: ")
    assert "gcsfs" in fault
    with pytest.raises(ConfigError, match="gcsfs"):
        open_sources(config, Decoder(DecodeSettings()), ManualClock(), pytest.fail)


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(stores, "is_installed", lambda: False)
    config = Config(feeds=[{"type": "file", "path": "memory://bucket/x.parquet"}])
    told = f"needs fsspec to be read; {install_command('objectstores')}"
    assert unavailable_feeds(config) == (f"feeds[0].path: {told}",)
    assert missing_files(config) == (), "objects are not looked for"


def test_an_error_of_the_store_is_told_with_its_name(bucket, monkeypatch):
    class SlowDownError(Exception):
        pass

    put(f"{bucket}/x.ndjson", content(".ndjson"))

    def fails(*_, **__):
        raise SlowDownError("reduce your request rate")

    monkeypatch.setattr(MemoryFileSystem, "info", fails)
    with pytest.raises(FeedError, match=r"cannot be read: SlowDownError: reduce your request rate"):
        list(read([f"{bucket}/x.ndjson"], Decoder(DecodeSettings())))


def test_the_url_of_an_object_stays_as_it_is_and_a_path_is_a_path():
    feeds = [{"type": "file", "path": place} for place in ("s3://b/x.csv", "a//b.csv")]
    config = Config(feeds=feeds)
    assert [feed.path for feed in config.feeds] == ["s3://b/x.csv", Path("a/b.csv")]
    assert '"s3://b/x.csv"' in config.model_dump_json()
