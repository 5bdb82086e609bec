"""False pages of a model of many classes, wrong verdicts, and confusions that are named.

    python -m tests.benchmarks.class_pages [--world WORLD] [--classes K] [--years N] [--a-day N]
        [--changed-on DAY]

Each stream goes through the whole monitor. Its rates of confusion scatter from day to day, as do
the shares of the classes. Worlds: `steady`, in which nothing else changes; `shares`, in which the
shares of all classes are drawn anew every 60 days; and `confusion`, in which the share of the
first class that is predicted as the second rises by .15 on day 60 of 120, or on another one. Looked
at once a week.

A line for each stream: its pages; the weekly looks at windows in which the model, or a class, is
called worse; and for a confusion, after how many days the model pages, and which pairs are named.

Goal: at most `false_pages_per_year` (1) pages a model and year, all classes together; no look at
`shares` that calls a class worse more often than one at `steady`; the confusion named.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
YEAR = 365
CHANGED = 60
_SHARES_LAST = 60
_RIGHT, _SCATTER, _CARRY_OVER, _RISE = 0.85, 0.15, 0.4, 0.15


class Stream(NamedTuple):
    """Outcomes of one model.

    Attributes:
        world: `steady`, `shares` or `confusion`.
        classes: how many.
        a_day: outcomes a day.
        days: length.
        seed: of all chance.
        changed_on: day from which on the world is another.
    """

    world: str
    classes: int
    a_day: int
    days: int
    seed: int
    changed_on: int = CHANGED

    @property
    def names(self) -> list[str]:
        """Names of the classes."""
        return [f"class-{number}" for number in range(self.classes)]

    def by_day(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield times, predicted and actual classes of each day."""
        rng, size = np.random.default_rng(self.seed), self.classes
        usual = rng.dirichlet(np.full(size - 1, 0.7), size) * (1 - _RIGHT)
        rates = np.full((size, size), _RIGHT)  # a row for each actual class
        rates[~np.eye(size, dtype=bool)] = usual.ravel()
        shares, noise = rng.dirichlet(np.full(size, 5.0)), np.zeros((size, size))
        for day in range(self.days):
            if self.world == "shares" and day >= self.changed_on and day % _SHARES_LAST == 0:
                shares = rng.dirichlet(np.full(size, 1.5))
            fresh = rng.normal(0, _SCATTER, (size, size))
            noise = _CARRY_OVER * noise + np.sqrt(1 - _CARRY_OVER**2) * fresh
            today = rates.copy()
            if self.world == "confusion" and day >= self.changed_on:
                today[0, :2] += [-_RISE, _RISE]
            today = today * np.exp(noise)
            today /= today.sum(axis=1, keepdims=True)
            mix = shares * np.exp(rng.normal(0, 0.2, size))
            actual = rng.choice(size, int(rng.poisson(self.a_day)), p=mix / mix.sum())
            below = rng.random(len(actual))[:, None] > today.cumsum(axis=1)[actual]
            times = np.sort(rng.integers(0, DAY, len(actual))) + day * DAY
            yield times, np.minimum(below.sum(axis=1), size - 1), actual


class Seen(NamedTuple):
    """What was seen of a stream.

    Attributes:
        pages: days on which a page of a class began.
        looks: weekly looks at all windows of all classes.
        worse: of these, those at which a class was called worse.
        whole_looks: weekly looks at all windows of the model.
        whole_worse: of these, those at which the model was.
        pairs: confusions that were named as risen, of all looks.
    """

    pages: list[float]
    looks: int
    worse: int
    whole_looks: int
    whole_worse: int
    pairs: dict[str, int]


def watch(stream: Stream) -> Seen:
    """Apply a stream, and look once a week."""
    model = {"classes": stream.names, "label_timeout": "2d", "maturity": "1h"}
    config = Config(models={"mail": model}, windows=["1d", "7d", "28d"], pane="6h")
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    looks = worse = whole_looks = whole_worse = 0
    pairs: dict[str, int] = {}
    names = stream.names
    for day, (times, predicted, actual) in enumerate(stream.by_day()):
        lines = [
            json.dumps({"ts": t, "prediction": names[p], "label": names[a], "model": "mail"})
            for t, p, a in zip(times.tolist(), predicted.tolist(), actual.tolist(), strict=True)
        ]
        monitor.apply(decoder.decode_lines(("\n".join(lines) + "\n").encode(), source="events"))
        if day % 7:
            continue
        watched = monitor.snapshot().models[0].watched
        if watched.classes is None:
            continue
        for name, found in watched.verdicts.items():
            own = [w.verdicts[name].verdict in DEGRADED for w in watched.classes.by_class.values()]
            looks, worse = looks + len(own), worse + sum(own)
            whole_looks, whole_worse = whole_looks + 1, whole_worse + (found.verdict in DEGRADED)
            for one in watched.classes.confusions(name):
                if one.after > one.before:
                    pair = f"{one.actual} -> {one.predicted}"
                    pairs[pair] = pairs.get(pair, 0) + 1
    detections = monitor.snapshot().models[0].watched.detections
    pages = [one.at / 1000 / DAY for one in detections if one.kind == "model_degraded"]
    return Seen(pages, looks, worse, whole_looks, whole_worse, pairs)


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--world", choices=("steady", "shares", "confusion"), default="steady")
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--a-day", type=int, default=1_500)
    parser.add_argument("--years", type=int, default=10, help="streams; of 120 days for confusion")
    parser.add_argument("--changed-on", type=int, default=CHANGED)
    options = parser.parse_args()
    days = 2 * CHANGED if options.world == "confusion" else YEAR
    total = pages = 0
    for seed in range(options.years):
        stream = Stream(
            options.world, options.classes, options.a_day, days, seed, options.changed_on
        )
        found = watch(stream)
        total, pages = total + 1, pages + len(found.pages)
        print(
            f"{options.world} {seed}: pages {[round(day, 1) for day in found.pages]}; called worse "
            f"{found.worse} of {found.looks} looks at classes, {found.whole_worse} of "
            f"{found.whole_looks} at the model; named {found.pairs}",
            flush=True,
        )
    print(f"{options.world}: {pages} pages in {total} streams of {days} days")


if __name__ == "__main__":
    main()
