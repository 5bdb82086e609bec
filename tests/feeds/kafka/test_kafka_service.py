"""A service that reads Kafka and keeps its state on disk, killed and started again."""

import random

import pytest
from at_once import AtOnce
from feeds.kafka.cluster import FakeCluster, places
from feeds.kafka.reader import EXTRA, cells, counted, stream

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.kafka.source import KafkaSource
from monitor.service.checkpointing import Checkpointer
from monitor.service.loop import Service
from monitor.state import Checkpoints, StateFaults

KAFKA = {"type": "kafka", "brokers": ["unused:1"], "topics": ["predictions", "labels"]}


class StoredRejections:
    def write(self, rejections):
        assert not rejections


class Running:
    def __init__(self, folder, cluster):
        config = Config(feeds=[KAFKA], state={"directory": folder, "checkpoint_every": "10s"})
        self.clock, self.reported = ManualClock(), []
        self.checkpoints = Checkpoints(folder / "checkpoints")
        checkpointer = Checkpointer(
            config,
            self.checkpoints,
            faults=StateFaults(),
            clock=self.clock,
            say=self.reported.append,
            writer=AtOnce(),
        )
        self.source = KafkaSource(
            config.feeds[0],
            Decoder(DecodeSettings.from_config(config)),
            self.clock,
            self.reported.append,
            make=cluster.consumer,
        )
        self.service = Service(
            config,
            [self.source],
            clock=self.clock,
            rejected=StoredRejections(),
            say=self.reported.append,
            checkpointer=checkpointer,
        )

    @property
    def monitor(self):
        return self.service._monitor

    def turns(self, number, seconds=1.0):
        for _ in range(number):
            self.clock.sleep(seconds)
            self.service.turn()
        return self


def crash(running, cluster):
    """Kill it without a message to the group, which notices later."""
    member = running.source._consumer
    cluster.lose(member)
    cluster.members.remove(member)
    cluster.wanted = {
        place: None if wanted is member else wanted for place, wanted in cluster.wanted.items()
    }


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_whenever_it_dies_each_message_counts_once(tmp_path, seed):
    chance = random.Random(seed)
    cluster = FakeCluster(*places("predictions", 3), *places("labels", 3))
    events, produced = stream(1500, seed), 0
    running = Running(tmp_path, cluster)
    for _ in range(60):
        some = events[produced : produced + chance.randrange(60)]
        produced += len(some)
        for event in some:
            cluster.produce((f"{event['type']}s", chance.randrange(3)), event)
        cluster.produce(("labels", chance.randrange(3)), EXTRA)
        running.turns(chance.randrange(6), seconds=chance.uniform(0.1, 4))
        if not chance.randrange(3):
            crash(running, cluster)
            running = Running(tmp_path, cluster)
    snapshot = running.turns(10).monitor.snapshot()
    assert snapshot.records == produced + 60
    expected = counted(events[:produced])
    assert cells(running.monitor) == {**expected, "tp": expected["tp"] + 60}
    newest = running.checkpoints.newest().state["positions"][running.source.identity]
    for (topic, number), (offset, _) in cluster.committed.items():
        assert offset <= newest["offsets"][topic][str(number)]


def test_a_partition_is_handed_over_behind_a_checkpoint_that_is_on_disk(tmp_path):
    cluster = FakeCluster(*places("predictions", 2), *places("labels", 2))
    one = Running(tmp_path / "one", cluster).turns(2)
    for number in range(20):
        cluster.produce(("labels", number % 2), EXTRA)
    one.turns(1)
    other = Running(tmp_path / "other", cluster)
    one.turns(1, seconds=0.0)
    assert cluster.committed[("labels", 1)][0] == 10
    stored = one.checkpoints.newest().state
    assert stored["positions"][one.source.identity]["offsets"]["labels"]["1"] == 10
    cluster.produce(("labels", 1), EXTRA)
    other.turns(3)
    crash(one, cluster)
    again = Running(tmp_path / "one", cluster)
    theirs = cluster.members[0]
    cluster.wanted |= dict.fromkeys((("labels", 1), ("predictions", 1)), theirs)
    cluster.wanted |= dict.fromkeys(places("labels", 1), cluster.members[1])
    again.turns(3)
    other.turns(3)
    total = cells(again.monitor)["tp"] + cells(other.monitor)["tp"]
    assert total == 21


def test_while_no_checkpoint_can_be_written_nothing_is_fetched(tmp_path, monkeypatch):
    cluster = FakeCluster(*places("predictions", 1), *places("labels", 1))
    running = Running(tmp_path, cluster).turns(2)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("monitor.state.checkpoints.write_file", full)
    running.turns(3, seconds=10)
    cluster.produce(("labels", 0), EXTRA)
    assert running.turns(3).monitor.snapshot().records == 0
    monkeypatch.undo()
    assert running.turns(10).monitor.snapshot().records == 1
    assert running.source.figures[0].paused_seconds > 0
