"""Lets models, versions and segment values come and go for a simulated year; prints what it takes.

nice python tests/benchmarks/soak.py --models 1000 --days 365 --seed 1

One process with its journal, checkpoints and snapshots, on an injected clock. Each model lives for
10 to 20 days, a new version of it every 5, and one of its segment values changes every day; labels
come within 2 days, some never; some records are broken. The table has memory, open descriptors,
the newest checkpoint, the state directory and log lines by month of 30 days. From the fourth month
on, memory and checkpoint must stay within 5 % of their mean.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulator.process import Process, reproducible

from monitor.clock import DAY_SECONDS, ManualClock
from monitor.config import Config

START = 1_700_000_000 // DAY_SECONDS * DAY_SECONDS
TURN_SECONDS = DAY_SECONDS // 4
PER_TURN = 4
"""Predictions of a model between two turns."""
MONTH = 30
SETTLED = 3
"""Months after which nothing may grow."""
MARKS = "▁▂▃▄▅▆▇█"


class Sizes(NamedTuple):
    """What the process takes at one moment.

    Attributes:
        models: number of models in memory.
        memory: resident, bytes.
        descriptors: open files and directories.
        checkpoint: bytes of the newest one.
        directory: bytes of the state directory.
        lines: log lines so far.
    """

    models: int
    memory: int
    descriptors: int
    checkpoint: int
    directory: int
    lines: int


class Model(NamedTuple):
    """One model, and when it lives: [born, dies), days."""

    name: str
    born: float
    dies: float


def lived(models: int, days: int, chance: Random) -> list[Model]:
    """Models that are born all through the days, and before, at an even pace."""
    pace = days / models
    born = [(n + chance.random()) * pace - 20 for n in range(round((days + 20) / pace))]
    return [Model(f"m{n}", at, at + chance.uniform(10, 20)) for n, at in enumerate(born)]


def requests(models: list[Model], days: int, chance: Random) -> Iterator[bytes]:
    """The body that is posted at each turn."""
    waiting: list[tuple[float, dict]] = []
    for turn in range(days * DAY_SECONDS // TURN_SECONDS):
        begins = turn * TURN_SECONDS
        day = begins / DAY_SECONDS
        records = [{"type": "broken"}] if turn % 7 == 0 else []
        for model in models:
            if model.born <= day < model.dies:
                for number in range(PER_TURN):
                    records += _prediction(model, begins, number, chance, waiting)
        end = begins + TURN_SECONDS
        records += [record for at, record in waiting if at < end]
        waiting = [(at, record) for at, record in waiting if at >= end]
        yield "".join(json.dumps(record) + "\n" for record in records).encode()


def _prediction(
    model: Model, begins: int, number: int, chance: Random, waiting: list[tuple[float, dict]]
) -> list[dict]:
    at = begins + chance.randrange(TURN_SECONDS)
    key, day = f"{model.name}-{begins}-{number}", begins // DAY_SECONDS
    positive = chance.random() < 0.3
    flagged = chance.random() < (0.8 if positive else 0.1)
    if chance.random() < 0.9:
        labelled = at + chance.expovariate(1 / (DAY_SECONDS / 3))
        label = {"type": "label", "id": key, "ts": START + labelled, "label": int(positive)}
        waiting.append((labelled, label))
    return [
        {
            "type": "prediction",
            "id": key,
            "ts": START + at,
            "model": model.name,
            "version": f"v{day // 5}",
            "score": round(0.5 + 0.5 * chance.random() if flagged else 0.5 * chance.random(), 3),
            "segment": {"shop": f"s{chance.randrange(3) or day}"},
        }
    ]


def soaked(folder: Path, models: int, days: int, seed: int) -> Iterator[Sizes]:
    """Run the days; yield the sizes at the end of each.

    Args:
        folder: an empty directory.
        models: number of models born within the days.
        days: simulated.
        seed: decides all.
    """
    chance, clock = Random(seed), ManualClock(START)
    config = Config(
        max_models=models,
        feeds=[{"type": "http", "listen": "127.0.0.1:0"}],
        state={"directory": folder / "state", "checkpoint_every": "1d"},
        dead_letter={"max_bytes": "64KiB"},
        windows=["1h", "1d"],
        defaults={
            "segments": ["shop"],
            "max_segment_values": 10,
            "label_timeout": "2d",
            "threshold": 0.5,
            "reference": {"first": "3d"},
        },
    )
    with reproducible(chance, segment_bytes=1 << 20), closing(Process(config, clock)) as process:
        process.settle()
        for turn, body in enumerate(requests(lived(models, days, chance), days, chance), start=1):
            clock.sleep(START + turn * TURN_SECONDS - clock.now())
            done = process.post(body)
            process.write()
            done.result(0)
            while process.turn():
                clock.sleep(0.001)
            if turn * TURN_SECONDS % DAY_SECONDS == 0:
                process.check_books()
                yield _sizes(folder / "state", process)


def _sizes(state: Path, process: Process) -> Sizes:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    checkpoints = sorted((state / "checkpoints").glob("*.checkpoint"))
    return Sizes(
        len(process.service.snapshot.models),
        pages * os.sysconf("SC_PAGESIZE"),
        len([*Path("/proc/self/fd").iterdir()]),
        checkpoints[-1].stat().st_size if checkpoints else 0,
        sum(path.stat().st_size for path in state.rglob("*") if path.is_file()),
        len(process.said),
    )


def months(sizes: list[Sizes]) -> np.ndarray:
    """Means of each month, but of log lines those that came in it: (months, fields)."""
    table = np.array(sizes, dtype=np.float64)
    table[:, -1] = np.diff(table[:, -1], prepend=0)
    whole = table[: len(table) // MONTH * MONTH].reshape(-1, MONTH, table.shape[1])
    found = whole.mean(axis=1)
    found[:, -1] *= MONTH
    return found


def growth(by_month: np.ndarray) -> dict[str, float]:
    """The largest distance of a month from the mean of all since `SETTLED`, as a share."""
    late = by_month[min(SETTLED, len(by_month) - 1) :]
    far = np.abs(late / late.mean(axis=0) - 1).max(axis=0)
    return dict(zip(Sizes._fields, far.tolist(), strict=True))


def picture(values: np.ndarray) -> str:
    """A line of one mark a week, from 0 to the highest."""
    weeks = values[: len(values) // 7 * 7].reshape(-1, 7).mean(axis=1)
    marks = np.ceil(weeks / max(weeks.max(), 1) * len(MARKS)).astype(int)
    return "".join(MARKS[max(0, mark - 1)] for mark in marks)


def row(month: np.ndarray, number: int) -> str:
    """A month as a row of the table."""
    models, memory, files, checkpoint, state, lines = month.tolist()
    return (
        f"| {number} | {models:.0f} | {memory / 1e6:.0f} | {files:.1f} | {checkpoint / 1e6:.1f} | "
        f"{state / 1e6:.1f} | {lines:.0f} |"
    )


def main() -> None:
    """Print the table; exit with 1 where memory or checkpoint moved by more than 5 %."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began = time.monotonic()
    print("| month | models | memory, MB | descriptors | checkpoint, MB | state, MB | log lines |")
    print("|---|---|---|---|---|---|---|", flush=True)
    sizes: list[Sizes] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in soaked(Path(folder), args.models, args.days, args.seed):
            sizes.append(size)
            if len(sizes) % MONTH == 0:
                print(row(months(sizes)[-1], len(sizes) // MONTH), flush=True)
    by_month = months(sizes)
    table = np.array(sizes, dtype=np.float64)
    for name in ("models", "memory", "checkpoint"):
        print(f"{picture(table[:, Sizes._fields.index(name)])} {name}")
    far = growth(by_month)
    shares = ", ".join(f"{name} {share:.1%}" for name, share in far.items())
    print(f"furthest month since the fourth from their mean: {shares}")
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(max(far["memory"], far["checkpoint"]) > 0.05)


if __name__ == "__main__":
    main()
