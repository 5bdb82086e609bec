"""Whether labels changed or the model: verdicts by the rates alone, and with scores.

    python -m tests.benchmarks.changed_labels [--draws 100] [--seed 11]

Seeded. 28 days before and 7 or 28 after, of 5,000 cases; normal scores of both classes, recall .8,
.02 of negatives flagged. Either the share of flipped labels, or of positives that labels miss,
changes and nothing else; or recall falls to .6 beside 1 % of flipped labels: positives slide, or
scatter more, or a share of them scores like negatives from then on; or false positives rise to .05:
negatives slide, or a share of them scores like positives.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from monitor.counts import ConfusionCounts
from monitor.drift import Judgement
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.verdict import DEGRADED
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

from .label_errors import A_DAY, DAYS, FPR, PREVALENCES, RECALL
from .turns import table

BINS, WEEK, FALLEN, MORE = 1_000, 7, 0.6, 0.05
HIGHER, LOWER = 0.7, 0.35
_EDGES = logit(np.arange(1, BINS) / BINS) / 1.5


class World(NamedTuple):
    """How scores and labels of a stretch come.

    Attributes:
        recall: of the threshold .5.
        flips: share of the labels that are flipped.
        missed: share of the positives that are labelled 0 besides.
        spread: standard deviation of the scores of positives, over that of negatives.
        unseen: share of positives that score like negatives.
        false: false positive rate of the threshold .5.
        alike: share of negatives that score like positives.
        rarer: what the odds of an actual positive are multiplied by.
        threshold: from which score on cases are flagged.
    """

    recall: float = RECALL
    flips: float = 0.0
    missed: float = 0.0
    spread: float = 1.0
    unseen: float = 0.0
    false: float = FPR
    alike: float = 0.0
    rarer: float = 1.0
    threshold: float = 0.5


NOISY = World(flips=0.01)
CHANGES = {
    "none to .5 % flipped": (World(), World(flips=0.005)),
    "none to 1 % flipped": (World(), NOISY),
    "1 to 2 % flipped": (NOISY, World(flips=0.02)),
    "none to 1 %, and to 5 % of positives": (World(), NOISY._replace(missed=0.04)),
    "none to 10 % of positives missed by labels": (World(), World(missed=0.1)),
    "none to 30 % of positives missed by labels": (World(), World(missed=0.3)),
    "30 % of positives missed to none": (World(missed=0.3), World()),
    "none to 1 %, higher threshold": (World(), NOISY._replace(threshold=HIGHER)),
    "none to 1 %, lower threshold": (World(), NOISY._replace(threshold=LOWER)),
    "none to 1 %, rarer by a quarter": (World(), NOISY._replace(rarer=0.75)),
    "none to 1 %, half as many positives": (World(), NOISY._replace(rarer=0.5)),
    "none to 1 %, half as many, higher threshold": (
        World(),
        NOISY._replace(rarer=0.5, threshold=HIGHER),
    ),
    "more false positives, a slide": (World(), World(false=MORE)),
    "more false positives, a slide, rarer by a quarter": (World(), World(false=MORE, rarer=0.75)),
    "more false positives, negatives unlike before": (World(), World(alike=MORE - FPR)),
    "more false positives, negatives unlike before, rarer by a tenth": (
        World(),
        World(alike=MORE - FPR, rarer=0.9),
    ),
    "recall .8 to .6, a slide": (NOISY, NOISY._replace(recall=FALLEN)),
    "recall .8 to .6, spread": (
        NOISY,
        NOISY._replace(recall=FALLEN, spread=float(ndtri(RECALL) / ndtri(FALLEN))),
    ),
    "recall .8 to .6, unseen positives": (
        NOISY,
        NOISY._replace(unseen=(RECALL - FALLEN) / (RECALL - FPR)),
    ),
    "recall .8 to .6, a slide, half as many positives": (
        NOISY,
        NOISY._replace(recall=FALLEN, rarer=0.5),
    ),
    "recall .8 to .6, unseen, half as many positives": (
        NOISY,
        NOISY._replace(unseen=(RECALL - FALLEN) / (RECALL - FPR), rarer=0.5),
    ),
}


def shares(rate: float, spread: float = 1.0) -> FloatArray:
    """Return the shares of scores by bin, of which `rate` are at least .5."""
    below = ndtr(_EDGES / spread - ndtri(rate))
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def days_of(rng: np.random.Generator, prevalence: float, world: World, sd: float) -> ScoreHistogram:
    """Return labelled scores by day; prevalence and both rates scatter by days."""
    days = []
    for _ in range(DAYS):
        share, recall, false = (
            expit(logit(one) + sd * rng.standard_normal())
            for one in (_rarer(prevalence, world.rarer), world.recall, world.false)
        )
        positive = rng.binomial(A_DAY, share)
        hidden = rng.binomial(positive, world.unseen)
        seen = rng.multinomial(positive - hidden, shares(recall, world.spread))
        seen += rng.multinomial(hidden, shares(false))
        alike = rng.binomial(A_DAY - positive, world.alike)
        others = rng.multinomial(A_DAY - positive - alike, shares(false))
        others += rng.multinomial(alike, shares(recall, world.spread))
        lost = rng.binomial(seen, 1 - (1 - world.flips) * (1 - world.missed))
        wrong = rng.binomial(others, world.flips)
        days.append((seen - lost + wrong, others - wrong + lost))
    positives, negatives = (np.array(one) for one in zip(*days, strict=True))
    return ScoreHistogram(
        positive=positives, negative=negatives, unlabelled=np.zeros_like(positives)
    )


def _rarer(prevalence: float, times: float) -> float:
    return float(expit(logit(prevalence) + np.log(times)))


def judged(
    before: ScoreHistogram,
    after: ScoreHistogram,
    worlds: tuple[World, World] = (NOISY, NOISY),
    *,
    scored: bool,
) -> Judgement:
    """Return the judgement on days after, with or without their scores."""
    old, new = (world.threshold for world in worlds)
    both = ComparedOutcomes(_outcomes(before, old), _outcomes(after, new))
    between = DayScatter.learn([*both]).between(len(before.positive), len(after.positive))
    judgement, _ = judge_on_curve(
        both,
        Dispersion.of(1.0),
        between=between,
        scores=before if scored else None,
        scores_after=lambda: after,
        days=both,
    )
    return judgement


def _outcomes(days: ScoreHistogram, threshold: float) -> ConfusionCounts:
    flagged = round(BINS * threshold)
    return ConfusionCounts(
        tp=days.positive[:, flagged:].sum(axis=-1),
        fp=days.negative[:, flagged:].sum(axis=-1),
        fn=days.positive[:, :flagged].sum(axis=-1),
        tn=days.negative[:, :flagged].sum(axis=-1),
    )


def verdicts(
    draws: int, seed: int, scatter: tuple[float, ...] = (0.2, 0.0), *, asked: str = ""
) -> list[tuple[str, ...]]:
    """Return rows: shares judged worse, and shares in which labels are said to have changed.

    Args:
        draws: for each change, prevalence and scatter of days.
        seed: of the draws.
        scatter: standard deviations of the days, in log-odds.
        asked: part of the names of the changes.
    """
    rows = []
    for sd in scatter:
        for prevalence in PREVALENCES:
            for change, worlds in CHANGES.items():
                if asked not in change:
                    continue
                rng, found = np.random.default_rng(seed), []
                for _ in range(draws):
                    before, after = (days_of(rng, prevalence, world, sd) for world in worlds)
                    week = ScoreHistogram(
                        positive=after.positive[:WEEK],
                        negative=after.negative[:WEEK],
                        unlabelled=after.unlabelled[:WEEK],
                    )
                    for scored in (False, True):
                        for stretch in (week, after):
                            one = judged(before, stretch, worlds, scored=scored)
                            found.append((one.verdict in DEGRADED, one.label_errors_changed))
                each = np.array(found).reshape(draws, 2, 2, 2).mean(axis=0)
                cells = [f"{each[i, j, 0]:.3f}" for i in (0, 1) for j in (0, 1)]
                named = [f"{each[1, j, 1]:.3f}" for j in (0, 1)]
                rows.append((f"{sd:g}", f"{100 * prevalence:g} %", change, *cells, *named))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--change", help="only changes whose name contains this")
    args = parser.parse_args()
    head = ("sd of days", "prevalence", "change", "worse by 7 days", "by 28", "with scores by 7")
    rows = verdicts(args.draws, args.seed, asked=args.change or "")
    print(table((*head, "by 28", "labels named by 7", "by 28"), rows))


if __name__ == "__main__":
    main()
