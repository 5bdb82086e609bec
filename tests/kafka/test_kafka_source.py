import itertools
import json
import random

import pytest
from confluent_kafka import KafkaError
from kafka.cluster import FakeCluster, by_id, places
from recount import Recount

from monitor.clock import ManualClock
from monitor.config import KafkaFeed
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.kafka import schedule
from monitor.feeds.kafka.source import KafkaSource

FEED = {"type": "kafka", "brokers": ["unused:1"], "topics": ["events"]}
CELLS = ("tp", "fp", "fn", "tn")
EXTRA = {"type": "counts", "ts": 60, "model": "default", "tp": 1, "fp": 0, "fn": 0, "tn": 0}


class Reader:
    """A source over a cluster in memory, and the monitor that counts what it gives."""

    def __init__(self, cluster, monitor=None, *, durable=True, **feed):
        self.clock, self.said = ManualClock(), []
        self.monitor, self.rejected = monitor or Monitor(), []
        settings = KafkaFeed(**{**FEED, **feed})
        decoder = Decoder(DecodeSettings())
        self.source = KafkaSource(
            settings, decoder, self.clock, self.said.append, make=cluster.consumer
        )
        if durable is not None:
            self.source.hand_over_by(lambda: durable)

    def turn(self, seconds=1.0):
        self.clock.sleep(seconds)
        batch = self.source.poll()
        if batch is not None:
            self.monitor.apply(batch)
            self.rejected += batch.rejected
        return batch

    def turns(self, number=5):
        for _ in range(number):
            self.turn()
        return self

    def restarted(self, cluster, monitor=None):
        """Another one, which goes on at the position of this one."""
        other = Reader(cluster, monitor)
        other.source.resume(json.loads(json.dumps(self.source.position())))
        return other

    @property
    def records(self):
        return self.monitor.snapshot().records


def prediction(number, ts=None):
    when = 60 * number if ts is None else ts
    return {"type": "prediction", "id": f"p{number}", "ts": when, "prediction": number % 2}


def stream(number, seed=1):
    """Predictions and labels, some twice, labels up to a day later."""
    chance = random.Random(seed)
    found = []
    for n in range(number):
        found.append(prediction(n))
        for _ in range(chance.choice((0, 1, 1, 2))):
            ts, label = 60 * n + chance.randrange(86_400), chance.choice((0, 1, None))
            found.append({"type": "label", "id": f"p{n}", "ts": ts, "label": label})
        if not chance.randrange(10):
            found.append(chance.choice(found))
    return found


def cells(monitor):
    return dict(zip(CELLS, monitor.snapshot().lifetime.counts.cells.sum(0).tolist(), strict=True))


def counted(events):
    found = Recount(events).counts()
    return {cell: found[cell] for cell in CELLS}


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


def test_what_cannot_be_used_is_named_by_topic_partition_and_offset():
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


def test_a_restart_goes_on_at_its_own_offsets_whatever_was_committed():
    cluster = FakeCluster(*places("events", 3))
    for number, event in enumerate(stream(200)):
        cluster.produce(("events", number % 3), event)
    reader = Reader(cluster).turns()
    first = reader.records
    behind = reader.restarted(cluster, reader.monitor)
    reader.source.close()  # commits, and its commits must not be needed
    cluster.committed = {place: (0, text) for place, (_, text) in cluster.committed.items()}
    for number, event in enumerate(stream(100, seed=2)):
        cluster.produce(("events", number % 3), event)
    behind.turns()
    assert behind.records == first + len(stream(100, seed=2))


def test_an_older_checkpoint_is_followed_back_though_more_was_committed():
    cluster = FakeCluster(("events", 0))
    for n in range(10):
        cluster.produce(("events", 0), prediction(n))
    reader = Reader(cluster).turns()
    older = json.loads(json.dumps(reader.source.position()))
    for n in range(10, 20):
        cluster.produce(("events", 0), prediction(n))
    reader.turns()
    reader.source.settled(reader.source.position())
    assert cluster.committed[("events", 0)][0] == 20
    again = Reader(cluster)
    reader.source.close()
    again.source.resume(older)
    again.turns()
    assert again.records == 10


def test_what_another_monitor_went_on_with_is_not_read_again():
    cluster = FakeCluster(("events", 0))
    for n in range(10):
        cluster.produce(("events", 0), prediction(n))
    one = Reader(cluster).turns()
    position = json.loads(json.dumps(one.source.position()))
    one.source.close()
    other = Reader(cluster)
    for n in range(10, 20):
        cluster.produce(("events", 0), prediction(n))
    other.turns()
    other.source.close()
    for n in range(20, 25):
        cluster.produce(("events", 0), prediction(n))
    back = Reader(cluster)
    back.source.resume(position)
    back.turns()
    assert [one.records, other.records, back.records] == [10, 10, 5]


def test_only_what_was_given_is_committed_and_only_forward():
    cluster = FakeCluster(*places("events", 3))
    chance = random.Random(3)
    reader = Reader(cluster)
    given, positions = 0, []
    for _ in range(60):
        for _ in range(chance.randrange(40)):
            cluster.produce(("events", chance.randrange(3)), prediction(chance.randrange(9999)))
        reader.turn()
        positions.append(json.loads(json.dumps(reader.source.position())))
        if len(positions) > 2:
            reader.source.settled(positions[-3])
            given = sum(positions[-3]["offsets"].get("events", {}).values())
            assert sum(at for at, _ in cluster.committed.values()) == given
    assert reader.records >= given > 500
    by_place = {}
    for _, place, offset in cluster.commits:
        assert offset > by_place.get(place, -1)
        by_place[place] = offset


def test_nothing_is_committed_where_nothing_is_durable():
    cluster = FakeCluster(("events", 0))
    cluster.produce(("events", 0), prediction(1))
    for durable in (None, False):
        reader = Reader(cluster, durable=durable).turns()
        assert reader.records == 1
        reader.source.close()
    assert cluster.committed == {}


def rebalanced(seed, rebalances, monitors):
    """Three readers of one group through rebalances, some of them replaced; all that there were.

    Args:
        seed: of the chance in it.
        rebalances: how often partitions are assigned anew.
        monitors: what counts for each reader; the same one for all, or one for each.
    """
    chance = random.Random(seed)
    cluster = FakeCluster(*places("predictions", 6), *places("labels", 6))
    events, topics = stream(3000, seed), {"topics": ["predictions", "labels"]}
    queue = iter(events)
    readers = [Reader(cluster, monitors[n % len(monitors)], **topics) for n in range(3)]
    everyone = list(readers)
    for number in range(rebalances):
        for event in itertools.islice(queue, chance.randrange(80)):
            produce_by_id(cluster, event)
        cluster.produce(("labels", chance.randrange(6)), EXTRA)
        if not chance.randrange(4):
            left = chance.randrange(3)
            readers[left].source.close()
            readers[left] = Reader(cluster, readers[left].monitor, **topics)
            everyone.append(readers[left])
        cluster.spread(chance)
        for reader in readers * (1 + number % 2):
            reader.turn(chance.random())
    for event in queue:
        produce_by_id(cluster, event)
    for reader in readers * 10:
        reader.turn()
    assert all(at <= len(cluster.logs[place]) for _, place, at in cluster.commits)
    assert sum(reader.source.rebalances for reader in everyone) > rebalances
    return events


def produce_by_id(cluster, event):
    cluster.produce((f"{event['type']}s", sum(event["id"].encode()) % 6), event)


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_rebalances_among_three_readers_of_one_monitor_equal_a_recount(seed):
    monitor = Monitor()
    events = rebalanced(seed, 100, [monitor])
    assert monitor.snapshot().records == len(events) + 100
    expected = counted(events)
    assert cells(monitor) == {**expected, "tp": expected["tp"] + 100}


def test_three_monitors_of_one_group_count_each_message_once_wherever_partitions_go():
    monitors = [Monitor(), Monitor(), Monitor()]
    events = rebalanced(4, 100, monitors)
    found = [monitor.snapshot() for monitor in monitors]
    assert sum(one.records for one in found) == len(events) + 100
    assert sum(one.events["counts"] for one in found) == 100


def test_three_monitors_on_shares_of_their_own_add_up_to_the_truth():
    cluster = FakeCluster(*places("predictions", 6), *places("labels", 6))
    events = stream(900)
    for number, some in by_id(events, 6).items():
        for event in some:
            cluster.produce((f"{event['type']}s", number), event, time_ms=1000 * event["ts"])
    topics = ["predictions", "labels"]
    shares = [Reader(cluster, topics=topics, partitions=[n, n + 3]).turns() for n in range(3)]
    assert all(share.source.attached for share in shares)
    assert sum(share.records for share in shares) == len(events)
    together = [cells(share.monitor) for share in shares]
    assert {c: sum(one[c] for one in together) for c in CELLS} == counted(events)
    assert cluster.members == []


def test_lost_partitions_are_said_and_what_was_held_of_them_is_dropped():
    cluster = FakeCluster(*places("events", 2))
    one, two = Reader(cluster), Reader(cluster)
    one.turns()
    two.turns()
    cluster.lose(cluster.members[0])
    cluster.wanted = dict.fromkeys(cluster.wanted, cluster.members[1])
    for n in range(10):
        cluster.produce(("events", n % 2), prediction(n))
    two.turns()
    one.turns()
    assert (one.records, two.records) == (0, 10)
    assert len(one.said) == 1
    assert one.said[0].startswith("kafka precision-monitor: gave away events[0], and the group")


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


def test_messages_that_were_deleted_before_they_were_read_are_said_and_counted():
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
    assert behind.said == [
        "kafka events: events[0]: offset 10 is not there, what is there is 25 to 30; goes on at 25"
    ]


@pytest.mark.parametrize(("start", "records"), [("earliest", 7), ("latest", 2)])
def test_where_nothing_is_known_the_feed_says_where_to_start(start, records):
    cluster = FakeCluster(("events", 0))
    for n in range(5):
        cluster.produce(("events", 0), prediction(n))
    reader = Reader(cluster, start=start).turns()
    for n in range(5, 7):
        cluster.produce(("events", 0), prediction(n))
    assert reader.turns().records == records
    assert reader.said == []


def test_a_backlog_is_given_in_the_order_in_which_it_was_produced():
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


def test_a_partition_that_is_silent_holds_up_the_others_for_a_while_only():
    cluster = FakeCluster(*places("events", 2))
    reader = Reader(cluster)
    reader.turn()
    cluster.members[0].paused.add(("events", 0))  # the broker that leads it does not answer
    cluster.produce(("events", 0), prediction(1), time_ms=0)
    cluster.produce(("events", 1), prediction(2), time_ms=10**9)
    reader.source._share.partitions[("events", 0)].at_end = False
    reader.turns(2)
    assert reader.records == 0
    reader.turn(schedule.SILENT_SECONDS)
    assert reader.records == 1


def test_what_is_far_ahead_is_paused_and_goes_on_once_it_was_given(monkeypatch):
    monkeypatch.setattr(schedule, "HELD_BYTES", 4000)
    monkeypatch.setattr(schedule, "LEAST_HELD_BYTES", 1000)
    monkeypatch.setattr("monitor.feeds.kafka.source.READ_MESSAGES", 100)
    cluster = FakeCluster(*places("events", 2))
    reader = Reader(cluster)
    reader.turn()
    consumer = cluster.members[0]
    consumer.paused.add(("events", 0))
    reader.source._share.partitions[("events", 0)].at_end = False
    for n in range(1000):
        cluster.produce(("events", 1), prediction(n), time_ms=10**9)
    for _ in range(5):
        reader.turn()
    assert ("events", 1) in consumer.paused
    assert reader.source._share.partitions[("events", 1)].held_bytes < 20_000
    reader.turns(round(schedule.SILENT_SECONDS))
    assert reader.turns(40).records == 1000
    assert reader.source.figures[1].paused_seconds > 3


def test_while_it_is_held_back_nothing_is_fetched_and_the_group_goes_on():
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


def test_errors_of_the_client_are_said_once_until_something_comes():
    cluster = FakeCluster(("events", 0))
    reader = Reader(cluster).turns()
    for _ in range(3):
        cluster.members[0].on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "all are down"))
    assert reader.said == ["kafka events: all are down; tried again"]
    cluster.produce(("events", 0), prediction(1))
    reader.turn()
    cluster.members[0].on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "all are down"))
    assert len(reader.said) == 2


def test_a_commit_that_fails_is_told_again():
    cluster = FakeCluster(("events", 0))
    cluster.produce(("events", 0), prediction(1))
    reader = Reader(cluster).turns()
    member = cluster.members[0]
    member.refusal = KafkaError(KafkaError.REBALANCE_IN_PROGRESS, "rebalancing")
    reader.source.settled(reader.source.position())
    assert cluster.committed == {}
    member.refusal = None
    reader.source.settled(reader.source.position())
    assert cluster.committed[("events", 0)][0] == 1


def test_a_partition_that_goes_before_its_commit_is_said():
    cluster = FakeCluster(("events", 0))
    cluster.produce(("events", 0), prediction(1))
    reader = Reader(cluster).turns()
    cluster.members[0].refusal = KafkaError(KafkaError.REBALANCE_IN_PROGRESS, "rebalancing")
    reader.source.close()
    (said,) = reader.said
    assert said == (
        "kafka precision-monitor: gave away events[0], and the commit failed: rebalancing; what "
        "was counted since the last commit may be counted by the next reader too"
    )


def test_a_partition_that_goes_is_told_though_a_commit_before_is_on_its_way():
    cluster = FakeCluster(*places("events", 2))
    for number in range(10):
        cluster.produce(("events", number % 2), prediction(number))
    reader = Reader(cluster).turns()
    (member,) = cluster.members
    told = member.commit
    member.commit = lambda **asked: None if asked["asynchronous"] else told(**asked)
    reader.source.settled(reader.source.position())  # never answered
    other = Reader(cluster)
    for _ in range(5):
        reader.turn()
        other.turn()
    assert reader.said == other.said == []
    assert other.source._share.partitions
    assert reader.records + other.records == 10
