"""How often there is a useful answer, and how often it is wrong, from the first hour on.

    PYTHONPATH=tests python -m tests.benchmarks.answers [--models N] [--days N] [--seed N]
        [--windows auto] [--world NAME ...]

Simulated models with recall .8 go through a `Monitor` with default settings as hourly
counts, and are looked at every six hours.

    useful    after day 7: looks whose answer is useful (no_change or a shift of prevalence,
              or steady with recall under three quarters of the usual excluded), of all models
              and of the one with the fewest; models of which it was ever said that a recall
              is excluded which is the true one; days of models in red
    fall      recall falls from .8 to .5 on day 15: days until it is said, days until it pages
    first     days until the first answer with a number: recall so far, or what it excludes
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import ModelStatus
from tests.benchmarks.real_streams import LOOKS_A_DAY, batches
from tests.benchmarks.worlds import DAY, RECALL, Simulated, from_hour, lower_recall

USEFUL = ("no_change", "prevalence_shift")
A_QUARTER = 0.75
FALL_DAY, FALLEN = 15, 0.5
WORLDS = (
    Simulated("700 a day, 8 %", 700, 0.08),
    Simulated("700 a day, 8 %, sd .2", 700, 0.08, sd=0.2),
    Simulated("300 a day, 8 %", 300, 0.08),
    Simulated("300 a day, 8 %, sd .2", 300, 0.08, sd=0.2),
    Simulated("2,000 a day, 8 %", 2_000, 0.08),
    Simulated("2,000 a day, 8 %, sd .2", 2_000, 0.08, sd=0.2),
    Simulated("700 a day, 8 %, sd .5", 700, 0.08, sd=0.5),
)


class Run(NamedTuple):
    """A row: a world, how many models, how long, the seed, the fault, and the windows."""

    world: Simulated
    models: int
    days: int
    seed: int
    falls: bool
    windows: list[str] | str | None


def looked(run: Run) -> list[list[ModelStatus]]:
    """Every look at every model, (looks, models)."""
    rng = np.random.default_rng(run.seed)
    streams = []
    for _ in range(run.models):
        hours = run.world.hours(run.days, rng)
        if run.falls:
            fault = lower_recall(1 - FALLEN / RECALL)
            hours = from_hour(hours, FALL_DAY * DAY, fault, rng)
        streams.append(hours)
    names = {
        f"m{number}": {"maturity": "1h", "label_timeout": "1d"} for number in range(run.models)
    }
    listed = {} if run.windows is None else {"windows": run.windows}
    monitor = Monitor(Config(models=names, **listed))
    found = []
    for batch in batches(np.stack(streams, axis=1)):
        monitor.apply(batch)
        answer = status_answer(monitor.snapshot(), limit=run.models)
        found.append(sorted(answer.models, key=lambda model: int(model.name[1:])))
    return found


def is_useful(model: ModelStatus) -> bool:
    """Whether an answer says something about the model."""
    if model.verdict in USEFUL:
        return True
    reference, excluded = model.reference, model.worse.recall_excluded
    if model.verdict_because != "steady" or reference is None or excluded is None:
        return False
    return excluded >= A_QUARTER * reference.outcomes.tp / (
        reference.outcomes.tp + reference.outcomes.fn
    )


def as_ever(run: Run) -> str:
    """A row about models that are as ever."""
    seen = looked(run)
    after = seen[7 * LOOKS_A_DAY :]
    useful = np.mean([[is_useful(model) for model in look] for look in after], axis=0)
    wrong = np.zeros(run.models, dtype=bool)
    for look in seen:
        wrong |= [(model.worse.recall_excluded or 0) > RECALL for model in look]
    red = [[model.detectors.degradation_detected for model in look] for look in seen]
    days = np.array(red).reshape(-1, LOOKS_A_DAY, run.models).any(axis=1).mean()
    numbers = np.array([[model.worse.recall_lower is not None for model in look] for look in seen])
    first = (numbers.argmax(axis=0) + 1) / LOOKS_A_DAY
    shares = f"{useful.mean():.1%} | {useful.min():.1%}"
    return f"{shares} | {wrong.mean():.1%} | {days:.2%} | {np.median(first):.2f}"


def fallen(run: Run) -> str:
    """A row about models whose recall falls on day 15."""
    seen = looked(run)
    said = np.array([[_says_so(model) for model in look] for look in seen])
    pages = np.array([[m.detectors.degradation_detected for m in look] for look in seen])
    return " | ".join(_days(one) for one in (said, pages))


def _says_so(model: ModelStatus) -> bool:
    upper = model.worse.recall_upper
    told = model.worse.answer in ("yes", "not_shown")
    return told and upper is not None and upper < RECALL and not model.worse.text.startswith("Noth")


def _days(found: np.ndarray) -> str:
    """Days from the fall to the first look that shows it: median, and share of models."""
    after = found[FALL_DAY * LOOKS_A_DAY :]
    first = (after.argmax(axis=0) + 1)[after.any(axis=0)] / LOOKS_A_DAY
    return f"{np.median(first) if len(first) else np.nan:.1f} ({after.any(axis=0).mean():.0%})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=20, help="of each row")
    parser.add_argument("--days", type=int, default=67, help="of each model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--windows", nargs="+", help="lengths, or auto; by default none are listed")
    parser.add_argument("--world", nargs="*", help="only rows whose name contains one of these")
    args = parser.parse_args()
    if args.days <= FALL_DAY:
        parser.error(f"--days must be more than {FALL_DAY}, the day of the fall")

    windows = "auto" if args.windows == ["auto"] else args.windows

    def runs(*, falls: bool) -> list[Run]:
        seeds = (args.seed * 1_000 + number for number in range(len(WORLDS)))
        return [
            Run(world, args.models, args.days, seed, falls, windows)
            for world, seed in zip(WORLDS, seeds, strict=True)
            if not args.world or any(part in world.name for part in args.world)
        ]

    with ProcessPoolExecutor(os.cpu_count()) as pool:
        print(
            "| world | useful looks after day 7 | of the least useful model "
            "| models with a wrong bound | model-days in red | days to a number |"
        )
        wanted = runs(falls=False)
        for run, row in zip(wanted, pool.map(as_ever, wanted), strict=True):
            print(f"| {run.world.name} | {row} |", flush=True)
        print("\n| world | days until the fall is said | days until it pages |")
        wanted = runs(falls=True)
        for run, row in zip(wanted, pool.map(fallen, wanted), strict=True):
            print(f"| {run.world.name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
