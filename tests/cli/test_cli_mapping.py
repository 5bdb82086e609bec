"""One table in every format counts alike, each with at most one line of mapping."""

import gzip
import io
import json
from contextlib import redirect_stdout
from importlib import import_module

import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from cli.held_table import (
    COLUMNS,
    JSON,
    LINE,
    RECORDS,
    TABLE,
    as_json,
    lines,
    parquet,
    replayed,
    separated,
)
from pyarrow import feather

from monitor import Monitor
from monitor.cli import main
from monitor.report.replay_json import replay_json


def nested(record):
    names = {name: record[name] for name in ("shop", "model", "version") if name in record}
    return {
        "event": {"timestamp": record["timestamp"], "user_id": record["user_id"]},
        "model": {"proba": record["proba"], "decision": record["decision"]},
        "fraud": record["fraud"],
        **({"names": names} if names else {}),
    }


NESTED_LINE = (
    *("--field", "ts=event.timestamp", "--field", "id=event.user_id", "--field", "label=fraud"),
    *("--field", "score=model.proba", "--field", "prediction=model.decision"),
    *("--constant", "model=default"),
)


def arrow(table=TABLE):
    sink = io.BytesIO()
    feather.write_feather(table, sink)
    return sink.getvalue()


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


def printed(*words):
    """What `replay --json` prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["replay", *map(str, words), "--json"]) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def canonical(tmp_path_factory):
    """What is counted of the same events by the names of the fields."""
    names = dict(zip(COLUMNS, ("ts", "id", "score", "prediction", "label"), strict=True))
    path = tmp_path_factory.mktemp("canonical") / "events.ndjson"
    events = [{names[name]: value for name, value in record.items()} for record in JSON]
    path.write_bytes(
        lines({**event, "id": str(event["id"]), "type": "outcome"} for event in events)
    )
    return printed(path)


@pytest.mark.parametrize("name", FORMATS)
def test_the_held_table_counts_alike_in_every_format(capsys, tmp_path, canonical, name):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    assert json.loads(canonical)["models"]["default"]["outcomes"]["tp"] > 50
    assert replayed(capsys, path, *line_of(name)).out == canonical


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


@pytest.fixture(scope="module")
def expected(named):
    """What is counted of the numbered table."""
    return printed(named / "events.ndjson", "-c", named / "monitor.yaml")


@pytest.mark.parametrize("name", NUMBERED_FORMATS)
def test_names_that_are_integers_count_alike_in_every_format(
    capsys, tmp_path, named, expected, name
):
    path, config = tmp_path / name, ("-c", named / "monitor.yaml")
    path.write_bytes(NUMBERED_FORMATS[name])
    assert json.loads(expected)["models"].keys() == {"7", "8"}
    more = NUMBERED_NESTED if name.startswith("nested") else NUMBERED_LINE
    line = [word for word in line_of(name) if word not in ("--constant", "model=default")]
    assert replayed(capsys, path, *line, *more, *config).out == expected


@pytest.mark.parametrize("unmapped", ["events.ndjson", "events.json", "events.parquet"])
def test_names_that_are_integers_count_without_a_mapping(
    capsys, tmp_path, named, expected, unmapped
):
    events = list(map(json.loads, (named / "events.ndjson").read_text().splitlines()))
    for event in events:
        event |= {name: int(event[name]) for name in ("id", "model", "version")}
        event["segment"] = {"shop": int(event["segment"]["shop"])}
    path, config = tmp_path / unmapped, ("-c", named / "monitor.yaml")
    if unmapped.endswith("parquet"):
        path.write_bytes(parquet(pa.Table.from_pylist(events)))
    else:
        path.write_bytes(lines(events) if "nd" in unmapped else json.dumps(events).encode())
    assert replayed(capsys, path, *config).out == expected


@pytest.mark.parametrize("form", ["pandas", "categories", "Arrow", "arrays"])
def test_names_that_are_integers_count_alike_in_python(named, expected, form):
    monitor = Monitor.from_yaml(named / "monitor.yaml")
    names = ["model", "version", "shop"]
    tables = {
        "pandas": lambda: pd.DataFrame(NUMBERED),
        "categories": lambda: pd.DataFrame(NUMBERED).astype(dict.fromkeys(names, "category")),
        "Arrow": lambda: pa.Table.from_pylist(NUMBERED),
        "arrays": lambda: {name: [row[name] for row in NUMBERED] for name in NUMBERED[0]},
    }
    monitor.feed(tables[form](), id="user_id", prediction="decision", label="fraud")
    assert f"{replay_json(monitor.snapshot())}\n" == expected


FRAMES = {
    "pandas": lambda: pd.DataFrame(RECORDS).astype({"fraud": "Int8"}),
    "pandas, a float for a missing label": lambda: pd.DataFrame(RECORDS),
    "Arrow": lambda: TABLE,
    "arrays": lambda: {name: TABLE[name].to_pylist() for name in COLUMNS},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_held_table_as_a_frame_counts_alike(canonical, kind):
    monitor = Monitor()
    monitor.feed(FRAMES[kind](), id="user_id", prediction="decision", label="fraud")
    assert f"{replay_json(monitor.snapshot())}\n" == canonical


@pytest.mark.dev("polars")
def test_the_held_table_as_a_frame_of_polars_counts_alike(canonical):
    frame = import_module("polars").from_arrow(TABLE)
    monitor = Monitor()
    monitor.feed(frame, id="user_id", prediction="decision", label="fraud")
    assert f"{replay_json(monitor.snapshot())}\n" == canonical


@pytest.mark.parametrize(
    "names",
    [
        ("{}", "./claims.csv"),
        ("./claims.csv", "{}"),
        ("claims.csv", "claims.csv"),
        ("../{0.parent.name}/c*.csv", "claims.csv"),
    ],
)
def test_the_mapping_of_a_configured_feed_holds_for_its_file(
    capsys, tmp_path, canonical, monkeypatch, names
):
    """Both the configuration and the command may name the path in another way."""
    path = tmp_path / "claims.csv"
    monkeypatch.chdir(tmp_path)
    path.write_bytes(separated(","))
    written, given = (name.format(path) for name in names)
    config = tmp_path / "monitor.yaml"
    config.write_text(
        f"""\
defaults: {{label_timeout: none}}
feeds:
  - type: file
    path: {written}
    fields: {{ts: timestamp, id: user_id, score: proba, prediction: decision, label: fraud}}
"""
    )
    found = replayed(capsys, given, "-c", config)
    assert found.err == ""
    assert found.out == canonical
