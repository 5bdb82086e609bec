"""Directories of a path name columns, as Hive and Spark write them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran

from monitor.config.mapping import FixedValue, mapped_records
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.feeds.files import read
from monitor.feeds.mapping.path_columns import columns_of_path, with_path_columns

ROWS = [{"id": f"a{n}", "prediction": n % 2, "label": n % 2} for n in range(4)]
OPTIONS = ("--field", "ts=day", "--zone", "UTC")


def write_parquet(path):
    pq.write_table(pa.Table.from_pylist(ROWS), path)


def write_csv(path):
    path.write_text(
        "\n".join(",".join(map(str, row)) for row in [ROWS[0], *map(dict.values, ROWS)])
    )


def write_lines(path):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))


@pytest.mark.parametrize(
    ("name", "write"),
    [("part-0.parquet", write_parquet), ("0.csv", write_csv), ("0.ndjson", write_lines)],
)
def test_a_mapping_names_columns_of_directories(capsys, tmp_path, name, write):
    paths = [tmp_path / f"day=2026-01-0{day}" / name for day in (1, 2)]
    for path in paths:
        path.parent.mkdir()
        write(path)
    found = json.loads(ran(capsys, "replay", *paths, *OPTIONS, "--json").out)
    window = found["models"]["default"]["windows"]["1d"]
    assert (found["events"], found["events_rejected"]) == (8, {})
    assert window["close"] == "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("name", "write"),
    [("part-0.parquet", write_parquet), ("0.csv", write_csv), ("0.ndjson", write_lines)],
)
def test_directories_name_the_model_and_a_segment_value(tmp_path, name, write):
    path = tmp_path / "model=fraud" / "ts=60" / "shop=a%2Fb" / name
    path.parent.mkdir(parents=True)
    write(path)
    decoder = Decoder(DecodeSettings(models={"fraud": ModelFields(segments=("shop",))}))
    mapping = mapped_records({"segment.shop": "shop"}, {}, {})
    (batch,) = read([path], decoder, mappings={str(path): mapping}, say=lambda _: None)
    assert [(group.model, group.values) for group in batch.groups] == [("fraud", ("a/b",))]
    assert (batch.records, batch.rejected) == (len(ROWS), ())


def test_the_message_on_a_missing_time_names_the_columns_of_directories(capsys, tmp_path):
    path = tmp_path / "day=2026-01-01" / "0.parquet"
    path.parent.mkdir()
    write_parquet(path)
    done = ran(capsys, "replay", path)
    assert "has no column 'ts', got id, prediction, label, day;" in done.err


def test_a_misspelt_column_of_a_directory_is_proposed(capsys, tmp_path):
    path = tmp_path / "day=2026-01-01" / "0.parquet"
    path.parent.mkdir()
    write_parquet(path)
    done = ran(capsys, "replay", path, "--field", "ts=dayy")
    assert "ts: there is no column 'dayy'; did you mean 'day'?" in done.err


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("s3://warehouse/day=2026-01-01/part-0.parquet", {"day": "2026-01-01"}),
        ("day=__HIVE_DEFAULT_PARTITION__/version=3/0.csv", {"version": "3"}),
        ("day=1.csv", {}),
        ("=1/day=/0.csv", {}),
    ],
    ids=["URL", "null", "file", "half"],
)
def test_columns_of_a_path_are_its_directories(path, columns):
    assert columns_of_path(path) == columns


def test_a_column_of_the_file_comes_first():
    mapping = mapped_records({"ts": "day"}, {}, {})
    assert with_path_columns("day=1/version=2/0.csv", ["day", "version"], mapping) is mapping


def test_other_fields_are_read_from_directories_by_a_mapping_alone():
    path = "type=card/label=1/version=2/0.csv"
    found = with_path_columns(path, ["id", "ts"], None)
    assert dict(found.fields) == {"version": FixedValue("2")}
    found = with_path_columns(path, ["id", "ts"], mapped_records({"label": "label"}, {}, {}))
    assert found.fields["label"] == FixedValue("1")
