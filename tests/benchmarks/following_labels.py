"""How often labels are said to follow the decisions, where they do and where recall is high.

    python -m tests.benchmarks.following_labels [--draws 100]

Seeded. Log-odds of scores of either class are normal; positives lie `apart` standard deviations of
the negatives above them, and scatter `spread` times as much; scores are too timid by a factor
(`stretch`). The threshold gives the recall. Labels are right, or those of unflagged cases are all
0, as where only flagged cases are looked at. Two stretches of as many cases; scores are of the
second.
*Named*: under "what cannot be known". *Evident*: the answer and the advice say so, too.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.labels.uncorrected import MissingMisses, missing_misses
from monitor.metrics.histogram import ScoreHistogram

from .turns import table

RIGHT, FOLLOWED = (0.9, 0.99, 0.999, 0.9999), (0.6, 0.8, 0.9, 0.97)
"""True recall where labels are right, and where they follow the decisions."""
CASES = 50_000


class Model(NamedTuple):
    """Scores of a model.

    Attributes:
        prevalence: share of positives.
        apart: distance of the classes, in standard deviations of negatives.
        spread: standard deviation of positives.
        stretch: factor of the log-odds of the scores.
    """

    prevalence: float
    apart: float
    spread: float = 1.0
    stretch: float = 1.0


MODELS = {
    "rare positives": Model(0.02, 3.5),
    "rare positives, timid scores": Model(0.02, 3.0, stretch=0.5),
    "sharp": Model(0.1, 5.0),
    "very sharp, timid scores": Model(0.1, 6.0, stretch=0.3),
    "positives scatter more": Model(0.05, 4.0, spread=1.5),
}


def found(
    rng: np.random.Generator, model: Model, recall: float, *, follow: bool, cases: int = CASES
) -> MissingMisses | None:
    """Return what is said of the labels of two stretches."""
    (before, _), (after, scores) = (
        _drawn(rng, model, recall, cases, follow=follow) for _ in range(2)
    )
    return missing_misses(before, after, Labelling.COMPLETE, None, scores)


def _drawn(
    rng: np.random.Generator, model: Model, recall: float, cases: int, *, follow: bool
) -> tuple[ConfusionCounts, ScoreHistogram]:
    actual = rng.random(cases) < model.prevalence
    at = rng.normal(0, 1, cases) * np.where(actual, model.spread, 1) + model.apart * actual
    called = at >= model.apart + model.spread * ndtri(1 - recall)
    label = actual & called if follow else actual
    odds = model.prevalence / (1 - model.prevalence)
    score = expit(model.stretch * (model.apart * at - model.apart**2 / 2 + np.log(odds)))
    counts = ConfusionCounts(
        tp=int((label & called).sum()),
        fp=int((~label & called).sum()),
        fn=int((label & ~called).sum()),
        tn=int((~label & ~called).sum()),
    )
    return counts, ScoreHistogram.from_scores(positive=score[label], negative=score[~label])


def row(name: str, recall: float, *, follow: bool, draws: int) -> tuple[str, ...]:
    """Return a row: shares of draws in which labels are named, and are evident."""
    said = [
        found(np.random.default_rng(seed), MODELS[name], recall, follow=follow)
        for seed in range(draws)
    ]
    named = np.mean([one is not None for one in said])
    evident = np.mean([one is not None and one.are_evident for one in said])
    labels = "follow" if follow else "right"
    return labels, f"{recall:g}", name, f"{named:.2f}", f"{evident:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    draws = parser.parse_args().draws
    rows = [
        row(name, recall, follow=follow, draws=draws)
        for follow, recalls in ((False, RIGHT), (True, FOLLOWED))
        for recall in recalls
        for name in MODELS
    ]
    print(table(("labels", "recall", "model", "named", "evident"), rows))


if __name__ == "__main__":
    main()
