"""Coverage of the 95 % intervals of metrics of scores, and what they cost.

    python -m tests.benchmarks.score_intervals [--draws 400]

Seeded: draw i of a row uses seed i. Scores are logits of a normal scatter, too extreme by a
factor of 1.3, 200 cases a day, a sixth of them positive. "Independent" rows are of one
distribution on every day; "days differ" moves the mean log-odds of each day by a standard
deviation of .3; "rare" is of 2,000 cases a day, 1 % positive. The true value is that of a
million cases, or of 1,000 differing days of 2,000.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.counts import ConfusionCounts
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.score_words import SCORE_WORDS
from tests.drawn_scores import wrong_labels

from .turns import table

REFERENCE = ConfusionCounts(tp=300, fn=100, fp=100, tn=1500)
TOO_EXTREME = 1.3


class World(NamedTuple):
    """What days are drawn from.

    Attributes:
        cases: a day.
        mean: mean log-odds of a positive.
        apart: standard deviation of the mean between days.
        errors: rates of wrong labels that are configured; labels are wrong at their middle.
    """

    cases: int
    mean: float
    apart: float = 0.0
    errors: ErrorRates = NO_ERRORS


WORLDS = {
    "independent": World(200, -2.5),
    "days differ": World(200, -2.5, 0.3),
    "rare": World(2_000, -6.0),
    "wrong labels": World(2_000, -6.0, errors=ErrorRates(0.01, 0.05)),
    "and unsure": World(2_000, -6.0, errors=ErrorRates.within((0.005, 0.015), 0.05)),
}


def drawn(world: World, days: int, seed: int, cases: int | None = None) -> ScoreHistogram:
    """Return days of labelled scores, (days, bins).

    Args:
        world: what they are drawn from.
        days: how many.
        seed: of the draw.
        cases: a day; None for those of the world.
    """
    rng, found = np.random.default_rng(seed), []
    for _ in range(days):
        size = cases or world.cases
        true = rng.normal(world.mean + rng.normal(0, world.apart), 1.5, size)
        positive, score = rng.random(size) < expit(true), expit(TOO_EXTREME * true)
        found.append(
            ScoreHistogram.from_scores(positive=score[positive], negative=score[~positive])
        )
    return ScoreHistogram(
        positive=np.stack([one.positive for one in found]),
        negative=np.stack([one.negative for one in found]),
        unlabelled=np.stack([one.unlabelled for one in found]),
    )


def coverage(world: World, days: int, draws: int) -> dict[str, tuple[float, float]]:
    """Return the share of intervals that hold the true value, and of draws that have one.

    Args:
        world: what the days are drawn from.
        days: of each draw.
        draws: how many.
    """
    true = _true(world)
    held: dict[str, list[bool]] = {name: [] for name in SCORE_WORDS}
    for seed in range(draws):
        skill = ScoreSkill(
            by_day=wrong_labels(drawn(world, days, seed), world.errors, seed),
            reference=REFERENCE,
            errors=world.errors,
        )
        for name, words in SCORE_WORDS.items():
            found = words.of(skill)
            if np.isfinite(found.lower):
                held[name].append(found.lower <= true[name] <= found.upper)
    return {
        name: (float(np.mean(found)) if found else np.nan, len(found) / draws)
        for name, found in held.items()
    }


def _true(world: World) -> dict[str, float]:
    whole = drawn(world, 1_000, seed=1_000_000, cases=2_000)
    skill = ScoreSkill(by_day=_one_day(whole), reference=REFERENCE)
    return {name: words.of(skill).estimate for name, words in SCORE_WORDS.items()}


def _one_day(days: ScoreHistogram) -> ScoreHistogram:
    whole = days.sum()
    return ScoreHistogram(
        positive=whole.positive[None],
        negative=whole.negative[None],
        unlabelled=whole.unlabelled[None],
    )


def shares(draws: int) -> Iterator[tuple[str, ...]]:
    """Yield a row a metric: coverage in each world by 7 and by 28 days.

    Args:
        draws: of each.
    """
    columns = [coverage(world, days, draws) for world in WORLDS.values() for days in (7, 28)]
    for name in SCORE_WORDS:
        yield name, *(f"{column[name][0]:.3f} of {column[name][1]:.2f}" for column in columns)


def cost(days: int) -> tuple[str, str, str]:
    """Return the time of the three metrics that always have series, and of all, in ms.

    Args:
        days: with scores.
    """
    found = drawn(WORLDS["independent"], days, seed=0)
    some = [words.of for words in SCORE_WORDS.values() if words.has_series]
    every = [words.of for words in SCORE_WORDS.values()]
    return f"{days}", *(f"{_time(found, parts):.1f}" for parts in (some, every))


def _time(days: ScoreHistogram, parts: list[Callable[[ScoreSkill], object]]) -> float:
    spent = []
    for _ in range(20):
        skill = ScoreSkill(by_day=days, reference=REFERENCE)
        began = time.process_time()
        for part in parts:
            part(skill)
        spent.append(time.process_time() - began)
    return 1e3 * min(spent)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    head = ("metric", *(f"{name}, {days} days" for name in WORLDS for days in (7, 28)))
    print(table(head, list(shares(draws))))
    print(table(("days", "ms, three metrics", "ms, all"), [cost(7), cost(28)]))


if __name__ == "__main__":
    main()
