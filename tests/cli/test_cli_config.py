import json
from pathlib import Path
from sqlite3 import connect

import jsonschema
import pytest
from cli.commands import ran

from monitor.extras import install_command

CONFIG = Path(__file__).parents[2] / "config"
TEN_FAULTS = """\
modles: {}
pane: 1
windows: [30x]
max_models: 0
max_pending: -1
max_series: many
exporter: {listen: nowhere}
state: {checkpoint_every: 0s}
dead_letter: {max_bytes: 1 MB}
feeds:
  - {type: carrier-pigeon}
"""


@pytest.mark.parametrize("path", sorted(CONFIG.glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_ok(capsys, path):
    checked = ran(capsys, "check-config", path)
    assert checked.code == 0
    assert checked.out.endswith("\nok\n")
    assert "Windows: " in checked.out


def test_ten_faults_are_ten_lines(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(TEN_FAULTS)
    checked = ran(capsys, "check-config", path)
    assert (checked.code, checked.out) == (2, "")
    lines = checked.err.splitlines()
    assert [line.startswith(f"{path}:") for line in lines] == [True] * 10
    assert [int(line.split(":")[1]) for line in lines] == [*range(1, 10), 11]


@pytest.mark.parametrize("words", [["check-config"], ["run", "-c"], ["replay", "x", "-c"]])
def test_a_missing_configuration_is_one_line_and_exit_code_2(capsys, tmp_path, words):
    missing = ran(capsys, *words, tmp_path / "missing.yaml")
    assert missing.code == 2
    assert missing.err.startswith(f"{tmp_path}/missing.yaml: cannot be read")
    assert missing.err.count("\n") == 1


def test_the_schema_is_one(capsys):
    printed = ran(capsys, "schema")
    assert (printed.code, printed.err) == (0, "")
    schema = json.loads(printed.out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"models", "windows", "feeds"} <= set(schema["properties"])


def test_feeds_whose_client_is_not_installed_are_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("monitor.feeds.kafka.installed.is_installed", lambda: False)
    config = tmp_path / "monitor.yaml"
    config.write_text("feeds: [{type: kafka, brokers: ['a:1'], topics: [t]}]\n")
    checked = ran(capsys, "check-config", config)
    assert "feeds[0].type: needs a client that is not installed, got 'kafka'; " in checked.err
    assert f"{install_command('kafka')}\n" in checked.err


@pytest.mark.parametrize(
    ("url", "reported"),
    [
        ("postgresql+pg8000://a:s3cret@h/d", "needs the driver pg8000, which is not installed"),
        ("nosuch://a:s3cret@h/d", "names a database that is not known here, got 'nosuch'"),
        ("s3cret", "is no URL of a database; write one like postgresql+psycopg://"),
    ],
)
def test_databases_that_cannot_be_read_are_told_without_their_url(capsys, tmp_path, url, reported):
    config = tmp_path / "monitor.yaml"
    query = "SELECT * FROM t WHERE n >= :cursor"
    config.write_text(f"feeds: [{{type: sql, url: '{url}', cursor: n, query: '{query}'}}]\n")
    checked = ran(capsys, "check-config", config)
    assert checked.code == 2
    assert f"`run` would stop: feeds[0].url: {reported}" in checked.err
    assert "s3cret" not in checked.out + checked.err


def test_a_database_needs_sqlalchemy(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("monitor.feeds.sql.database_url.is_installed", lambda: False)
    config = tmp_path / "monitor.yaml"
    query = "SELECT * FROM t WHERE n >= :cursor"
    config.write_text(f"feeds: [{{type: sql, url: 'sqlite://', cursor: n, query: '{query}'}}]\n")
    checked = ran(capsys, "check-config", config)
    fault = f"feeds[0].url: needs SQLAlchemy, which is not installed; {install_command('sql')}\n"
    assert fault in checked.err


@pytest.mark.parametrize(
    ("feed", "reported"),
    [
        ('{type: http, listen: "0.0.0.0:1"}', "is open to other machines without authentication"),
        ('{type: http, listen: "127.0.0.1:1", token_files: [TOKENS]}', "contains no token"),
        ('{type: http, listen: "0.0.0.0:1", token_files: [missing]}', "cannot be read"),
    ],
)
def test_listeners_that_run_refuses_are_reported(capsys, tmp_path, feed, reported):
    tokens, config = tmp_path / "tokens", tmp_path / "monitor.yaml"
    tokens.touch()
    state = f"state: {{directory: {tmp_path}/state}}"
    config.write_text(f"feeds: [{feed.replace('TOKENS', str(tokens))}]\n{state}\n")
    checked = ran(capsys, "check-config", config)
    assert (checked.code, checked.err.count("\n")) == (2, 1)
    assert checked.err.startswith("`run` would stop: ")
    assert not checked.out.endswith("ok\n")
    assert reported in checked.err
    refused = ran(capsys, "run", "-c", config)
    assert (refused.code, reported in refused.err) == (2, True)


MISSED = "`run` would miss events of feeds[0]: "
RECORD = {"ts": 5, "id": 1, "deny": 1, "fraud": 1}
LOOKED_AT = {
    "a column of a table": (
        "a.csv",
        "fields: {prediction: deny, label: frauds}",
        MISSED + "{path}: label: there is no column 'frauds'; did you mean 'fraud'?",
    ),
    "a name in JSON": (
        "a.ndjson",
        "fields: {prediction: deny, label: frauds}",
        MISSED + "{path}: fields.label: there is no 'frauds' in the first 1 record; did you mean",
    ),
    "records without a field": (
        "a.json",
        "fields: {label: fraud, id: claim}",
        MISSED + "the first 1 record cannot be used, {path}:1: missing_field: id: is",
    ),
    "a file that grows": (
        "a.ndjson",
        "fields: {ts: at, prediction: deny}, follow: true",
        MISSED + "the first 1 record cannot be used, {path}:1: missing_field: ts: is",
    ),
}


@pytest.mark.parametrize("case", LOOKED_AT)
def test_a_mapping_of_names_that_the_file_does_not_have_is_not_ok(capsys, tmp_path, case):
    name, settings, said = LOOKED_AT[case]
    path, config = tmp_path / name, tmp_path / "monitor.yaml"
    rows = "\n".join(",".join(map(str, row)) for row in (RECORD, RECORD.values()))
    path.write_text(rows if name.endswith("csv") else json.dumps(RECORD) + "\n")
    state = f"state: {{directory: {tmp_path}/state}}\n"
    config.write_text(f"{state}feeds: [{{type: file, path: {path}, {settings}}}]\n")
    checked = ran(capsys, "check-config", config)
    assert checked.code == 2
    assert checked.err.startswith(said.format(path=path))
    assert not checked.out.endswith("ok\n")
    fields = "fields: {prediction: deny, label: fraud}"
    config.write_text(f"{state}feeds: [{{type: file, path: {path}, {fields}}}]\n")
    checked = ran(capsys, "check-config", config)
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.endswith("ok\n")


@pytest.mark.parametrize(
    ("columns", "fields", "said"),
    [
        (
            ("claim", "timestamp", "proba", "fraud"),
            "{id: claim}",
            (
                "feeds[0]: {path}: reads timestamp as ts, proba as score; to make this mapping "
                "permanent, write fields: {{id: claim, ts: timestamp, score: proba}}"
            ),
        ),
        (
            ("claim", "at", "proba", "fraud"),
            "{segment.country: region, model: {value: m}}",
            MISSED + "{path}: has no column 'ts', and no column 'region' for segment.country, got "
            "claim, at, proba, fraud; say which column is which: write fields: {{segment.country: "
            "COLUMN, model: {{value: m}}, ts: COLUMN, score: proba, prediction: COLUMN, label: "
            "COLUMN}}",
        ),
    ],
)
def test_advice_on_a_configured_feed_is_yaml(capsys, tmp_path, columns, fields, said):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(f"{','.join(columns)}\na,5,0.5,1\n")
    state = f"state: {{directory: {tmp_path}/state}}\n"
    config.write_text(f"{state}feeds: [{{type: file, path: {path}, fields: {fields}}}]\n")
    checked = ran(capsys, "check-config", config)
    assert said.format(path=path) in checked.err.splitlines()
    assert "--" not in checked.err


def test_a_label_that_a_growing_file_has_not_yet_is_no_fault(capsys, tmp_path):
    path, config = tmp_path / "a.ndjson", tmp_path / "monitor.yaml"
    path.write_text(json.dumps(RECORD) + "\n")
    fields = "fields: {prediction: deny, label: later}"
    config.write_text(f"feeds: [{{type: file, path: {path}, {fields}, follow: true}}]\n")
    checked = ran(capsys, "check-config", config)
    assert checked.code == 0
    assert f"feeds[0]: {path}: fields.label: there is no 'later' in the first" in checked.err


@pytest.mark.parametrize(
    ("url", "table", "fields", "said"),
    [
        (
            *("gone.db", "labels", "label: fraud"),
            (
                "gone.db'; check the url. Next: check the feed's url, and that its database "
                "answers this machine\n"
            ),
        ),
        (
            *("here.db", "label", "label: fraud"),
            (
                "the query fails: no such table: label. Next: correct the feed's query or cursor, "
                "and try it with precision-monitor check-config\n"
            ),
        ),
        (
            *("here.db", "labels", "label: frauds"),
            (
                "label: there is no column 'frauds'; did you mean 'fraud'? Next: correct the "
                "feed's fields or cursor, and try them with precision-monitor check-config\n"
            ),
        ),
        ("here.db", "labels", "label: fraud, id: ts", "cannot be used, sql labels@1: bad_value"),
        (
            *("here.db", "labels", "label: state"),
            (
                "values are of the positive class: values: {label: {positive: [VALUE]}}; "
                "records have 'bad', 'good'\n"
            ),
        ),
        ("here.db", "labels", "label: fraud", ""),
    ],
)
def test_a_database_is_asked_for_its_first_rows(  # noqa: PLR0917  # of pytest
    capsys, tmp_path, url, table, fields, said
):
    config, database = tmp_path / "monitor.yaml", connect(tmp_path / "here.db")
    with database:
        database.execute("CREATE TABLE labels (n, ts, id, fraud, state)")
        database.execute("INSERT INTO labels VALUES (1, 5.5, 7, 1, 'bad'), (2, 6, 8, 0, 'good')")
    database.close()
    query = f"SELECT * FROM {table} WHERE n >= :cursor"  # noqa: S608  # of this test
    place = f"name: labels, url: 'sqlite:///{tmp_path}/{url}', cursor: n"
    config.write_text(
        f"state: {{directory: {tmp_path}/state}}\n"
        f"feeds: [{{type: sql, {place}, query: '{query}', fields: {{{fields}}}}}]\n"
    )
    checked = ran(capsys, "check-config", config)
    assert checked.code == (2 if said else 0)
    assert checked.err.startswith(MISSED) is bool(said)
    assert said in checked.err
    assert not (tmp_path / "gone.db").exists()


def test_what_cannot_be_looked_at_is_unchecked(capsys, tmp_path):
    config = tmp_path / "monitor.yaml"
    feeds = [
        {"type": "file", "path": "-"},
        {"type": "file", "path": str(tmp_path / "later.ndjson"), "follow": True},
        {"type": "file", "path": str(tmp_path / "empty.ndjson")},
        {"type": "http"},
    ]
    (tmp_path / "empty.ndjson").touch()
    config.write_text(json.dumps({"feeds": feeds, "state": {"directory": str(tmp_path / "s")}}))
    checked = ran(capsys, "check-config", config)
    assert checked.code == 0
    assert checked.err.splitlines() == [
        "feeds[0]: unchecked: standard input",
        f"feeds[1]: unchecked: {tmp_path}/later.ndjson, which does not exist yet",
        f"feeds[2]: unchecked: {tmp_path}/empty.ndjson, which is empty",
    ]


@pytest.mark.parametrize(
    ("header", "keys", "said"),
    [
        ("ts,id,prediction,region", "[regoin, version]", "lack 'regoin'; there are region"),
        ("ts,id,prediction", "[region]", "lack 'region'; there are none"),
        ("ts,id,prediction,region", "[region, version]", ""),
        ("ts,id,label", "[region]", ""),
    ],
)
def test_a_segment_key_that_no_prediction_of_a_file_has_is_named(
    capsys, tmp_path, header, keys, said
):
    path, config = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    cells = ["5", "a", "1", "eu"][: header.count(",") + 1]
    path.write_text(f"{header}\n{','.join(cells)}\n")
    config.write_text(
        f"state: {{directory: {tmp_path}/state}}\n"
        f"models: {{m: {{segments: {keys}}}}}\nfeeds: [{{type: file, path: {path}}}]\n"
    )
    checked = ran(capsys, "check-config", config)
    assert checked.code == 0
    expected = f"feeds[0]: {path}: segments: the first 1 record {said}\n" if said else ""
    assert checked.err == expected


def test_records_that_run_would_reject_or_find_out_of_order_are_told(capsys, tmp_path):
    config, file = tmp_path / "monitor.yaml", tmp_path / "cases.csv"
    config.write_text(
        f"state: {{directory: {tmp_path}/state}}\n"
        f"feeds: [{{type: file, path: {file}, fields: {{ts: made}}}}]\n"
    )
    rows = [f"{1_780_000_000 + 9_000 * n},{n % 2},{n % 2}\n" for n in range(600)]
    rows[7:9] = [f"{row.split(',')[0]},1,NA\n" for row in rows[7:9]]
    file.write_text("".join(["made,prediction,label\n", *rows]))
    checked = ran(capsys, "check-config", config)
    assert checked.code == 0
    assert checked.err == (
        f"feeds[0]: 2 of the first 600 records cannot be used, {file}:9: bad_value: label: must be "
        "0, 1, true, false or null, got \"NA\"; 'NA' seems to stand for no class: values: {label: "
        '{missing: ["", NA]}}\n'
    )
    file.write_text("".join(["made,prediction,label\n", *rows[:6], *rows[:8:-1]]))
    checked = ran(capsys, "check-config", config)
    assert checked.code == 0
    assert checked.err.startswith(f"feeds[0]: {file}: ")
    assert checked.err.endswith("follow the order of the records; sort them by made\n")


def test_a_name_that_looks_like_a_pattern_is_named(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text('models:\n  "*": {maturity: 1h}\n  fraud: {maturity: 1h}\n')
    checked = ran(capsys, "check-config", path)
    assert checked.code == 0
    (line,) = [line for line in checked.err.splitlines() if "pattern" in line]
    assert line.startswith("models: '*' names one model")
    assert "`defaults`" in line


def test_models_that_share_a_sentence_are_named_in_one_line(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    alike = "".join(f"  {name}: {{labelling: flagged_only}}\n" for name in "abcde")
    small = "{tp: 40, fp: 10, fn: 10, tn: 900}"
    few = "".join(f"  {name}: {{reference: {{counts: {small}}}}}\n" for name in "fg")
    path.write_text(f"models:\n{alike}{few}")
    checked = ran(capsys, "check-config", path, "--rate", "10,5")
    lines = [*checked.out.splitlines(), *checked.err.splitlines()]
    starts = [line.partition(": ")[0] for line in lines if line.startswith("models ")]
    assert starts == ["models a, b and 3 more", "models f and g"] * 3
    assert [line for line in lines if line[:3] in ("a: ", "f: ")] == []
