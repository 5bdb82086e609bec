"""Three shards that forward to a receiver, as processes: events a second and core.

    PYTHONPATH=tests python -m tests.benchmarks.shard_speed [--predictions N] [--delay SECONDS]

The stream is that of `tests.benchmarks.spark`, divided by id; each shard follows a file. Measured
is the CPU time of all four processes from their start until the receiver has acknowledged the last
counts: reading, joining, checkpoints, forwarding, journal, HTTP, and series that are scraped once a
second. The receiver must have the outcomes of the recount, or nothing is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
from ports import free_port
from spark_cluster import CONFIG, Started, recounted, stream

from monitor.config import load_config
from monitor.engine import Monitor
from monitor.state.checkpoints import Checkpoints

from .kills import CELLS
from .shard_kills import lifetime_of
from .turns import machine

SHARDS = 3
FEEDS = """\
feeds: [%s]
exporter: {listen: '127.0.0.1:%d'}
state: {directory: %s}
"""
SECONDS = 3600
TICK = os.sysconf("SC_CLK_TCK")


class Process:
    """A monitor that runs.

    Args:
        folder: of its state.
        feed: its feed, as YAML.
        more: more of its configuration.
    """

    def __init__(self, folder: Path, feed: str, more: str = "") -> None:
        self.folder, self._port = folder, free_port()
        config = folder / "monitor.yaml"
        config.write_text(CONFIG + FEEDS % (feed, self._port, folder / "state") + more)
        self.config = load_config(config)
        words = [sys.executable, "-m", "monitor", "run", "-c", str(config)]
        self._started = Started(folder / "log", words)

    def shows(self, name: str) -> float:
        """Return the sum of a series; -1 while the process starts, or has no such series."""
        self._started.check_alive("all is counted")
        try:
            text = httpx.get(f"http://127.0.0.1:{self._port}/metrics").text
        except httpx.TransportError:
            return -1
        found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found)) if found else -1

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process so far."""
        stat = Path(f"/proc/{self._started.process.pid}/stat").read_text()
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stop(self) -> None:
        """End it, so that its last checkpoint has everything."""
        self._started.process.send_signal(signal.SIGTERM)
        self._started.finish()

    def kill(self) -> None:
        """End it where it still runs."""
        self._started.kill_group()


def shares(events: list[dict], folder: Path) -> list[int]:
    """Write a folder with a file for each shard; return how many events each has."""
    counts = Counter[int]()
    folders = [folder / f"shard-{number}" for number in range(SHARDS)]
    for one in folders:
        one.mkdir()
    files = [(one / "events.ndjson").open("w") for one in folders]
    for event in events:
        number = int("".join(filter(str.isdecimal, event["id"]))) % SHARDS
        files[number].write(json.dumps(event) + "\n")
        counts[number] += 1
    for file in files:
        file.close()
    return [counts[number] for number in range(SHARDS)]


def measured(sizes: list[int], folder: Path, expected: dict[str, int]) -> dict[str, float]:
    """Run all four to the end; CPU seconds by process, once the outcomes are as expected."""
    port = free_port()
    (folder / "receiver").mkdir()
    receiver = Process(folder / "receiver", f"{{type: http, listen: '127.0.0.1:{port}'}}")
    running = {"receiver": receiver}
    try:
        for number in range(SHARDS):
            own = folder / f"shard-{number}"
            feed = f"{{type: file, path: {own}/events.ndjson, follow: true}}"
            forward = f"forward: {{to: 'http://127.0.0.1:{port}'}}\n"
            running[f"shard {number}"] = Process(own, feed, forward)
        shards = [*running.values()][1:]
        deadline = time.monotonic() + SECONDS
        while not all(
            shard.shows("precision_monitor_records_total") == size
            and shard.shows("precision_monitor_forward_unsent_changes") == 0
            for shard, size in zip(shards, sizes, strict=True)
        ):
            assert time.monotonic() < deadline, "it took too long"
            time.sleep(1)  # each look is a scrape, and its CPU counts
        spent = {name: one.cpu_seconds() for name, one in running.items()}
        for one in running.values():
            one.stop()
    finally:
        for one in running.values():
            one.kill()
    newest = Checkpoints(receiver.folder / "state" / "checkpoints").newest()
    assert newest is not None
    found = lifetime_of(Monitor(receiver.config, newest.state["engine"]).snapshot())
    assert found == expected, f"the receiver has {found}, not {expected}"
    return spent


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predictions", type=int, default=400_000)
    parser.add_argument("--delay", type=float, default=240, help="seconds to a label, the mean")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shards-") as name:
        events = stream(args.predictions, delay=args.delay)
        sizes, expected = shares(events, Path(name)), Counter[str]()
        for (*_, cell), count in recounted(events).items():
            if cell in CELLS:
                expected[cell] += count
        del events
        spent = measured(sizes, Path(name), dict(expected))
    total = sum(spent.values())
    print(machine())
    for process, seconds in spent.items():
        print(f"{process:10}{seconds:8.1f} s CPU")
    print(f"{sum(sizes):,} events, {sum(sizes) / total:,.0f} a second and core")


if __name__ == "__main__":
    main()
