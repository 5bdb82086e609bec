"""Who pages where the threshold slides, the model gets worse, or labels become wrong more often.

    PYTHONPATH=tests python -m tests.benchmarks.scored_pages [--models N] [--seed N]

Four weeks as ever and four with a change, a thousand outcomes a day, with default settings. Scores
are binormal; positives scatter .6, 1 or 1.6 times as much as negatives. Recall is .8 and the
false-positive rate .05 before. The days of a row scatter by a shift of all scores, and those of
the labels by the class ratio as well.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from tests.benchmarks.worlds import DAY

DAYS, A_DAY, DAY_MS = 28, 1_072, DAY * 3_600_000
RECALL, FALSE = 0.8, 0.05


class Change(NamedTuple):
    """What happens after four weeks.

    Attributes:
        name: of the row.
        threshold: by which the threshold moves, in standard deviations of negatives.
        scores: by which all scores move.
        gap: by which positives move towards negatives, negative.
        flips: share of labels that are wrong from then on.
    """

    name: str
    threshold: float = 0.0
    scores: float = 0.0
    gap: float = 0.0
    flips: float = 0.0


class Row(NamedTuple):
    """A row of the table."""

    change: Change
    scatter: float = 1.0
    days: float = 0.1
    prevalence: float = 0.1
    scored: bool = True


SLIDES = (
    Change("threshold + .5", threshold=0.5),
    Change("threshold - .5", threshold=-0.5),
    Change("scores + .3", scores=0.3),
    Change("scores + .5, threshold + .2", threshold=0.2, scores=0.5),
    Change("positives closer by .4", gap=-0.4),
)
FLIPS = Change("1 % of the labels are wrong", flips=0.01)


def rows() -> list[Row]:
    """Return the rows of the table."""
    moved = [Row(change, scatter) for change in SLIDES for scatter in (0.6, 1.0, 1.6)]
    labels = [
        Row(FLIPS, days=days, prevalence=prevalence, scored=scored)
        for scored in (True, False)
        for days, prevalence in ((0.0, 0.02), (0.2, 0.05))
    ]
    return moved + labels


def day_of(row: Row, day: int, rng: np.random.Generator) -> EventBatch:
    """Return the outcomes of one day."""
    change = row.change if day >= DAYS else Change("")
    cut = norm.isf(FALSE)
    gap = cut - norm.isf(RECALL) * row.scatter
    share = row.prevalence
    if row.change.flips and row.days:
        share = float(expit(logit(share) + rng.normal(0, row.days)))
    actual = rng.random(A_DAY) < share
    normal = np.where(
        actual, rng.normal(gap + change.gap, row.scatter, A_DAY), rng.normal(0, 1, A_DAY)
    )
    normal += change.scores + rng.normal(0, row.days)
    time = day * DAY_MS + np.sort(rng.integers(0, DAY_MS, A_DAY))
    return EventBatch(
        outcomes=Outcomes(
            time=time,
            label_time=time,
            predicted_positive=normal >= cut + change.threshold,
            actual_positive=actual ^ (rng.random(A_DAY) < change.flips),
            score=expit(1.2 * (normal - 2)) if row.scored else np.full(A_DAY, np.nan),
            group=np.zeros(A_DAY, dtype=np.int64),
        ),
        groups=(Group("m"),),
        records=A_DAY,
    )


def pages(row: Row, models: int, seed: int) -> int:
    """Return how many of some models page in the end."""
    found = 0
    for number in range(models):
        rng = np.random.default_rng((seed, number))
        monitor = Monitor(Config(models={"m": {"label_timeout": "1d"}}))
        for day in range(2 * DAYS):
            monitor.apply(day_of(row, day, rng))
        found += bool(monitor.snapshot().models[0].watched.degradation_detected)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=20, help="of each row")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("| change | positives scatter | days | prevalence | scores | page |")
    print("|---|---|---|---|---|---|")
    for row in rows():
        found = pages(row, args.models, args.seed)
        scored = "yes" if row.scored else "no"
        of = f"{row.scatter} | {row.days} | {row.prevalence} | {scored}"
        print(f"| {row.change.name} | {of} | {found} of {args.models} |", flush=True)


if __name__ == "__main__":
    main()
