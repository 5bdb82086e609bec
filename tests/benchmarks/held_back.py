"""For how long first days are held back, of healthy models and of those that are worse for good.

    PYTHONPATH=tests python -m tests.benchmarks.held_back [--models N] [--seed N] [--a-day N ...]
        [--sd N ...] [--falls-to RECALL ...] [--most SHARE]

Days of models with recall .8 and 8 % positives, as ever or falling on day 10, go through the
rules of provisional references alone (`monitor.watch.first_days`, `small_reference`), without a
monitor: by counts of whole days, and without the learned scatter of days. Of all models, the
share whose first 28 days hold a certain change of level, so that they end before it; the share for
which they are held back when these and a week more are known, on day 35, and the shares for which
they still would be later, if the hold had no end (it has, on day 63). Pages of dead models are left
out.

`--most` gives what no rule does much better: the share of falls that a likelihood ratio test of
recall finds by day 35, at the limit that holds back this share of models as ever, where the day of
the fall is given, and where it is looked for from day 7 to 30.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, xlogy

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift import judge
from monitor.drift.level_change import find_level_change
from monitor.events.columns import Int64Array
from monitor.watch.first_days import FIRST_MS, end_of_first_days, is_too_small_to_page
from monitor.watch.small_reference import is_worse
from monitor.watch.young_reference import likely_fall
from monitor.windows.pane_widths import SPARE_MS
from tests.benchmarks.first_days import PREVALENCE
from tests.benchmarks.worlds import DAY, RECALL, Simulated, from_hour, lower_recall

FALL_DAY, LAST_DAY, JUDGED = 10, 182, 28
FOUND = -1
"""In place of a day: the first days hold a certain change of level."""
KNOWN = (FIRST_MS + SPARE_MS) // DAY_MS
_MOST_MODELS = 10_000
_SPLITS = range(7, 31)
LATER = (42, 63, 91, LAST_DAY)


def held_until(world: Simulated, falls_to: float, rng: np.random.Generator) -> int:
    """Return the first day on which the first days of a model are held back no more.

    Returns:
        0 where they are held back on none; `FOUND` where they end before a change.
    """
    hours = world.hours(LAST_DAY, rng)
    if falls_to < RECALL:
        hours = from_hour(hours, FALL_DAY * DAY, lower_recall(1 - falls_to / RECALL), rng)
    days = hours.reshape(LAST_DAY, DAY, 4).sum(axis=1)

    def up_to(ends: Sequence[int]) -> Int64Array:
        return np.array([days[: end // DAY_MS].sum(axis=0) for end in ends])

    closes = end_of_first_days(0, FIRST_MS, (KNOWN - 1) * DAY_MS, up_to)
    if closes is None or closes >= FIRST_MS:
        return 0
    before = ConfusionCounts.from_cells(up_to([closes])[0])
    first = ConfusionCounts.from_cells(days[: FIRST_MS // DAY_MS])
    if not is_too_small_to_page(before):
        return 0
    if find_level_change(first) is not None:
        return FOUND
    held = False
    for day in range(KNOWN, LAST_DAY + 1):
        last = days[max(day - JUDGED, closes // DAY_MS) : day].sum(axis=0)
        held = is_worse(judge(before, ConfusionCounts.from_cells(last)), already=held) or (
            day == KNOWN and likely_fall(ConfusionCounts.from_cells(days[:day]))
        )
        if not held:
            return day if day > KNOWN else 0
    return LAST_DAY + 1


def most_found(
    args: argparse.Namespace, a_day: int, sd: float, falls_to: float
) -> tuple[float, float]:
    """Return which share of falls tests of recall find: on the day of the fall, and on any."""
    rng = np.random.default_rng([args.seed, a_day, int(10 * sd), int(10 * falls_to)])
    size = (_MOST_MODELS, KNOWN)
    tests = []
    for then in (RECALL, falls_to):
        level = logit(np.where(np.arange(KNOWN) < FALL_DAY, RECALL, then))
        share = expit(logit(PREVALENCE) + rng.normal(0, sd, size))
        positive = rng.binomial(rng.poisson(a_day, size), share)
        hits = rng.binomial(positive, expit(level + rng.normal(0, sd, size)))
        at_each = [_fall_of_recall(hits, positive, day) for day in (FALL_DAY, *_SPLITS)]
        tests.append([at_each[0], np.min(at_each[1:], axis=0)])
    found = [
        float((fallen < np.quantile(as_ever, args.most)).mean())
        for as_ever, fallen in zip(*tests, strict=True)
    ]
    return found[0], found[1]


def _fall_of_recall(hits: Int64Array, positive: Int64Array, day: int) -> NDArray[np.float64]:
    """Return the signed root of the likelihood ratio of recall from a day on, of each model."""
    sides = [(of[:, :day].sum(axis=1), of[:, day:].sum(axis=1)) for of in (hits, positive)]
    (old, new), (old_of, new_of) = sides
    shared, sums = (old + new) / np.maximum(old_of + new_of, 1), 0.0
    for some, of in ((old, old_of), (new, new_of)):
        sums = sums + xlogy(some, np.divide(some, np.maximum(of * shared, 1e-9)))
        sums = sums + xlogy(of - some, (of - some) / np.maximum(of * (1 - shared), 1e-9))
    return np.sign(new * old_of - old * new_of) * np.sqrt(2 * np.maximum(sums, 0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--a-day", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--sd", type=float, nargs="+", default=[0.0, 0.2])
    parser.add_argument("--falls-to", type=float, nargs="+", default=[RECALL, 0.5, 0.6])
    parser.add_argument("--most", type=float, help="share of models as ever; only what it finds")
    args = parser.parse_args()
    if args.most is not None:
        print("| a day | sd | recall from day 10 on | found, day given | day looked for |")
        for a_day, sd, falls_to in product(args.a_day, args.sd, args.falls_to):
            given, any_day = most_found(args, a_day, sd, falls_to)
            print(f"| {a_day} | {sd:g} | {falls_to:g} | {given:.1%} | {any_day:.1%} |", flush=True)
        return
    heads = " | ".join(f"on day {day}" for day in (KNOWN, *LATER))
    print(f"| a day | sd | recall from day {FALL_DAY} on | change found | {heads} |")
    for a_day in args.a_day:
        for sd in args.sd:
            world = Simulated("", a_day, PREVALENCE, sd=sd)
            for falls_to in args.falls_to:
                rng = np.random.default_rng([args.seed, a_day, int(10 * sd), int(10 * falls_to)])
                until = np.array([held_until(world, falls_to, rng) for _ in range(args.models)])
                shares = " | ".join(f"{(until > day).mean():.1%}" for day in (KNOWN, *LATER))
                found = f"{(until == FOUND).mean():.1%}"
                print(f"| {a_day} | {sd:g} | {falls_to:g} | {found} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
