"""Mappings of recorded tables: guesses, values of classes, zones, what cannot be mapped."""

import csv
import io
import json
import shlex
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pytest
from cli.commands import ran
from cli.held_table import (
    COLUMNS,
    JSON,
    LINE,
    RECORDS,
    lines,
    parquet,
    replayed,
    separated,
)

BERLIN = ZoneInfo("Europe/Berlin")


def test_what_is_taken_for_what_is_told_in_one_line(capsys, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_bytes(separated(","))
    done = replayed(capsys, path, *LINE)
    assert done.err == (
        f"{path}: reads timestamp as ts, proba as score; to make this mapping permanent, write "
        "--field ts=timestamp --field score=proba\n"
    )


def test_what_is_not_certain_is_not_guessed_and_the_line_to_write_is_shown(capsys, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_bytes(separated(","))
    done = ran(capsys, "replay", path)
    assert (done.code, done.out) == (3, "")
    assert "got timestamp, user_id, proba, decision, fraud" in done.err
    line = (
        "--field ts=timestamp --field score=proba --field id=user_id --field prediction=decision "
        "--field label=fraud"
    )
    assert f"write {line}" in done.err
    done = replayed(capsys, path, *line.split())
    assert json.loads(done.out)["models"]["default"]["labels"] > 0


def test_two_candidates_for_a_field_are_not_guessed(capsys, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("time,timestamp,y_pred,y_true\n5,6,1,1\n")
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert "--field ts=COLUMN" in done.err


CLASSES = "when,verdict,truth\n"
MAPPED = {
    "values": (
        CLASSES + "1,deny,fraud\n2,deny,ok\n3,pay,pending\n4,pay,ok\n5,wait,ok\n",
        (
            *("--field", "ts=when", "--field", "prediction=verdict", "--field", "label=truth"),
            *("--positive", "prediction=deny", "--negative", "prediction=pay"),
            *("--positive", "label=fraud", "--negative", "label=ok", "--missing", "label=pending"),
        ),
        {"bad_value": 1, "missing_field": 1},
        {"tp": 1, "fp": 1, "fn": 0, "tn": 1},
    ),
    "others are negative": (
        CLASSES + "1,deny,fraud\n2,deny,legit\n3,pay,fine\n",
        (
            *("--field", "ts=when", "--field", "prediction=verdict", "--field", "label=truth"),
            *("--positive", "prediction=deny", "--positive", "label=fraud"),
        ),
        {},
        {"tp": 1, "fp": 1, "fn": 0, "tn": 1},
    ),
    "missing alone": (
        "ts,id,prediction,label\n1,a,1,TRUE\n2,b,1,NA\n3,c,1.0,0\n4,d,1,null\n5,e,1,fraud\n",
        ("--missing", "label=NA", "--missing", "label=null"),
        {"bad_value": 1},
        {"tp": 1, "fp": 1, "fn": 0, "tn": 0},
    ),
    "milliseconds": (
        "ts,prediction,label\n1780000000000,1,1\n",
        ("--unit", "ms"),
        {},
        {"tp": 1, "fp": 0, "fn": 0, "tn": 0},
    ),
    "constants": (
        "label\n1\n0\n",
        (
            *("--constant", "ts=2026-07-01T12:00", "--zone", "Europe/Berlin"),
            *("--constant", "prediction=1", "--constant", "score=.3", "--constant", "version=7"),
        ),
        {},
        {"tp": 1, "fp": 1, "fn": 0, "tn": 0},
    ),
    "constants by values": (
        "label\n1\n0\n",
        (
            *("--constant", "ts=1780000000000", "--unit", "ms"),
            *("--constant", "prediction=deny", "--positive", "prediction=deny"),
        ),
        {},
        {"tp": 1, "fp": 1, "fn": 0, "tn": 0},
    ),
}


@pytest.mark.parametrize("case", MAPPED.values(), ids=MAPPED)
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_values_of_classes_and_units_of_times_are_mapped(capsys, tmp_path, case, form):
    text, words, rejected, outcomes = case
    path = tmp_path / f"a.{form}"
    rows = list(csv.DictReader(io.StringIO(text)))
    written = {"csv": text.encode(), "ndjson": lines(rows)}
    path.write_bytes(written.get(form) or parquet(pa.Table.from_pylist(rows)))
    found = json.loads(replayed(capsys, path, *words).out)
    assert found["events_rejected"] == rejected
    assert found["models"]["default"]["outcomes"] == outcomes


def naive(moment):
    return moment.astimezone(BERLIN).replace(tzinfo=None)


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "texts.parquet"])
def test_times_without_a_zone_are_of_the_zone_that_is_given(capsys, tmp_path, form):
    """The rows span the night in which clocks are set back; hours shown twice are left out."""
    twice = [row for row in RECORDS if naive(row["timestamp"]).hour != 2]
    as_text = [{**r, "timestamp": naive(r["timestamp"]).isoformat(sep=" ")} for r in twice]
    typed = [{**r, "timestamp": naive(r["timestamp"])} for r in twice]
    path, aware = tmp_path / f"a.{form}", tmp_path / "aware.json"
    aware.write_text(json.dumps([{**r, "timestamp": r["timestamp"].isoformat()} for r in twice]))
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        writer.writerows(as_text)
        path.write_text(text.getvalue())
    elif form == "json":
        path.write_text(json.dumps(as_text))
    else:
        path.write_bytes(parquet(pa.Table.from_pylist(typed if form == "parquet" else as_text)))
    found = replayed(capsys, path, *LINE, "--zone", "Europe/Berlin").out
    assert found == replayed(capsys, aware, *LINE).out


def test_a_column_that_is_not_there_is_named_with_the_nearest(capsys, tmp_path):
    path = tmp_path / "claims.parquet"
    path.write_bytes(parquet())
    done = ran(capsys, "replay", path, "--field", "ts=timestamps")
    assert done.code == 3
    assert "ts: there is no column 'timestamps'; did you mean 'timestamp'?" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--field", "ts"), "--field: must be NAME=VALUE, got 'ts'"),
        (("--field", "tss=a"), "fields.tss: is no field of an event"),
        (("--positive", "score=a"), "score: is not known, got 'score'"),
        (("--negative", "label=a"), "label: must name values of the positive class"),
        (("--zone", "Berlin"), "zone: is no time zone, got 'Berlin'"),
        (("--constant", "segment=a"), "has one value for each segment key"),
        (("--unit", "h"), "unit: is not known, got 'h'"),
    ],
)
def test_options_that_cannot_be_used_are_named(capsys, tmp_path, words, message):
    path = tmp_path / "a.csv"
    path.write_text("ts,prediction,label\n5,1,1\n")
    done = ran(capsys, "replay", path, *words)
    assert done.code == 2
    assert message.removeprefix("fields.") in done.err


MISSED = "warning: label: no record has the positive value 'Fraud'; records have 'no', 'yes'"
TEXTS = [
    {**record, "fraud": {None: "", 0: "no", 1: "yes"}[record["fraud"]]} for record in JSON[:200]
]
WITH_TEXTS = {
    "claims.ndjson": lines(TEXTS),
    "claims.csv": "\n".join(
        [",".join(COLUMNS), *(",".join(map(str, record.values())) for record in TEXTS)]
    ).encode(),
    "claims.parquet": parquet(pa.Table.from_pylist(TEXTS)),
}


def test_options_complete_the_mapping_of_a_configured_feed(capsys, tmp_path):
    path, config = tmp_path / "claims.csv", tmp_path / "monitor.yaml"
    cases = [("pay", "yes"), ("deny", "no"), ("deny", "open")]
    rows = [f"c{n},2026-09-01 0{n}:00,{','.join(case)}\n" for n, case in enumerate(cases)]
    path.write_text("claim,at,decision,fraud\n" + "".join(rows))
    fields = "{id: claim, ts: at, prediction: decision, label: fraud}"
    values = "{prediction: {positive: [deny]}, label: {positive: ['yes']}}"
    config.write_text(
        f"feeds: [{{type: file, path: {path}, fields: {fields}, values: {values}}}]\n"
    )
    rejected = ran(capsys, "replay", path, "-c", config)
    assert rejected.code == 3
    assert rejected.err.endswith("name none: time: {zone: Europe/Berlin}\n")
    words = ("--zone", "Europe/Berlin", "--missing", "label=open")
    counted = ran(capsys, "replay", path, "-c", config, *words, "--json")
    assert (counted.code, counted.err) == (0, "")
    found = json.loads(counted.out)["models"]["default"]
    assert (found["predictions"], found["outcomes"]) == (3, {"tp": 0, "fp": 1, "fn": 1, "tn": 0})


@pytest.mark.parametrize("command", [("replay",), ("diagnose",), ("compare",)])
@pytest.mark.parametrize("name", WITH_TEXTS)
def test_a_positive_value_that_no_record_has_is_a_warning(capsys, tmp_path, name, command):
    path = tmp_path / name
    path.write_bytes(WITH_TEXTS[name])
    missed = ran(capsys, *command, path, *LINE, "--positive", "label=Fraud")
    assert [line for line in missed.err.splitlines() if line.startswith("warning: label")] == [
        MISSED
    ]
    assert "no record has" not in ran(capsys, *command, path, *LINE, "--positive", "label=yes").err


def doubtful(tmp_path, name):
    """A file of 40 rows whose columns have no common names, but for the time and the score."""
    frame = pd.DataFrame({"timestamp": range(1_780_000_000, 1_780_000_040), "user_id": range(40)})
    frame["proba"] = (frame["user_id"] * 7 % 40) / 40
    frame["decision"] = (frame["proba"] > 0.5).astype(int)
    frame["fraud"] = (frame["user_id"] % 3 == 0).astype(int)
    path = tmp_path / name
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".csv"):
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=name.endswith(".ndjson"))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.ndjson", "a.json"])
@pytest.mark.parametrize("command", ["replay", "init"])
def test_columns_of_certain_values_are_proposed_and_the_line_can_be_pasted(
    capsys, tmp_path, name, command
):
    path, output = doubtful(tmp_path, name), tmp_path / "monitor.yaml"
    words = (path, "-o", output) if command == "init" else (path, "--json")
    refused = ran(capsys, command, *words)
    asked = refused.err.splitlines()[-1].rpartition("write ")[2]
    assert (refused.code, asked) == (
        3,
        (
            "--field ts=timestamp --field score=proba --field id=user_id "
            "--field prediction=decision --field label=fraud"
        ),
    )
    done = ran(capsys, command, *words, *shlex.split(asked))
    assert done.code == 0
    if command == "init":
        done = ran(capsys, "replay", path, "-c", output, "--json")
    assert json.loads(done.out)["events_rejected"] == {}
    assert json.loads(done.out)["models"]["default"]["labels"] == 40


def test_columns_of_doubtful_values_are_not_proposed(capsys, tmp_path):
    """Ids that repeat, two columns that the score separates, three that may be labels."""
    path = doubtful(tmp_path, "a.csv")
    frame = pd.read_csv(path)
    frame["user_id"] //= 2
    frame.assign(blocked=frame["decision"]).to_csv(path, index=False)
    done = ran(capsys, "replay", path)
    assert done.err.endswith(
        "write --field ts=timestamp --field score=proba --field prediction=COLUMN "
        "--field label=COLUMN\n"
    )


def test_nested_columns_are_proposed_by_the_last_part_of_their_names(capsys, tmp_path):
    rows = pd.read_csv(doubtful(tmp_path, "a.csv")).to_dict("records")
    path = tmp_path / "a.ndjson"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "event": {"timestamp": row["timestamp"]},
                    "user": {"id": row["user_id"]},
                    "out": {"proba": row["proba"], "decision": row["decision"]},
                    "fraud": row["fraud"],
                }
            )
            + "\n"
            for row in rows
        )
    )
    asked = ran(capsys, "replay", path).err.splitlines()[-1].rpartition("write ")[2]
    assert asked == (
        "--field ts=event.timestamp --field id=user.id --field score=out.proba "
        "--field prediction=out.decision --field label=fraud"
    )
    done = ran(capsys, "replay", path, "--json", *shlex.split(asked))
    assert json.loads(done.out)["models"]["default"]["labels"] == 40


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ("claim,settled_on,outcome", "id=COLUMN --field ts=COLUMN --field label=COLUMN"),
        ("id,settled_on,outcome", "ts=COLUMN --field label=COLUMN"),
        ("claim,settled_on,y_true", "id=COLUMN --field ts=COLUMN --field label=y_true"),
    ],
)
def test_a_file_of_labels_alone_is_told_the_columns_that_labels_need(
    capsys, tmp_path, columns, asked
):
    path = tmp_path / "labels.csv"
    path.write_text(f"{columns}\nC1,2026-07-01T10:00:00Z,fraud\n")
    done = ran(capsys, "replay", path)
    assert done.err.endswith(f", or --field {asked} where it has labels alone\n")


def test_the_columns_that_labels_need_make_a_file_of_labels_readable(capsys, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("claim,settled_on,outcome\nC1,2026-07-01T10:00:00Z,1\n")
    fields = ["id=claim", "ts=settled_on", "label=outcome"]
    done = ran(capsys, "replay", path, *(word for one in fields for word in ("--field", one)))
    assert "1 event read, 0 rejected." in done.out
