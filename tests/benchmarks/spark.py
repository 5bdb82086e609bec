"""The job on a real Spark of this machine: exact through kills, and what it costs.

    PYTHONPATH=tests python -m tests.benchmarks.spark [--predictions N] [--buckets N] [RUN…]

Runs: `kills` (a master, two workers; kill -9 of the driver in a batch, of a worker and
of an executor; restarted), `local` (one process, two cores), `one` and `two` (a master
and so many workers of one core). Every run compares each (model, segment, pane, cell)
with the recount of all events, and with `replay` of these on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from spark_cluster import (
    CONFIG,
    Cluster,
    is_in_batch,
    kill,
    recounted,
    stream,
    summed,
    until,
    waiting,
    write,
)

ROLES = {
    "deploy.master.Master": "master",
    "deploy.worker.Worker": "worker",
    "ExecutorBackend": "executor",
    "SparkSubmit": "driver JVM",
    "spark_daemon": "Python worker",
    "driver_worker": "driver Python",
    "spark.py": "driver Python",
    "-m monitor spark": "driver Python",
}
TICK = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """What a process has used until a moment.

    Attributes:
        role: value of `ROLES`.
        owner: number of the executor that it is, or works for; 0 for none.
        cpu: seconds.
        resident: bytes.
    """

    role: str
    owner: int
    cpu: float
    resident: int


class Costs:
    """CPU and memory of all descendants of this process, by role, sampled."""

    def __init__(self):
        self.samples = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def _watch(self):
        known = {}
        while not self._stop.wait(0.5):
            known = known | dict(_descendants(os.getpid()))
            self.samples.append((time.time(), known))

    def until(self, moment):
        """The processes as they were last seen until then."""
        return max((s for s in self.samples if s[0] <= moment), default=(0, {}))[1]

    def reported(self, rows, first, later):
        """What it took, in all and after the first batch.

        Args:
            rows: of the job.
            first: end of the first batch, epoch seconds.
            later: rows after the first batch.
        """
        whole, start = self.until(time.time()), self.until(first)
        total, after, peak, owners = (defaultdict(float) for _ in range(4))
        for pid, process in whole.items():
            spent = process.cpu - (start[pid].cpu if pid in start else 0)
            total[process.role] += process.cpu
            after[process.role] += spent
            owners[process.owner] += spent
        for _, processes in self.samples:
            for process in processes.values():
                peak[process.role] = max(peak[process.role], process.resident)
        lines = [
            f"    {role:14} {total[role]:7.1f} s CPU, {after[role]:7.1f} s after the first batch, "
            f"{int(peak[role]) >> 20:5} MiB at most each"
            for role in sorted(total)
        ]
        for name, spent, counted in (("in all", total, rows), ("after it", after, later)):
            python = sum(seconds for role, seconds in spent.items() if "Python" in role)
            lines.append(
                f"    rows a CPU second {name}: {counted / python:,.0f} in Python, "
                f"{counted / sum(spent.values()):,.0f} with the JVM"
            )
        rest = owners.pop(0, 0.0)
        if owners:
            slowest = rest + max(owners.values())
            each = ", ".join(f"{seconds:.1f}" for seconds in owners.values())
            lines.append(
                f"    CPU after the first batch: driver and daemons {rest:.1f} s, executors {each} "
                f"s; {later / slowest:,.0f} rows a second of the driver and its busiest executor"
            )
        return "\n".join(lines)


def _descendants(root):
    parents, rows = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        pid = int(entry.name)
        parents[pid] = int(fields[1])
        rows[pid] = (int(fields[11]) + int(fields[12]), int(fields[21]) * 4096, words)
    roles = {
        pid: next((role for mark, role in ROLES.items() if mark in words), "")
        for pid, (_, _, words) in rows.items()
    }
    for pid, (ticks, resident, _) in rows.items():
        above, owner = pid, 0
        while above in parents and above != root:
            owner = above if roles[above] == "executor" else owner
            above = parents[above]
        if roles[pid] and above == root:
            yield pid, Process(roles[pid], owner, ticks / TICK, resident)


class Run:
    """One run of the job over the same events."""

    def __init__(self, scratch, events, records, buckets):
        self.scratch, self.events, self.records = scratch, events, records
        self.checkpoint, self.out = scratch / "ck", scratch / "out"
        self.words = [
            "-c", str(scratch.parent / "monitor.yaml"), "--input", str(scratch.parent / "in"),
            "--files-per-batch", "2", "--once", "--checkpoint", str(self.checkpoint),
            "--to", str(self.out), "--partitions", "2",
            *(["--buckets", str(buckets)] if buckets else []),
        ]  # fmt: skip

    def cluster(self, workers):
        return Cluster(self.scratch, workers)

    def cpu_of_replay(self):
        """CPU of one monitor over the same files, seconds."""
        began = os.times()
        _replayed(self.scratch.parent, sorted((self.scratch.parent / "in").iterdir()))
        ended = os.times()
        return ended.children_user + ended.children_system - sum(began[2:4])

    def times(self):
        """When the first batch began, and when each one ended, by what is in the checkpoint."""
        commits = sorted(
            p.stat().st_mtime for p in (self.checkpoint / "commits").iterdir() if p.name.isdecimal()
        )
        started = (self.checkpoint / "offsets" / "0").stat().st_mtime
        return started, commits

    def check(self):
        sums, expected = summed(self.out), self.events
        assert sums == expected, "counts differ from the recount"
        replayed = [
            _replayed(self.scratch.parent, files)
            for files in (
                sorted((self.scratch.parent / "in").iterdir()),
                sorted(self.out.glob("*.ndjson")),
            )
        ]
        same = all(
            replayed[0][model][key] == replayed[1][model][key]
            for model in replayed[0]
            for key in ("outcomes", "metrics", "windows", "verdict")
        )
        assert same, "replay of the counts differs from replay of the events"
        print(f"    EXACT: {len(expected)} places by recount; replay shows the same", flush=True)


def _replayed(folder, files):
    words = ["-m", "monitor", "replay", "--json", "-c", folder / "monitor.yaml", *files]
    done = subprocess.run([sys.executable, *words], capture_output=True, check=True)
    return json.loads(done.stdout)["models"]


def kills(run):
    cluster, patience = run.cluster(2), 1200
    try:
        driver = cluster.submit("driver1", *run.words)
        until("a third batch", lambda: is_in_batch(run.checkpoint, 2), driver, seconds=patience)
        driver.kill_group()
        print("    driver killed in a batch", flush=True)
        driver = cluster.submit("driver2", *run.words)
        until("a later batch", lambda: is_in_batch(run.checkpoint, 4), driver, seconds=patience)
        lost, stored = cluster.workers
        lost.kill()
        print("    worker killed in a batch", flush=True)
        until("another batch", lambda: is_in_batch(run.checkpoint, 6), driver, seconds=patience)
        (executor, *_) = until("executor", lambda: cluster.executors(stored), driver, stored)
        kill(executor)
        print("    executor killed in a batch", flush=True)
        driver.finish(seconds=patience)
    finally:
        cluster.stop()


def local(run):
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    words = [sys.executable, "-m", "monitor", "spark", *run.words, "--master", "local[2]"]
    with (run.scratch / "log").open("wb") as log:
        subprocess.run(words, check=True, stderr=log, stdout=log, env=environment)


def on_workers(run, workers):
    cluster = run.cluster(workers)
    try:
        cluster.submit("driver", *run.words).finish(seconds=3600)
    finally:
        cluster.stop()


RUNS = {
    "kills": kills,
    "local": local,
    "one": lambda run: on_workers(run, 1),
    "two": lambda run: on_workers(run, 2),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predictions", type=int, default=400_000)
    parser.add_argument("--delay", type=float, default=240, help="seconds to a label, the mean")
    parser.add_argument("--waiting", type=int, default=0, help="predictions before the stream")
    parser.add_argument("--buckets", type=int, default=0, help="pages; default: the job's choice")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("runs", nargs="*", default=[*RUNS])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-") as folder:
        scratch = Path(folder)
        events = stream(args.predictions, delay=args.delay)
        first = [*waiting(args.waiting)]
        write(events, scratch / "in", 2 * args.batches, first)
        (scratch / "monitor.yaml").write_text(CONFIG)
        expected, records = recounted(first + events), len(events)
        del events, first
        print(f"{records} events of {args.predictions} predictions", flush=True)
        for name in args.runs:
            (scratch / name).mkdir()
            run = Run(scratch / name, expected, records, args.buckets)
            costs, began = Costs(), time.monotonic()
            load = os.getloadavg()[0]
            RUNS[name](run)
            wall = time.monotonic() - began
            costs.stop()
            started, ends = run.times()
            print(
                f"{name}: {wall:.0f} s in all, first batch {ends[0] - started:.0f} s, "
                f"{len(ends)} batches; "
                f"load of the machine {load:.0f} to {os.getloadavg()[0]:.0f}"
            )
            later = records * (1 - 1 / args.batches)
            print(f"    {later / max(ends[-1] - ends[0], 1e-9):.0f} rows/s after the first batch")
            print(costs.reported(records, ends[0], later))
            state = sum(
                p.stat().st_size for p in (run.checkpoint / "state").rglob("*") if p.is_file()
            )
            print(
                f"    {state / (args.predictions + args.waiting):.0f} bytes a prediction in the "
                "checkpoint's state",
                flush=True,
            )
            run.check()
            print(f"    replay of the same: {run.cpu_of_replay():.1f} s CPU", flush=True)


if __name__ == "__main__":
    main()
