"""How far the moment at which rates changed is from the truth, and how often its interval has it.

    PYTHONPATH=tests python -m tests.benchmarks.change_points [--models N] [--seed N]

Simulated models with recall .8 go through a `Monitor` with default settings as hourly counts. After
35 days as ever a fault begins at an hour drawn for each model. Seven days later the status of the
model is read: `change_began`, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.config.quantities import parse_time
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from tests.benchmarks.real_streams import START_MS, batches
from tests.benchmarks.worlds import DAY, WORSE, Simulated, from_hour

EVER, SINCE = 35, 7
HOUR_MS = 3_600_000
FAULTS = ("recall x .75", "both")
WORLDS = tuple(
    Simulated(f"{a_day:,} a day{', sd .2' if sd else ''}", a_day, 0.1, sd=sd)
    for a_day in (700, 2_000, 20_000)
    for sd in (0.0, 0.2)
)


class Run(NamedTuple):
    """A row: a world, its fault, how many models, and the seed."""

    world: Simulated
    fault: str
    models: int
    seed: int


class Found(NamedTuple):
    """What was found of a row: share of models, median error in hours, share of intervals."""

    share: float
    error: float
    covered: float


def found(run: Run) -> Found:
    """Put the fault on each model, and compare what the monitor finds with the truth."""
    rng = np.random.default_rng(run.seed)
    begins = rng.integers(EVER * DAY, (EVER + 1) * DAY, run.models)
    streams = [
        from_hour(run.world.hours(EVER + 1 + SINCE, rng), int(begin), WORSE[run.fault], rng)
        for begin in begins
    ]
    names = {
        f"m{number}": {"maturity": "1h", "label_timeout": "1d"} for number in range(run.models)
    }
    monitor = Monitor(Config(models=names))
    for batch in batches(np.stack(streams, axis=1)):
        monitor.apply(batch)
    models = status_answer(monitor.snapshot(), limit=run.models).models
    errors, covered = [], []
    for model in models:
        if model.change_began is not None:
            began = model.change_began
            truth = int(begins[int(model.name[1:])])
            at, earliest, latest = (_hour(one) for one in (began.at, began.earliest, began.latest))
            errors.append(abs(at - truth))
            covered.append(earliest <= truth <= latest)
    none = float("nan")
    return Found(
        share=len(errors) / run.models,
        error=float(np.median(errors)) if errors else none,
        covered=float(np.mean(covered)) if covered else none,
    )


def _hour(moment: str) -> float:
    return (parse_time(moment) - START_MS) / HOUR_MS


def rows(models: int, seed: int) -> Iterator[Run]:
    """Return the rows of the table."""
    for number, world in enumerate(WORLDS):
        for fault in FAULTS:
            yield Run(world, fault, models, seed * 1_000 + number)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=20, help="of each row")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    wanted = list(rows(args.models, args.seed))
    print("| world | fault | found | hours off, median | interval has it |")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for run, row in zip(wanted, pool.map(found, wanted), strict=True):
            print(
                f"| {run.world.name} | {run.fault} | {row.share:.0%} | {row.error:.0f} "
                f"| {row.covered:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
