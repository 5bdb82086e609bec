"""False pages, silence, dead models and slow decay on days that scatter and hang together.

    PYTHONPATH=tests python -m tests.benchmarks.real_streams
        [--part null faults gradual verdicts dead] [--models N] [--days N] [--first 7d 28d]
        [--stream PATH ...] [--world NAME ...] [--seed N] [--jobs N]

Every stream goes through a `Monitor` as hourly `counts` with default settings but for the
reference. Worlds are simulated (sd and rho of the
day's recall, false-positive rate and class ratio on the logit scale) or whole weeks of a
recorded stream, drawn with replacement: the bundled flights, and those that --stream names.

The streams of a row follow from the seed and the row alone, whichever other rows run with it.

A model pages where ModelDegraded would: while `degradation_detected` holds. Each start of
a page is a detection.

    null      the model is as ever: page starts a model and year
    faults    recall x .75, FPR + .05, both, for the last 84 days: found, days, page starts
    gradual   recall falls by a quarter over 60 and 120 days, the reference trailing 7 days
    verdicts  the model is as ever, looked at every six hours: share of looks at which a
              window's verdict says degraded, share of looks without a verdict
    dead      calls that do not tell the classes apart, for the last 28 days: share of the
              looks after the first day with a degraded verdict, and share that page
"""

from __future__ import annotations

import argparse
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group
from monitor.verdicts import Watched
from tests.benchmarks.worlds import (
    DAY,
    DEAD,
    FN,
    FP,
    TN,
    TP,
    WORSE,
    Hours,
    Resampled,
    Simulated,
    World,
    from_hour,
    in_weeks,
    ramp,
    recorded,
)

START_MS, HOUR_MS = 1_767_225_600_000, 3_600_000
LOOK_HOURS = 6
LOOKS_A_DAY = DAY // LOOK_HOURS
WINDOWS = ("1h", "1d", "7d", "28d")
DEGRADED = ("model_degraded", "prevalence_shift_and_model_degraded")
SILENT = "insufficient_evidence"
FAULT_DAYS, DEAD_DAYS, RAMPS = 84, 28, (60, 120)
FLIGHTS = Path(__file__).parents[2] / "monitor" / "demo" / "flights.ndjson.gz"
SIMULATED = (
    Simulated("independent"),
    Simulated("sd .1", sd=0.1),
    Simulated("sd .2", sd=0.2),
    Simulated("sd .3", sd=0.3),
    Simulated("sd .2, rho .7", sd=0.2, rho=0.7),
    Simulated("sd .5, rho .4", sd=0.5, rho=0.4),
    Simulated("20,000 a day, sd .2, rho .7", 20_000, sd=0.2, rho=0.7),
    Simulated("20,000 a day, 1 %, sd .2", 20_000, 0.01, sd=0.2),
    Simulated("20,000 a day, 1 %, sd .3", 20_000, 0.01, sd=0.3),
    Simulated("20,000 a day, 1 %, sd .2, rho .7", 20_000, 0.01, sd=0.2, rho=0.7),
    Simulated("700 a day, 8 %", 700, 0.08),
    Simulated("sd .1, weekdays .4", sd=0.1, weekly=0.4),
)


class Looks(NamedTuple):
    """Results of every look.

    Attributes:
        degraded: bool (looks, models, windows): the verdict says degraded.
        silent: bool of that shape: it says `insufficient_evidence`.
        used: bool of that shape: the model has that window; 28d by its reference.
        pages: bool (looks, models): ModelDegraded pages.
    """

    degraded: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    used: NDArray[np.bool_]
    pages: NDArray[np.bool_]

    def since(self, look: int) -> Looks:
        """Those from a look on."""
        return Looks(*(seen[look:] for seen in self))


class Run(NamedTuple):
    """One cell of a table: a world, what happens to it, and the reference.

    Attributes:
        world: streams as ever.
        models: how many, each with a stream of its own.
        days: of each stream, counted from the end of the reference.
        reference: setting of the models.
        reference_days: days that it takes up.
        seed: of the streams; the rest of the row is part of it.
        fault: name in `WORSE` or `DEAD`, a ramp's days, or None.
        fault_days: days at the end that the fault lasts.
    """

    world: World
    models: int
    days: int
    reference: dict[str, str]
    reference_days: int
    seed: int
    fault: str | int | None = None
    fault_days: int = 0

    @property
    def fault_look(self) -> int:
        """The look at which the fault begins, counted from the stream's start."""
        return (self.reference_days + self.days - self.fault_days) * LOOKS_A_DAY


def streams(run: Run) -> NDArray[np.int64]:
    """Outcomes of every model by the hour, (hours, models, 4)."""
    row = f"{run.world.name} {run.reference} {run.fault}"
    rng = np.random.default_rng((run.seed, zlib.crc32(row.encode())))
    return np.stack([_stream(run, rng) for _ in range(run.models)], axis=1)


def _stream(run: Run, rng: np.random.Generator) -> Hours:
    days = run.reference_days + run.days
    hours, start = run.world.hours(days, rng), (days - run.fault_days) * DAY
    if run.fault is None:
        return hours
    if isinstance(run.fault, int):
        return ramp(hours, start, run.fault, 0.25, rng)
    return from_hour(hours, start, (WORSE | DEAD)[run.fault], rng)


def batches(outcomes: NDArray[np.int64]) -> Iterator[EventBatch]:
    """Six hours a batch, as a system that counts itself would send them."""
    hours, models, _ = outcomes.shape
    groups = tuple(Group(f"m{number}", "", ()) for number in range(models))
    model = np.tile(np.arange(models), LOOK_HOURS)
    for opens in range(0, hours, LOOK_HOURS):
        cells = outcomes[opens : opens + LOOK_HOURS].reshape(-1, 4)
        hour = np.repeat(np.arange(opens, opens + LOOK_HOURS), models)
        time = START_MS + hour * HOUR_MS
        counts = CountDeltas(
            time=time,
            group=model,
            cells=cells,
            population=np.stack([cells[:, TP] + cells[:, FP], cells[:, FN] + cells[:, TN]], axis=1),
            batch_key=np.zeros(len(time), dtype=np.uint64),
            watermark=time + HOUR_MS,
        )
        yield EventBatch(counts=counts, groups=groups, records=len(time))


def _monitor(run: Run) -> Monitor:
    model = {"maturity": "1h", "label_timeout": "1d", "reference": run.reference}
    names = {f"m{number}": model for number in range(run.models)}
    return Monitor(Config(models=names))


def looks(run: Run) -> Looks:
    """Run the streams through a monitor."""
    monitor = _monitor(run)
    shown, pages = [], []
    for batch in batches(streams(run)):
        monitor.apply(batch)
        watched = [model.watched for model in monitor.snapshot().models]
        shown.append([_verdicts(one) for one in watched])
        pages.append([one.degradation_detected for one in watched])
    names = np.array(shown)
    return Looks(np.isin(names, DEGRADED), names == SILENT, names != "", np.array(pages))


def _verdicts(watched: Watched) -> list[str]:
    found = (watched.verdicts.get(name) for name in WINDOWS)
    return ["" if one is None else str(one.verdict) for one in found]


class Pages(NamedTuple):
    """Pages of one model.

    Attributes:
        starts: when each began, days of the stream.
        lasts: the model pages at the end of the stream.
    """

    starts: list[float]
    lasts: bool


def pages(run: Run) -> list[Pages]:
    """Run the streams through a monitor; the pages of each model."""
    monitor = _monitor(run)
    for batch in batches(streams(run)):
        monitor.apply(batch)
    return [
        Pages(
            [
                (one.at - START_MS) / (DAY * HOUR_MS)
                for one in model.watched.detections
                if one.kind == "model_degraded"
            ],
            model.watched.degradation_detected,
        )
        for model in monitor.snapshot().models
    ]


def null(run: Run) -> str:
    """A row about pages of a model that is as ever."""
    years = run.models * run.days / 365
    return f"{sum(len(one.starts) for one in pages(run)) / years:.2f}"


def found(run: Run) -> str:
    """A row about a fault that lasts: how many models page, after how many days, how often.

    A model that paged falsely when the fault began, and pages to the end, is found as well.
    """
    began, seen = run.reference_days + run.days - run.fault_days, pages(run)
    starts = [[day - began for day in one.starts if day >= began] for one in seen]
    first = [days[0] for days in starts if days]
    paging = sum(bool(days) or one.lasts for days, one in zip(starts, seen, strict=True))
    median = np.median(first) if first else np.nan
    return f"{paging / run.models:.0%} | {median:.1f} | {max(map(len, starts))}"


def verdicts(run: Run) -> str:
    """A row about verdicts on a model that is as ever."""
    seen = looks(run).since((run.reference_days + 1) * LOOKS_A_DAY)
    return f"{_shares(seen.degraded, seen.used, 2)} | {_shares(seen.silent, seen.used, 0)}"


def _shares(shown: NDArray[np.bool_], used: NDArray[np.bool_], digits: int) -> str:
    """Share of the looks of each window that models have; "-" where none has it."""
    counts = zip(shown.sum(axis=(0, 1)), used.sum(axis=(0, 1)), strict=True)
    return " · ".join(f"{some / all_:.{digits}%}" if all_ else "-" for some, all_ in counts)


def dead(run: Run) -> str:
    """A row about a model that does not tell the classes apart any more."""
    seen = looks(run).since(run.fault_look + LOOKS_A_DAY)
    return f"{seen.degraded[..., 1:].any(axis=2).mean():.0%} | {seen.pages.mean():.0%}"


class Table(NamedTuple):
    """One of the tables: its columns, and how a row of it is made."""

    columns: str
    row: Callable[[Run], str]
    faults: tuple[str | int | None, ...]
    fault_days: int


TABLES = {
    "null": Table("page starts a year", null, (None,), 0),
    "faults": Table("found | median days | page starts", found, tuple(WORSE), FAULT_DAYS),
    "gradual": Table("found | median days | page starts", found, RAMPS, 0),
    "verdicts": Table("wrong 1h · 1d · 7d · 28d | silent 1h · 1d · 7d · 28d", verdicts, (None,), 0),
    "dead": Table("looks degraded | looks that page", dead, tuple(DEAD), DEAD_DAYS),
}


def runs(part: str, worlds: Iterable[World], args: argparse.Namespace) -> Iterator[Run]:
    """The rows of a table."""
    table = TABLES[part]
    lengths = [(name, int(name.removesuffix("d"))) for name in args.first]
    references = [({"first": name}, days) for name, days in lengths]
    if part == "gradual":
        references = [({"trailing": "7d"}, 7)]
    for world in worlds:
        for reference, length in references:
            for fault in table.faults:
                lasts = table.fault_days if not isinstance(fault, int) else fault + 14
                yield Run(
                    world=world,
                    models=args.models,
                    days=args.days if fault is None else lasts + 28,
                    reference=reference,
                    reference_days=length,
                    seed=args.seed,
                    fault=fault,
                    fault_days=lasts,
                )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--models", type=int, default=10, help="of each row")
    parser.add_argument("--days", type=int, default=365, help="of each model that is as ever")
    parser.add_argument("--first", nargs="+", default=["7d", "28d"], help="reference lengths")
    parser.add_argument("--stream", nargs="*", type=Path, default=[], help="NDJSON of events")
    parser.add_argument("--world", nargs="*", help="only rows whose name contains one of these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rows at a time")
    args = parser.parse_args()
    paths = (FLIGHTS, *args.stream)
    worlds: list[World] = [
        *SIMULATED,
        *(Resampled(f"weeks: {p.name}", in_weeks(recorded(p))) for p in paths),
    ]
    if args.world:
        worlds = [one for one in worlds if any(part in one.name for part in args.world)]
    with ProcessPoolExecutor(args.jobs) as pool:
        for part in args.part:
            table, wanted = TABLES[part], list(runs(part, worlds, args))
            print(f"\n{part}\n| world | reference | fault | {table.columns} |")
            for run, row in zip(wanted, pool.map(table.row, wanted), strict=True):
                ((kind, length),) = run.reference.items()
                fault = f"{run.fault} d ramp" if isinstance(run.fault, int) else run.fault or ""
                print(f"| {run.world.name} | {kind} {length} | {fault} | {row} |", flush=True)


if __name__ == "__main__":
    main()
