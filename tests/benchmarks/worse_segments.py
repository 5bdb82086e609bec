"""How often a segment value of a healthy model is called worse, and how soon one that is.

    PYTHONPATH=tests python -m tests.benchmarks.worse_segments [--models N] [--days N] [--seed N]
        [--values N] [--a-day N] [--own SD] [--all SD] [--rho RHO] [--falls-to RECALL]

Models with 10 % positives, recall .8 and a false positive rate of .03 go through a `Monitor` as
counts of six hours by segment value, and are looked at after each from day 9 on. Their days
scatter in log-odds by `--all`, those of each value besides by `--own`, and each resembles the one
before by `--rho`. With `--falls-to`, recall of the largest value falls on day 30.

A line each five days, and one at the end: model-days with a look at which a value is called worse
(`classifier_segment_worse` is 1), models for which that was so, the model-days through all of which
it was, and the model-days in red, that is with a page; with a fall the days until a value is first
called worse, inf for never.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.worse_segment import worse_values

RATES = (0.1, 0.8, 0.03)
"""Prevalence, recall and false positive rate."""
FALL_DAY, FIRST_LOOK = 30, 8
LOOKS, STEP = 4, 6 * 3_600_000


def outcomes(args: argparse.Namespace, number: int) -> NDArray[np.int64]:
    """Return the outcomes of one model, (days, looks a day, values, 4)."""
    rng = np.random.default_rng([args.seed, number])
    days, values = args.days, args.values
    shares = rng.dirichlet(np.full(values, 2.0))
    moved = (
        _days(rng, (days, 1, 3), args) * args.all + _days(rng, (days, values, 3), args) * args.own
    )
    levels = np.tile(logit(RATES), (days, values, 1))
    if args.falls_to is not None:
        levels[FALL_DAY:, shares.argmax(), 1] = logit(args.falls_to)
    prevalence, recall, false_positive = np.moveaxis(expit(levels + moved), -1, 0)[:, :, None]
    total = rng.poisson(args.a_day * shares / LOOKS, (days, LOOKS, values))
    positive = rng.binomial(total, prevalence)
    tp = rng.binomial(positive, recall)
    fp = rng.binomial(total - positive, false_positive)
    return np.stack([tp, fp, positive - tp, total - positive - fp], axis=-1)


def _days(
    rng: np.random.Generator, shape: tuple[int, ...], args: argparse.Namespace
) -> NDArray[np.float64]:
    """Return deviations of days that resemble the one before, of standard deviation 1."""
    moved = rng.standard_normal(shape)
    for day in range(1, len(moved)):
        moved[day] = args.rho * moved[day - 1] + np.sqrt(1 - args.rho**2) * moved[day]
    return moved


def batch(streams: NDArray[np.int64], look: int) -> EventBatch:
    """Return the outcomes of all models in six hours."""
    models, values = len(streams), streams.shape[-2]
    cells = streams[:, look // LOOKS, look % LOOKS].reshape(-1, 4)
    return EventBatch(
        counts=CountDeltas(
            time=np.full(len(cells), look * STEP),
            group=np.arange(len(cells)),
            cells=cells,
            population=np.stack([cells[:, 0] + cells[:, 1], cells[:, 2] + cells[:, 3]], axis=1),
            batch_key=np.zeros(len(cells), np.uint64),
        ),
        groups=tuple(
            Group(f"m{model}", "", (f"v{value}",))
            for model in range(models)
            for value in range(values)
        ),
        records=len(cells),
    )


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--values", type=int, default=10)
    parser.add_argument("--a-day", type=int, default=2_000)
    parser.add_argument("--own", type=float, default=0.0)
    parser.add_argument("--all", type=float, default=0.2)
    parser.add_argument("--rho", type=float, default=0.4)
    parser.add_argument("--falls-to", type=float)
    args = parser.parse_args()
    streams = np.array([outcomes(args, number) for number in range(args.models)])
    model = {"maturity": "1h", "segments": ["value"]}
    names = [f"m{number}" for number in range(args.models)]
    monitor = Monitor(Config(models=dict.fromkeys(names, model), windows=["1d", "7d", "28d"]))
    named = np.zeros((args.days, LOOKS, args.models), dtype=bool)
    pages = np.zeros_like(named)
    for look in range(args.days * LOOKS):
        day, of_day = divmod(look, LOOKS)
        monitor.apply(batch(streams, look))
        if day < FIRST_LOOK:
            continue
        state = monitor.snapshot()
        windows = [one.name for one in state.windows]
        for one in state.models:
            found = worse_values(one, verdict_on(one, deciding_window(one, windows)))
            at = day, of_day, names.index(one.name)
            named[at], pages[at] = bool(found), one.watched.degradation_detected
        if of_day == LOOKS - 1 and (day % 5 == 4 or day == args.days - 1):
            seen = named[FIRST_LOOK : day + 1]
            days, whole = seen.any(axis=1), seen.all(axis=1)
            print(
                f"day {day + 1}: {days.sum()} of {days.size} model-days ({days.mean():.2%}), "
                f"{days.any(axis=0).sum()} of {args.models} models; all of the day {whole.sum()}; "
                f"in red {pages.any(axis=1).sum()}",
                flush=True,
            )
    if args.falls_to is not None:
        since = named[FALL_DAY:].any(axis=1)
        after = np.where(since.any(axis=0), since.argmax(axis=0) + 1.0, np.inf)
        print(f"named after {sorted(after.tolist())} days")


if __name__ == "__main__":
    main()
