"""Rebalances three consumers of one group, again and again, and compares with a recount.

python tests/benchmarks/rebalances.py --rebalances 100 --seed 1

The cluster is the mock one of the Kafka client, in this process; the consumers feed one
monitor. Events are produced all the while, some twice; members leave and come. A
rebalance takes one to three seconds here. The mock cluster refuses commits while its
group rebalances; what was handed over without one is read again, and shows in the
records, while each outcome must be counted once all the same.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from feeds.kafka.reader import cells, counted, stream
from feeds.kafka.test_kafka_cluster import TOPICS, Cluster, given_by, given_of, reading

from monitor.engine import Monitor
from monitor.feeds.kafka.source import KafkaSource

MEMBERS = 3
EVENTS_A_REBALANCE = 200
TURN_SECONDS = 0.01
SETTLE_SECONDS = 0.5


class Group:
    """Consumers of one group that feed one monitor.

    Attributes:
        reported: messages of the members.
        produced: events so far.
    """

    def __init__(self, seed: int, events: int) -> None:
        self.monitor, self.reported, self.produced = Monitor(), [], 0
        self.chance, self.cluster = random.Random(seed), Cluster()
        self.events = stream(events, seed)
        self._members: list[tuple[AbstractContextManager, KafkaSource]] = []
        self._left = 0

    @property
    def sources(self) -> list[KafkaSource]:
        return [source for _, source in self._members]

    @property
    def rebalances(self) -> int:
        return self._left + sum(source.rebalances for source in self.sources)

    def produce(self, number: int) -> None:
        some = self.events[self.produced : self.produced + number]
        for topic in TOPICS:
            self.cluster.produce(topic, [e for e in some if f"{e['type']}s" == topic])
        self.produced += len(some)

    def join(self) -> None:
        opened = reading(self.cluster.feed(), self.reported)
        self._members.append((opened, opened.__enter__()))

    def leave(self) -> None:
        opened, source = self._members.pop(self.chance.randrange(len(self._members)))
        opened.__exit__(None, None, None)
        self._left += source.rebalances

    def turn(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for source in self.sources:
                if (batch := source.poll()) is not None:
                    self.monitor.apply(batch)
            time.sleep(TURN_SECONDS)

    def commit(self) -> None:
        for source in self.sources:
            source.commit(source.position())

    def read_all(self) -> None:
        while given_by(self.sources) < self.produced:
            self.turn(SETTLE_SECONDS)

    def committed_beyond(self) -> int:
        """Partitions of which more was committed than given."""
        given = given_of(self.sources)
        committed = self.cluster.committed().items()
        return sum(at > given.get(place, at) for place, (at, _) in committed)


def rebalanced(rebalances: int, seed: int) -> dict[str, object]:
    """Rebalance so often; what was found and what was expected."""
    group = Group(seed, EVENTS_A_REBALANCE * rebalances)
    group.produce(EVENTS_A_REBALANCE)
    for _ in range(MEMBERS):
        group.join()
    shown = 0
    while group.rebalances < rebalances:
        group.produce(group.chance.randrange(EVENTS_A_REBALANCE))
        (group.leave if len(group.sources) == MEMBERS else group.join)()
        group.turn(group.chance.uniform(0.5, 3))
        group.commit()
        if group.rebalances // 10 > shown:
            shown = group.rebalances // 10
            print(f"{group.rebalances} rebalances, {group.produced} events")
    group.produce(len(group.events))
    group.read_all()
    found = {
        "rebalances": group.rebalances,
        "events": group.produced,
        "records": group.monitor.snapshot().records,
        "handed over without a commit": len(group.reported),
        "committed beyond what was given": group.committed_beyond(),
        "expected": counted(group.events),
        "found": cells(group.monitor),
    }
    while group.sources:
        group.leave()
    return found


def main() -> None:
    """Rebalance as often as is asked for; exit with 1 where a count differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rebalances", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    result = rebalanced(args.rebalances, args.seed)
    print(result)
    sys.exit(
        result["expected"] != result["found"]
        or result["records"] < result["events"]
        or result["committed beyond what was given"] > 0
    )


if __name__ == "__main__":
    main()
