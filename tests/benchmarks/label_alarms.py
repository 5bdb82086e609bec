"""Rate of false alarms that labels have changed their pace.

    python -m tests.benchmarks.label_alarms [--seeds N]

Clean streams, by cohort: labels of either class with delays of their own, while
prevalence stays, halves, or swings by the day or the week; delays of many shapes;
labels written in working hours alone; few and many predictions. A look is taken at
the end of each cohort (a day, or an hour), from the first that can say anything.
An alarm is a look that says `delays_changed`; a doubt is one at which a small shift
of prevalence would not be believed yet. The last lines are streams whose positives
take half as long again from some cohort on: how many cohorts later that is said.

Goal: at most one look in a thousand model-days with a false alarm.
"""

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.labels.checks import DOUBTFUL_PACE, pace_fault
from monitor.labels.cohorts import delay_curve
from monitor.labels.delay_bins import EDGES_SECONDS
from monitor.labels.pace import pace

HOUR, DAY = HOUR_MS / 1000, DAY_MS / 1000
LOOKS = 150


class Shape(NamedTuple):
    """Delays of one kind: cohort width and cohorts before the first look; a draw in seconds."""

    width: float
    warm_up: int
    draw: object


def lognormal(median, sigma):
    """Delays by their median in seconds."""
    return lambda rng, at: median * np.exp(sigma * rng.standard_normal(len(at)))


def in_working_hours(rng, at):
    """A label is written 2 to 8 hours later, or as soon as somebody works after that (9 to 17)."""
    due = at + rng.uniform(2, 8, len(at)) * HOUR
    day, hour = due // DAY, due % DAY / HOUR
    day = np.where(hour >= 17, day + 1, day)
    opens = np.where((hour < 9) | (hour >= 17), day * DAY + 9 * HOUR, due)
    return opens + rng.exponential(1.0, len(at)) * HOUR - at


def on_workdays(rng, at):
    """A few days, and on Saturdays and Sundays nobody writes labels."""
    due = at + 3 * DAY * np.exp(0.5 * rng.standard_normal(len(at)))
    weekday = due // DAY % 7
    return np.where(weekday >= 5, (due // DAY + 7 - weekday) * DAY + due % DAY, due) - at


def by_the_night(rng, at):
    """All labels of a night are written at its end, two nights later or three."""
    return (at // DAY + 2 + rng.integers(0, 2, len(at))) * DAY + 3 * HOUR - at


SHAPES = {
    "uniform 1-5 h": Shape(HOUR, 180, lambda rng, at: rng.uniform(1, 5, len(at)) * HOUR),
    "lognormal 6 h": Shape(HOUR, 220, lognormal(6 * HOUR, 0.5)),
    "working hours": Shape(HOUR, 230, in_working_hours),
    "lognormal 4 d": Shape(DAY, 60, lognormal(4 * DAY, 0.5)),
    "exponential 3 d": Shape(DAY, 60, lambda rng, at: rng.exponential(3 * DAY, len(at))),
    "workdays 3 d": Shape(DAY, 60, on_workdays),
    "by the night": Shape(DAY, 40, by_the_night),
    "lognormal 20 d": Shape(DAY, 180, lognormal(20 * DAY, 0.75)),
}


def prevalence(name, moments, width, middle):
    """Share of positives at each moment (seconds)."""
    if name == "halves":
        return np.where(moments < middle, 0.1, 0.05)
    if name == "swings":
        return 0.1 * np.exp(
            0.5 * np.sin(2 * np.pi * moments / (24 * HOUR if width < DAY else 7 * DAY))
        )
    return np.full(len(moments), 0.1)


def stream(shape, world, per_cohort, seed, slower=1.0):
    """Labels by cohort, class and bin, all that ever come."""
    rng = np.random.default_rng(seed)
    cohorts = shape.warm_up + LOOKS
    made = rng.poisson(per_cohort, cohorts)
    at = (np.repeat(np.arange(cohorts), made) + rng.random(made.sum())) * shape.width
    changed = (shape.warm_up + LOOKS // 3) * shape.width
    positive = rng.random(len(at)) < prevalence(world, at, shape.width, changed)
    delay = shape.draw(rng, at)
    delay[positive & (at >= changed)] *= slower
    cell = (at // shape.width).astype(np.int64) * 2 + positive
    bins = np.searchsorted(EDGES_SECONDS, delay)
    flat = np.bincount(cell * len(EDGES_SECONDS) + bins, minlength=cohorts * 2 * len(EDGES_SECONDS))
    return flat.reshape(cohorts, 2, len(EDGES_SECONDS))


def looks(counts, shape):
    """Yield (alarm, doubt) at the end of each cohort."""
    for end in range(shape.warm_up, len(counts)):
        stored = counts[max(0, end - shape.warm_up) : end]
        limits = np.arange(len(stored) - 1, -1, -1) * shape.width
        curve = delay_curve(stored, limits, EDGES_SECONDS)
        both = pace(stored, limits, curve, 0), pace(stored, limits, curve, 1)
        yield pace_fault(both) is not None, pace_fault(both, DOUBTFUL_PACE) is not None


def false_alarms(name, world, per_cohort, seeds):
    """Looks, alarms and doubts of one kind of stream."""
    shape = SHAPES[name]
    found = [
        look
        for seed in range(seeds)
        for look in looks(stream(shape, world, per_cohort, seed), shape)
    ]
    return len(found), *np.sum(found, axis=0).tolist()


def until_said(name, per_cohort, seeds):
    """Cohorts until an alarm after positives became half as slow again; None where never."""
    shape, found = SHAPES[name], []
    for seed in range(seeds):
        counts = stream(shape, "stays", per_cohort, seed, slower=1.5)
        alarms = [alarm for alarm, _ in looks(counts, shape)][LOOKS // 3 :]
        found.append(alarms.index(True) if any(alarms) else None)
    return found


def main():
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    began, days, alarmed = time.process_time(), 0.0, 0
    print("| delays | prevalence | predictions a cohort | looks | alarms | doubts |")
    print("|---|---|---|---|---|---|")
    for name, shape in SHAPES.items():
        for world in ("stays", "halves", "swings"):
            for per_cohort in (50, 500, 5000):
                taken, alarms, doubts = false_alarms(name, world, per_cohort, args.seeds)
                days += taken * shape.width / DAY
                alarmed += alarms
                row = f"| {name} | {world} | {per_cohort} | {taken} | {alarms} | {doubts} |"
                print(row, flush=True)
    print(f"{alarmed} looks with a false alarm in {days:.0f} model-days")
    for name in ("uniform 1-5 h", "lognormal 6 h", "lognormal 4 d", "lognormal 20 d"):
        print(f"{name}, half as slow again: said after {until_said(name, 5000, args.seeds)}")
    print(f"{time.process_time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
