"""What comes out of topics: messages as events, in which order, and what is missing."""

import json

import pytest
from confluent_kafka import KafkaError
from feeds.kafka.cluster import FakeCluster, places
from feeds.kafka.reader import Reader, cells, counted, prediction, stream

from monitor.feeds.kafka import schedule


def test_predictions_and_labels_of_several_topics_are_joined():
    cluster = FakeCluster(*places("predictions", 3), *places("labels", 3))
    events = stream(300)
    for event in events:
        number = sum(event["id"].encode()) % 3
        cluster.produce((f"{event['type']}s", number), event, time_ms=1000 * event["ts"])
    reader = Reader(cluster, topics=["predictions", "labels"])
    assert not reader.source.attached
    reader.turns()
    assert reader.source.attached
    assert reader.records == len(events)
    assert cells(reader.monitor) == counted(events)


def test_a_message_holds_one_event_or_an_array_or_lines():
    cluster = FakeCluster(("events", 0))
    several = [prediction(n) for n in range(10)]
    as_lines = "\n".join(map(json.dumps, several[3:6])).encode() + b"\r\n"
    for value in (
        several[0],
        json.dumps(several[1], indent=2).encode(),
        b"",
        None,
        json.dumps([several[2]], indent=1).encode(),
        as_lines,
        b"\xef\xbb\xbf" + json.dumps(several[6:8]).encode(),
        b"[]",
        json.dumps(several[8:10]).encode(),
    ):
        cluster.produce(("events", 0), value)
    reader = Reader(cluster).turns()
    assert reader.records == 10
    assert reader.rejected == []


def test_a_rejected_record_is_located_by_topic_partition_and_offset():
    cluster = FakeCluster(*places("events", 2))
    bad = json.dumps([prediction(1), {"type": "label"}, 3]).encode()
    for place, value in (
        (("events", 0), prediction(0)),
        (("events", 0), b"\xff"),
        (("events", 1), b"[{]"),
        (("events", 1), bad),
        (("events", 1), b"x\n" + json.dumps(prediction(5)).encode()),
        (("events", 1), b"{" + b" " * 70_000),
        (("events", 1), b'"text"'),
    ):
        cluster.produce(place, value)
    reader = Reader(cluster).turns()
    found = sorted((r.position, str(r.reason)) for r in reader.rejected)
    assert found == [
        ("events[0]@1", "malformed"),
        ("events[1]@0", "malformed"),
        ("events[1]@1#2", "missing_field"),
        ("events[1]@1#3", "malformed"),
        ("events[1]@2#1", "malformed"),
        ("events[1]@3", "too_large"),
        ("events[1]@4", "malformed"),
    ]
    assert reader.records == 10


def test_offsets_without_a_message_are_skipped_and_counted():
    cluster = FakeCluster(("events", 0))
    for value in (prediction(1), ..., ..., prediction(2), ...):
        encoded = value if value is ... else json.dumps(value).encode()
        cluster.logs[("events", 0)].append((0, encoded))
    reader = Reader(cluster).turns()
    assert reader.records == 2
    (figures,) = reader.source.figures
    assert (figures.lag, figures.skipped, figures.deleted) == (0, 3, 0)
    assert reader.source.position()["offsets"] == {"events": {"0": 5}}


def test_messages_deleted_before_they_were_read_are_logged_and_counted():
    cluster = FakeCluster(("events", 0))
    for n in range(10):
        cluster.produce(("events", 0), prediction(n))
    reader = Reader(cluster).turns()
    for n in range(10, 30):
        cluster.produce(("events", 0), prediction(n))
    cluster.low[("events", 0)] = 25
    behind = reader.restarted(cluster)
    reader.source.close()
    behind.turns()
    assert behind.records == 5
    assert behind.source.figures[0].deleted == 15
    assert behind.reported == [
        "kafka events: events[0]: offset 10 does not exist, available are 25 to 30; continues at 25"
    ]


@pytest.mark.parametrize(("start", "records"), [("earliest", 7), ("latest", 2)])
def test_without_a_known_offset_the_configured_start_applies(start, records):
    cluster = FakeCluster(("events", 0))
    for n in range(5):
        cluster.produce(("events", 0), prediction(n))
    reader = Reader(cluster, start=start).turns()
    for n in range(5, 7):
        cluster.produce(("events", 0), prediction(n))
    assert reader.turns().records == records
    assert reader.reported == []


def test_a_backlog_is_delivered_in_the_order_of_production():
    cluster = FakeCluster(*places("predictions", 1), *places("labels", 1))
    hours = 24 * 60
    for n in range(hours * 2):
        cluster.produce(("predictions", 0), prediction(n, ts=30 * n), time_ms=30_000 * n)
    for n in range(200):
        label = {"type": "label", "id": f"p{14 * n}", "ts": 420 * n, "label": 1}
        cluster.produce(("labels", 0), label, time_ms=420_000 * n)
    reader = Reader(cluster, topics=["predictions", "labels"])
    latest = {"predictions": 0, "labels": 0}
    while (batch := reader.turn()) is not None or not all(latest.values()):
        for kind in latest:
            column = getattr(batch, kind, None)
            if column is not None and len(column):
                latest[kind] = int(column.time.max())
    assert reader.records == hours * 2 + 200
    assert reader.monitor.snapshot().labels.applied == 200


def test_a_silent_partition_delays_the_others_for_a_limited_time():
    cluster = FakeCluster(*places("events", 2))
    reader = Reader(cluster)
    reader.turn()
    cluster.members[0].paused.add(("events", 0))  # the broker that leads it does not answer
    cluster.produce(("events", 0), prediction(1), time_ms=0)
    cluster.produce(("events", 1), prediction(2), time_ms=10**9)
    reader.source._assigned.partitions[("events", 0)].at_end = False
    reader.turns(2)
    assert reader.records == 0
    reader.turn(schedule.SILENT_SECONDS)
    assert reader.records == 1


def test_a_partition_far_ahead_is_paused_until_its_messages_are_delivered(monkeypatch):
    monkeypatch.setattr(schedule, "HELD_BYTES", 4000)
    monkeypatch.setattr(schedule, "LEAST_HELD_BYTES", 1000)
    monkeypatch.setattr("monitor.feeds.kafka.source.READ_MESSAGES", 100)
    cluster = FakeCluster(*places("events", 2))
    reader = Reader(cluster)
    reader.turn()
    consumer = cluster.members[0]
    consumer.paused.add(("events", 0))
    reader.source._assigned.partitions[("events", 0)].at_end = False
    for n in range(1000):
        cluster.produce(("events", 1), prediction(n), time_ms=10**9)
    for _ in range(5):
        reader.turn()
    assert ("events", 1) in consumer.paused
    assert reader.source._assigned.partitions[("events", 1)].held_bytes < 20_000
    reader.turns(round(schedule.SILENT_SECONDS))
    assert reader.turns(40).records == 1000
    assert reader.source.figures[1].paused_seconds > 3


def test_while_held_back_nothing_is_fetched_and_the_group_membership_stays():
    cluster = FakeCluster(("events", 0))
    reader = Reader(cluster).turns()
    reader.source.held_back = True
    reader.turn()
    cluster.produce(("events", 0), prediction(1))
    assert reader.turns().records == 0
    other = Reader(cluster)
    cluster.wanted = dict.fromkeys(cluster.wanted, cluster.members[1])
    reader.turn()
    assert other.turns().records == 1


def test_an_error_of_the_client_is_logged_once_until_a_message_comes():
    cluster = FakeCluster(("events", 0))
    reader = Reader(cluster).turns()
    for _ in range(3):
        cluster.members[0].on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "all are down"))
    assert reader.reported == ["kafka events: all are down; retrying"]
    cluster.produce(("events", 0), prediction(1))
    reader.turn()
    cluster.members[0].on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "all are down"))
    assert len(reader.reported) == 2
