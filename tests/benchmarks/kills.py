"""Kills the monitor at random moments under load, and compares what is left with a recount.

python -m tests.benchmarks.kills --kills 1000 --seed 1

Three clients send predictions of two classes and of many, labels, audits, shadow versions and
outcomes, repeated and out of order. One posts them, each batch until it is acknowledged; one
appends them to a file that is followed, torn anywhere, and rotates it; one produces them to Kafka
(the client's mock cluster, in this process), along with records that cannot be used, of which each
is counted, so that one read twice shows.
Meanwhile the monitor is killed with SIGKILL and started
again, over and over: while it starts, takes up a checkpoint, reads the journal,
takes events, writes checkpoints.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.mixed_events import YAML, counted_on_disk, mixed_batches, truth_of
from conservation import Scraper
from feeds.kafka.test_kafka_cluster import Cluster
from ports import free_port
from simulator.counts import EVENT, Counts

CONFIG = """\
feeds:
  - {{type: http, listen: "127.0.0.1:{feed}"}}
  - {{type: file, path: {folder}/events.ndjson, follow: true}}
{more}exporter: {{listen: "127.0.0.1:{exporter}"}}
state: {{directory: {folder}/state, checkpoint_every: {every}}}
"""
KAFKA = """\
  - type: kafka
    brokers: {brokers}
    topics: [predictions, labels]
    partitions: [0, 1, 2, 3]
    properties: {{fetch.wait.max.ms: 20}}
"""
POISON = {"type": "label"}
START = 1_700_000_000
CELLS = ("tp", "fp", "fn", "tn")
DEADLINE = 1_200
PAUSE = 0.05
ROTATED = 40
"""The file is rotated with one batch in so many."""
PRODUCED = 20
"""Events of a batch for Kafka: the mock cluster deletes what goes beyond 5 MB a partition."""


class Result(NamedTuple):
    """Result of the kills.

    Attributes:
        kills: how often it was killed.
        ready_kills: how often of these it had been taking events.
        checkpoints: how many were written.
        batches: acknowledged, or appended to the file.
        retries: posts that had no answer, and were sent again.
        faults: what was found wrong with the kept state.
        rotations: how often the followed file was renamed, and another one begun.
        events: distinct and repeated, acknowledged.
        expected: see `simulator.counts`, of the recount.
        found: the same of the monitor.
        restarted: the same, after it was stopped and started once more.
    """

    kills: int
    ready_kills: int
    checkpoints: int
    batches: int
    retries: int
    faults: int
    rotations: int
    events: int
    expected: Counts
    found: Counts
    restarted: Counts

    def __str__(self) -> str:
        rest = [f"{name} {n}" for name, n in self._asdict().items() if isinstance(n, int)]
        if self.expected == self.found == self.restarted:
            return f"{', '.join(rest)}: each of {len(self.expected)} counts is the recount's"
        keys = self.expected.keys() | self.found.keys() | self.restarted.keys()
        rows = ((key, *(one.get(key, 0) for one in self[-3:])) for key in sorted(keys, key=str))
        other = [row for row in rows if len({*row[1:]}) > 1]
        return f"{', '.join(rest)}; counts, expected, found, restarted: {other}"


def until(condition):
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)
    return found


class Service:
    """The monitor as a process, on ports that stay the same; see `forks.py`."""

    def __init__(self, folder: Path, every: str = "250ms", more: str = "") -> None:
        feed, exporter = free_port(), free_port()
        self.feed, self.exporter = (f"http://127.0.0.1:{port}" for port in (feed, exporter))
        self._config = folder / "monitor.yaml"
        self._config.write_text(
            CONFIG.format(feed=feed, exporter=exporter, folder=folder, every=every, more=more)
        )
        self._log = (folder / "log").open("wb")
        self.state = folder / "state"
        self.forks = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forks.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def start(self) -> None:
        self._ask(f"start {self._config}")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> int:
        return self._ask(f"kill {int(number)}")

    def close(self) -> None:
        self.forks.stdin.close()
        self.forks.wait(DEADLINE)
        self.forks.stdout.close()
        self._log.close()

    def _ask(self, line: str) -> int:
        self.forks.stdin.write(f"{line}\n")
        self.forks.stdin.flush()
        return int(self.forks.stdout.readline())

    def log_end(self) -> str:
        """Return the end of its log, which a failure shows."""
        return Path(self._log.name).read_text(errors="replace")[-4_000:]

    def until_ready(self) -> None:
        until(self.is_ready)

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.exporter}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def counts(self) -> dict[str, int]:
        """Outcomes by cell, predictions and rejected records, once nothing changes any more."""
        seen: list[dict[str, int]] = []

        def settled() -> bool:
            seen.append(self._counts())
            time.sleep(0.4)
            return len(seen) > 4 and all(one == seen[-1] for one in seen[-4:])

        until(settled)
        return seen[-1]

    def counts_at_end(self) -> Counts:
        """Wait until nothing changes any more, stop it, and return what it has counted."""
        self.counts()
        assert self.kill(signal.SIGTERM) == 0
        return counted_on_disk(self.state)

    def has_checkpoint(self) -> bool:
        return any((self.state / "checkpoints").glob("*.checkpoint"))

    def faults(self) -> int:
        """Number of faults in the stored state since the start."""
        text = httpx.get(f"{self.exporter}/metrics").text
        return _sum(text, "precision_monitor_state_faults_total", "")

    def _counts(self) -> dict[str, int]:
        text = Scraper(self.exporter)()
        found = {"predictions": _sum(text, r"precision_monitor_predictions", "matched|pending")}
        found["rejected"] = _sum(text, "precision_monitor_events_rejected_total", "")
        for cell in CELLS:
            labels = f'outcome="{cell}",window="all"'
            found[cell] = _sum(text, "classifier_window_outcomes", labels)
        return found


def _sum(text: str, name: str, labels: str) -> int:
    lines = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", text, re.MULTILINE)
    return int(sum(float(value) for reported, value in lines if re.search(labels, reported)))


class Load:
    """Clients that post, append and produce until they are stopped; nothing is given up.

    Args:
        url: of the HTTP feed.
        path: the followed file.
        seed: decides what is sent when.
        cluster: for Kafka; nothing is produced without one.
        may_rotate: whether the followed file may be rotated now.
    """

    def __init__(
        self,
        url: str,
        path: Path,
        seed: int,
        cluster: Cluster | None = None,
        may_rotate: Callable[[], bool] = lambda: False,
    ) -> None:
        self.acknowledged: list[dict] = []
        self.batches = self.retries = self.poison = self.rotations = 0
        self._may_rotate = may_rotate
        self._url = f"{url}/v1/events"
        self._path = path
        self._cluster = cluster
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        works = [self._post_all, self._append_all, *([self._produce_all] if cluster else [])]
        self._threads = [
            threading.Thread(target=work, args=(random.Random(f"{seed} {n}"), n))
            for n, work in enumerate(works)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "a batch was never acknowledged"

    def _post_all(self, chance: random.Random, client: int) -> None:
        batches = mixed_batches(chance, client, repeated=True)
        with httpx.Client() as http:
            while not self._stopping.is_set():
                batch = next(batches)
                body = lines_of(batch)
                while not self._posted(http, body, len(batch)):
                    self.retries += 1
                    time.sleep(0.03)
                time.sleep(chance.uniform(0, PAUSE))
                with self._lock:
                    self.acknowledged += batch
                    self.batches += 1

    def _append_all(self, chance: random.Random, client: int) -> None:
        batches = mixed_batches(chance, client)
        while not self._stopping.is_set():
            rotated = False
            with self._path.open("ab", buffering=0) as file:
                while not rotated and not self._stopping.is_set():
                    batch = next(batches)
                    body = lines_of(batch)
                    cut = chance.randrange(len(body))
                    file.write(body[:cut])
                    time.sleep(chance.uniform(0, PAUSE))  # the moment is random
                    rotated = chance.randrange(ROTATED) == 0 and self._may_rotate()
                    if rotated:
                        self.rotations += 1
                        self._path.rename(f"{self._path}.{self.rotations}")
                    file.write(body[cut:])
                    with self._lock:
                        self.acknowledged += batch
                        self.batches += 1

    def _produce_all(self, chance: random.Random, client: int) -> None:
        batches = mixed_batches(chance, client)
        while not self._stopping.is_set():
            batch = next(batches)[:PRODUCED]
            labels = [event for event in batch if event["type"] == "label"]
            self._cluster.produce("predictions", [e for e in batch if e["type"] != "label"])
            self._cluster.produce("labels", labels)
            self._cluster.produce("labels", [POISON])
            time.sleep(chance.uniform(0, PAUSE))
            with self._lock:
                self.acknowledged += batch
                self.batches += 1
                self.poison += 1

    def _posted(self, http: httpx.Client, body: bytes, events: int) -> bool:
        try:
            answer = http.post(self._url, content=body)
        except httpx.TransportError:
            return False
        assert answer.status_code in (200, 429, 503), answer.text
        return answer.status_code == 200 and answer.json()["accepted"] == events


def lines_of(batch: list[dict]) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in batch).encode()


def killed(kills: int, seed: int, folder: Path, *, most=0.5, say=lambda _: None) -> Result:
    """Kill the monitor so often, each time after so many seconds at most, and count."""
    chance = random.Random(seed)
    cluster, path = Cluster(), folder / "events.ndjson"
    path.touch()
    more = KAFKA.format(brokers=json.dumps(cluster.brokers)) + YAML
    ready_kills = 0
    with closing(Service(folder, more=more)) as service:
        load = Load(service.feed, path, seed, cluster, service.has_checkpoint)
        load.start()
        try:
            for number in range(kills):
                service.start()
                if number % 5:  # else while it starts
                    service.until_ready()
                time.sleep(chance.uniform(0.0, most))  # the moment is random
                ready_kills += service.is_ready()
                service.kill()
                if number % 20 == 19:
                    say(f"{number + 1} kills, {load.batches} batches acknowledged")
            service.start()
            service.until_ready()
        finally:
            load.stop()
        path.touch()  # the load may have ended with a rotation, and a missing file is not ready
        found = service.counts_at_end()
        assert "is not there" not in (folder / "log").read_text(), "the cluster deleted messages"
        service.start()
        service.until_ready()
        faults = service.faults()
        restarted = service.counts_at_end()
    written = [int(path.stem) for path in (folder / "state" / "checkpoints").glob("*.checkpoint")]
    expected = truth_of(load.acknowledged) | {(EVENT, "rejected"): load.poison}
    return Result(
        kills,
        ready_kills,
        max(written),
        load.batches,
        load.retries,
        faults,
        load.rotations,
        len(load.acknowledged),
        expected,
        found,
        restarted,
    )


def main() -> None:
    """Kill as often as is asked for; exit with 1 where a count differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        result = killed(args.kills, args.seed, Path(folder), say=print)
        print(f"{result}\n{time.monotonic() - began:.1f} s")
    sys.exit(not result.expected == result.found == result.restarted)


if __name__ == "__main__":
    main()
