"""The real client, against the mock cluster that comes with it."""

import json
import time
from contextlib import ExitStack, closing, contextmanager

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from feeds.kafka.reader import cells, counted, stream

from monitor.clock import SystemClock
from monitor.config import KafkaFeed
from monitor.engine import Monitor
from monitor.errors import ConfigError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.kafka.properties import read_properties
from monitor.feeds.kafka.source import KafkaSource
from monitor.feeds.mapping.mapped_lines import lines_decoder

DEADLINE = 600
FAST = {"session.timeout.ms": 3500, "heartbeat.interval.ms": 100}
TOPICS = ("predictions", "labels")
PARTITIONS = 4
"""Of each topic; the cluster makes so many."""


class Cluster:
    """Brokers in this process, and what was produced there."""

    def __init__(self):
        self._brokers = Producer({"test.mock.num.brokers": 2, "log_level": 0})
        found = self._brokers.list_topics(timeout=120).brokers.values()
        self.brokers = [f"{one.host}:{one.port}" for one in found]
        self._producer = Producer({"bootstrap.servers": ",".join(self.brokers), "log_level": 0})

    def produce(self, topic, events):
        for event in events:
            key = event.get("id", "")
            self._producer.produce(topic, json.dumps(event).encode(), key=key.encode())
        assert self._producer.flush(DEADLINE) == 0

    def feed(self, **settings):
        given = {"topics": TOPICS, "properties": FAST, **settings}
        return KafkaFeed(type="kafka", brokers=self.brokers, **given)

    def committed(self, group="precision-monitor"):
        """Offsets by topic and partition, and whose they are."""
        settings = {"bootstrap.servers": ",".join(self.brokers), "group.id": group, "log_level": 0}
        asked = [TopicPartition(topic, n) for topic in TOPICS for n in range(PARTITIONS)]
        with closing(Consumer(settings)) as consumer:
            found = consumer.committed(asked, timeout=DEADLINE)
        return {(one.topic, one.partition): (one.offset, one.metadata) for one in found}


@pytest.fixture(scope="module")
def cluster():
    return Cluster()


@contextmanager
def reading(feed, reported=None):
    source = KafkaSource(
        feed,
        lines_decoder(Decoder(DecodeSettings()), feed),
        SystemClock(),
        [].append if reported is None else reported.append,
    )
    source.checkpoint_before_handover(lambda: True)
    with closing(source):
        yield source


def turn(sources, monitor, until):
    """Read and count until something holds."""
    deadline = time.monotonic() + DEADLINE
    while not until():
        assert time.monotonic() < deadline
        for source in sources:
            if (batch := source.poll()) is not None:
                monitor.apply(batch)
        time.sleep(0.01)


def records(monitor):
    return monitor.snapshot().records


def test_members_come_and_go_and_the_counts_equal_a_recount(cluster):
    """Once through the scenario that `tests/benchmarks/rebalances.py` repeats a hundred times."""
    monitor, events = Monitor(), stream(600)
    reported, sources, produced = [], [], 0

    def spread_over(members):
        """The group has settled: every partition has a reader, every reader partitions."""
        while len(sources) < members:
            sources.append(opened.enter_context(reading(cluster.feed(), reported)))
        while len(sources) > members:
            sources.pop().close()
        shares = [source._assigned.partitions for source in sources]
        turn(sources, monitor, lambda: all(shares) and sum(map(len, shares)) == 2 * PARTITIONS)

    with ExitStack() as opened:
        for number, members in enumerate((1, 3, 2)):
            some = events[number::3]
            for topic in TOPICS:
                cluster.produce(topic, [e for e in some if f"{e['type']}s" == topic])
            produced += len(some)
            spread_over(members)
            turn(sources, monitor, lambda: given_by(sources) == produced)  # noqa: B023  # at once
        given = given_of(sources)
        for source in sources:
            source.commit(source.position())
        turn(sources, monitor, lambda: sum(at for at, _ in cluster.committed().values()) > 0)
    assert cells(monitor) == counted(events)
    # The mock cluster refuses commits while a group rebalances, which brokers do not.
    assert records(monitor) == produced or reported
    assert [text for text in reported if "since the last commit" not in text] == []
    committed = cluster.committed()
    assert {place: at for place, (at, _) in committed.items() if at > given[place]} == {}


def given_of(sources):
    """The offsets behind what was given, by place."""
    return {p.key: p.delivered for source in sources for p in source._assigned.partitions.values()}


def given_by(sources):
    """Messages before these offsets: all of them, where each is the end."""
    return sum(given_of(sources).values())


class Forgetful(Consumer):
    """A client whose cluster does not say twice what was committed."""

    unanswered = 2

    def committed(self, *asked, **named):
        if self.unanswered:
            self.unanswered -= 1
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return super().committed(*asked, **named)


def test_partitions_wait_until_the_cluster_says_what_is_committed(cluster, monkeypatch):
    feed = cluster.feed(group="forgetful", topics=["waiting"])
    events = [{**event, "type": "prediction", "prediction": 1} for event in stream(300)]
    cluster.produce("waiting", events)
    monkeypatch.setattr("monitor.feeds.kafka.client.Consumer", Forgetful)
    monitor, waited = Monitor(), []
    with reading(feed) as source:

        def is_read():
            waited.extend(one.unsettled for one in source._assigned.partitions.values())
            return records(monitor) == len(events)

        turn([source], monitor, is_read)
    assert waited[:PARTITIONS] == [True] * PARTITIONS
    assert not any(waited[-PARTITIONS:])


def test_configured_partitions_are_read_and_resumed_without_a_group(cluster):
    feed = cluster.feed(group="own", topics=["shared"], partitions=[1, 3])
    events = [{**event, "type": "prediction", "prediction": 1} for event in stream(200)]
    cluster.produce("shared", events)
    monitor = Monitor()
    with reading(feed) as source:
        turn([source], monitor, lambda: source.attached and records(monitor) > 0)
        for _ in range(50):
            turn([source], monitor, lambda: True)
            source.poll()
        turn([source], monitor, lambda: all(f.lag == 0 for f in source.figures))
        first, position = records(monitor), json.loads(json.dumps(source.position()))
        assert {figures.partition for figures in source.figures} == {1, 3}
        source.commit(position)
    assert 0 < first < len(events)
    cluster.produce("shared", events)
    with reading(feed) as source:
        assert source.resume(position) == ""
        turn([source], monitor, lambda: records(monitor) == 2 * first)


def test_a_setting_that_the_client_does_not_know_is_one_clear_fault(cluster):
    feed = cluster.feed(properties={"sasl.pasword": "secret"})
    with pytest.raises(ConfigError) as refused, reading(feed):
        pass
    assert str(refused.value) == (
        "kafka precision-monitor: properties: refused by the client: No such configuration "
        'property: "sasl.pasword"'
    )


def test_an_unreachable_cluster_is_logged_once():
    feed = KafkaFeed(
        type="kafka", brokers=["127.0.0.1:1"], topics=["t"], properties={"log_level": 0}
    )
    reported, monitor = [], Monitor()
    with reading(feed, reported) as source:
        turn([source], monitor, lambda: reported)
        assert not source.attached
    assert reported[0].startswith("kafka t: ")
    assert reported[0].endswith("; retrying")


def test_secrets_are_read_from_a_file(tmp_path):
    path = tmp_path / "kafka.properties"
    path.write_text("# ours\nsasl.username = monitor\n\nsasl.password=a=b\n")
    assert read_properties(path) == {"sasl.username": "monitor", "sasl.password": "a=b"}


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a=1\nsecret\n", ":2: is not key=value; write one setting per line"),
        ("group.id=x\n", ":1: group.id is set by the monitor; remove it"),
        (None, ": cannot be read; give a file of key=value lines"),
    ],
)
def test_a_bad_file_of_settings_is_one_clear_fault(tmp_path, text, reported):
    path = tmp_path / "kafka.properties"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_properties(path)
    assert str(refused.value) == f"{path}{reported}"
