"""Data that the program does not read as it is: the last line says what to write instead."""

import gzip
from io import BytesIO
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran

from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings

SECOND = 1_780_000_000
ROWS = 6


def table(header, row):
    return "\n".join([header, *map(row, range(ROWS))]) + "\n"


def of_times(text):
    return table("ts,prediction,label", lambda row: f"{text(row)},1,{row % 2}")


def of_scores(text):
    return table("ts,score,prediction,label", lambda row: f"{SECOND + row},{text(row)},1,{row % 2}")


def of_labels(*labels):
    return table(
        "ts,id,prediction,label",
        lambda row: f"{SECOND + row},{row},1,{labels[row % len(labels)]}",
    )


COLUMN = "or name the column that holds probabilities: --field score=COLUMN"
TIME = (
    "ts is read as epoch seconds, or ISO 8601 with its zone (2026-07-01T12:00:00Z), got {}; "
    "write it so, or name the column that holds it: --field ts=COLUMN"
)
DAYS_FIRST = (
    "ts with the day or the month first is not read, got '{}', since 07/08/2026 is a day of July "
    'or of August: write 2026-08-07T12:00:00Z, in pandas pd.to_datetime(df["ts"], '
    "dayfirst=True), or name another column: --field ts=COLUMN"
)
MORE = (
    "for a model of more than two classes, list them as its classes in a configuration, which "
    "precision-monitor init FILE writes"
)
POSITIVE = "say which values are of the positive class"
ALL_CLASSES = (
    f"{POSITIVE}, which of the negative, and which of none: --positive label=VALUE --negative "
    "label=VALUE --missing label=VALUE"
)
HINTS = {
    "milliseconds": (
        of_times(lambda row: f"{SECOND + row}000"),
        (),
        "give the unit of times: --unit ms",
    ),
    "microseconds": (
        of_times(lambda row: f"{SECOND + row}000000"),
        (),
        "give the unit of times: --unit us",
    ),
    "nanoseconds": (
        of_times(lambda row: f"{SECOND + row}000000000"),
        (),
        "give the unit of times: --unit ns",
    ),
    "microseconds read as milliseconds": (
        of_times(lambda row: f"{SECOND + row}000000"),
        ("--unit", "ms"),
        "give the unit of times: --unit us",
    ),
    "times of no unit": (
        of_times(lambda row: f"{SECOND + row}000000"),
        ("--unit", "ns", "--constant", "ts=1780000000000000000000"),
        "check which column holds the time: --field ts=COLUMN",
    ),
    "percentages": (
        of_scores(lambda row: 2 + row * 17.5),
        (),
        (
            "scores lie from 0 to 1, and here some are as high as 89.5: if they are percentages, "
            f"divide them by 100, {COLUMN}"
        ),
    ),
    "percentages with their sign": (
        of_scores(lambda row: f"{80 + row}%"),
        (),
        f"scores lie from 0 to 1: write 0.87 for 87%, {COLUMN}",
    ),
    "a foreign type": (
        table("id,ts,prediction,label,type", lambda row: f"{row},{SECOND + row},1,1,card"),
        (),
        (
            "`type` is here the type of an event; leave a column out that is something else: "
            "--constant type="
        ),
    ),
    "no id of predictions": (
        table("claim,ts,prediction", lambda row: f"{row},{SECOND + row},1"),
        (),
        (
            "say which column is which: write --field id=COLUMN, or --field label=COLUMN where it "
            "has both, and needs no id"
        ),
    ),
    "no id of labels": (
        table("ts,label", lambda row: f"{SECOND + row},1"),
        (),
        (
            "say which column is which: write --field id=COLUMN, or --field prediction=COLUMN "
            "where it has both, and needs no id"
        ),
    ),
    "log odds": (
        of_scores(lambda row: row * 1.5 - 3.25),
        (),
        (
            "scores lie from 0 to 1, and here some are as low as -3.25: if they are log odds, "
            f"write 1 / (1 + exp(-z)) for each z, {COLUMN}"
        ),
    ),
    "points": (
        of_scores(lambda row: 730 + row),
        (),
        f"scores lie from 0 to 1, and here some are as high as 735: scale them to 0 to 1, {COLUMN}",
    ),
    "grades": (
        of_scores(lambda _: "high"),
        (),
        f"scores are numbers from 0 to 1, got 'high'; write those, {COLUMN}",
    ),
    "decimal commas": (
        of_scores(lambda row: f'"0,{row + 1}"'),
        (),
        "scores lie from 0 to 1, with a decimal point: write 0.5 for 0,5",
    ),
    "no label yet": (
        of_labels("NA", "NaN", "NA", "1"),
        (),
        "'NA', 'NaN' seem to stand for no class: --missing label=NA --missing label=NaN",
    ),
    "no label yet, of one text": (
        of_labels("NULL", "None", "NULL"),
        ("--missing", "label=None"),
        "'NULL' seems to stand for no class: --missing label=NULL",
    ),
    "no label yet, with spaces": (
        of_labels("#N/A"),
        (),
        "'#N/A' seems to stand for no class: --missing 'label=#N/A'",
    ),
    "two classes and no label yet": (
        of_labels("fraud", "legit", "NA"),
        (),
        (
            f"{POSITIVE}, and which of none: --positive label=VALUE --missing label=NA; records "
            "have 'fraud', 'legit'"
        ),
    ),
    "scores as predictions": (
        table("ts,y_pred,y_true", lambda row: f"{SECOND + row},0.{row + 1},{row % 2}"),
        (),
        (
            "predictions between 0 and 1 seem to be scores: name their column --field score=COLUMN,"
            " and give the model a threshold in a configuration, `threshold: 0.5`, which "
            "precision-monitor init FILE --field score=COLUMN writes"
        ),
    ),
    "scores as labels": (
        of_labels("0.3", "NA", "0.125", "0.8"),
        (),
        (
            "labels between 0 and 1 seem to be scores: name the column that holds classes: "
            "--field label=COLUMN"
        ),
    ),
    "two classes": (
        of_labels("fraud", "legit"),
        (),
        f"{POSITIVE}: --positive label=VALUE; records have 'fraud', 'legit'",
    ),
    "three values": (
        of_labels("fraud", "legit", "open"),
        (),
        (f"{ALL_CLASSES}; {MORE}; records have 'fraud', 'legit', 'open'"),
    ),
    "many values": (
        of_labels(*"ABCDEF"),
        (),
        (f"{ALL_CLASSES}; {MORE}; records have 'A', 'B', 'C', 'D', 'E', …"),
    ),
    "a value that no option names": (
        of_labels("open"),
        ("--positive", "label=fraud", "--negative", "label=legit"),
        f"{ALL_CLASSES}; records have 'open'",
    ),
    "days first": (
        of_times(lambda row: f"{row + 1:02}/12/2025"),
        (),
        DAYS_FIRST.format("01/12/2025"),
    ),
    "days first in a zone": (
        of_times(lambda row: f"{row + 1:02}.12.2025 10:00"),
        ("--zone", "Europe/Berlin"),
        DAYS_FIRST.format("01.12.2025 10:00"),
    ),
    "words for times": (
        of_times(lambda _: "yesterday"),
        (),
        TIME.format("'yesterday'"),
    ),
    "no zone": (
        of_times(lambda row: f"2026-07-0{row + 1} 12:00"),
        (),
        "give the zone of times that name none: --zone Europe/Berlin",
    ),
    "quotes that do not end": (
        table(
            "ts,prediction,label,note", lambda row: f'{SECOND + row},1,1,"one' + '"x' * (row % 2)
        ),
        (),
        (
            "end each quoted cell with a quote, and write a quote within it twice; a row has at "
            "most 64 KiB, with the line breaks of its cells"
        ),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_hint_names_what_to_write_for_the_values_that_came(capsys, tmp_path, case):
    text, words, hint = HINTS[case]
    path = tmp_path / "a.csv"
    path.write_text(text)
    last = ran(capsys, "replay", path, *words).err.splitlines()[-1]
    assert last.split("; ", 1)[1] == hint


@pytest.mark.parametrize("case", ["no label yet", "microseconds", "no zone", "a foreign type"])
def test_what_the_hint_names_makes_the_records_usable(capsys, tmp_path, case):
    text, _, hint = HINTS[case]
    path = tmp_path / "a.csv"
    path.write_text(text)
    done = ran(capsys, "replay", path, *hint.rpartition(": ")[2].split())
    assert (done.code, done.err) == (0, "")


def test_init_reads_a_column_of_scores_as_the_hint_names_it(capsys, tmp_path):
    path, output = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(HINTS["scores as predictions"][0])
    refused = ran(capsys, "init", path, "-o", output)
    assert (refused.code, output.exists()) == (3, False)
    assert refused.err.splitlines()[-1].endswith(HINTS["scores as predictions"][2])
    options = ("--field", "score=y_pred", "--field", "label=y_true")
    assert ran(capsys, "init", path, "-o", output, *options).code == 0
    done = ran(capsys, "replay", path, "-c", output)
    assert (done.code, "6 events read, 0 rejected" in done.out + done.err) == (0, True)


@pytest.mark.parametrize(("negatives", "code"), [(3, 0), (4, 3)])
def test_init_writes_nothing_where_most_records_were_rejected(capsys, tmp_path, negatives, code):
    """What is left shows other labels than there are: none is negative of -1 and 1."""
    path, output = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(
        table("ts,prediction,label", lambda row: f"{SECOND + row},1,{-1 if row < negatives else 1}")
    )
    done = ran(capsys, "init", path, "-o", output)
    assert (done.code, output.exists()) == (code, not code)
    assert f"{negatives} of 6 records were rejected: {negatives} bad_value; {POSITIVE}" in done.err


@pytest.mark.parametrize(("same", "warned"), [(3, False), (5, True)])
def test_an_id_that_most_rows_have_is_a_warning_with_what_to_write(capsys, tmp_path, same, warned):
    path = tmp_path / "a.csv"
    path.write_text(
        table("id,ts,prediction,label", lambda row: f"{max(row, same - 1)},{SECOND + row},1,1")
    )
    said = (
        f"warning: {same - 1} of 6 predictions repeat an id, which counts once: name a column that "
        "has another id in each, --field id=COLUMN, or leave it out where each row has its label, "
        "--constant id=\n"
    )
    for command in ("replay", "init"):
        words = ("-o", "-") if command == "init" else ()
        assert (said in ran(capsys, command, path, *words).err) is warned
        assert "repeat" not in ran(capsys, command, path, *words, "--constant", "id=").err


def test_a_name_that_no_line_of_json_has_is_answered_with_the_one_that_is_like_it(capsys, tmp_path):
    path = tmp_path / "a.ndjson"
    row = '{{"timestamp": {}, "user_id": {}, "decision": 1, "fraud": 1}}\n'
    path.write_text("".join(row.format(SECOND + number, number) for number in range(ROWS)))
    options = ("--field", "prediction=decision", "--field", "id=user_id", "--field")
    done = ran(capsys, "replay", path, *options, "label=frau")
    first, last = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert "no record of the first has 'frau'; " in first
    assert first.endswith("write --field label=fraud")
    assert last.endswith("write --field label=fraud")
    assert "ts=COLUMN" not in done.err
    assert ran(capsys, "replay", path, *options, "label=fraud").code == 0


def test_a_diagnosis_and_init_give_the_same_hint(capsys, tmp_path):
    text, _, hint = HINTS["microseconds"]
    path = tmp_path / "a.csv"
    path.write_text(text)
    for words in (("diagnose", "--feed", path), ("init", path, "-o", "-")):
        done = ran(capsys, *words)
        assert done.code == 3
        assert done.err.endswith(f"; {hint}\n")


LATIN_1 = (
    "write UTF-8: convert the file, for example iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
)
UTF_16 = (
    "this looks like UTF-16: convert the file, for example iconv -f UTF-16 -t UTF-8 FILE > NEW_FILE"
)
LINE = '{"ts":1,"prediction":1,"label":1,"town":"Köln"}\n' * ROWS


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("a.ndjson", LINE.encode("latin-1"), LATIN_1),
        ("a.ndjson", LINE.encode("utf-16"), UTF_16),
        ("a.ndjson", LINE.encode("utf-16-le"), UTF_16),
        ("a.ndjson", LINE.encode("utf-16-be"), UTF_16),
        ("a.csv", table("ts,label,town", lambda row: f"{row},1,Köln").encode("latin-1"), LATIN_1),
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
        (gzip.compress(f"ts,id,prediction,label\n{PIPED}".encode()), TABLE_SAID),
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
    assert ("write 2026-07-13T00:00:00Z, or 2026-07-13 with --zone" in done.err) is odd


def test_a_column_with_a_space_is_quoted_in_the_line_to_write(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table("Event Time,prediction,label", lambda row: f"{SECOND + row},1,1"))
    assert ran(capsys, "replay", path).err.endswith("write --field 'ts=Event Time'\n")


@pytest.mark.parametrize("options", [("--field", "ts=timestamp"), ()])
def test_advice_for_pandas_names_the_column_and_not_the_field(capsys, tmp_path, options):
    path = tmp_path / "a.csv"
    path.write_text(table("timestamp,y_pred,y_true", lambda row: f"0{row + 1}.12.2025,1,1"))
    names = ("--field", "prediction=y_pred", "--field", "label=y_true") if options else ()
    last = ran(capsys, "replay", path, *options, *names).err.splitlines()[-1]
    assert 'pd.to_datetime(df["timestamp"], dayfirst=True)' in last


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
