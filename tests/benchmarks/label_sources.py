"""What labels of several sources tell of each, where the truth is known.

    python -m tests.benchmarks.label_sources [--draws 400]

Seeded. Three sources with known error rates label simulated cases, independently of each other
given the class; in the last row the third copies the label of the second in a third of the
cases, which breaks that assumption. Cohen's kappa of the first two and the rates of each are
compared with the truth.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from monitor.metrics.source_errors import NO_LABEL
from monitor.metrics.source_findings import SourceFindings

from .turns import table

NAMES = ("first", "second", "third")
RATES = ((0.01, 0.05), (0.02, 0.1), (0.05, 0.2))
"""False positive and false negative rate of each source."""
FIRST_SEED = 10_000


class World(NamedTuple):
    """Cases, and who labels them.

    Attributes:
        cases: how many.
        prevalence: share of actual positives.
        labelled: share of the cases that each source labels, at random.
        copied: share of the labels of the third source that repeat the second's.
    """

    cases: int
    prevalence: float
    labelled: tuple[float, float, float] = (1.0, 1.0, 1.0)
    copied: float = 0.0


WORLDS = (
    World(1_000, 0.3),
    World(5_000, 0.1),
    World(10_000, 0.02),
    World(20_000, 0.02, (1.0, 0.3, 0.3)),
    World(5_000, 0.1, copied=1 / 3),
)


class Scores(NamedTuple):
    """How well the truth is found.

    Attributes:
        stated: share of the rates that are stated.
        covered: share of those whose interval has the true rate.
        off: mean distance of false positive and of false negative rates from the truth.
        kappa_covered: share of the draws in which the interval of kappa has the true one.
    """

    stated: float
    covered: float
    off: tuple[float, float]
    kappa_covered: float


def drawn(world: World, seed: int) -> SourceFindings:
    """Return what the sources show of a draw of a world."""
    rng = np.random.default_rng(seed)
    actual = rng.random(world.cases) < world.prevalence
    ratings = np.full((world.cases, len(NAMES)), NO_LABEL, dtype=np.int8)
    labels = [
        actual ^ (rng.random(world.cases) < np.where(actual, lost, false)) for false, lost in RATES
    ]
    copies = rng.random(world.cases) < world.copied
    labels[2] = np.where(copies, labels[1], labels[2])
    for source, (label, share) in enumerate(zip(labels, world.labelled, strict=True)):
        seen = rng.random(world.cases) < share
        ratings[seen, source] = label[seen]
    rows, cases = np.unique(ratings, axis=0, return_counts=True)
    return SourceFindings(NAMES, rows, cases, 0, 0)


def true_rates(world: World) -> list[tuple[float, float]]:
    """Return the error rates of each source, those of copied labels included."""
    copied = [
        world.copied * second + (1 - world.copied) * third
        for second, third in zip(RATES[1], RATES[2], strict=True)
    ]
    return [*RATES[:2], (copied[0], copied[1])]


def true_kappa(world: World) -> float:
    """Return Cohen's kappa of the first two sources over endlessly many cases."""
    positive = np.array([1 - world.prevalence, world.prevalence])
    one, other = (np.array([false, 1 - lost]) for false, lost in RATES[:2])
    agree = positive @ (one * other + (1 - one) * (1 - other))
    first, second = positive @ one, positive @ other
    chance = first * second + (1 - first) * (1 - second)
    return float((agree - chance) / (1 - chance))


def scores(world: World, draws: int, first_seed: int = FIRST_SEED) -> Scores:
    """Return how well the truth is found in so many draws."""
    stated, covered, off, kappas = [], [], ([], []), []
    kappa = true_kappa(world)
    for seed in range(first_seed, first_seed + draws):
        found = drawn(world, seed)
        kappas.append(found.pairs[0].lower <= kappa <= found.pairs[0].upper)
        for errors, rates in zip(found.errors, true_rates(world), strict=True):
            ends = (errors.false_positive, errors.false_negative)
            for kind, (one, true) in enumerate(zip(ends, rates, strict=True)):
                stated.append(one.is_defined)
                if one.is_defined:
                    covered.append(one.lower <= true <= one.upper)
                    off[kind].append(one.rate - true)
    mean = tuple(float(np.mean(one)) if one else np.nan for one in off)
    share = float(np.mean(covered)) if covered else np.nan
    return Scores(float(np.mean(stated)), share, (mean[0], mean[1]), float(np.mean(kappas)))


def main() -> None:
    """Print a row for each world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    rows = []
    for world in WORLDS:
        found = scores(world, draws)
        rows.append(
            [
                f"{world.cases:,}",
                f"{100 * world.prevalence:g} %",
                " · ".join(f"{share:g}" for share in world.labelled),
                f"{world.copied:.2g}",
                f"{found.stated:.3f}",
                f"{found.covered:.3f}",
                f"{found.off[0]:+.4f} · {found.off[1]:+.4f}",
                f"{found.kappa_covered:.3f}",
            ]
        )
    head = ["cases", "prevalence", "labelled", "copied", "stated", "covered", "off", "kappa"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
