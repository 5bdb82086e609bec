"""What scores cost a fleet of models: memory, checkpoint and scrape, beside the same without.

    PYTHONPATH=tests python -m tests.benchmarks.scored_fleet [--models 1000] [--days 40]

Seeded. Each model has 500 outcomes a day, a tenth of them positive, in three windows. With and
without scores run in a process each, so that memory is that of one alone.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from prometheus_client import CollectorRegistry

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import Group
from monitor.prometheus.exposition import Exposition
from monitor.state.encoding import encoded

from .score_skill import scored_batch
from .turns import table

A_DAY, FIRST = 500, 20_000
SCRAPES = 5


class Cost(NamedTuple):
    """Costs of a fleet.

    Attributes:
        memory: resident memory that it added, bytes.
        checkpoint: bytes of its state.
        scrape: CPU time of a scrape, median, seconds.
        samples: of a scrape.
        event: CPU time of an outcome, seconds.
    """

    memory: int
    checkpoint: int
    scrape: float
    samples: int
    event: float


def cost(models: int, days: int, *, scored: bool) -> Cost:
    """Feed a fleet and measure it, in a process of its own."""
    names = tuple(Group(f"m{number}") for number in range(models))
    each = {"label_timeout": "1d", "maturity": "1h"}
    monitor = Monitor(Config(max_models=models, defaults=each))
    gc.collect()
    before, spent = _resident(), 0.0
    for day in range(days):
        rng = np.random.default_rng(day)
        batch = scored_batch(rng, FIRST + day, A_DAY * models, names, scored=scored)
        began = time.process_time()
        monitor.apply(batch)
        spent += time.process_time() - began
        del batch
    gc.collect()
    memory = _resident() - before
    took, text = [], b""
    exposition = Exposition(monitor.snapshot, CollectorRegistry())
    for _ in range(SCRAPES):
        began = time.process_time()
        text = exposition.render()
        took.append(time.process_time() - began)
    samples = sum(not line.startswith(b"#") for line in text.splitlines())
    checkpoint = sum(len(bytes(part)) for part in encoded(monitor.state(), 1))
    event = spent / (models * days * A_DAY)
    return Cost(memory, checkpoint, statistics.median(took), samples, event)


def _resident() -> int:
    """Resident memory of this process, bytes."""
    kilobytes = next(
        line.split()[1]
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmRSS:")
    )
    return int(kilobytes) * 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=40)
    args = parser.parse_args()
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        without, scored = (
            pool.submit(cost, args.models, args.days, scored=one).result() for one in (False, True)
        )
    each = args.models
    rows = [
        (name, shown(without), shown(scored))
        for name, shown in {
            "memory a model, MB": lambda one: f"{one.memory / each / 1e6:.2f}",
            "checkpoint a model, MB": lambda one: f"{one.checkpoint / each / 1e6:.2f}",
            "scrape, ms of CPU": lambda one: f"{one.scrape * 1000:.0f}",
            "samples": lambda one: f"{one.samples:,}",
            "an outcome, µs of CPU": lambda one: f"{one.event * 1e6:.2f}",
        }.items()
    ]
    sys.stdout.write(f"{table(('cost', 'without scores', 'with scores'), rows)}\n")


if __name__ == "__main__":
    main()
