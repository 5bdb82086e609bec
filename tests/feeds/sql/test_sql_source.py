"""Rows of a database as events: each counts once, whatever fails."""

import json
import random
from concurrent.futures import Future

import pytest
from at_once import AtOnce
from feeds.kafka.reader import cells, counted, prediction, stream
from feeds.sql.warehouse import FEED, QUERY, Running, Warehouse

from monitor.clock import ManualClock
from monitor.config import SqlFeed
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.sql.row_query import FailedQuery, RowPage
from monitor.feeds.sql.sql_source import SqlSource
from monitor.prometheus.feed_series import SQL_FAILED, SQL_LAST_SUCCESS
from monitor.service.sql_readings import sql_readings


@pytest.fixture
def warehouse(tmp_path):
    made = Warehouse(f"sqlite:///{tmp_path}/warehouse.db")
    yield made
    made.engine.dispose()


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_whenever_it_dies_each_row_counts_once(warehouse, tmp_path, seed):
    chance = random.Random(seed)
    events, added, seq = stream(120, seed), 0, 1
    running = Running(tmp_path, warehouse.url, page_rows=5)
    for _ in range(15):
        some = events[added : added + chance.randrange(20)]
        added += len(some)
        rows = []
        for event in some:
            seq += chance.choice((0, 0, 1))  # many have one cursor, also the last one read
            rows.append((seq, event))
        warehouse.add(*rows)
        running.turns(chance.randrange(5), seconds=chance.uniform(0, 40))
        if not chance.randrange(3):
            running = Running(tmp_path, warehouse.url, page_rows=5)
    running.turns(added // 2)
    assert running.records == added
    assert cells(running.monitor) == counted(events[:added])
    assert running.rejected == []


def test_a_row_that_comes_late_with_the_last_cursor_counts_and_none_counts_again(
    warehouse, tmp_path
):
    running = Running(tmp_path, warehouse.url)
    warehouse.add((5, prediction(1)), (5, prediction(2)))
    assert running.turns(2).records == 2
    warehouse.add((5, prediction(3)))
    assert running.turns(2).records == 3
    assert Running(tmp_path, warehouse.url).turns(2).records == 3


def test_two_equal_rows_are_two_records(warehouse, tmp_path):
    counts = {"type": "outcome", "ts": 60, "prediction": 1, "label": 1}
    warehouse.add((5, counts), (5, counts))
    running = Running(tmp_path, warehouse.url).turns(3)
    assert cells(running.monitor)["tp"] == 2
    warehouse.add((5, counts))
    assert cells(running.turns(1).monitor)["tp"] == 3


def test_more_rows_of_one_cursor_than_a_page_holds_are_read(warehouse, tmp_path):
    warehouse.add(*((1, prediction(n)) for n in range(50)), (2, prediction(99)))
    assert Running(tmp_path, warehouse.url, page_rows=4).turns(4).records == 51


def test_a_backlog_is_read_a_page_a_turn_and_then_every_so_often(warehouse, tmp_path):
    warehouse.add(*((n, prediction(n)) for n in range(30)))
    running = Running(tmp_path, warehouse.url, page_rows=11, every="5m")
    assert [running.turns(1, seconds=0.1).records for _ in range(4)] == [10, 19, 28, 30]
    warehouse.add((30, prediction(30)))
    assert running.turns(1, seconds=290).records == 30
    assert running.turns(1, seconds=20).records == 31


def test_other_names_values_and_times_are_mapped(warehouse, tmp_path):
    warehouse.run(
        "CREATE TABLE claims (claim INTEGER, decided TEXT, outcome TEXT, proba TEXT, loaded TEXT)"
    )
    for row in (
        (1, "2026-07-01 12:00:00", "fraud", "0.9", "2026-07-03 00:00:00"),
        (2, "2026-07-01 12:00:01", "ok", "0.8", "2026-07-03 00:00:00"),
        (3, "2026-07-01 12:00:02", "pending", "0.8", "2026-07-03 00:00:01"),
        (4, "yesterday", "ok", "0.1", "2026-07-03 00:00:02"),
    ):
        names = ("claim", "decided", "outcome", "proba", "loaded")
        values = dict(zip(names, row, strict=True))
        warehouse.run(
            "INSERT INTO claims VALUES (:claim, :decided, :outcome, :proba, :loaded)", values
        )
    mapping = {
        "fields": {
            "id": "claim",
            "ts": "decided",
            "score": "proba",
            "label": "outcome",
            "prediction": {"value": 1},
        },
        "values": {"label": {"positive": ["fraud"], "negative": ["ok"], "missing": ["pending"]}},
        "time": {"zone": "Europe/Berlin"},
    }
    running = Running(
        tmp_path,
        warehouse.url,
        query="SELECT * FROM claims WHERE loaded >= :cursor",
        cursor="loaded",
        start="2026-01-01",
        **mapping,
    ).turns(2)
    found = cells(running.monitor)
    assert (found["tp"], found["fp"], running.records) == (1, 1, 4)
    (rejection,) = running.rejected
    assert rejection.position == "sql sql@2026-07-03 00:00:02"
    assert json.loads(rejection.record)["decided"] == "yesterday"
    assert str(rejection.reason) == "bad_value"
    position = json.loads(json.dumps(running.source.position()))
    assert position["value"] == "2026-07-03 00:00:02"


def test_a_failing_query_is_counted_logged_once_and_repeated(warehouse, tmp_path):
    warehouse.run("ALTER TABLE events RENAME TO gone")
    running = Running(tmp_path, warehouse.url).turns(4)
    assert not running.source.attached
    assert running.source.failed == {"query": 4}
    readings = sql_readings([running.source])
    assert readings[SQL_FAILED]() == {("sql", "query"): 4.0}
    assert readings[SQL_LAST_SUCCESS]() == {}
    warehouse.run("ALTER TABLE gone RENAME TO events")
    warehouse.add((1, prediction(1)))
    assert running.turns(1).records == 1
    assert running.source.attached
    assert readings[SQL_LAST_SUCCESS]() == {("sql",): running.clock.now()}
    told = [line for line in running.reported if line.startswith("sql")]
    assert told == [
        FailedQuery.QUERY.advised("sql sql: query: no such table: events; retrying"),
        "sql sql: answers again",
    ]


@pytest.mark.parametrize(
    "query",
    [
        f"{QUERY} -- the end",
        f"{QUERY}; -- the end",
        f"{QUERY} ; ",
        f"{QUERY} AND id <> ';' /* ; */",
        f"{QUERY} AND id <> 'LIMIT 3'",
        f"{QUERY} AND id <> 'at \\:noon'",
        f"{QUERY} ORDER BY id",
        f"-- > \\:cursor, ;\n{QUERY}",
        "SELECT * FROM (SELECT * FROM events LIMIT 9) AS some WHERE seq >= :cursor",
    ],
)
def test_a_query_may_be_written_as_people_write_it(warehouse, tmp_path, query):
    warehouse.add((1, prediction(1)), (2, prediction(2)))
    running = Running(tmp_path, warehouse.url, query=query).turns(2)
    assert (running.records, running.source.failed) == (2, {})


def test_a_file_of_sqlite_that_does_not_exist_is_an_error_and_is_not_created(tmp_path):
    path = tmp_path / "missing.db"
    running = Running(tmp_path, f"sqlite:///{path}").turns(1)
    assert running.source.failed == {"connect": 1}
    fault = f"connect: no such file: '{path}'; check the url; retrying"
    assert FailedQuery.CONNECT.advised(f"sql sql: {fault}") in running.reported
    assert not path.exists()


def test_a_cursor_that_is_no_number_at_all_is_refused():
    feed = SqlFeed.model_validate({**FEED, "url": "sqlite://"})
    rows = [{"seq": float("nan"), "id": "a", "ts": 1, "prediction": 1}]
    asked = iter([RowPage(list(rows[0]), rows, False)])
    reported = []
    source = SqlSource(
        feed,
        Decoder(DecodeSettings()),
        ManualClock(),
        reported.append,
        read=lambda *_: next(asked),
        worker=AtOnce(),
    )
    assert source.poll() is None
    assert "columns: cursor: 'seq' must hold numbers, times or texts, got nan" in reported[0]


def test_a_database_that_is_away_is_asked_again_within_seconds(warehouse, tmp_path):
    warehouse.add((1, prediction(1)))
    running = Running(tmp_path, f"sqlite:///{tmp_path}/no/such/folder/x.db", every="1h").turns(1)
    assert running.source.failed == {"connect": 1}
    assert running.turns(1, seconds=9).source.failed == {"connect": 1}
    assert running.turns(1, seconds=1).source.failed == {"connect": 2}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"query": "SELECT seq, id FROM events WHERE seq >= :cursor"},
            "sql sql: columns: has no column 'ts', got seq, id; name the columns",
        ),
        (
            {"fields": {"label": "fraud"}},
            "sql sql: columns: label: there is no column 'fraud'; it has seq, type, id, ts",
        ),
        ({"cursor": "sequence"}, "sql sql: query: no such column: rows_of_feed.sequence; retrying"),
    ],
)
def test_columns_that_do_not_fit_are_told_and_nothing_is_passed_over(
    warehouse, tmp_path, change, told
):
    warehouse.add((1, prediction(1)))
    running = Running(tmp_path, warehouse.url, **change).turns(2)
    assert [line for line in running.reported if line.startswith(told)]
    assert running.records == 0
    assert running.source.position()["value"] == "0"


def test_a_cursor_that_is_no_number_time_or_text_is_told(tmp_path):
    page = RowPage(["seq"], [{"seq": [1]}], full=False)
    running = Running(tmp_path, "sqlite://", read=lambda *_: page).turns(1)
    assert running.source.failed == {"columns": 1}
    assert "'seq' must hold numbers, times or texts, got [1]" in running.reported[-1]


def test_rows_without_a_cursor_are_not_read(warehouse, tmp_path):
    warehouse.add((None, prediction(1)), (1, prediction(2)))
    query = f"{QUERY} OR seq IS NULL"
    assert Running(tmp_path, warehouse.url, query=query).turns(2).records == 1


def test_another_cursor_column_begins_at_the_start_and_says_so(warehouse, tmp_path):
    warehouse.add((1, prediction(1)), (2, prediction(2)))
    Running(tmp_path, warehouse.url).turns(2)
    query = "SELECT * FROM events WHERE ts >= :cursor"
    again = Running(tmp_path, warehouse.url, query=query, cursor="ts").turns(2)
    assert any("the cursor is 'ts' now and was 'seq'" in line for line in again.reported)
    assert again.records == 4, "both again; by their ids they are duplicates"
    assert again.monitor.snapshot().models[0].duplicates == 2


def test_poll_does_not_wait_for_a_query_and_close_leaves_it(warehouse):
    class Never:
        shut = None

        def submit(self, *_):
            return Future()

        def shutdown(self, **how):
            self.shut = how

    worker, clock = Never(), ManualClock()
    feed = SqlFeed(**FEED, url=warehouse.url)
    source = SqlSource(feed, Decoder(DecodeSettings()), clock, print, worker=worker)
    assert source.poll() is None
    clock.sleep(1000)
    assert source.poll() is None
    source.close()
    assert worker.shut == {"wait": False, "cancel_futures": True}
