"""The running service: the same events posted, in a followed file, and out of Kafka.

    python -m tests.benchmarks.served [--events N] [--clients N]

CPU time of the server's process, all its threads, for bodies of 10,000 events, from when
a first body is counted until all are, with the scrapes that ask for it. Every way keeps a
state directory; what is posted is in the journal, on disk, before it is answered. Kafka's
brokers are the client's mock cluster, in this process: it keeps 5 MB a partition, room for
some 100,000 events.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx

from .kills import Cluster, Service, until
from .made import BLOCK, Made, blocks_of
from .pending import process_seconds
from .turns import machine, medians, table

OK, BUSY = 200, (429, 503)
MOST_PRODUCED = 100_000
"""Events that fit into Kafka's mock cluster."""
KAFKA = """\
  - type: kafka
    brokers: {brokers}
    topics: [predictions]
    partitions: [0, 1, 2, 3]
    properties: {{fetch.wait.max.ms: 20}}
"""
"""One topic: for another, which does not exist, the service waits while its scrapes cost CPU."""
_PAUSE = 0.5
Load = Callable[[Service, Path, list[bytes]], None]


class Served:
    """The service under one load.

    Args:
        blocks: the bodies.
        clients: that post at once.
    """

    def __init__(self, blocks: list[bytes], clients: int) -> None:
        self._blocks = blocks
        self._clients = clients
        self.counts: set[tuple[int, ...]] = set()

    def posted(self) -> float:
        """CPU seconds an event of bodies that are posted."""
        return self._measured(self._post)

    def followed(self) -> float:
        """CPU seconds an event of the same bytes, appended to a file that is followed."""
        return self._measured(self._append)

    def consumed(self) -> float:
        """CPU seconds an event of the same ones out of Kafka."""
        cluster = Cluster()

        def produce(_: Service, __: Path, blocks: list[bytes]) -> None:
            for block in blocks:
                cluster.produce("predictions", list(map(json.loads, block.splitlines())))

        return self._measured(produce, KAFKA.format(brokers=json.dumps(cluster.brokers)))

    def _measured(self, load: Load, feed: str = "") -> float:
        folder = tempfile.TemporaryDirectory()
        with folder as name, _service(Path(name), feed) as (service, process):
            first, rest = self._blocks[:1], self._blocks[1:]
            load(service, Path(name), first)
            until(lambda: _records(service) >= _events(first))
            before = process_seconds(process)
            load(service, Path(name), rest)
            until(lambda: _records(service) >= _events(self._blocks))
            spent = process_seconds(process) - before
            self.counts.add(tuple(service._counts().values()))
            return spent / _events(rest)

    def _post(self, service: Service, _: Path, blocks: list[bytes]) -> None:
        with httpx.Client(timeout=60) as http, ThreadPoolExecutor(self._clients) as pool:
            list(pool.map(partial(_accepted, http, f"{service.feed}/v1/events"), blocks))

    def _append(self, _: Service, folder: Path, blocks: list[bytes]) -> None:
        with (folder / "events.ndjson").open("ab") as file:
            file.writelines(blocks)


def _events(blocks: list[bytes]) -> int:
    return sum(block.count(b"\n") for block in blocks)


def _accepted(http: httpx.Client, url: str, body: bytes) -> None:
    while (code := http.post(url, content=body).status_code) != OK:
        assert code in BUSY, code
        time.sleep(0.05)


def _records(service: Service) -> int:
    time.sleep(_PAUSE)  # a scrape costs the server, too
    text = httpx.get(f"{service.exporter}/metrics").text
    found = [
        line for line in text.splitlines() if line.startswith("precision_monitor_events_total")
    ]
    return int(sum(float(line.rpartition(" ")[2]) for line in found))


@contextmanager
def _service(folder: Path, feed: str) -> Iterator[tuple[Service, int]]:
    (folder / "events.ndjson").touch()
    service = Service(folder, every="1h", more=feed)
    command = [sys.executable, "-m", "monitor", "run", "-c", f"{folder}/monitor.yaml"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        service.until_ready()
        yield service, process.pid
    finally:
        process.terminate()
        process.wait()
        service.close()


def report(events: int, clients: int, rounds: int) -> None:
    """Print the tables.

    Raises:
        SystemExit: the ways do not count the same.
    """
    _compare(events, clients, rounds, kafka=False)
    _compare(min(events, MOST_PRODUCED), clients, rounds, kafka=True)


def _compare(events: int, clients: int, rounds: int, *, kafka: bool) -> None:
    served = Served(blocks_of(Made().events(events)), clients)
    other = {"Kafka": served.consumed} if kafka else {"HTTP": served.posted}
    found = medians({"followed file": served.followed, **other}, rounds)
    if len(served.counts) != 1:
        raise SystemExit(f"the ways disagree: {sorted(served.counts)}")
    base = found["followed file"]
    clients_said = "" if kafka else f", {clients} clients"
    print(f"\nThe service, CPU of its process: {events:,} events{clients_said}")
    rows = [(name, 1e9 * s, f"{s / base:.2f}x") for name, s in found.items()]
    print(table(("", "ns an event", "beside the file"), rows))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.events, options.rounds = 2 * BLOCK, 1
    print(machine("granian", "starlette", "confluent-kafka"))
    report(options.events, options.clients, options.rounds)


if __name__ == "__main__":
    main()
