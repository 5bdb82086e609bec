"""One table in every format counts alike, each with at most one line of mapping."""

import csv
import gzip
import io
import json
import random
import shlex
from datetime import UTC, datetime, timedelta
from importlib import import_module
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli.commands import ran
from pyarrow import feather

from monitor import Monitor
from monitor.report.replay_json import replay_json

COLUMNS = ("timestamp", "user_id", "proba", "decision", "fraud")
LINE = ("--field", "id=user_id", "--field", "prediction=decision", "--field", "label=fraud")
BEGIN = datetime(2026, 10, 20, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def made(rows=600):
    rng = random.Random(8)
    for number in range(rows):
        proba = round(rng.random(), 6)
        moment = BEGIN + timedelta(minutes=37 * number, milliseconds=rng.randrange(1000))
        fraud = None if number % 11 == 0 else int(rng.random() < proba / 2)
        yield moment, 1000 + number, proba, int(proba > 0.6), fraud


def as_json(records):
    return [{**record, "timestamp": record["timestamp"].isoformat()} for record in records]


def nested(record):
    names = {name: record[name] for name in ("shop", "model", "version") if name in record}
    return {
        "event": {"timestamp": record["timestamp"], "user_id": record["user_id"]},
        "model": {"proba": record["proba"], "decision": record["decision"]},
        "fraud": record["fraud"],
        **({"names": names} if names else {}),
    }


ROWS = list(made())
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
JSON = as_json(RECORDS)
TABLE = pa.Table.from_pylist(RECORDS)
NESTED_LINE = (
    *("--field", "ts=event.timestamp", "--field", "id=event.user_id", "--field", "label=fraud"),
    *("--field", "score=model.proba", "--field", "prediction=model.decision"),
    *("--constant", "model=default"),
)


def separated(separator, records=JSON):
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0], delimiter=separator)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def parquet(table=TABLE):
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=100)
    return sink.getvalue()


def arrow(table=TABLE):
    sink = io.BytesIO()
    feather.write_feather(table, sink)
    return sink.getvalue()


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def formats(records):
    """The bytes of a table by the name of a file, and whether its records are nested."""
    table, written = pa.Table.from_pylist(records), as_json(records)
    typed = [
        {**nested(record), "event": {key: record[key] for key in ("timestamp", "user_id")}}
        for record in records
    ]
    return {
        "claims.csv": separated(",", written),
        "claims.tsv": separated("\t", written),
        "claims.csv.gz": gzip.compress(separated(",", written)),
        "claims.tsv.zst": zstandard.compress(separated("\t", written)),
        "claims.parquet": parquet(table),
        "claims.parquet.zst": zstandard.compress(parquet(table)),
        "claims.arrow": arrow(table),
        "claims.feather.gz": gzip.compress(arrow(table)),
        "claims.json": json.dumps(written, indent=1).encode(),
        "claims.json.gz": gzip.compress(json.dumps(written).encode()),
        "claims.jsonl": lines(written),
        "claims.ndjson.zst": zstandard.compress(lines(written)),
        "nested.ndjson": lines(map(nested, written)),
        "nested.parquet": parquet(pa.Table.from_pylist(typed)),
    }


FORMATS = formats(RECORDS)


def line_of(name):
    return NESTED_LINE if name.startswith("nested") else LINE


@pytest.fixture(scope="module")
def canonical(tmp_path_factory):
    """The same events by the names of the fields."""
    names = dict(zip(COLUMNS, ("ts", "id", "score", "prediction", "label"), strict=True))
    path = tmp_path_factory.mktemp("canonical") / "events.ndjson"
    events = [{names[name]: value for name, value in record.items()} for record in JSON]
    path.write_bytes(
        lines({**event, "id": str(event["id"]), "type": "outcome"} for event in events)
    )
    return path


def replayed(capsys, path, *words):
    done = ran(capsys, "replay", path, *words, "--json")
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize("name", FORMATS)
def test_the_held_table_counts_alike_in_every_format(capsys, tmp_path, canonical, name):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    expected = replayed(capsys, canonical).out
    assert json.loads(expected)["models"]["default"]["outcomes"]["tp"] > 50
    assert replayed(capsys, path, *line_of(name)).out == expected


NUMBERED = [
    {**record, "model": 7 + number % 2, "version": 3 + number % 3, "shop": number % 4}
    for number, record in enumerate(RECORDS[:200])
]
"""The table with names that are integers."""
NUMBERED_FORMATS = formats(NUMBERED)
NUMBERED_LINE = ("--field", "segment.shop=shop")
NUMBERED_NESTED = (
    *("--field", "model=names.model", "--field", "version=names.version"),
    *("--field", "segment.shop=names.shop"),
)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The numbered table with all names as text, by the names of the fields; and a config."""
    names = dict(zip(COLUMNS, ("ts", "id", "score", "prediction", "label"), strict=True))
    folder = tmp_path_factory.mktemp("named")
    events = [
        {
            **{names[column]: record[column] for column in COLUMNS},
            **{name: str(record[name]) for name in ("model", "version")},
            "id": str(record["user_id"]),
            "segment": {"shop": str(record["shop"])},
            "type": "outcome",
        }
        for record in as_json(NUMBERED)
    ]
    (folder / "events.ndjson").write_bytes(lines(events))
    (folder / "monitor.yaml").write_text("defaults: {segments: [version, shop]}\n")
    return folder


@pytest.mark.parametrize("name", NUMBERED_FORMATS)
def test_names_that_are_integers_count_alike_in_every_format(capsys, tmp_path, named, name):
    path, config = tmp_path / name, ("-c", named / "monitor.yaml")
    path.write_bytes(NUMBERED_FORMATS[name])
    expected = replayed(capsys, named / "events.ndjson", *config).out
    assert json.loads(expected)["models"].keys() == {"7", "8"}
    more = NUMBERED_NESTED if name.startswith("nested") else NUMBERED_LINE
    line = [word for word in line_of(name) if word not in ("--constant", "model=default")]
    assert replayed(capsys, path, *line, *more, *config).out == expected


@pytest.mark.parametrize("unmapped", ["events.ndjson", "events.json", "events.parquet"])
def test_names_that_are_integers_count_without_a_mapping(capsys, tmp_path, named, unmapped):
    events = list(map(json.loads, (named / "events.ndjson").read_text().splitlines()))
    for event in events:
        event |= {name: int(event[name]) for name in ("id", "model", "version")}
        event["segment"] = {"shop": int(event["segment"]["shop"])}
    path, config = tmp_path / unmapped, ("-c", named / "monitor.yaml")
    if unmapped.endswith("parquet"):
        path.write_bytes(parquet(pa.Table.from_pylist(events)))
    else:
        path.write_bytes(lines(events) if "nd" in unmapped else json.dumps(events).encode())
    expected = replayed(capsys, named / "events.ndjson", *config).out
    assert replayed(capsys, path, *config).out == expected


@pytest.mark.parametrize("form", ["pandas", "categories", "Arrow", "arrays"])
def test_names_that_are_integers_count_alike_in_python(capsys, named, form):
    monitor = Monitor.from_yaml(named / "monitor.yaml")
    names = ["model", "version", "shop"]
    tables = {
        "pandas": lambda: pd.DataFrame(NUMBERED),
        "categories": lambda: pd.DataFrame(NUMBERED).astype(dict.fromkeys(names, "category")),
        "Arrow": lambda: pa.Table.from_pylist(NUMBERED),
        "arrays": lambda: {name: [row[name] for row in NUMBERED] for name in NUMBERED[0]},
    }
    monitor.feed(tables[form](), id="user_id", prediction="decision", label="fraud")
    expected = replayed(capsys, named / "events.ndjson", "-c", named / "monitor.yaml").out
    assert f"{replay_json(monitor.snapshot())}\n" == expected


FRAMES = {
    "pandas": lambda: pd.DataFrame(RECORDS).astype({"fraud": "Int8"}),
    "pandas, a float for a missing label": lambda: pd.DataFrame(RECORDS),
    "Arrow": lambda: TABLE,
    "arrays": lambda: {name: TABLE[name].to_pylist() for name in COLUMNS},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_held_table_as_a_frame_counts_alike(capsys, canonical, kind):
    monitor = Monitor()
    monitor.feed(FRAMES[kind](), id="user_id", prediction="decision", label="fraud")
    assert f"{replay_json(monitor.snapshot())}\n" == replayed(capsys, canonical).out


@pytest.mark.dev("polars")
def test_the_held_table_as_a_frame_of_polars_counts_alike(capsys, canonical):
    frame = import_module("polars").from_arrow(TABLE)
    monitor = Monitor()
    monitor.feed(frame, id="user_id", prediction="decision", label="fraud")
    assert f"{replay_json(monitor.snapshot())}\n" == replayed(capsys, canonical).out


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


@pytest.mark.parametrize(
    "written", ["{}", "./claims.csv", "claims.csv", "../{0.parent.name}/c*.csv"]
)
def test_the_mapping_of_a_configured_feed_holds_for_its_file(
    capsys, tmp_path, canonical, monkeypatch, written
):
    path = tmp_path / "claims.csv"
    monkeypatch.chdir(tmp_path)
    path.write_bytes(separated(","))
    config = tmp_path / "monitor.yaml"
    config.write_text(
        f"""\
defaults: {{label_timeout: none}}
feeds:
  - type: file
    path: {written.format(path)}
    fields: {{ts: timestamp, id: user_id, score: proba, prediction: decision, label: fraud}}
"""
    )
    for given in (path, "claims.csv", "./claims.csv"):
        found = replayed(capsys, given, "-c", config)
        assert found.err == ""
        assert found.out == replayed(capsys, canonical).out


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
