"""Checks of the state that are too slow or too invasive for CI.

python tests/benchmarks/state.py ready --pending 1000000
python tests/benchmarks/state.py disk-full          # as root: mounts a small tmpfs

`ready` keeps a state of so many pending predictions, starts the monitor on it, and
says how long /readyz takes; then what a checkpoint of it costs. `disk-full` posts to
a monitor whose disk fills up and is freed again, and compares with a recount.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.kills import Load, Service
from benchmarks.mixed_events import YAML, truth_of

from monitor.clock import SystemClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Predictions
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.state import Checkpoints, StateFaults

START_MS = 1_700_000_000_000
BATCH = 10_000
CHECKPOINTS = 10
DISK = "8m"
DEADLINE = 120


def pending(count: int) -> Monitor:
    """A monitor that waits for so many labels."""
    monitor, chance = Monitor(Config()), np.random.default_rng(1)
    for first in range(0, count, BATCH):
        predictions = Predictions(
            key=np.frombuffer(chance.bytes(8 * BATCH), np.uint64),
            time=START_MS + 100 * np.arange(first, first + BATCH),
            predicted_positive=chance.random(BATCH) < 0.1,
            score=np.full(BATCH, np.nan),
            group=np.zeros(BATCH, np.int64),
        )
        batch = EventBatch(predictions=predictions, groups=(Group("m"),), records=BATCH)
        monitor.apply(batch)
    return monitor


def ready(count: int, folder: Path) -> None:
    """Print how long a start on so many pending predictions takes, and what keeping them costs."""
    clock, monitor = SystemClock(), pending(count)
    checkpoints = Checkpoints(folder / "measured")
    for _ in range(CHECKPOINTS):
        before, began = time.process_time(), time.perf_counter()
        state = monitor.state()
        stall, copied = time.perf_counter() - began, time.process_time()
        size = checkpoints.write(state)
        spent = time.process_time()
        print(
            f"checkpoint {size / 1e6:.1f} MB: copy {1e3 * (copied - before):.1f} ms CPU "
            f"({1e3 * stall:.1f} ms wall), all {1e3 * (spent - before):.1f} ms CPU"
        )
    checkpoints = Checkpoints(folder / "state" / "checkpoints")
    checkpointer = Checkpointer(
        Config(), checkpoints, faults=StateFaults(), clock=clock, say=lambda _: None
    )
    checkpointer.close(monitor, [], EventClock(clock))
    (folder / "events.ndjson").touch()
    service = Service(folder, every="1h")
    for _ in range(3):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "monitor", "run", "-c", folder / "monitor.yaml"],
            stderr=subprocess.DEVNULL,
        )
        service.until_ready()
        taken = time.perf_counter() - began
        spent = _cpu_seconds(process.pid)
        waiting = service._counts()["predictions"]
        print(f"ready after {taken:.2f} s ({spent:.2f} s CPU), imports included, {waiting} pending")
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)
    service.close()


def _cpu_seconds(process: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def disk_full(folder: Path) -> bool:
    """Fill the disk and free it again under load; whether every count is as recounted."""
    state, filler = folder / "state", folder / "state" / "filler"
    state.mkdir()
    (folder / "events.ndjson").touch()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", state], check=True)
    service = Service(folder, every="1s", more=YAML)
    try:
        service.start()
        service.until_ready()
        load = Load(service.feed, folder / "events.ndjson", 1)
        load.start()
        for number in range(3):
            time.sleep(2)
            _fill(filler)
            refused = _until(service, 503)
            print(f"{number}: refused {refused:.1f} s after the disk was full")
            assert httpx.get(f"{service.exporter}/metrics").status_code == 200
            time.sleep(2)
            if number == 1:
                service.kill()
                service.start()
            filler.unlink()
            print(f"{number}: taken {_until(service, 200):.1f} s after there was room")
        load.stop()
        found = service.counts_at_end()
        service.start()
        service.until_ready()
        again = service.counts_at_end()
    finally:
        service.close()
        subprocess.run(["umount", state], check=True)
    expected = truth_of(load.acknowledged)
    print(f"{load.batches} batches, {load.retries} refused\n{expected}\n{found}\n{again}")
    return expected == found == again


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def _until(service: Service, code: int) -> float:
    """Seconds until an event is answered so."""
    began = time.monotonic()
    event = b'{"type":"label","id":"none","ts":1,"label":1}\n' * 200
    while True:
        assert time.monotonic() - began < DEADLINE
        try:
            if httpx.post(f"{service.feed}/v1/events", content=event).status_code == code:
                return time.monotonic() - began
        except httpx.TransportError:
            pass
        time.sleep(0.05)


def main() -> None:
    """Do one of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("ready", "disk-full"))
    parser.add_argument("--pending", type=int, default=1_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "ready":
            ready(args.pending, Path(folder))
        else:
            sys.exit(not disk_full(Path(folder)))


if __name__ == "__main__":
    main()
