"""Falls of the first weeks, and healthy models: when they page, and against which reference.

    PYTHONPATH=tests python -m tests.benchmarks.second_week [--models N] [--days N] [--seed N]
        [--a-day N] [--sd N] [--rho N] [--falls]

Models with 8 % positives, recall .8 and a false positive rate of .035 go through a `Monitor` as
counts of six hours, and are looked at at each midnight. Their days scatter by `--sd` in log-odds,
and each resembles the one before by `--rho`. With `--falls`, recall falls to .5, .6 or .65 on day
8, 10, 12, 15 or 20, a fifteenth of the models each, and the table gives the days from the fall to
the page. Without, it gives the healthy models that ever paged, the share of model-days on which one
did, and the models whose longer first days are held back on day 36.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group

RECALL, FALSE_POSITIVE_RATE, PREVALENCE = 0.8, 0.035, 0.08
FALLS_TO, FALL_DAYS = (0.5, 0.6, 0.65), (8, 10, 12, 15, 20)
EACH = [(recall, day) for recall in FALLS_TO for day in FALL_DAYS]
PARTS, STEP = 4, 6 * 3_600_000
START = 20_636 * PARTS
HELD_ON = 36


def stream(
    args: argparse.Namespace, number: int, fall: tuple[float, int] | None
) -> NDArray[np.int64]:
    """Return the outcomes of one model, (days and one more, parts of the day, 4)."""
    days, rng = args.days + 1, np.random.default_rng([args.seed, number])
    each = rng.normal(0, args.sd, (days, 3))
    moved = each.copy()
    for day in range(1, days):
        moved[day] = args.rho * moved[day - 1] + np.sqrt(1 - args.rho**2) * each[day]
    total = rng.poisson(args.a_day / PARTS, (days, PARTS))
    positive = rng.binomial(total, expit(logit(PREVALENCE) + moved[:, :1]))
    then, since = (RECALL, 0) if fall is None else fall
    recall = np.where(np.arange(days) < since, RECALL, then)[:, None]
    tp = rng.binomial(positive, expit(logit(recall) + moved[:, 1:2]))
    fp = rng.binomial(total - positive, expit(logit(FALSE_POSITIVE_RATE) + moved[:, 2:]))
    return np.stack([tp, fp, positive - tp, total - positive - fp], axis=-1)


def batch(streams: NDArray[np.int64], day: int) -> EventBatch:
    """Return the outcomes of all models from a midnight to after the next."""
    parts = [*range(0 if day == 0 else 1, PARTS), PARTS]
    places = [(day + part // PARTS, part % PARTS) for part in parts]
    cells = np.concatenate([[one[at] for at in places] for one in streams])
    times = np.array([START + PARTS * at + part for at, part in places]) * STEP
    return EventBatch(
        counts=CountDeltas(
            time=np.tile(times, len(streams)),
            group=np.repeat(np.arange(len(streams)), len(places)),
            cells=cells,
            population=np.stack([cells[:, 0] + cells[:, 1], cells[:, 2] + cells[:, 3]], axis=1),
            batch_key=np.zeros(len(cells), np.uint64),
        ),
        groups=tuple(Group(f"m{number}", "", ()) for number in range(len(streams))),
        records=len(cells),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--days", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--a-day", type=int, default=700)
    parser.add_argument("--sd", type=float, default=0.2)
    parser.add_argument("--rho", type=float, default=0.5)
    parser.add_argument("--falls", action="store_true")
    args = parser.parse_args()
    falls = [EACH[n % len(EACH)] if args.falls else None for n in range(args.models)]
    streams = np.array([stream(args, number, fall) for number, fall in enumerate(falls)])
    model = {"maturity": "0s", "label_timeout": "1d"}
    monitor = Monitor(
        Config(models={f"m{n}": model for n in range(args.models)}, pane="6h", windows=["1d", "7d"])
    )
    paged: dict[int, int] = {}
    pages = held = 0
    for day in range(args.days):
        monitor.apply(batch(streams, day))
        for number, found in enumerate(monitor.snapshot().models):
            watched, reference = found.watched, found.watched.reference
            pages += watched.degradation_detected
            if watched.degradation_detected:
                paged.setdefault(number, day + 1)
            held += day + 1 == HELD_ON and reference is not None and bool(reference.held_back)
    if not args.falls:
        share = pages / (args.models * args.days)
        print(f"paged {len(paged)} of {args.models}, {share:.2%} of model-days; held back {held}")
        return
    for fall in EACH:
        after = [paged.get(n, np.inf) - fall[1] for n, one in enumerate(falls) if one == fall]
        print(f"{RECALL} → {fall[0]} on day {fall[1]}: pages after {sorted(after)} days")


if __name__ == "__main__":
    main()
