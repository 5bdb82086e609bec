"""What a threshold promises where labels have errors, against what it brings.

    python -m tests.benchmarks.corrected_thresholds [--draws 300] [--seed 20261128]

Seeded. Of 60,000 scored cases, at 2 and 10 % prevalence, a share of all labels is flipped. The
threshold of highest recall with a precision of .6, or of highest precision with a recall of .7, is
chosen at the class ratio of 20,000 further cases with labels that are wrong as often: from labels
as they are, corrected for the rates, for ranges that hold them (a half of their middle to either
side), and for what 500 audits of each label show. Precision and recall at the threshold are
compared with the true ones. Last, wrong labels that are no such flips: positives are missed only
where the score is below the median of the positives, or within .1 of .5, at the same rate on the
whole.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from monitor.counts import ConfusionCounts
from monitor.metrics.audited_errors import AuditedLabels, learned_rates
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.threshold import best_threshold

from .label_errors import AUDITED, RANGE
from .turns import table

CASES, NOW = 60_000, 20_000
CENTRES = {0.02: -3.5, 0.1: -2.5}
"""Mean log-odds of the scores of negatives, by prevalence; positives score 2.5 higher."""
APART, FLAGGED_FROM = 2.5, 0.5
OBJECTIVES = ("precision>=0.6", "recall>=0.7")
FLIPS = (0.005, 0.01, 0.02, 0.05)

Missed = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""How often a positive of each score is labelled 0, relative to the mean."""


class Drawn(NamedTuple):
    """Cases with scores and labels.

    Attributes:
        actual: their classes.
        score: in (0, 1).
        label: some of them wrong.
    """

    actual: NDArray[np.bool_]
    score: NDArray[np.float64]
    label: NDArray[np.bool_]

    @property
    def histogram(self) -> ScoreHistogram:
        """The scores by label."""
        return ScoreHistogram.from_scores(
            positive=self.score[self.label], negative=self.score[~self.label]
        )

    @property
    def outcomes(self) -> ConfusionCounts:
        """Outcomes as labelled, at a threshold of .5."""
        return ConfusionCounts.from_cells(
            np.array(
                [
                    (self.label & (self.score >= FLAGGED_FROM)).sum(),
                    (~self.label & (self.score >= FLAGGED_FROM)).sum(),
                    (self.label & (self.score < FLAGGED_FROM)).sum(),
                    (~self.label & (self.score < FLAGGED_FROM)).sum(),
                ]
            )
        )


def evenly(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positives of all scores are missed equally often."""
    return np.ones_like(score)


def at_low_scores(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Only the half of the positives with lower scores are missed."""
    return 2.0 * (score < np.median(score))


def near_the_threshold(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Only positives with scores within .1 of .5 are missed."""
    near = np.abs(score - FLAGGED_FROM) < 0.1
    return near / near.mean()


def drawn(
    rng: np.random.Generator, cases: int, prevalence: float, flips: float, missed: Missed
) -> Drawn:
    """Return cases of which a share of the labels is wrong."""
    actual = rng.random(cases) < prevalence
    score = expit(rng.normal(CENTRES[prevalence], 1.3, cases) + APART * actual)
    wrong = np.full(cases, flips)
    wrong[actual] *= missed(score[actual])
    return Drawn(actual, score, actual ^ (rng.random(cases) < wrong))


def audited(rng: np.random.Generator, cases: Drawn) -> ErrorRates:
    """Return the rates that audits of as many cases of each label show, half of them flagged."""
    flagged = (cases.score >= FLAGGED_FROM).astype(np.int64)
    seen = np.zeros((2, 2, 2), dtype=np.int64)
    labelled = np.zeros((2, 2), dtype=np.int64)
    for label in (0, 1):
        strata = [np.flatnonzero((flagged == f) & (cases.label == label)) for f in (0, 1)]
        labelled[:, label] = [len(one) for one in strata]
        of_flagged = min(len(strata[1]), max(AUDITED // 2, AUDITED - len(strata[0])))
        for called, size in enumerate((min(len(strata[0]), AUDITED - of_flagged), of_flagged)):
            found = cases.actual[rng.choice(strata[called], size, replace=False)]
            seen[called, label] = (~found).sum(), found.sum()
    return learned_rates(AuditedLabels(seen, labelled))


def true_values(threshold: float, prevalence: float) -> tuple[float, float]:
    """Return precision and recall at a threshold."""
    at = np.log(threshold) - np.log1p(-threshold)
    rates = (float(ndtr((CENTRES[prevalence] + shift - at) / 1.3)) for shift in (APART, 0.0))
    tpr, fpr = rates
    return tpr * prevalence / (tpr * prevalence + fpr * (1 - prevalence)), tpr


class World(NamedTuple):
    """What is drawn.

    Attributes:
        prevalence: one of `CENTRES`.
        flips: share of the labels that are wrong, of each class.
        missed: which positives are labelled 0.
    """

    prevalence: float
    flips: float
    missed: Missed = evenly

    def drawn(self, rng: np.random.Generator, cases: int) -> Drawn:
        """Return cases of it."""
        return drawn(rng, cases, *self)


def row(world: World, rates: str, objective: str, draws: int, seed: int) -> tuple[str, ...]:
    """Return a row: how often there is a threshold, and what is stated of it and true."""
    found = []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        cases = world.drawn(rng, CASES)
        now = world.drawn(rng, NOW)
        match rates:
            case "as labelled":
                errors = NO_ERRORS
            case "known":
                errors = ErrorRates(world.flips, world.flips)
            case "ranges":
                ends = world.flips * (1 - RANGE), world.flips * (1 + RANGE)
                errors = ErrorRates.within(ends, ends)
            case _:
                errors = audited(rng, cases)
        choice = best_threshold(cases.histogram, objective, class_ratio=now.outcomes, errors=errors)
        if choice is None or not 0 < choice.threshold < 1:
            continue
        true = true_values(choice.threshold, world.prevalence)
        stated = choice.precision, choice.recall
        found.append(
            [
                part
                for one, value in zip(stated, true, strict=True)
                for part in (
                    value,
                    one.value,
                    one.upper - one.lower,
                    one.lower <= value <= one.upper,
                )
            ]
        )
    means = np.mean(found, axis=0) if found else np.full(8, np.nan)
    return (
        f"{100 * world.prevalence:g} %", f"{100 * world.flips:g} %", rates, objective,
        f"{len(found) / draws:.2f}", *(f"{one:.3f}" for one in means),
    )  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261128)
    args = parser.parse_args()
    of = ("true", "stated", "width", "coverage")
    parts = [f"{metric} {one}" for metric in ("precision", "recall") for one in of]
    head = ("prevalence", "flips", "rates", "objective", "advised", *parts)
    rows = [
        row(World(prevalence, flips), rates, objective, args.draws, args.seed)
        for prevalence in CENTRES
        for objective in OBJECTIVES
        for flips in FLIPS
        for rates in ("as labelled", "known", "ranges", "audits")
    ]
    print(table(head, rows))
    rows = [
        (name, *row(World(prevalence, 0.05, missed), rates, OBJECTIVES[0], args.draws, args.seed))
        for name, missed in (
            ("at low scores", at_low_scores),
            ("near the threshold", near_the_threshold),
        )
        for prevalence in CENTRES
        for rates in ("as labelled", "known", "audits")
    ]
    print(table(("positives missed", *head), rows))


if __name__ == "__main__":
    main()
