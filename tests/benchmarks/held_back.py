"""For how long first days are held back, of healthy models and of those that are worse for good.

    PYTHONPATH=tests python -m tests.benchmarks.held_back [--models N] [--seed N] [--a-day N ...]
        [--sd N ...] [--falls-to RECALL ...]

Days of models with recall .8 and 8 % positives, as ever or falling on day 10, go through the
rules of provisional references alone (`monitor.watch.first_days`, `small_reference`), without a
monitor: by counts of whole days, and without the learned scatter of days. Of all models, the
share whose first 28 days are held back when these and a week more are known, on day 35, and the
shares for which they still would be later, if the hold had no end (it has, on day 63). Days
that hold a certain change of level are left out, and so are pages of dead models.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

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
KNOWN = (FIRST_MS + SPARE_MS) // DAY_MS
LATER = (42, 63, 91, LAST_DAY)


def held_until(world: Simulated, falls_to: float, rng: np.random.Generator) -> int:
    """Return the first day on which the first days of a model are held back no more; 0 for none."""
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
    held = False
    for day in range(KNOWN, LAST_DAY + 1):
        last = days[max(day - JUDGED, closes // DAY_MS) : day].sum(axis=0)
        held = is_worse(judge(before, ConfusionCounts.from_cells(last)), already=held) or (
            day == KNOWN and likely_fall(ConfusionCounts.from_cells(days[:day]))
        )
        if not held or (day == KNOWN and find_level_change(first) is not None):
            return day if day > KNOWN else 0
    return LAST_DAY + 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--a-day", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--sd", type=float, nargs="+", default=[0.0, 0.2])
    parser.add_argument("--falls-to", type=float, nargs="+", default=[RECALL, 0.5, 0.6])
    args = parser.parse_args()
    heads = " | ".join(f"on day {day}" for day in (KNOWN, *LATER))
    print(f"| a day | sd | recall from day {FALL_DAY} on | {heads} |")
    for a_day in args.a_day:
        for sd in args.sd:
            world = Simulated("", a_day, PREVALENCE, sd=sd)
            for falls_to in args.falls_to:
                rng = np.random.default_rng([args.seed, a_day, int(10 * sd), int(10 * falls_to)])
                until = np.array([held_until(world, falls_to, rng) for _ in range(args.models)])
                shares = " | ".join(f"{(until > day).mean():.1%}" for day in (KNOWN, *LATER))
                print(f"| {a_day} | {sd:g} | {falls_to:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
