"""Kills three shards and their receiver at random moments, and compares with one monitor.

    PYTHONPATH=tests python -m tests.benchmarks.shard_kills --kills 10 --seed 1

Each shard reads a partition of Kafka (the client's mock cluster, in this process) and forwards
what it counts. The events are ten weeks of the demo's claims, of which positives become rarer;
they are produced bit by bit. Meanwhile each of the four processes is killed with SIGKILL so often,
and started again. At the end the receiver must show what one monitor of all events does: outcomes
of all times, windows with their metrics, verdicts and detections, to the last bit.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import httpx
from confluent_kafka import Producer
from recount import Recount
from same import differences
from shards import assert_same, lines_of

from monitor.config import Config, load_config
from monitor.demo.claims import Story, cases, event_lines
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.snapshot import Snapshot
from monitor.state.checkpoints import Checkpoints

from .kills import CELLS, Service, until

SHARDS = 3
TOPIC = "claims"
ENDS_AT = 1_788_922_800
"""Time of the last records of each shard, epoch seconds, some hours after all others."""
REACHED = "precision_monitor_source_watermark_timestamp_seconds"
JUDGED = "defaults: {label_timeout: 14d}\nwindows: [1d, 7d]\n"
FED = """\
  - type: kafka
    brokers: %s
    topics: [%s]
    partitions: [%d]
    properties: {fetch.wait.max.ms: 20}
"""
FORWARD = "forward: {to: '%s', every: 2s, timeout: 5s}\n"
"""A shard that starts for two minutes, sixty batches of others, still holds up the receiver."""
WATCHED = ("reference", "detections", "evidence", "day_scatter", "trend", "missing_labels")
_AT_START = 0.3
_MOST_SECONDS = 1.0


class Result(NamedTuple):
    """Result of the kills.

    Attributes:
        kills: how often each process was killed, by its name.
        events: how many there were.
        expected: outcomes by cell, by the recount.
        found: the same of the receiver.
        verdict: of the receiver, on seven days.
        differs: what the receiver shows otherwise than one monitor.
    """

    kills: dict[str, int]
    events: int
    expected: dict[str, int]
    found: dict[str, int]
    verdict: str
    differs: list[str]


class Shards:
    """Three shards and a receiver as processes, and the cluster that the shards read.

    Args:
        folder: of their state.
    """

    def __init__(self, folder: Path) -> None:
        self._brokers = Producer({"test.mock.num.brokers": 2, "log_level": 0})
        found = self._brokers.list_topics(timeout=120).brokers.values()
        brokers = [f"{one.host}:{one.port}" for one in found]
        self._producer = Producer({"bootstrap.servers": ",".join(brokers), "log_level": 0})
        self.receiver = self._service(folder / "receiver", JUDGED)
        forward = JUDGED + FORWARD % self.receiver.feed
        self.shards = [
            self._service(folder / f"shard-{n}", FED % (json.dumps(brokers), TOPIC, n) + forward)
            for n in range(SHARDS)
        ]
        self.config = load_config(folder / "receiver" / "monitor.yaml")
        self._checkpoints = folder / "receiver" / "state" / "checkpoints"

    @property
    def all(self) -> dict[str, Service]:
        """The processes by their names."""
        shards = {f"shard {n}": shard for n, shard in enumerate(self.shards)}
        return shards | {"receiver": self.receiver}

    def produce(self, events: list[dict]) -> None:
        """Produce events in their order, those of one id to one partition."""
        for event in events:
            number = int("".join(filter(str.isdecimal, event["id"]))) % SHARDS
            self._producer.produce(TOPIC, json.dumps(event).encode(), event["id"], number)
        assert self._producer.flush(60) == 0

    def reached(self) -> list[float]:
        """Return the event times of the shards that the receiver has counts of."""
        try:
            text = httpx.get(f"{self.receiver.exporter}/metrics").text
        except httpx.TransportError:
            return []
        return [*map(float, re.findall(rf"^{REACHED}{{.*}} (\S+)$", text, re.MULTILINE))]

    def snapshot(self) -> Snapshot:
        """End all processes; what the receiver's last checkpoint shows."""
        for service in self.all.values():
            assert service.kill(signal.SIGTERM) == 0
        newest = Checkpoints(self._checkpoints).newest()
        assert newest is not None
        return Monitor(self.config, newest.state["engine"]).snapshot()

    def close(self) -> None:
        """End what still runs."""
        for service in self.all.values():
            service.kill()
            service.close()

    @staticmethod
    def _service(folder: Path, more: str) -> Service:
        folder.mkdir()
        (folder / "events.ndjson").touch()  # the file that it follows
        return Service(folder, more=more)


def killed(kills: int, seed: int, folder: Path, say: Callable[[str], None]) -> Result:
    """Kill each of the processes so often, in a random order, and compare."""
    chance, events = random.Random(seed), [*claims()]
    shards = Shards(folder)
    order = [*shards.all] * kills
    chance.shuffle(order)
    size = -(-len(events) // (len(order) + 2))
    try:
        for service in shards.all.values():
            service.start()
        shards.produce(events[:size])
        until(lambda: len(shards.reached()) == SHARDS)  # one that is not known holds nobody up
        for number, name in enumerate(order):
            shards.produce(events[(number + 1) * size : (number + 2) * size])
            if chance.random() > _AT_START:  # else while it starts
                shards.all[name].until_ready()
            time.sleep(chance.uniform(0, _MOST_SECONDS))  # the moment is random
            shards.all[name].kill()
            shards.all[name].start()
            say(f"{number + 1} of {len(order)}: killed {name}")
        shards.produce(events[(len(order) + 1) * size :] + ends())
        until(lambda: shards.reached() == [ENDS_AT] * SHARDS)
        fed = shards.snapshot()
    except AssertionError as error:
        for name, service in shards.all.items():
            error.add_note(f"{name}: {service.log_end()}")
        raise
    finally:
        shards.close()
    counted = Recount(events).counts()
    expected = {cell: counted[cell] for cell in CELLS}
    found = lifetime_of(fed)
    whole = counted_by_one(shards.config, events + ends())
    verdict = str(fed.models[0].watched.verdicts["7d"].judgement.verdict)
    return Result(Counter(order), len(events), expected, found, verdict, [*differing(fed, whole)])


def claims() -> Iterator[dict]:
    """Three in ten claims, without the scores, which are not forwarded."""
    for event in map(json.loads, event_lines(cases(Story.RARER, 0))):
        if event["id"][-1] in "012":
            event.pop("score", None)
            yield event | {"ts": datetime.fromisoformat(event["ts"]).timestamp()}


def ends() -> list[dict]:
    """Records of one time for each shard, so that the time of each comes equally far."""
    last = {"type": "prediction", "ts": ENDS_AT, "prediction": 0}
    return [last | {"id": f"end-{n}"} for n in range(4 * SHARDS)]


def lifetime_of(snapshot: Snapshot) -> dict[str, int]:
    """Outcomes of all models and all times, by cell."""
    totals = [row for row, series in enumerate(snapshot.series) if series.segment is None]
    sums = snapshot.lifetime.counts.cells[totals].sum(axis=0)
    return dict(zip(CELLS, sums.tolist(), strict=True))


def counted_by_one(config: Config, events: list[dict]) -> Snapshot:
    """What one monitor shows after all events."""
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    monitor.apply(decoder.decode_lines(lines_of(events), source="events"))
    return monitor.snapshot()


def differing(fed: Snapshot, whole: Snapshot) -> Iterator[str]:
    """What differs: counters, windows and metrics; then what the model's verdicts rest on."""
    try:
        assert_same(fed, whole)
    except AssertionError as error:
        yield str(error)
    mine, theirs = fed.models[0].watched, whole.models[0].watched
    for name in WATCHED:
        yield from differences(getattr(mine, name), getattr(theirs, name), name)
    for window, own in mine.verdicts.items():
        yield from differences(own.judgement, theirs.verdicts[window].judgement, window)


def main() -> None:
    """Kill as often as is asked for; exit with 1 where anything differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10, help="of each of the four processes")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        result = killed(args.kills, args.seed, Path(folder), print)
        print(f"{result._asdict()}\n{time.monotonic() - began:.1f} s")
    sys.exit(bool(result.differs) or result.expected != result.found)


if __name__ == "__main__":
    main()
