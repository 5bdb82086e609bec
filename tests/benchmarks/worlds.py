"""Streams of hourly outcomes whose truth is known: simulated days, resampled weeks, faults.

A stream is an int64 array (hours, 4): tp, fp, fn, tn of each hour. Simulated days scatter
and depend on the day before; real weeks are drawn whole, with their own scatter. A fault
changes the outcomes of every hour from a given one on and nothing before it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hours = NDArray[np.int64]
TP, FP, FN, TN = range(4)
HOUR, DAY, WEEK = 3_600, 24, 168
RECALL, FALSE_POSITIVE_RATE = 0.8, 0.05


class Simulated(NamedTuple):
    """Days that scatter.

    Attributes:
        name: as tables show it.
        a_day: predictions a day.
        prevalence: share of actual positives.
        sd: standard deviation of the day's recall, false-positive rate and class ratio,
            each on the logit scale and independent of the other two.
        rho: correlation of a day's deviation with the next day's.
        weekly: standard deviation of the levels of the weekdays of each of the three, drawn
            once for a stream.
    """

    name: str
    a_day: int = 2_000
    prevalence: float = 0.1
    sd: float = 0.0
    rho: float = 0.0
    weekly: float = 0.0

    def hours(self, days: int, rng: np.random.Generator) -> Hours:
        """Draw a stream of so many days, an array (24 * days, 4)."""
        recall, false_positive, prevalence = (
            _expit(np.repeat(_logit(rate) + self._deviations(days, rng), DAY))
            for rate in (RECALL, FALSE_POSITIVE_RATE, self.prevalence)
        )
        size = rng.poisson(self.a_day / DAY, days * DAY)
        positive = rng.binomial(size, prevalence)
        tp = rng.binomial(positive, recall)
        fp = rng.binomial(size - positive, false_positive)
        return np.stack([tp, fp, positive - tp, size - positive - fp], axis=1).astype(np.int64)

    def _deviations(self, days: int, rng: np.random.Generator) -> NDArray[np.float64]:
        drawn = rng.standard_normal(days) * self.sd
        fresh = np.sqrt(1 - self.rho**2)
        for day in range(1, days):
            drawn[day] = self.rho * drawn[day - 1] + fresh * drawn[day]
        if not self.weekly:
            return drawn
        level = rng.standard_normal(WEEK // DAY)
        level = (level - level.mean()) / level.std() * self.weekly
        return drawn + np.resize(level, days)


class Resampled(NamedTuple):
    """Whole weeks of a real stream, drawn with replacement: the model is as ever in each.

    Attributes:
        name: as tables show it.
        weeks: int64 (weeks, 168, 4).
    """

    name: str
    weeks: NDArray[np.int64]

    def hours(self, days: int, rng: np.random.Generator) -> Hours:
        """Draw a stream of so many days, an array (24 * days, 4)."""
        drawn = rng.integers(0, len(self.weeks), -(-days // 7))
        return self.weeks[drawn].reshape(-1, 4)[: days * DAY]


World = Simulated | Resampled


def recorded(path: Path) -> Hours:
    """Read the labelled outcomes of a recorded stream (NDJSON, plain or gzip) by the hour.

    The first hour is that of the first prediction; the last label of an id counts.
    """
    labels: dict[str, int | None] = {}
    made: dict[str, tuple[int, int]] = {}
    data = path.read_bytes()
    lines = gzip.decompress(data) if path.suffix == ".gz" else data
    for event in map(json.loads, lines.splitlines()):
        if event["type"] == "prediction":
            made[event["id"]] = (int(event["ts"]) // HOUR, int(event["prediction"]))
        else:
            labels[event["id"]] = event["label"]
    first = min(hour for hour, _ in made.values())
    table = np.zeros((max(hour for hour, _ in made.values()) - first + 1, 4), dtype=np.int64)
    for name, (hour, called) in made.items():
        if (label := labels.get(name)) is not None:
            table[hour - first, FP - label if called else TN - label] += 1
    return table


def in_weeks(hours: Hours) -> NDArray[np.int64]:
    """Cut a recorded stream into whole weeks from its first hour on, (weeks, 168, 4)."""
    whole = len(hours) // WEEK
    return hours[: whole * WEEK].reshape(whole, WEEK, 4)


Fault = Callable[[Hours, np.random.Generator], Hours]
"""Changes the outcomes of hours; positives and negatives of each hour stay as many."""


def lower_recall(share: float) -> Fault:
    """Lose this share of the true positives."""

    def fault(hours: Hours, rng: np.random.Generator) -> Hours:
        return _moved(hours, TP, FN, share, rng)

    return fault


def more_false_positives(added: float) -> Fault:
    """Raise the false-positive rate by so much of the negatives, as far as they reach."""

    def fault(hours: Hours, rng: np.random.Generator) -> Hours:
        negatives, kept = hours[:, [FP, TN]].sum(), hours[:, TN].sum()
        return _moved(hours, TN, FP, min(1.0, added * negatives / max(kept, 1)), rng)

    return fault


def both(first: Fault, second: Fault) -> Fault:
    """One fault on top of the other."""
    return lambda hours, rng: second(first(hours, rng), rng)


def calls(rate: Callable[[Hours], tuple[float, float]]) -> Fault:
    """Call positives and negatives positive at random, at the rates that `rate` gives for each."""

    def fault(hours: Hours, rng: np.random.Generator) -> Hours:
        of_positives, of_negatives = rate(hours)
        positives, negatives = hours[:, TP] + hours[:, FN], hours[:, FP] + hours[:, TN]
        tp, fp = rng.binomial(positives, of_positives), rng.binomial(negatives, of_negatives)
        return np.stack([tp, fp, positives - tp, negatives - fp], axis=1)

    return fault


def inverted(hours: Hours, _: np.random.Generator) -> Hours:
    """Call every case the opposite of before."""
    return hours[:, [FN, TN, TP, FP]]


def _flagged_share(hours: Hours) -> tuple[float, float]:
    share = hours[:, [TP, FP]].sum() / max(1, hours.sum())
    return share, share


DEAD: dict[str, Fault] = {
    "always negative": calls(lambda _: (0.0, 0.0)),
    "always positive": calls(lambda _: (1.0, 1.0)),
    "coin": calls(lambda _: (0.5, 0.5)),
    "inverted": inverted,
    "random at the old rate": calls(_flagged_share),
}
WORSE: dict[str, Fault] = {
    "recall x .75": lower_recall(0.25),
    "FPR + .05": more_false_positives(0.05),
    "both": both(lower_recall(0.25), more_false_positives(0.05)),
}


def from_hour(hours: Hours, start: int, fault: Fault, rng: np.random.Generator) -> Hours:
    """Put a fault on a stream from an hour on."""
    return np.concatenate([hours[:start], fault(hours[start:], rng)])


def ramp(hours: Hours, start: int, days: int, share: float, rng: np.random.Generator) -> Hours:
    """Lose true positives gradually: none before `start`, this share `days` later and on.

    Args:
        hours: the stream.
        start: hour at which the ramp begins.
        days: how long it is.
        share: of the true positives, lost at its end.
        rng: draws which are lost.
    """
    lost = np.clip((np.arange(len(hours)) - start) / (days * DAY), 0, 1) * share
    return _moved(hours, TP, FN, lost, rng)


def _moved(
    hours: Hours,
    cell: int,
    to: int,
    share: float | NDArray[np.float64],
    rng: np.random.Generator,
) -> Hours:
    moved = rng.binomial(hours[:, cell], share)
    changed = hours.copy()
    changed[:, cell] -= moved
    changed[:, to] += moved
    return changed


def _logit(rate: float) -> float:
    return float(np.log(rate / (1 - rate)))


def _expit(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-logit))
