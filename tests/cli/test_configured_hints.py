"""Hints on rejected records of a configured feed are the YAML to write, whole and usable."""

import json
import sqlite3
from contextlib import closing

import pytest
import yaml
from cli.commands import ran

SECOND = 1_780_000_000
GIVEN = {"ts": "at", "label": "fraud"}
HINTS = {
    "milliseconds": (f"{SECOND}000,1,1,a", {"time": {"unit": "ms"}}),
    "no zone": ("2026-07-01 12:00,1,1,a", {"time": {"zone": "Europe/Berlin"}}),
    "no label yet": (f"{SECOND},1,NA,a", {"values": {"label": {"missing": ["", "NA"]}}}),
    "three values": (
        "\n".join(f"{SECOND},1,{value},a" for value in ("open", "legit", "fraud")),
        {
            "values": {
                "label": {"positive": ["VALUE"], "negative": ["VALUE"], "missing": ["", "VALUE"]}
            }
        },
    ),
    "no number as time": ("yesterday,1,1,a", {"fields": {**GIVEN, "ts": "COLUMN"}}),
    "a type": (f"{SECOND},1,1,card", {"fields": {**GIVEN, "type": {"value": ""}}}),
}


def configured(tmp_path, rows, keys=None, header="at,prediction,fraud,type"):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    if "card" not in rows:
        rows, header = rows.replace(",a", ""), header.removesuffix(",type")
    path.write_text(f"{header}\n{rows}\n")
    feed = {"type": "file", "path": str(path), "fields": GIVEN, **(keys or {})}
    config.write_text(yaml.safe_dump({"feeds": [feed]}, sort_keys=False))
    return path, config


@pytest.mark.parametrize("command", ["replay", "diagnose"])
@pytest.mark.parametrize("case", HINTS)
def test_a_hint_on_a_configured_feed_is_its_yaml(capsys, tmp_path, command, case):
    rows, keys = HINTS[case]
    path, config = configured(tmp_path, rows)
    words = ("--feed", path) if command == "diagnose" else (path,)
    last = ran(capsys, command, *words, "-c", config).err.splitlines()[-1]
    ((key, value),) = keys.items()
    begin = last.index(f"{key}: {{")
    text = last[begin : last.rindex("}") + 1]
    assert yaml.safe_load(text) == {key: value}
    assert "--" not in last


@pytest.mark.parametrize("case", ["milliseconds", "no zone", "a type"])
def test_the_yaml_of_a_hint_makes_the_records_usable(capsys, tmp_path, case):
    rows, keys = HINTS[case]
    path, config = configured(tmp_path, rows)
    assert ran(capsys, "replay", path, "-c", config).code == 3
    path, config = configured(tmp_path, rows, keys)
    done = ran(capsys, "replay", path, "-c", config)
    assert (done.code, done.err) == (0, "")


def test_the_yaml_has_what_the_feed_already_says(capsys, tmp_path):
    values = {"label": {"positive": ["bad"], "negative": ["good"], "missing": ["", "open"]}}
    path, config = configured(tmp_path, f"{SECOND},1,NA,a", {"values": values})
    last = ran(capsys, "replay", path, "-c", config).err.splitlines()[-1]
    assert 'values: {label: {positive: [bad], negative: [good], missing: ["", open, NA]}}' in last


def test_of_two_feeds_the_hint_completes_the_one_of_the_record(capsys, tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    paths[0].write_text(f"at,id,prediction\n{SECOND},1,1\n")
    paths[1].write_text("day,id,fraud\n" + "yesterday,1,1\n" * 3)
    feeds = [
        {"type": "file", "path": str(paths[0]), "fields": {"ts": "at"}},
        {"type": "file", "path": str(paths[1]), "fields": {"ts": "day", "label": "fraud"}},
    ]
    config = tmp_path / "monitor.yaml"
    config.write_text(yaml.safe_dump({"feeds": feeds}, sort_keys=False))
    last = ran(capsys, "replay", *paths, "-c", config).err.splitlines()[-1]
    assert last.endswith("fields: {ts: COLUMN, label: fraud}")


def test_a_configured_feed_without_a_mapping_is_answered_in_yaml_and_another_file_with_options(
    capsys, tmp_path
):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(f"ts,prediction,label\n{SECOND}000,1,1\n")
    config.write_text(f"feeds: [{{type: file, path: {path}}}]\n")
    assert ran(capsys, "replay", path, "-c", config).err.endswith(": time: {unit: ms}\n")
    other = tmp_path / "b.csv"
    other.write_text(path.read_text())
    assert ran(capsys, "replay", other, "-c", config).err.endswith(": --unit ms\n")


def test_repeated_ids_of_a_configured_feed_are_answered_in_yaml(capsys, tmp_path):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text("id,ts,prediction,label\n" + f"7,{SECOND},1,1\n" * 6)
    config.write_text(f"feeds: [{{type: file, path: {path}}}]\n")
    shown = ran(capsys, "replay", path, "-c", config).err
    assert "fields: {id: COLUMN}, or leave it out" in shown
    assert 'has its label, fields: {id: {value: ""}}\n' in shown


ASKED_OF_COLUMNS = {
    "names nothing like a field": (
        "replay",
        f"nr,timestamp,decision\n1,{SECOND},1",
        {},
        {"ts": "timestamp", "prediction": "COLUMN", "label": "COLUMN"},
    ),
    "guessed": (
        "replay",
        f"time,y_pred,y_true\n{SECOND},1,1",
        {},
        {"ts": "time", "prediction": "y_pred", "label": "y_true"},
    ),
    "a model that is no column": (
        "replay",
        f"ts,prediction,label\n{SECOND},1,1",
        {"model": "claims"},
        {"model": {"value": "claims"}},
    ),
    "no label to replay": (
        "replay",
        f"id,at,prediction\n1,{SECOND},1",
        {"ts": "at"},
        {"ts": "at", "label": "COLUMN"},
    ),
    "no label to diagnose": (
        "diagnose",
        f"id,at,prediction\n1,{SECOND},1",
        {"ts": "at"},
        {"ts": "at", "label": "COLUMN"},
    ),
    "no label in a test set": (
        "reference",
        "id,prediction\n1,1",
        {"id": "id"},
        {"id": "id", "label": "COLUMN"},
    ),
    "no class in a test set": (
        "reference",
        "flag,fraud\n1,no\n0,yes",
        {"prediction": "flag", "label": "fraud"},
        {"label": {"positive": ["VALUE"]}},
    ),
}


@pytest.mark.parametrize("case", ASKED_OF_COLUMNS)
def test_what_is_asked_of_the_columns_of_a_configured_feed_is_yaml(capsys, tmp_path, case):
    command, rows, fields, expected = ASKED_OF_COLUMNS[case]
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(f"{rows}\n")
    feed = {"type": "file", "path": str(path), "fields": fields}
    config.write_text(yaml.safe_dump({"feeds": [feed]}, sort_keys=False))
    done = ran(capsys, command, path, "-c", config)
    key = "values" if expected.keys() == {"label"} and "flag" in rows else "fields"
    text = next(line for line in (done.err + done.out).splitlines() if f"{key}: {{" in line)
    begin = text.index(f"{key}: {{")
    assert yaml.safe_load(text[begin : text.rindex("}") + 1]) == {key: expected}
    assert "--" not in text
    assert ran(capsys, "check-config", config).err.count("--") == 0


def test_days_in_digits_of_a_configured_feed_are_answered_in_yaml(capsys, tmp_path):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text("id,ts,prediction\n7,20260713,1\n")
    config.write_text(f"feeds: [{{type: file, path: {path}}}]\n")
    done = ran(capsys, "replay", path, "-c", config)
    form = '{format: "%Y%m%d", zone: Europe/Berlin}'
    assert f"if it is a day, give the format and the zone: time: {form}\n" in done.err


def test_a_test_set_without_a_feed_is_answered_with_options(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,prediction\n1,1\n")
    assert ran(capsys, "reference", path).err.endswith("which it is: --field label=COLUMN\n")


def test_run_which_takes_no_mapping_names_the_command_that_does(capsys, tmp_path):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text("id,prediction\n1,1\n")
    config.write_text("feeds: [{type: http, listen: '127.0.0.1:0'}]\n")
    done = ran(capsys, "run", "-c", config, "--reference", path)
    asked = f"precision-monitor reference {path} --field label=COLUMN\n"
    assert done.code == 3
    assert done.err.endswith(f"which it is: {asked}")


def database(tmp_path, rows, feed):
    """A configuration whose feed reads a table with the columns seq, at, flag and fraud."""
    with closing(sqlite3.connect(tmp_path / "labels.db")) as connection, connection:
        connection.execute("CREATE TABLE labels (seq, at, flag, fraud)")
        connection.executemany("INSERT INTO labels VALUES (?, ?, ?, ?)", rows)
    keys = {"type": "sql", "name": "labels", "url": f"sqlite:///{tmp_path}/labels.db", **feed}
    keys |= {"query": "SELECT * FROM labels WHERE seq >= :cursor", "cursor": "seq"}
    config = tmp_path / "monitor.yaml"
    config.write_text(yaml.safe_dump({"feeds": [keys]}, sort_keys=False))
    return config


def test_hints_on_a_database_are_yaml_of_its_feed(capsys, tmp_path):
    feed = {"fields": {"id": "seq", "ts": "at", "prediction": "flag", "label": "fraud"}}
    config = database(tmp_path, [(1, "2026-07-01 12:00", 1, 1)], feed)
    done = ran(capsys, "replay", "sql:labels", "-c", config)
    assert done.code == 3
    assert done.err.endswith("zone of times that name none: time: {zone: Europe/Berlin}\n")
    config.write_text(config.read_text().replace("ts: at", "label_ts: at"))
    done = ran(capsys, "replay", "sql:labels", "-c", config)
    assert "fields: {id: seq, label_ts: at, prediction: flag, label: fraud, ts: COLUMN}" in done.err


def test_options_complete_the_mapping_of_a_database(capsys, tmp_path):
    feed = {"fields": {"id": "seq", "ts": "at", "prediction": "flag"}}
    config = database(tmp_path, [(1, "2026-07-01 12:00", 1, "bad")], feed)
    options = "--field", "label=fraud", "--positive", "label=bad", "--zone", "Europe/Berlin"
    done = ran(capsys, "replay", "sql:labels", "-c", config, *options, "--json")
    assert done.code == 0, done.err
    (model,) = json.loads(done.out)["models"].values()
    assert model["outcomes"] == {"tp": 1, "fp": 0, "fn": 0, "tn": 0}


def test_replay_without_a_file_reads_what_is_configured(capsys, tmp_path):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(f"ts,prediction,label\n{SECOND},1,1\n{SECOND},0,0\n")
    config.write_text(f"feeds: [{{type: file, path: {path}}}]\n")
    alone = ran(capsys, "replay", "-c", config)
    assert "2 events read, 0 rejected." in alone.out
    assert f"precision-monitor diagnose -c {config} --before A..B --after C..D." in alone.out
    assert (
        alone.out.replace("diagnose -c", f"diagnose {path} -c")
        == ran(capsys, "replay", path, "-c", config).out
    )
