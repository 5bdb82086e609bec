"""Delivery of a job's counts, and its failures."""

import errno
import json
from contextlib import contextmanager

import pytest
from http_answers import Quiet, serving

from monitor.distributed import delivery
from monitor.distributed.counts_events import counts_event
from monitor.distributed.delivery import DirectoryDelivery, delivery_to
from monitor.errors import MonitorError

LINES = [b'{"type":"counts","n":%d}' % i for i in range(3)]
TAKEN = (200, {"accepted": 1, "rejected": {}, "faults": []})


@contextmanager
def feed(*answers):
    """A feed that gives these answers, one a request; what it was asked."""
    asked, left = [], list(answers)

    class Handler(Quiet):
        def do_POST(self):  # noqa: N802  # as the server calls it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, self.headers.get("Authorization"), body))
            status, answer = left.pop(0)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    with serving(Handler) as url:
        yield url, asked


def http(url, reported=None, **more):
    given = {
        "token_file": None,
        "patience": 30.0,
        "say": [].append if reported is None else reported.append,
        **more,
    }
    return delivery_to(url, **given)


def test_a_batch_in_a_directory_is_replaced_as_a_whole(tmp_path):
    one = DirectoryDelivery(tmp_path / "counts")
    one.deliver(7, LINES)
    one.deliver(7, LINES[:1])
    (path,) = (tmp_path / "counts").iterdir()
    assert path.name == "batch-000000007.ndjson"
    assert path.read_bytes() == LINES[0] + b"\n"


def test_a_batch_of_another_source_is_not_replaced(tmp_path):
    one = DirectoryDelivery(tmp_path)
    one.deliver(7, [b'{"type":"counts","source":"a"}'])
    with pytest.raises(MonitorError, match=r"has counts of the source 'a', .* by those of 'b'"):
        one.deliver(7, [b'{"type":"counts","source":"b"}'])
    (path,) = tmp_path.iterdir()
    assert b'"a"' in path.read_bytes()
    one.deliver(8, [b'{"type":"counts","source":"b"}'])
    one.deliver(8, [b'{"type":"counts","source":"b","n":1}'])


def counted(run, number, source="a"):
    return [json.dumps({"type": "counts", "source": source, "batch": f"{run}-{number}"}).encode()]


def test_a_directory_with_counts_of_the_same_source_from_another_checkpoint_is_refused(tmp_path):
    before = DirectoryDelivery(tmp_path)
    for number in range(3):
        before.deliver(number, counted("f00d", number))
    (tmp_path / "batch-000000000.ndjson").unlink()  # none is replaced
    expected = "batch-000000001.ndjson: has counts of the source 'a' from another checkpoint"
    for _ in range(2):
        with pytest.raises(MonitorError, match=expected):
            DirectoryDelivery(tmp_path).deliver(0, counted("beef", 0))
    assert not (tmp_path / "batch-000000000.ndjson").exists()
    DirectoryDelivery(tmp_path).deliver(2, counted("f00d", 2))
    DirectoryDelivery(tmp_path).deliver(7, counted("beef", 7, "b"))


def test_a_directory_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MonitorError, match=r"--to .*file/x: cannot be created"):
        http(str(tmp_path / "file" / "x"))


def test_a_batch_that_cannot_be_written_leaves_nothing_on_the_disk(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    delivery = http(str(tmp_path))
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(MonitorError, match=r"cannot be written: .*No space left"):
        delivery.deliver(1, [b"{}"])
    assert [*tmp_path.iterdir()] == []


def test_a_feed_that_is_busy_or_away_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_S", 0.001)
    (tmp_path / "token").write_text("a-token-of-16-chars\n")
    reported = []
    with feed((429, {}), (503, {}), TAKEN) as (url, asked):
        http(url, reported, token_file=str(tmp_path / "token")).deliver(1, LINES)
    assert asked == [("/v1/events", "Bearer a-token-of-16-chars", b"\n".join(LINES))] * 3
    assert ["429" in reported[0], "503" in reported[1], len(reported)] == [True, True, 2]


def test_a_feed_that_refuses_ends_the_job():
    with feed((401, {"error": "token"})) as (url, _), pytest.raises(MonitorError, match="401"):
        http(url).deliver(1, LINES)


@pytest.mark.parametrize("answer", [{}, [], "log in", {"accepted": 1}])
def test_an_answer_that_is_not_a_feeds_takes_nothing(answer):
    with feed((200, answer)) as (url, _), pytest.raises(MonitorError, match="not that of a feed"):
        http(url).deliver(1, LINES)


def test_a_redirect_is_not_followed():
    """Following it would turn the POST into a GET, and lose the batch."""

    class Handler(Quiet):
        def do_POST(self):  # noqa: N802  # as the server calls it
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def do_GET(self):  # noqa: N802  # same
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(TAKEN[1]).encode())

    with serving(Handler) as url, pytest.raises(MonitorError, match="answered 302; the batch"):
        http(url).deliver(1, LINES)


@pytest.mark.parametrize(
    "first", [b"nonsense\r\n\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{"]
)
def test_an_answer_that_breaks_off_is_asked_for_again(monkeypatch, first):
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_S", 0.001)
    left, reported = [first], []

    class Handler(Quiet):
        def do_POST(self):  # noqa: N802  # as the server calls it
            self.rfile.read(int(self.headers["Content-Length"]))
            if left:
                self.wfile.write(left.pop())
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(TAKEN[1]).encode())

    with serving(Handler) as url:
        http(url, reported).deliver(1, LINES)
    assert len(reported) == 1
    assert "retrying" in reported[0]


def test_a_feed_that_stays_away_ends_the_job_when_patience_does():
    with pytest.raises(MonitorError, match=r"cannot be reached.*not delivered"):
        http("http://127.0.0.1:9", patience=0.0).deliver(1, LINES)


def row(**cells):
    return json.dumps(counts_event("m", {}, (0, 0), 0, [0] * 6) | cells).encode()


def rejecting(reason, number, detail):
    faults = [{"line": 1, "reason": reason, "detail": detail}]
    return 200, {"accepted": 0, "rejected": {reason: number}, "faults": faults}


def test_counts_that_the_monitor_rejects_end_the_job_after_all_parts_were_posted(monkeypatch):
    monkeypatch.setattr(delivery, "_CHUNK_BYTES", 1)
    reported, lines = [], [row(tp=1), row(fp=1), row(tp=-1)]
    answers = (
        rejecting("unknown_model", 2, "model: 'm'"),
        TAKEN,
        rejecting("timestamp_out_of_range", 1, "ts: 9"),
    )
    expected = (
        "batch 4: the monitor rejected 3 counts: timestamp_out_of_range 1, unknown_model 2; such "
        "as: model: 'm'; correct the monitor's configuration and start the job again"
    )
    with feed(*answers) as (url, asked), pytest.raises(MonitorError, match=expected) as raised:
        http(url, reported).deliver(4, lines)
    assert [body for _, _, body in asked] == lines
    assert "\n" not in str(raised.value)
    assert reported == []


def test_a_rejected_event_that_changes_no_count_is_reported_and_loses_nothing():
    reported = []
    with feed(rejecting("unknown_model", 1, "model: 'm'")) as (url, _):
        http(url, reported).deliver(4, [row()])
    assert reported == [
        "batch 4: the monitor rejected 1 count: unknown_model 1; such as: model: 'm'"
    ]


def test_a_large_batch_is_posted_in_parts(monkeypatch):
    monkeypatch.setattr(delivery, "_CHUNK_BYTES", 60)
    with feed(TAKEN, TAKEN) as (url, asked):
        http(url).deliver(1, LINES)
    assert [body for _, _, body in asked] == [b"\n".join(LINES[:2]), LINES[2]]


def test_a_target_that_is_none_is_refused():
    with pytest.raises(MonitorError, match="must be http"):
        http("ftp://host/x")
    for nowhere in ("http://", "http://:80"):
        with pytest.raises(MonitorError, match="has no host"):
            http(nowhere)
    pytest.importorskip("confluent_kafka")
    with pytest.raises(MonitorError, match="must be kafka://HOST"):
        http("kafka://host:9092")


def test_a_topic_takes_a_batch_and_a_broker_that_is_away_ends_the_job(monkeypatch):
    kafka = pytest.importorskip("confluent_kafka")
    mock = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "x"})
    brokers = mock.list_topics(timeout=120).brokers.values()
    url = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    http(f"kafka://{url}/counts").deliver(3, LINES)
    consumer = kafka.Consumer(
        {"bootstrap.servers": url, "group.id": "test", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["counts"])
    try:
        got = [message.value() for message in consumer.consume(3, timeout=300)]
    finally:
        consumer.close()
    assert got == LINES
    monkeypatch.setattr(delivery, "_TIMEOUT_S", 0.2)
    with pytest.raises(MonitorError, match="not acknowledged; the batch was not delivered"):
        http("kafka://127.0.0.1:9/counts").deliver(3, LINES)
