"""Two versions with scores: is another threshold ever taken for another model?

    python -m tests.benchmarks.version_curves [--draws 60]

Seeded, other seeds than the tests have. A rollout is 20 days of 1,500 outcomes, looked at after
every day. Scores of positives scatter twice as much as those of negatives, or .6 times, so that the
log odds ratio changes along one ROC curve. One look with a verdict counts for the whole rollout.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from monitor.drift.version_comparison import compare_two
from monitor.events.score_bins import SCORE_BINS, bin_of
from monitor.metrics.histogram import ScoreHistogram
from tests.daily import daily

DAYS, A_DAY, CUT = 20, 1_500, 1.6
FIRST_SEED = 10_000


@dataclass(frozen=True, kw_only=True)
class World:
    """A rollout of version B beside version A.

    Attributes:
        slid: threshold of B less that of A, in standard deviations of the negatives.
        shift: mean of the positives of B less that of A, likewise.
        spread: standard deviation of the positives.
        share: of the cases that B gets.
        prevalence: of both.
        scatter: standard deviation of the mean of each class from day to day, of both versions.
        middle: value whose score is .5.
        a_day: cases of both versions.
    """

    slid: float = 0.0
    shift: float = 0.0
    spread: float = 2.0
    share: float = 0.5
    prevalence: float = 0.15
    scatter: float = 0.0
    middle: float = CUT
    a_day: int = A_DAY


EQUAL = World()
LOWER, HIGHER = replace(EQUAL, slid=-0.6), replace(EQUAL, slid=0.6)
WORLDS = {
    "the same": EQUAL,
    "lower threshold": LOWER,
    "higher threshold": HIGHER,
    "lower, positives scatter less": replace(LOWER, spread=0.6),
    "higher, positives scatter less": replace(HIGHER, spread=0.6),
    "lower, B gets 5 %": replace(LOWER, share=0.05),
    "higher, B gets 5 %": replace(HIGHER, share=0.05),
    "lower, prevalence 2 %": replace(LOWER, prevalence=0.02),
    "lower, days scatter by .3": replace(LOWER, scatter=0.3),
    "higher, B gets 10 %, days scatter": replace(HIGHER, share=0.1, scatter=0.3),
    "higher, scores in a few bins": replace(HIGHER, middle=8.0),
    "worse curve": replace(EQUAL, shift=-0.5),
    "worse curve, B gets 10 %": replace(EQUAL, shift=-1.0, share=0.1),
    "worse curve, lower threshold": replace(LOWER, shift=-0.8),
    "better curve, higher threshold": replace(HIGHER, shift=0.8),
}


def rollout(world: World, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells of both, (2, days, 1, 4), and A's scores by class, (2, days, bins)."""
    rng = np.random.default_rng(seed)
    count = DAYS * world.a_day
    day = np.sort(rng.integers(0, DAYS, count))
    is_b, positive = rng.random(count) < world.share, rng.random(count) < world.prevalence
    effect = rng.normal(0, world.scatter, (2, DAYS))[positive.astype(int), day]
    mean = np.where(positive, 2 + world.shift * is_b, 0.0) + effect
    value = rng.normal(mean, np.where(positive, world.spread, 1.0))
    flagged = value > CUT + world.slid * is_b
    cell = np.select([positive & flagged, flagged, positive], [0, 1, 2], 3)
    cells = np.zeros((2, DAYS, 1, 4), np.int64)
    np.add.at(cells, (is_b.astype(int), day, 0, cell), 1)
    scores = np.zeros((2, DAYS, SCORE_BINS), np.int64)
    bins = bin_of(expit(value - world.middle))
    np.add.at(scores, (np.where(positive, 0, 1)[~is_b], day[~is_b], bins[~is_b]), 1)
    return cells, scores


def verdicts(
    cells: NDArray[np.int64], scores: NDArray[np.int64], *, with_scores: bool
) -> list[str]:
    """Return the verdict at each look, or why there is none."""
    found = []
    for day in range(1, DAYS + 1):
        positive, negative = scores[:, :day]
        known = ScoreHistogram(
            positive=positive, negative=negative, unlabelled=np.zeros_like(positive)
        )
        one = compare_two(daily(cells[:, :day]), scores=known if with_scores else None)
        sequence = one.strata.found
        found.append(str(sequence.because or sequence.verdict))
    return found


def main() -> None:
    """Print the share of rollouts by what was ever, and at last, said of version B."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60)
    draws = parser.parse_args().draws
    titles = ("worse, ever", "better, ever", "threshold, end", "rates: worse", "rates: better")
    print(f"{'version B':<36}" + "".join(f"{title:>16}" for title in titles))
    for name, world in WORLDS.items():
        counts = np.zeros(len(titles))
        for draw in range(draws):
            cells, scores = rollout(world, FIRST_SEED + draw)
            known, rates = (verdicts(cells, scores, with_scores=one) for one in (True, False))
            said = ("worse" in known, "better" in known, known[-1] == "another_threshold")
            counts += [*said, "worse" in rates, "better" in rates]
        print(f"{name:<36}" + "".join(f"{100 * n / draws:>14.0f} %" for n in counts), flush=True)


if __name__ == "__main__":
    main()
