"""Tables in odd forms: other encodings and separators, standard input, names that are floats."""

import gzip
import json
from io import BytesIO
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran
from cli.odd_rows import ROWS, SECOND, table

from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings

LATIN_1 = (
    "write UTF-8: convert the file, for example iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
)
UTF_16 = (
    "this looks like UTF-16: convert the file, for example iconv -f UTF-16 -t UTF-8 FILE > NEW_FILE"
)
TWICE = "it is compressed twice: decompress it once, as gzip -dc < FILE > NEW_FILE"
OBJECTS = "write each JSON object on a line of its own, as jq -c . FILE > NEW.ndjson"
LINE = '{"ts":1,"prediction":1,"label":1,"town":"Köln"}\n' * ROWS


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("a.ndjson", LINE.encode("latin-1"), LATIN_1),
        ("a.ndjson", LINE.encode("utf-16"), UTF_16),
        ("a.ndjson", LINE.encode("utf-16-le"), UTF_16),
        ("a.ndjson", LINE.encode("utf-16-be"), UTF_16),
        ("a.csv", table("ts,label,town", lambda row: f"{row},1,Köln").encode("latin-1"), LATIN_1),
        ("a.ndjson.gz", gzip.compress(gzip.compress(LINE.encode())), TWICE),
        ("a.json", json.dumps(json.loads(LINE.splitlines()[0]), indent=2).encode() * ROWS, OBJECTS),
    ],
)
def test_records_of_another_encoding_are_named_with_what_converts_them(
    capsys, tmp_path, name, data, hint
):
    path = tmp_path / name
    path.write_bytes(data)
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert done.err.splitlines()[-1].split("; ", 1)[1] == hint


def test_lines_of_nul_bytes_are_no_utf_16(capsys, tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"\0" * 4_096)
    last = ran(capsys, "replay", path).err.splitlines()[-1]
    assert last.endswith(
        "write one JSON object a line, or end the name in .csv, .json, .parquet or .arrow"
    )


@pytest.mark.parametrize("field", ["id", "version", "model"])
@pytest.mark.parametrize(
    ("beyond", "hint"), [(0, ', in pandas df["{}"].astype("Int64")'), (0.5, "")]
)
def test_a_column_of_floats_is_no_name_and_pandas_writes_whole_ones_as_integers(
    capsys, tmp_path, field, beyond, hint
):
    path = tmp_path / "a.parquet"
    rows = [
        {"ts": row, "id": str(row), "prediction": 1, "label": 1, field: row + beyond}
        for row in range(ROWS)
    ]
    pq.write_table(pa.Table.from_pylist([{**row, field: float(row[field])} for row in rows]), path)
    last = ran(capsys, "replay", path).err.splitlines()[-1]
    assert last.endswith(
        f"; write {field} as text or an integer{hint.format(field)}, or name the column that "
        "holds it"
    )


HEADER_LATIN_1 = (
    "line 1 is not UTF-8: invalid start byte at byte 11; convert the file, for example iconv -f "
    "WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
)
TOWNS = table("ts,label,größe", lambda row: f"{row},1,7")


@pytest.mark.parametrize("command", ["replay", "init", "check-config"])
@pytest.mark.parametrize(
    ("encoding", "said"), [("latin-1", HEADER_LATIN_1), ("utf-16", UTF_16), ("utf-16-be", UTF_16)]
)
def test_a_header_of_another_encoding_is_named_with_what_converts_it(
    capsys, tmp_path, command, encoding, said
):
    path = tmp_path / "a.csv"
    path.write_bytes(TOWNS.encode(encoding))
    done = ran(capsys, command, *words_of(command, path, tmp_path))
    assert done.code == (2 if command == "check-config" else 3)
    assert f"{path}: {said}" in done.err.splitlines()[0]


def words_of(command, path, directory):
    if command == "check-config":
        config = directory / "monitor.yaml"
        config.write_text(f"feeds: [{{type: file, path: '{path}'}}]\n")
        return (config,)
    return (path, "-o", "-") if command == "init" else (path,)


@pytest.mark.parametrize("command", ["replay", "init", "check-config"])
@pytest.mark.parametrize(
    "case",
    [
        ("a.csv", ";", "semicolons, not commas"),
        ("a.csv", "\t", "tabs, not commas"),
        ("a.csv", "|", "bars, not commas"),
        ("a.tsv", ",", "commas, not tabs"),
    ],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_another_separator_is_seen_in_the_header_and_said_in_one_line(
    capsys, tmp_path, command, case, quote
):
    name, separator, names = case
    path = tmp_path / name
    header = separator.join(f"{quote}{column}{quote}" for column in ("ts", "id", "score", "label"))
    text = table("ts,id,score,label", lambda row: f"{SECOND + row},{row},0.{row},{row % 2}")
    _, _, rows = text.replace(",", separator).partition("\n")
    path.write_text(f"{header}\n{rows}")
    done = ran(capsys, command, *words_of(command, path, tmp_path))
    said = f"{path}: reads cells separated by {names}, as its first line has them"
    assert [line for line in done.err.splitlines() if "separated" in line] == [
        f"feeds[0]: {said}" if command == "check-config" else said
    ]
    if command == "init":
        assert done.code == 0


@pytest.mark.parametrize("header", ["ts;a,label", "ts|a;label", "ts"])
def test_a_header_that_leaves_a_doubt_is_read_by_the_name_of_the_file(capsys, tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n1\n")
    assert "separated by" not in ran(capsys, "replay", path).err


@pytest.mark.parametrize("mapped", [(), ("--field", "version=release")])
def test_names_that_begin_with_a_space_are_said_in_one_line(capsys, tmp_path, mapped):
    """Spaces belong to a cell (RFC 4180); numbers, times and classes are read without them."""
    path = tmp_path / "a.csv"
    path.write_text(
        table(
            "ts, id, release, prediction, label",
            lambda row: f"{SECOND + row}, {row}, a, 1, {row % 2}",
        )
    )
    done = ran(capsys, "replay", path, *mapped)
    columns = "id, release" if mapped else "id"
    assert (done.code, done.err) == (
        0,
        (
            f"{path}: cells of {columns} begin with a space, which is part of the value; remove "
            "the spaces behind the separators\n"
        ),
    )
    path.write_text(path.read_text().replace(", ", ","))
    assert ran(capsys, "replay", path, *mapped).err == ""


def test_ids_that_pandas_wrote_as_floats_are_said_in_one_line(capsys, tmp_path):
    """An id of CSV is a text: labels of 7 would not find the prediction of 7.0."""
    path = tmp_path / "a.csv"
    ids = [7.0, 8.0, None, 10.0]
    rows = {"user": ids, "ts": SECOND, "prediction": 1, "label": [0, 1, 0, 1], "version": "1.0"}
    frame = pd.DataFrame(rows)
    frame.to_csv(path, index=False)
    done = ran(capsys, "replay", path, "--field", "id=user")
    assert done.code == 0
    assert done.err == (
        f"{path}: cells of user are like 7.0, which is another id than 7: if pandas wrote integers "
        'so, because one is missing, write them with df["user"].astype("Int64")\n'
    )
    frame.astype({"user": "Int64"}).to_csv(path, index=False)
    assert ran(capsys, "replay", path, "--field", "id=user").err == ""


def test_batches_that_pandas_wrote_as_floats_are_said_in_one_line(capsys, tmp_path):
    """Batch 1.0 would count beside batch 1 of a file of lines, and not replace it."""
    path = tmp_path / "counts.csv"
    cells = {"tp": [4, 2], "fp": 1, "fn": 1, "tn": 9}
    rows = {"ts": SECOND, "source": ["s", None], "batch": [1.0, None], **cells}
    frame = pd.DataFrame(rows)
    frame.to_csv(path, index=False)
    assert ran(capsys, "replay", path).err == (
        f"{path}: cells of batch are like 1.0, which is another batch than 1: if pandas wrote "
        'integers so, because one is missing, write them with df["batch"].astype("Int64")\n'
    )
    frame.astype({"batch": "Int64"}).to_csv(path, index=False)
    assert ran(capsys, "replay", path).err == ""


PIPED = "".join(f"{SECOND + row},{row},1,{row % 2}\n" for row in range(ROWS))
AS_LINES = "".join(
    f'{{"ts":{SECOND + row},"id":"{row}","prediction":1,"label":{row % 2}}}\n'
    for row in range(ROWS)
)
TABLE_SAID = "stdin: reads a table, as its first line is no JSON\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (f"ts,id,prediction,label\n{PIPED}".encode(), TABLE_SAID),
        (gzip.compress(f"ts,id,prediction,label\n{PIPED}".encode(), mtime=0), TABLE_SAID),
        (
            f"\ufeffts,id,prediction,label\r\n{PIPED}".replace(",", "\t").encode(),
            (
                f"{TABLE_SAID}stdin: reads cells separated by tabs, not commas, as its first line "
                "has them\n"
            ),
        ),
        (f"[{AS_LINES[:-1].replace('}' + chr(10), '},')}]".encode(), ""),
        (f"\n{AS_LINES}".encode(), ""),
    ],
    ids=["table", "gzip", "tabs", "array", "lines"],  # gzip's bytes hold the time of day
)
def test_standard_input_is_read_by_what_it_holds(capsys, tmp_path, monkeypatch, data, said):
    path = tmp_path / "a.ndjson"
    path.write_text(AS_LINES)
    expected = ran(capsys, "replay", path, "--json")
    piped = SimpleNamespace(buffer=BytesIO(data))
    monkeypatch.setattr("sys.stdin", piped)
    assert ran(capsys, "replay", "-", "--json") == (0, expected.out, said)


def test_lines_of_json_behind_a_line_of_words_are_lines(capsys, monkeypatch):
    data = f"connected, please wait\n{AS_LINES}".encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(data)))
    done = ran(capsys, "replay", "-")
    assert done.code == 0
    assert f"{ROWS + 1} events read, 1 rejected" in done.out


@pytest.mark.parametrize(("magic", "name"), [(b"PAR1", "Parquet"), (b"ARROW1", "Arrow")])
def test_formats_that_are_read_from_their_end_are_refused_on_standard_input(
    capsys, monkeypatch, magic, name
):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(magic + bytes(300))))
    done = ran(capsys, "replay", "-")
    assert done.code == 3
    assert done.err.endswith(
        f"stdin: holds {name}, which is read from its end; give it as a file\n"
    )


def test_init_does_not_read_standard_input_once_for_twice(capsys):
    done = ran(capsys, "init", "-", "-o", "-")
    assert done.code == 2
    assert "write them to a file" in done.err


@pytest.mark.parametrize(("cell", "odd"), [("20260713", True), ("20261313", False)])
def test_days_in_digits_are_named_since_they_are_a_number(capsys, tmp_path, cell, odd):
    path = tmp_path / "a.csv"
    path.write_text(table("day,prediction,label", lambda _: f"{cell},1,1"))
    done = ran(capsys, "replay", path, "--field", "ts=day")
    assert done.code == 0
    asked = (
        "if it is a day, give the format and the zone: --time-format %Y%m%d --zone Europe/Berlin"
    )
    assert (asked in done.err) is odd


def test_days_in_digits_with_a_format_are_days(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table("day,prediction,label", lambda _: "20260713,1,1"))
    form = ("--time-format", "%Y%m%d", "--zone", "UTC")
    done = ran(capsys, "replay", path, "--field", "ts=day", *form)
    assert (done.code, done.err) == (0, "")
    assert "6 events read, 0 rejected" in done.out


def test_a_column_with_a_space_is_quoted_in_the_line_to_write(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table("Event Time,prediction,label", lambda row: f"{SECOND + row},1,1"))
    assert ran(capsys, "replay", path).err.endswith("write --field 'ts=Event Time'\n")


@pytest.mark.parametrize("declared", ["sep=;", "\ufeffsep=;\r", '"sep=;"'])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_first_line_that_names_the_separator_is_taken(
    capsys, tmp_path, monkeypatch, declared, name
):
    path, plain = tmp_path / name, tmp_path / "plain.csv"
    text = table("ts,id,prediction,label", lambda row: f"{SECOND + row},{row},1,{row % 2}")
    plain.write_text(text)
    expected = ran(capsys, "replay", plain, "--json")
    path.write_text(f"{declared}\n{text.replace(',', ';')}")
    assert ran(capsys, "replay", path, "--json") == expected
    assert ran(capsys, "init", path, "-o", "-").code == 0
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(path.read_bytes())))
    piped = ran(capsys, "replay", "-", "--json")
    assert (piped.out, piped.err) == (expected.out, TABLE_SAID)
    path.write_text(f"{declared}\nts;id;prediction;label\n1;2;9;1\n")
    assert f"{name}:3: bad_value" in ran(capsys, "replay", path).err


def test_the_separator_may_be_named_in_a_block_of_its_own():
    chunks = [b"sep=;\n", b"ts;prediction;label\n", b"0;1;1\n"]
    (batch,) = (b for b in read_csv(chunks, "a.csv", Decoder(DecodeSettings()), 1) if b.records)
    assert batch.records == 1
    assert not batch.rejected


@pytest.mark.parametrize("command", ["replay", "compare", "init"])
def test_versions_that_pandas_wrote_as_floats_are_named_with_what_to_write(
    tmp_path, capsys, command
):
    path = tmp_path / "events.csv"
    versions = [6, 7, None, 6] * 50
    rows = {"ts": range(200), "prediction": [0, 1] * 100, "label": [0, 1, 1, 0] * 50}
    frame = pd.DataFrame({"build": versions} | rows)
    words = (path, "--field", "version=build", *(("-o", "-") * (command == "init")))
    frame.to_csv(path, index=False)
    assert (
        f"warning: {path}: all cells that are not empty of build are like 6.0, which is another "
        "version than 6: if pandas wrote integers so, because one is missing, write them with "
        'df["build"].astype("Int64")\n'
    ) in ran(capsys, command, *words).err
    frame.astype({"build": "Int64"}).to_csv(path, index=False)
    assert "Int64" not in ran(capsys, command, *words).err
    for names in (["6.0", "7.1"], ["6.0", ""], ["1.0", "1.0"]):
        frame.assign(build=names * 100).to_csv(path, index=False)
        assert ("Int64" in ran(capsys, command, *words).err) is ("" in names)


def test_a_warning_leaves_the_hint_which_column_is_the_field(tmp_path, capsys):
    path = tmp_path / "events.csv"
    path.write_text("ts,predicted_class,version\n" + "1, 0, 6\n" * 9)
    done = ran(capsys, "replay", path)
    assert "cells of version begin with a space" in done.err
    assert "missing_field; say which column is which: write --field id=COLUMN, or" in done.err


def test_options_that_do_not_hold_for_every_file_lead_to_a_feed_for_each(capsys, tmp_path):
    made, labels = tmp_path / "made.csv", tmp_path / "labels.csv"
    made.write_text("claim,at,flag\n1,1780000000,1\n2,1780000060,1\n")
    labels.write_text("claim,paid,fraud\n1,1780000100,1\n2,1780000100,0\n")
    options = ("--field", "id=claim", "--field", "ts=at", "--field", "prediction=flag")
    done = ran(capsys, "replay", made, labels, *options)
    assert done.code == 3
    assert "labels.csv: ts: there is no column 'at'; " in done.err
    assert "options are those of every file: where the columns of files differ, write" in done.err
    assert "every file" not in ran(capsys, "replay", labels, *options).err
    config = tmp_path / "monitor.yaml"
    feed = "  - {{type: file, path: {}, fields: {{id: claim, {}}}}}\n"
    config.write_text(
        "feeds:\n"
        + feed.format(made, "ts: at, prediction: flag")
        + feed.format(labels, "ts: paid, label: fraud")
    )
    found = json.loads(ran(capsys, "replay", "-c", config, "--json").out)["models"]["default"]
    assert found["outcomes"] == {"tp": 1, "fp": 1, "fn": 0, "tn": 0}
    config.write_text(config.read_text().replace("paid", "pay"))
    assert "every file" not in ran(capsys, "replay", "-c", config).err


def test_columns_within_columns_are_listed_where_none_is_the_time(capsys, tmp_path):
    rows = [{"claim": {"id": 7, "made": SECOND}, "out": {"flag": 1}, "truth": 1}]
    path = tmp_path / "claims.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert "has no column 'ts', got claim.id, claim.made, out.flag, truth; " in done.err


@pytest.mark.parametrize("columns", ["scores", "scores.card,scores.loan,scores.other"])
def test_scores_of_classes_beside_labels_are_no_labels_alone(capsys, tmp_path, columns):
    """A table cannot have scores of classes; its rows were read as labels, and 0 were rejected."""
    path = tmp_path / "a.csv"
    cells = ",".join("0.5" for _ in columns.split(","))
    rows = "".join(f"p{row},{SECOND + row},{cells},card\n" for row in range(ROWS))
    path.write_text(f"id,ts,{columns},label\n{rows}")
    config = tmp_path / "c.yaml"
    config.write_text("models: {mail: {classes: [card, loan, other]}}\n")
    done = ran(capsys, "replay", path, "-c", config)
    assert done.code == 3
    assert f"{ROWS} rejected ({ROWS} missing_field)" in done.out
