"""Models that have died, found from predictions alone: false alarms, and delays.

    PYTHONPATH=tests python -m tests.benchmarks.predictions
        [--part null faults] [--models N] [--days N] [--known N] [--stream PATH ...] [--seed N]

Every stream goes through a `Monitor` of models whose labels never come.

    null     the worlds of `real_streams`, as hourly counts, the model as ever: alarms a model
             and year
    faults   predictions one by one, the fault from a random hour on: share of the models that
             alarm within three days; hours until half, and until nine of ten of them do
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Predictions
from tests.benchmarks.real_streams import (
    FLIGHTS,
    HOUR_MS,
    SIMULATED,
    START_MS,
    Run,
    batches,
    streams,
)
from tests.benchmarks.worlds import (
    DAY,
    FP,
    TP,
    Hours,
    Resampled,
    Simulated,
    World,
    in_weeks,
    recorded,
)

LOOKS_AN_HOUR = 10
LOOK_MS = HOUR_MS // LOOKS_AN_HOUR
LOOKED_HOURS = 72
Scores = NDArray[np.float64]
Fault = Callable[[Scores, np.random.Generator], Scores]


def share_flagged(share: float) -> Fault:
    """Flag this share of the cases at random."""

    def fault(scores: Scores, rng: np.random.Generator) -> Scores:
        high = rng.random(len(scores)) < share
        return np.where(high, rng.uniform(0.5, 1, len(scores)), rng.uniform(0, 0.5, len(scores)))

    return fault


def one_score(scores: Scores, _: np.random.Generator) -> Scores:
    """Give every case the same score."""
    return np.full(len(scores), 0.2)


FAULTS: dict[str, Fault] = {
    "always negative": share_flagged(0.0),
    "always positive": share_flagged(1.0),
    "constant score": one_score,
}
WORLDS = (
    Simulated("20,000 a day, sd .2", 20_000, sd=0.2),
    Simulated("20,000 a day, 1 %, sd .2", 20_000, 0.01, sd=0.2),
    Simulated("2,000 a day", 2_000),
    Simulated("2,000 a day, sd .2", 2_000, sd=0.2),
    Simulated("2,000 a day, sd .5, rho .4", 2_000, sd=0.5, rho=0.4),
    Simulated("700 a day, 8 %, nights without", 700, 0.08),
)
NIGHT = "nights without"
NIGHT_HOURS = 6


class Case(NamedTuple):
    """A row about a fault.

    Attributes:
        world: streams as ever.
        fault: name in `FAULTS`.
        models: how many.
        known: days before the fault.
        seed: of the streams.
    """

    world: Simulated
    fault: str
    models: int
    known: int
    seed: int


def _monitor(models: int) -> Monitor:
    settings = {"label_timeout": "1d", "maturity": "1h", "labelling": "flagged_only"}
    return Monitor(Config(models={f"m{i}": settings for i in range(models)}, windows=["1h", "1d"]))


def null(run: Run) -> str:
    """A row about alarms on a model that is as ever."""
    monitor = _monitor(run.models)
    for batch in batches(streams(run)):
        monitor.apply(batch)
    watched = monitor.state()["watch"]["predictions"]["models"].values()
    alarms = sum(
        len(one["wrong"]) + (one["alarm"] is not None) + (one["since"] != START_MS)
        for one in watched
    )
    return f"{alarms / (run.models * run.days / 365):.2f}"


def delays(case: Case) -> str:
    """A row about a fault."""
    found = list(_hours_until(case))
    in_time = [hours for hours in found if hours is not None]
    late = np.array([np.inf if hours is None else hours for hours in found])
    half, most = np.quantile(late, [0.5, 0.9], method="higher")
    return f"{len(in_time) / len(found):.0%} | {half:.1f} | {most:.1f}"


def _hours_until(case: Case) -> Iterator[float | None]:
    rng = np.random.default_rng(case.seed)
    for _ in range(case.models):
        monitor, hours = _monitor(1), case.world.hours(case.known + 4, rng)
        if NIGHT in case.world.name:
            hours[np.arange(len(hours)) % DAY < NIGHT_HOURS] = 0
        start = case.known * DAY + int(rng.integers(DAY))
        for day in range(0, start, DAY):
            monitor.apply(_predictions(hours, day, min(day + DAY, start), None, rng))
        yield _looked_for(monitor, hours, start, FAULTS[case.fault], rng)


def _looked_for(
    monitor: Monitor, hours: Hours, start: int, fault: Fault, rng: np.random.Generator
) -> float | None:
    """Hours from a fault to the alarm; None for none in time."""
    for hour in range(start, start + LOOKED_HOURS):
        whole = _predictions(hours, hour, hour + 1, fault, rng).predictions
        for look in range(1, LOOKS_AN_HOUR + 1):
            end = START_MS + hour * HOUR_MS + look * LOOK_MS
            part = whole.take(np.flatnonzero((whole.time < end) & (whole.time >= end - LOOK_MS)))
            monitor.apply(EventBatch(predictions=part, groups=_GROUPS, records=len(part)))
            (model,) = monitor.snapshot().models
            if model.watched.predictions.kind is not None:
                return hour + look / LOOKS_AN_HOUR - start
    return None


_GROUPS = (Group("m0", "", ()),)


def _predictions(
    hours: Hours, first: int, end: int, fault: Fault | None, rng: np.random.Generator
) -> EventBatch:
    """Scored predictions of some hours, one by one; with a fault its scores instead."""
    stretch = hours[first:end]
    total, flagged = stretch.sum(axis=1), stretch[:, TP] + stretch[:, FP]
    size, hour = int(total.sum()), np.repeat(np.arange(first, end), total)
    place = np.arange(size) - np.repeat(np.cumsum(total) - total, total)
    high = place < np.repeat(flagged, total)
    scores = np.where(high, rng.uniform(0.5, 1, size), rng.uniform(0, 0.5, size))
    if fault is not None:
        scores = fault(scores, rng)
    time = START_MS + hour * HOUR_MS + rng.integers(0, HOUR_MS, size)
    order = np.argsort(time, kind="stable")
    return EventBatch(
        predictions=Predictions(
            key=rng.integers(0, 2**63, size, dtype=np.uint64),
            time=time[order],
            predicted_positive=scores[order] >= 0.5,
            score=scores[order],
            group=np.zeros(size, dtype=np.int64),
        ),
        groups=_GROUPS,
        records=size,
    )


def null_runs(args: argparse.Namespace) -> list[Run]:
    """The rows of the first table."""
    paths = (FLIGHTS, *args.stream)
    worlds: list[World] = [
        *SIMULATED,
        *(Resampled(f"weeks: {p.name}", in_weeks(recorded(p))) for p in paths),
    ]
    return [
        Run(
            world=world,
            models=args.models,
            days=args.days,
            reference={},
            reference_days=0,
            seed=args.seed * 1_000 + number,
        )
        for number, world in enumerate(worlds)
    ]


def cases(args: argparse.Namespace) -> list[Case]:
    """The rows of the second table."""
    rows = [(world, fault) for world in WORLDS for fault in FAULTS]
    return [
        Case(world, fault, args.models, args.known, args.seed * 1_000 + 500 + number)
        for number, (world, fault) in enumerate(rows)
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=("null", "faults"), default=["null", "faults"])
    parser.add_argument("--models", type=int, default=10, help="of each row")
    parser.add_argument("--days", type=int, default=365, help="of each model that is as ever")
    parser.add_argument("--known", type=int, default=28, help="days before a fault")
    parser.add_argument("--stream", nargs="*", type=Path, default=[], help="NDJSON of events")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with ProcessPoolExecutor(args.processes) as pool:
        if "null" in args.part:
            runs = null_runs(args)
            print("| world | alarms a model and year |", flush=True)
            for run, row in zip(runs, pool.map(null, runs), strict=True):
                print(f"| {run.world.name} | {row} |", flush=True)
        if "faults" in args.part:
            print("| world | fault | found | hours, half of them | hours, 90 % |", flush=True)
            wanted = cases(args)
            for case, row in zip(wanted, pool.map(delays, wanted), strict=True):
                print(f"| {case.world.name} | {case.fault} | {row} |", flush=True)


if __name__ == "__main__":
    main()
