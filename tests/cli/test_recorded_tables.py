"""Databases of configured feeds, in a running service and in the place of recorded files."""

import json
import signal

import httpx
import pytest
from cli.commands import ran
from cli.test_cli_run import DEADLINE, running, until
from conservation import Scraper
from feeds.kafka.reader import CELLS, counted, stream
from feeds.sql.warehouse import QUERY, Warehouse

SQL = "{{type: sql, name: {name}, url: '{url}', cursor: seq, query: \"{query}\", every: 1s}}"


@pytest.fixture
def events():
    return stream(200)


@pytest.fixture
def config(tmp_path, events):
    """Labels in a database; predictions in another feed of the same one."""
    warehouse = Warehouse(f"sqlite:///{tmp_path}/warehouse.db")
    warehouse.add(*enumerate(events))
    feeds = [
        SQL.format(name=f"{kind}s", url=warehouse.url, query=f"{QUERY} AND type = '{kind}'")
        for kind in ("prediction", "label")
    ]
    path = tmp_path / "monitor.yaml"
    path.write_text(
        f'feeds: [{", ".join(feeds)}]\nexporter: {{listen: "127.0.0.1:0"}}\n'
        f"state: {{directory: {tmp_path}/state}}\n"
    )
    return path


def test_run_reads_databases(config, events):
    with running(config) as (process, url, _):
        records = f"precision_monitor_records_total {len(events)}.0"
        until(lambda: httpx.get(f"{url}/readyz").status_code == 200)
        until(lambda: records in (text := Scraper(url)()) and text)
        found = Scraper(url)()
        for name in ("predictions", "labels"):
            last = f'precision_monitor_sql_last_success_timestamp_seconds{{feed="{name}"}} '
            assert last in found
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0


def test_replay_takes_databases_and_files_together(capsys, config, tmp_path, events):
    path = tmp_path / "predictions.ndjson"
    lines = [json.dumps(event) for event in events if event["type"] == "prediction"]
    path.write_text("\n".join(lines))
    for words in ((path, "sql:labels"), ("sql:predictions", "sql:labels")):
        done = ran(capsys, "replay", *words, "-c", config, "--json")
        assert done.code == 0, done.err
        (model,) = json.loads(done.out)["models"].values()
        assert {cell: model["outcomes"][cell] for cell in CELLS} == counted(events)


def test_diagnose_reads_the_configured_databases(capsys, config):
    done = ran(
        capsys,
        "diagnose",
        "-c",
        config,
        "--before",
        "1970-01-01T00..1970-01-01T01",
        "--after",
        "1970-01-01T01..1970-01-01T02",
        "--json",
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["after"]["outcomes"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "sql:claims",
            "has no sql feed of this name, it has sql:predictions, sql:labels; pass",
        ),
        ("sql:labels", "sql labels: no such file: '"),
    ],
)
def test_a_database_that_cannot_be_read_is_exit_code_3(capsys, config, tmp_path, word, message):
    (tmp_path / "warehouse.db").unlink()
    failed = ran(capsys, "replay", word, "-c", config)
    assert failed.code == 3
    assert message in failed.err


@pytest.mark.parametrize(
    ("written", "instead", "message", "advice"),
    [
        (
            "cursor: seq",
            "cursor: sequence",
            "sql labels: no such column: rows_of_feed.sequence. ",
            "Next: correct the feed's query or cursor, and try it with precision-monitor check",
        ),
        (
            "every: 1s",
            "fields: {label: fraud}",
            "label: there is no column 'fraud'; it has seq, type, id, ts, prediction, label. ",
            "Next: correct the feed's fields or cursor, and try them with precision-monitor ",
        ),
    ],
)
def test_a_query_that_does_not_fit_is_one_line_with_the_next_step(  # noqa: PLR0917  # of pytest
    capsys, config, written, instead, message, advice
):
    config.write_text(config.read_text().replace(written, instead))
    failed = ran(capsys, "replay", "sql:labels", "-c", config)
    assert failed.code == 3
    assert f"{message}{advice}" in failed.err
