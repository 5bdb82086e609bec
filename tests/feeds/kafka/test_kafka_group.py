"""Assignment of partitions, positions, and commits."""

import itertools
import json
import random

import pytest
from confluent_kafka import KafkaError, KafkaException
from feeds.kafka.cluster import FakeCluster, by_id, places
from feeds.kafka.reader import CELLS, EXTRA, Reader, cells, counted, prediction, stream

from monitor.engine import Monitor


def test_a_restart_resumes_at_its_own_offsets_whatever_was_committed():
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
    reader.source.commit(reader.source.position())
    assert cluster.committed[("events", 0)][0] == 20
    again = Reader(cluster)
    reader.source.close()
    again.source.resume(older)
    again.turns()
    assert again.records == 10


def test_messages_that_another_monitor_has_read_since_are_not_read_again():
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


@pytest.mark.parametrize("unanswered", [1, 3])
def test_where_another_reader_went_on_nothing_is_read_before_the_cluster_says_so(unanswered):
    """The cluster does not say what is committed as the partition comes back."""
    cluster, place = FakeCluster(("events", 0)), ("events", 0)
    for n in range(10):
        cluster.produce(place, prediction(n))
    one = Reader(cluster).turns()
    other = Reader(cluster)
    cluster.wanted[place] = cluster.members[1]
    one.turn()
    for n in range(10, 20):
        cluster.produce(place, prediction(n))
    other.turns().source.close()
    cluster.wanted[place] = member = cluster.members[0]
    asked, member.committed = member.committed, refused
    for _ in range(unanswered):
        one.turn()
        cluster.produce(place, prediction(cluster.high(place)))
    assert one.records == 10
    one.source.commit(one.source.position())
    assert cluster.committed[place][0] == 20
    member.committed = asked
    one.turns()
    assert (one.records, other.records) == (10 + unanswered, 10)
    one.source.commit(one.source.position())
    assert cluster.committed[place][0] == 20 + unanswered


def test_a_partition_that_is_given_up_unsettled_keeps_the_commit_of_the_other_reader():
    cluster, place = FakeCluster(("events", 0)), ("events", 0)
    for n in range(10):
        cluster.produce(place, prediction(n))
    one = Reader(cluster).turns()
    other = Reader(cluster)
    cluster.wanted[place] = cluster.members[1]
    one.turn()
    for n in range(10, 20):
        cluster.produce(place, prediction(n))
    other.turns().source.close()
    cluster.wanted[place] = member = cluster.members[0]
    member.committed = refused
    one.turns(2)
    assert member.paused == {place}, "it would fetch what it drops"
    one.source.close()
    assert cluster.committed[place][0] == 20


def test_a_partition_is_given_up_before_its_committed_offset_is_known_without_a_commit():
    cluster, place = FakeCluster(("events", 0)), ("events", 0)
    one = Reader(cluster)
    cluster.members[0].committed = refused
    cluster.produce(place, prediction(1))
    one.turns(3).source.close()
    assert (one.records, cluster.commits) == (0, [])
    assert Reader(cluster).turns().records == 1


def refused(*_, **__):
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


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
            reader.source.commit(positions[-3])
            given = sum(positions[-3]["offsets"].get("events", {}).values())
            assert sum(at for at, _ in cluster.committed.values()) == given
    assert reader.records >= given > 500
    by_place = {}
    for _, place, offset in cluster.commits:
        assert offset > by_place.get(place, -1)
        by_place[place] = offset


def test_an_older_checkpoint_takes_no_commit_of_a_handover_back():
    cluster, place = FakeCluster(("events", 0)), ("events", 0)
    for n in range(10):
        cluster.produce(place, prediction(n))
    reader = Reader(cluster).turns()
    older = json.loads(json.dumps(reader.source.position()))
    for n in range(10, 20):
        cluster.produce(place, prediction(n))
    reader.turns()
    cluster.wanted[place] = None
    reader.turn()
    cluster.spread()
    reader.turns()
    assert cluster.committed[place][0] == 20
    reader.source.commit(older)
    assert cluster.committed[place][0] == 20
    cluster.produce(place, prediction(20))
    reader.turns()
    reader.source.commit(reader.source.position())
    assert cluster.committed[place][0] == 21


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


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
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


def test_three_monitors_with_configured_partitions_add_up_to_the_truth():
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


def test_lost_partitions_are_logged_and_their_held_messages_are_dropped():
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
    assert len(one.reported) == 1
    assert one.reported[0].startswith("kafka precision-monitor: events[0]: lost, because the group")


def test_a_commit_that_fails_is_repeated():
    cluster = FakeCluster(("events", 0))
    cluster.produce(("events", 0), prediction(1))
    reader = Reader(cluster).turns()
    member = cluster.members[0]
    member.refusal = KafkaError(KafkaError.REBALANCE_IN_PROGRESS, "rebalancing")
    reader.source.commit(reader.source.position())
    assert cluster.committed == {}
    member.refusal = None
    reader.source.commit(reader.source.position())
    assert cluster.committed[("events", 0)][0] == 1


def test_a_partition_revoked_before_its_commit_is_logged():
    cluster = FakeCluster(("events", 0))
    cluster.produce(("events", 0), prediction(1))
    reader = Reader(cluster).turns()
    cluster.members[0].refusal = KafkaError(KafkaError.REBALANCE_IN_PROGRESS, "rebalancing")
    reader.source.close()
    (reported,) = reader.reported
    assert reported == (
        "kafka precision-monitor: events[0]: revoked, and the commit failed: rebalancing; messages "
        "counted since the last commit may be counted again by the next reader"
    )


def test_a_revoked_partition_is_committed_though_an_earlier_commit_is_pending():
    cluster = FakeCluster(*places("events", 2))
    for number in range(10):
        cluster.produce(("events", number % 2), prediction(number))
    reader = Reader(cluster).turns()
    (member,) = cluster.members
    original = member.commit
    member.commit = lambda **asked: None if asked["asynchronous"] else original(**asked)
    reader.source.commit(reader.source.position())  # never answered
    other = Reader(cluster)
    for _ in range(5):
        reader.turn()
        other.turn()
    assert reader.reported == other.reported == []
    assert other.source._assigned.partitions
    assert reader.records + other.records == 10
