"""Cost of pending predictions: bytes, growth, checkpoints, and the time of a start.

    python -m tests.benchmarks.pending [--pending N ...]      # e.g. 1000000 10000000

Bytes of the tables, not of the process. *Steady* is the mean with as many predictions
forgotten as come; *while growing* is the worst moment. The longest append is CPU time of one batch
of 10,000 predictions.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from monitor.config import Config
from monitor.engine import Monitor
from monitor.state import Checkpoints

from .kills import Service, until
from .made import BLOCK, batches_waiting
from .turns import cpu_seconds, machine, medians, table

TURNS = 3
"""Predictions in all, by those that wait at most."""
_SMALL = 500_000
"""Below so many pending the room that is kept in store says nothing."""


class Grown:
    """A monitor that comes to wait for so many labels, and then forgets as many as come.

    Attributes:
        worst: bytes a pending prediction at the worst moment of growing.
        steady: bytes a pending prediction after it.
        longest: CPU seconds of the longest batch.
        mean: CPU seconds of the mean batch.

    Args:
        count: pending predictions.
    """

    def __init__(self, count: int) -> None:
        self.monitor = Monitor(Config(max_pending=count))
        self.worst, steady, times = 0.0, [], []
        batches = batches_waiting(TURNS * count)
        for number, batch in enumerate(batches, 1):
            waiting = min(number * BLOCK, count)
            if waiting < count:
                times.append(cpu_seconds(lambda: self.monitor.apply(batch)))  # noqa: B023  # at once
            else:
                self.monitor.apply(batch)
                steady.append(self._nbytes / count)
            if min(_SMALL, count // 2) <= waiting < count:
                self.worst = max(self.worst, self._nbytes / waiting)
        self.steady = sum(steady) / len(steady)
        self.longest, self.mean = max(times), sum(times) / len(times)

    @property
    def _nbytes(self) -> int:
        return self.monitor._stages.join.nbytes


def stored(monitor: Monitor, count: int, rounds: int) -> tuple[float, float, float]:
    """CPU milliseconds a million pending: to copy, to copy and write, to read and restore."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(Path(folder))
        work: dict[str, Callable[[], float]] = {
            "copy": lambda: cpu_seconds(monitor.state),
            "write": lambda: cpu_seconds(lambda: checkpoints.write(monitor.state())),
            "restore": lambda: cpu_seconds(lambda: _restored(checkpoints, monitor.config)),
        }
        found = medians(work, rounds)
    return tuple(1e3 * found[name] * 1e6 / count for name in work)


def _restored(checkpoints: Checkpoints, config: Config) -> Monitor:
    newest = checkpoints.newest()
    assert newest is not None
    return Monitor(config, newest.state)


def start_ups(rounds: int) -> dict[str, float]:
    """CPU milliseconds: until it says its version, and until it is ready."""
    work = {"--version": _version_seconds, "run, to ready": _ready_seconds}
    return {name: 1e3 * spent for name, spent in medians(work, rounds).items()}


def _version_seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "monitor", "--version"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ready_seconds() -> float:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        (Path(folder) / "events.ndjson").touch()
        command = [sys.executable, "-m", "monitor", "run", "-c", f"{folder}/monitor.yaml"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            until(service.is_ready)
            return process_seconds(process.pid)
        finally:
            process.terminate()
            process.wait()
            service.close()


def process_seconds(process: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(sizes: list[int], rounds: int) -> None:
    """Print the tables."""
    rows = []
    for count in sizes:
        began = time.process_time()
        grown = Grown(count)
        per_event = 1e9 * (time.process_time() - began) / (TURNS * count)
        rows.append(
            (count, grown.steady, grown.worst, 1e3 * grown.longest, 1e3 * grown.mean, per_event,
             *stored(grown.monitor, count, rounds))
        )  # fmt: skip
    print("\nWhat is remembered")
    head = (
        "pending", "B each, steady", "B, growing", "longest append ms", "mean ms", "ns each",
        "copy ms/M", "checkpoint ms/M", "restore ms/M",
    )  # fmt: skip
    print(table(head, rows))
    print("\nStart-up, CPU milliseconds, imports included")
    print(table(("", "ms"), start_ups(rounds).items()))


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pending", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.pending, options.rounds = [10 * BLOCK], 1
    print(machine("numpy", "msgspec"))
    report(options.pending, options.rounds)


if __name__ == "__main__":
    main()
