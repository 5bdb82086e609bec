"""What the first five weeks of models with few outcomes say, right and wrong, by their reference.

    PYTHONPATH=tests python -m tests.benchmarks.first_days [--a-day N] [--sd N] [--models N]
        [--seed N] [--needs P,FP,TP,FN ...] [--days N] [--fall-day N] [--falls-to RECALL]

Simulated models with recall .8 and 8 % positives go through a `Monitor` with default settings as
hourly counts, and are looked at once a day: for 36 days as ever, then as many others for 32 days
whose recall falls to .5 on day 10, or both for `--days`. `--needs` gives what a provisional
reference needs in place of what the monitor asks for: actual, false and true positives, and false
negatives; several are sets of which one is enough.

    reference  median of the day on which there is one
    wrong      models of which it was ever said that a recall, or a false positive rate, is excluded
               which is the true one
    moved      models as ever that were ever said to have moved: "Not shown: …" or "Yes: …"
    below      those of them whose 95 % interval of recall left out .8 meanwhile, on its high side
    worse      models as ever that were ever judged degraded, and that ever paged
    fall said  models that were said to have moved as `below` has it, after the fall; days until
               then, the median of these; models that page, days until then, the median of these
    held       models as ever whose longer first days were ever held back; that are so at the end
    normal     models that fall whose reference is the first 28 days in the end, most of them after
               the fall; those of them of which the fall was said before
"""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import ModelStatus
from monitor.report.reference_answer import HeldBackDays, ReferencePeriod
from monitor.watch import first_days
from tests.benchmarks import real_streams
from tests.benchmarks.worlds import (
    DAY,
    FALSE_POSITIVE_RATE,
    RECALL,
    Hours,
    Simulated,
    from_hour,
    lower_recall,
)

PREVALENCE = 0.08
AS_EVER_DAYS, FALLS_DAYS = 36, 32


class Fall(NamedTuple):
    """The day on which recall falls, from 0 on, and what it falls to."""

    day: int
    recall: float


class Size(NamedTuple):
    """How many models, their seed, and days; None for days as documented."""

    models: int
    seed: int
    days: int | None


class Said(NamedTuple):
    """What one look at one model says.

    Attributes:
        reference: it has one.
        wrong_recall: a recall is excluded that is the true one of a model as ever.
        wrong_false_positives: likewise a false positive rate.
        moved: the model is said to have moved.
        below: so it is, and the interval of recall lies below the usual one.
        degraded: it is judged degraded.
        pages: it pages.
        held: longer first days than those of its reference are held back.
        whole: its reference is the first 28 days.
    """

    reference: bool
    wrong_recall: bool
    wrong_false_positives: bool
    moved: bool
    below: bool
    degraded: bool
    pages: bool
    held: bool
    whole: bool


def said(model: ModelStatus) -> Said:
    """Return what a look says."""
    worse, reference = model.worse, model.reference
    above = model.excluded.false_positive_rate_above
    moved = worse.text.startswith(("Not shown", "Yes"))
    return Said(
        reference=reference is not None,
        wrong_recall=(worse.recall_excluded or 0) > RECALL,
        wrong_false_positives=above is not None and above < FALSE_POSITIVE_RATE,
        moved=moved,
        below=moved and worse.recall_upper is not None and worse.recall_upper < RECALL,
        degraded=model.verdict in real_streams.DEGRADED,
        pages=model.detectors.degradation_detected,
        held=reference is not None and _is_held_back(reference),
        whole=reference is not None and _length(reference) >= timedelta(days=28),
    )


def _is_held_back(reference: ReferencePeriod) -> bool:
    return isinstance(reference.held_back, HeldBackDays) and not reference.held_back.over


def _length(reference: ReferencePeriod) -> timedelta:
    opens, closes = (datetime.fromisoformat(at or "") for at in (reference.open, reference.close))
    return closes - opens


def looked(streams: list[Hours]) -> Said:
    """Return what every look says, each bool (days, models)."""
    setting = {"maturity": "1h", "label_timeout": "1d"}
    monitor = Monitor(Config(models={f"m{number}": setting for number in range(len(streams))}))
    looks = []
    for number, batch in enumerate(real_streams.batches(np.stack(streams, axis=1)), 1):
        monitor.apply(batch)
        if number % real_streams.LOOKS_A_DAY:
            continue
        models = status_answer(monitor.snapshot(), limit=len(streams)).models
        looks.append([said(one) for one in sorted(models, key=lambda one: int(one.name[1:]))])
    return Said(*np.moveaxis(np.array(looks), 2, 0))


def streams_of(world: Simulated, size: Size, fall: Fall | None) -> list[Hours]:
    """Draw the streams of so many models; those that fall are the others until they do."""
    found, days = [], size.days or (AS_EVER_DAYS if fall is None else FALLS_DAYS)
    for number in range(size.models):
        rng = np.random.default_rng([size.seed, world.a_day, int(10 * world.sd), number])
        hours = world.hours(days, rng)
        if fall is not None:
            fault = lower_recall(1 - fall.recall / RECALL)
            hours = from_hour(hours, fall.day * DAY, fault, rng)
        found.append(hours)
    return found


def row(world: Simulated, size: Size, fall: Fall) -> str:
    """Return a row of the table."""
    ever = looked(streams_of(world, size, None))
    share = {name: seen.any(axis=0).mean() for name, seen in ever._asdict().items()}
    falls = looked(streams_of(world, size, fall))
    below, pages = falls.below[fall.day :], falls.pages[fall.day :]
    day = np.median(ever.reference.argmax(axis=0) + 1)
    normal = falls.whole[-1]
    stated = normal & (falls.below & ~falls.whole)[fall.day :].any(axis=0)
    held = f"{share['held']:.1%} · {ever.held[-1].mean():.1%}"
    return (
        f"{day:.0f} | {share['wrong_recall']:.1%} · {share['wrong_false_positives']:.1%} | "
        f"{share['moved']:.1%} | {share['below']:.1%} | "
        f"{share['degraded']:.1%} · {share['pages']:.1%} | {_first(below)} · {_first(pages)} | "
        f"{held} | {normal.mean():.0%} · {stated.mean():.0%}"
    )


def _first(seen: NDArray[np.bool_]) -> str:
    """Return the share of models that are ever seen so, and the median of the days until then."""
    found = seen.any(axis=0)
    days = (seen.argmax(axis=0) + 1)[found]
    return f"{found.mean():.0%}, {np.median(days) if len(days) else np.nan:.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--a-day", type=int, default=30, help="predictions")
    parser.add_argument("--sd", type=float, default=0.0, help="between days")
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, help="of each model")
    parser.add_argument("--fall-day", type=int, default=10)
    parser.add_argument("--falls-to", type=float, default=0.5, help="recall")
    parser.add_argument("--needs", nargs="+", help="of a provisional reference: P,FP,TP,FN")
    args = parser.parse_args()
    if args.needs:
        sets = (map(int, one.split(",")) for one in args.needs)
        first_days.PROVISIONAL = tuple(first_days.OutcomeNumbers(*one) for one in sets)
    world = Simulated(f"{args.a_day:,} a day, sd {args.sd:g}", args.a_day, PREVALENCE, sd=args.sd)
    size, fall = Size(args.models, args.seed, args.days), Fall(args.fall_day, args.falls_to)
    print("| world | reference | wrong | moved | below | worse | fall said | held | normal |")
    print(f"| {world.name} | {row(world, size, fall)} |")


if __name__ == "__main__":
    main()
